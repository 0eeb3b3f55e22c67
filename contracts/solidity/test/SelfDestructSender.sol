// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Forces the native coin on an address that isn't asked
contract SelfDestructSender {
    /// @param target gets all that is sent along, without a call
    constructor(address payable target) payable {
        selfdestruct(target);
    }
}
