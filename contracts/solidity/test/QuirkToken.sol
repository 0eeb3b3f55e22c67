// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A token that keeps to ERC-20 in all but one respect
contract QuirkToken {
    /// @notice What is odd about it.
    enum Quirk {
        ReturnsNothing,
        ReturnsFalse,
        Reverts,
        TakesFromTheReceiver
    }

    Quirk private immutable _quirk;

    /// @notice The balances.
    mapping(address account => uint256) public balanceOf;

    /// @param quirk what is odd about it
    constructor(Quirk quirk) {
        _quirk = quirk;
    }

    /// @notice Mints `amount` to `account`.
    function mint(address account, uint256 amount) external {
        balanceOf[account] += amount;
    }

    /// @notice Moves the caller's tokens, in its own way.
    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    /// @notice Moves anybody's tokens, in its own way; it knows no allowances.
    function transferFrom(address from, address to, uint256 amount) external {
        _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private {
        // A revert without data, as some old tokens do.
        require(_quirk != Quirk.Reverts);
        if (_quirk == Quirk.TakesFromTheReceiver) {
            balanceOf[to] -= amount;
            return;
        }
        if (_quirk == Quirk.ReturnsFalse) {
            assembly ("memory-safe") {
                mstore(0, 0)
                return(0, 32)
            }
        }
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
    }
}
