// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Emits the vault's events without being a vault
contract LookAlike {
    /// @notice The vault's event, to the letter.
    event Deposited(address indexed player, address indexed token, uint256 amount, uint256 indexed id);

    /// @notice The vault's event, to the letter.
    event Withdrawn(address indexed player, address indexed token, uint256 amount, uint256 indexed id);

    /// @notice Claims a deposit that never was.
    function fakeDeposit(address player, address token, uint256 amount, uint256 id) external {
        emit Deposited(player, token, amount, id);
    }

    /// @notice Claims a withdrawal that never was.
    function fakeWithdrawal(address player, address token, uint256 amount, uint256 id) external {
        emit Withdrawn(player, token, amount, id);
    }
}
