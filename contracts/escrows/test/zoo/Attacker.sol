// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Authorized, Plain} from "./Tokens.sol";

/// @notice Makes one call of its own from wherever it is called, then remembers what came of it.
contract Attacker {
    address private immutable _target;
    bytes private _call;
    uint256 private _value;
    address private _giftToken;
    uint256 private _gift;
    bool private _inside;
    uint256 public tried;
    uint256 public succeeded;
    bytes4 public refusal;

    constructor(address target) {
        _target = target;
    }

    function arm(bytes calldata call_) external {
        _call = call_;
    }

    function armValue(bytes calldata call_, uint256 value) external {
        (_call, _value) = (call_, value);
    }

    /// @dev Besides the call, sends some of a token to the target.
    function armGift(address token, uint256 gift) external {
        (_giftToken, _gift) = (token, gift);
    }

    function approve(address token) external {
        Plain(token).approve(_target, type(uint256).max);
    }

    receive() external payable {
        strike();
    }

    function strike() public {
        if (_inside || (_call.length == 0 && _gift == 0)) return;
        _inside = true;
        tried += 1;
        if (_call.length > 0) {
            (bool ok, bytes memory answer) = _target.call{value: _value}(_call);
            if (ok) succeeded += 1;
            refusal = bytes4(answer);
        }
        if (_gift > 0) Plain(_giftToken).transfer(_target, _gift);
        _inside = false;
    }
}

/// @notice Calls an attacker from whatever it is asked, and can move another amount than told.
contract Crooked is Authorized {
    bytes32 public constant DOMAIN_SEPARATOR = keccak256("crooked");
    Attacker private _attacker;
    address private _victim;
    uint256 private _missing;
    uint256 private _extra;

    function employ(Attacker attacker) external {
        _attacker = attacker;
    }

    /// @dev Of what `victim` sends: so much less arrives, and so much more leaves.
    function cheat(address victim, uint256 missing, uint256 extra) external {
        (_victim, _missing, _extra) = (victim, missing, extra);
    }

    function permit(address owner, address, uint256, uint256, uint8, bytes32, bytes32) external {
        _strike();
        allowance[owner][msg.sender] = type(uint256).max;
    }

    function _move(address from, address to, uint256 value) internal override {
        bool cheated = from == _victim;
        super._move(from, to, cheated ? value - _missing : value);
        if (cheated) _balances[from] -= _extra;
        _strike();
    }

    function _strike() private {
        if (address(_attacker) != address(0)) _attacker.strike();
    }
}
