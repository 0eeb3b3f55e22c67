// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title A wallet that is a contract with one owner
contract ContractWallet is IERC1271 {
    /// @notice Whose key signs for it.
    address public owner;

    constructor(address owner_) {
        owner = owner_;
    }

    /// @notice Hands the wallet over.
    function setOwner(address owner_) external {
        require(msg.sender == owner);
        owner = owner_;
    }

    /// @notice Takes the owner's signature; bytes after it are of no account, as in some wallets of old.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (address signer, ECDSA.RecoverError failure, ) = ECDSA.tryRecover(hash, signature[:65]);
        bool valid = failure == ECDSA.RecoverError.NoError && signer == owner;
        return valid ? IERC1271.isValidSignature.selector : bytes4(0);
    }
}

/// @title Deploys wallets at addresses that are known before
contract WalletFactory {
    /// @notice Deploys the wallet of an owner.
    function deploy(address owner) external returns (ContractWallet) {
        return new ContractWallet{salt: 0}(owner);
    }

    /// @notice Where the wallet of an owner is, or will be.
    function addressOf(address owner) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(ContractWallet).creationCode, abi.encode(owner)));
        bytes32 digest = keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), code));
        return address(uint160(uint256(digest)));
    }

    /// @notice Deploys the wallet of an owner, then burns all the gas that is left.
    function deployAndBurn(address owner) external {
        new ContractWallet{salt: 0}(owner);
        while (true) {}
    }
}
