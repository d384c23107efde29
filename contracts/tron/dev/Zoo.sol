// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import "../../escrows/test/zoo/Tokens.sol";

// The hostile tokens of the forge tests as tokens of the dev chain: what wallets ask for, and
// nothing else, is added. Anyone mints, and anyone sets the fault.

abstract contract Named {
    uint8 public constant decimals = 6;
    string public name;
    string public symbol;

    constructor(string memory name_, string memory symbol_) {
        (name, symbol) = (name_, symbol_);
    }
}

contract AnswersFalse is FalseWithoutMoving, Named("Answers false and moves nothing", "STUCK") {}

contract AnswersTrue is TrueWithoutMoving, Named("Answers true and moves nothing", "NOTHING") {}

contract Blacklist is Blacklisting, Named("Has a blacklist", "LISTS") {}

contract Pause is Pausable, Named("Can be paused", "PAUSES") {}

contract Charge is ChargesTheSender, Named("Charges the sender", "CHARGES") {}

contract Everything is MovesAll, Named("Moves all there is", "ALL") {}

contract Rebase is Rebasing, Named("Changes balances", "REBASES") {}

contract Megabyte is HugeAnswer, Named("Answers a megabyte", "HUGE") {}

contract NoBalance is ShortBalance, Named("Hides balances", "HIDES") {}

/// @notice Makes a call of its own, once, from inside each transfer.
contract Reenter is Plain, Named("Calls back", "REENTERS") {
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
