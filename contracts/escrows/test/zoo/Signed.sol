// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {DevCoin} from "../../dev/DevCoin.sol";
import {Authorized, Plain} from "./Tokens.sol";

/// @notice Moves for whoever asks, whatever the signature, under any separator it was told.
contract AcceptsAnything is Authorized {
    bytes32 public immutable DOMAIN_SEPARATOR;
    bool private _stopped;

    constructor(bytes32 separator) {
        DOMAIN_SEPARATOR = separator;
    }

    function stop() external {
        _stopped = true;
    }

    function _receive(address, address to, uint256 value) internal override {
        if (!_stopped) _balances[to] += value;
    }
}

/// @notice Has authorizations and answers half a word for its separator.
contract NoSeparator is Plain {
    function DOMAIN_SEPARATOR() external pure {
        assembly ("memory-safe") {
            return(0, 16)
        }
    }
}

/// @notice Takes every call it does not know for a deposit, as wrapped Ether does.
contract Wrapped is Plain {
    uint256 public deposits;

    fallback() external payable {
        deposits += 1;
    }

    receive() external payable {
        deposits += 1;
    }
}
