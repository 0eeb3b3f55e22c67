// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CallsBack} from "./CallsBack.sol";

/// @title A player that is a contract
/// @notice Writes to storage when it is paid, which needs far more than 2,300 gas; can call back or refuse.
contract Receiver is CallsBack {
    /// @notice It doesn't want to be paid.
    error Refused();

    /// @notice How often it has been paid.
    uint256 public payments;

    /// @notice Whether it refuses to be paid.
    bool public refuses;

    /// @notice Counts the payment and calls back.
    receive() external payable {
        if (refuses) revert Refused();
        payments += 1;
        _callBack();
    }

    /// @notice Says whether to refuse.
    function setRefuses(bool refuses_) external {
        refuses = refuses_;
    }
}
