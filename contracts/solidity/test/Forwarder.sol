// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Makes any calls in one transaction, as a smart-contract wallet does
contract Forwarder {
    /// @notice One call to make.
    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    /// @notice A call failed that must not.
    error CallFailed(uint256 index, bytes answer);

    /// @notice Takes the native coin.
    receive() external payable {}

    /// @notice Makes all of the calls; one that fails undoes them all.
    function multicall(Call[] calldata calls) external payable {
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool success, bytes memory answer) = calls[i].target.call{value: calls[i].value}(calls[i].data);
            if (!success) revert CallFailed(i, answer);
        }
    }

    /// @notice Makes each of the calls; one that fails undoes only itself.
    function tryMulticall(Call[] calldata calls) external payable returns (bool[] memory successes) {
        successes = new bool[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            (successes[i],) = calls[i].target.call{value: calls[i].value}(calls[i].data);
        }
    }
}
