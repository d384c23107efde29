// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Plain} from "./Tokens.sol";

/// @notice Another token at each call, as told. It never takes what lies in the escrows by itself.
contract Wild is Plain {
    enum Manner {
        Honest,
        Reenters,
        Less,
        Nothing,
        Extra,
        More,
        Reverts
    }

    Manner public manner;
    address private _target;
    bytes private _call;
    uint256 public entered;

    function set(Manner next, address target, bytes calldata call_) external {
        (manner, _target, _call) = (next, target, call_);
    }

    function _move(address from, address to, uint256 value) internal override {
        if (manner == Manner.Reverts) revert("not now");
        if (manner == Manner.Nothing) return;
        if (manner == Manner.Less) value -= 1;
        if (manner == Manner.More) value += 1;
        super._move(from, to, value);
        if (manner == Manner.Extra && _balances[from] > 0) _balances[from] -= 1;
        if (manner != Manner.Reenters) return;
        (bool ok,) = _target.call(_call);
        if (ok) entered += 1;
    }
}
