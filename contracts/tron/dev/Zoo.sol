// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import "./Tokens.sol";

// The hostile tokens of the tests as tokens of the dev chain: what wallets ask for, and nothing
// else, is added. Anyone mints, and anyone sets the fault.

contract AnswersFalse is FalseWithoutMoving {
    string public constant name = "Answers false and moves nothing";
    string public constant symbol = "STUCK";
    uint8 public constant decimals = 6;
}

contract AnswersTrue is TrueWithoutMoving {
    string public constant name = "Answers true and moves nothing";
    string public constant symbol = "NOTHING";
    uint8 public constant decimals = 6;
}

contract Blacklist is Blacklisting {
    string public constant name = "Has a blacklist";
    string public constant symbol = "LISTS";
    uint8 public constant decimals = 6;
}

contract Pause is Pausable {
    string public constant name = "Can be paused";
    string public constant symbol = "PAUSES";
    uint8 public constant decimals = 6;
}

contract Charge is ChargesTheSender {
    string public constant name = "Charges the sender";
    string public constant symbol = "CHARGES";
    uint8 public constant decimals = 6;
}

contract Everything is MovesAll {
    string public constant name = "Moves all there is";
    string public constant symbol = "ALL";
    uint8 public constant decimals = 6;
}

contract Rebase is Rebasing {
    string public constant name = "Changes balances";
    string public constant symbol = "REBASES";
    uint8 public constant decimals = 6;
}

contract Megabyte is HugeAnswer {
    string public constant name = "Answers a megabyte";
    string public constant symbol = "HUGE";
    uint8 public constant decimals = 6;
}

contract NoBalance is ShortBalance {
    string public constant name = "Hides balances";
    string public constant symbol = "HIDES";
    uint8 public constant decimals = 6;
}

/// @notice Makes a call of its own, once, from inside each transfer.
contract Reenter is Plain {
    string public constant name = "Calls back";
    string public constant symbol = "REENTERS";
    uint8 public constant decimals = 6;

    address private _target;
    bytes private _call;
    bool private _inside;
    uint256 public tried;
    uint256 public succeeded;

    function arm(address target, bytes calldata call_) external {
        _target = target;
        _call = call_;
    }

    function _move(address from, address to, uint256 value) internal override {
        super._move(from, to, value);
        if (_inside || _target == address(0)) return;
        _inside = true;
        tried += 1;
        (bool ok,) = _target.call(_call);
        if (ok) succeeded += 1;
        _inside = false;
    }
}
