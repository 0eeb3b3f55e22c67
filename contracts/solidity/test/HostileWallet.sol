// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @title A contract that answers the question for a signature in a bad way, chosen when it is deployed
contract HostileWallet {
    enum Way {
        BurnAllGas,
        Revert,
        RevertWithMuch,
        ReturnMuch,
        ReturnNothing,
        ReturnFewBytes,
        MagicWithGarbage,
        MagicOnTheWrongSide,
        CallBack,
        Write,
        SelfDestruct
    }

    Way public way;
    uint256 public writes;

    constructor(Way way_) {
        way = way_;
    }

    /// @notice Whatever is called, signatures of any kind among it.
    fallback() external {
        bytes32 magic = bytes32(IERC1271.isValidSignature.selector);
        if (way == Way.BurnAllGas) {
            while (true) {}
        } else if (way == Way.Revert) {
            revert("no");
        } else if (way == Way.RevertWithMuch) {
            assembly {
                revert(0, 500000)
            }
        } else if (way == Way.ReturnMuch) {
            assembly {
                return(0, 500000)
            }
        } else if (way == Way.ReturnFewBytes) {
            assembly {
                mstore(0, magic)
                return(0, 4)
            }
        } else if (way == Way.MagicWithGarbage) {
            _return(magic | bytes32(uint256(0xbad)));
        } else if (way == Way.MagicOnTheWrongSide) {
            _return(bytes32(uint256(uint32(IERC1271.isValidSignature.selector))));
        } else if (way == Way.CallBack) {
            // The caller is still being made, and has no code that could be entered again.
            (bool success, ) = msg.sender.call(msg.data);
            if (!success || msg.sender.code.length == 0) revert("nobody there");
            _return(magic);
        } else if (way == Way.Write) {
            writes += 1;
            _return(magic);
        } else if (way == Way.SelfDestruct) {
            selfdestruct(payable(msg.sender));
        }
    }

    function _return(bytes32 word) private pure {
        assembly {
            mstore(0, word)
            return(0, 32)
        }
    }
}
