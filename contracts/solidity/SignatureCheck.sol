// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title Asks a contract whether it stands by a signature (EIP-1271), deployed or to be deployed (EIP-6492)
/// @notice Is never deployed itself. A node runs its constructor by eth_call and takes nothing of it into the chain;
/// what it would deploy, one byte, is the answer.
contract SignatureCheck {
    /// @notice There is no contract at the address.
    uint8 internal constant NO_CONTRACT = 0;

    /// @notice The contract stands by the signature.
    uint8 internal constant VALID = 1;

    /// @notice The contract doesn't, or fails to say so.
    uint8 internal constant REFUSED = 2;

    /// @param signer Whose signature it is said to be.
    /// @param hash What was signed.
    /// @param signature The signature, out of its EIP-6492 wrapper.
    /// @param factory What deploys the signer if it has no code yet; the zero address if nothing does.
    /// @param factoryCall What to call it with.
    constructor(address signer, bytes32 hash, bytes memory signature, address factory, bytes memory factoryCall) {
        // A signer that is there is asked as it is: a call that somebody chose comes before no answer of its.
        if (signer.code.length == 0 && factory != address(0)) _deploy(factory, factoryCall);
        uint8 answer = NO_CONTRACT;
        if (signer.code.length != 0) {
            bool valid = SignatureChecker.isValidERC1271SignatureNow(signer, hash, signature);
            answer = valid ? VALID : REFUSED;
        }
        assembly ("memory-safe") {
            mstore8(0, answer)
            return(0, 1)
        }
    }

    /// @notice Calls a factory with half of the gas, whose result shows in the signer's code alone.
    function _deploy(address factory, bytes memory factoryCall) private {
        assembly ("memory-safe") {
            // Nothing of what it returns is copied: it may return more than there is gas for.
            pop(call(div(gas(), 2), factory, 0, add(factoryCall, 32), mload(factoryCall), 0, 0))
        }
    }
}
