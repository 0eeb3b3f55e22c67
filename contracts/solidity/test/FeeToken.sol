// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestToken} from "./TestToken.sol";

/// @title An ERC-20 that burns a share of each transfer
contract FeeToken is TestToken {
    uint256 private immutable _feePercent;

    /// @param feePercent how many of a hundred are burnt on the way
    constructor(uint256 feePercent) TestToken("Fee on transfer", "FEE", 6) {
        _feePercent = feePercent;
    }

    function _update(address from, address to, uint256 value) internal override {
        uint256 fee = from == address(0) || to == address(0) ? 0 : (value * _feePercent) / 100;
        super._update(from, to, value - fee);
        if (fee != 0) super._update(from, address(0), fee);
    }
}
