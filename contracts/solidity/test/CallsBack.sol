// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Calls somebody back, once, in the middle of somebody else's call
/// @dev It swallows the outcome and keeps it, so that the outer call goes on and a test sees both.
abstract contract CallsBack {
    address private _target;
    uint256 private _value;
    bytes private _data;

    /// @notice Whether the call back has been made.
    bool public called;

    /// @notice Whether the call back went through.
    bool public succeeded;

    /// @notice What the call back returned or reverted with.
    bytes public answer;

    /// @notice Says what to call back with.
    function arm(address target, uint256 value, bytes calldata data) external {
        (_target, _value, _data, called, succeeded, answer) = (target, value, data, false, false, "");
    }

    function _callBack() internal {
        if (called || _target == address(0)) return;
        called = true;
        (succeeded, answer) = _target.call{value: _value}(_data);
    }
}
