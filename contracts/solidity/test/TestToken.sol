// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token for development chains
/// @notice A plain ERC-20 (https://eips.ethereum.org/EIPS/eip-20) that anyone may mint.
contract TestToken is ERC20 {
    uint8 private immutable _decimals;

    /// @param name_ the token's name
    /// @param symbol_ the token's symbol
    /// @param decimals_ how many decimals a wallet shows
    constructor(string memory name_, string memory symbol_, uint8 decimals_) ERC20(name_, symbol_) {
        _decimals = decimals_;
    }

    /// @notice Mints `amount` to `account`, for the asking.
    function mint(address account, uint256 amount) external {
        _mint(account, amount);
    }

    /// @notice How many decimals a wallet shows.
    function decimals() public view override returns (uint8) {
        return _decimals;
    }
}
