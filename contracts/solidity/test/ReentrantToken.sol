// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CallsBack} from "./CallsBack.sol";
import {TestToken} from "./TestToken.sol";

/// @title An ERC-20 that calls back whenever it moves
contract ReentrantToken is TestToken, CallsBack {
    constructor() payable TestToken("Reentrant", "RE", 6) {}

    /// @notice Lets the token pay for a call back, and own and spend tokens of its own.
    function approveAsItself(address spender, uint256 amount) external {
        _approve(address(this), spender, amount);
    }

    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (from != address(0)) _callBack();
    }
}
