// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {Terms} from "evm/src/Terms.sol";
import {Hooks, Plain} from "evm/test/zoo/Tokens.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";

/// @notice Makes one call of its own from inside a token's hook or a payment, then remembers
///         whether it succeeded.
contract Attacker {
    address private immutable _target;
    bytes private _call;
    address private _giftToken;
    uint256 private _gift;
    bool private _inside;
    uint256 public tried;
    uint256 public succeeded;

    constructor(address target) {
        _target = target;
    }

    function arm(bytes calldata call_) external {
        _call = call_;
    }

    /// @dev Besides the call, sends some of a token to the target.
    function armGift(address token, uint256 gift) external {
        _giftToken = token;
        _gift = gift;
    }

    function register(Hooks token) external {
        token.register(address(this));
    }

    function approve(address token) external {
        Plain(token).approve(_target, type(uint256).max);
    }

    function fund(Terms calldata terms) external {
        ParleyEscrows(_target).fund(terms);
    }

    function tokensToSend(address, address, uint256) external {}

    function tokensReceived(address, address, uint256) external {
        _strike();
    }

    receive() external payable {
        _strike();
    }

    function _strike() private {
        if (_inside || (_call.length == 0 && _gift == 0)) return;
        _inside = true;
        tried += 1;
        if (_call.length > 0) {
            (bool ok,) = _target.call(_call);
            if (ok) succeeded += 1;
        }
        if (_gift > 0) Plain(_giftToken).transfer(_target, _gift);
        _inside = false;
    }
}

/// @notice Funds from its constructor, while it has no code.
contract Unborn {
    constructor(address target, address token, Terms memory terms) {
        terms.refund = address(this);
        Plain(token).mint(address(this), terms.amount);
        Plain(token).approve(target, terms.amount);
        ParleyEscrows(target).fund(terms);
    }
}

/// @notice In the place of an attacker: makes such a contract from inside a token's hook.
contract Nursery {
    address private immutable _target;
    Terms private _terms;

    constructor(address target, Terms memory terms) {
        _target = target;
        _terms = terms;
    }

    function tokensReceived(address, address, uint256) external {
        if (_terms.amount == 0) return;
        Terms memory terms = _terms;
        _terms.amount = 0;
        new Unborn(_target, terms.token, terms);
    }
}

/// @notice In a transfer by `victim` only, moves `missing` less than told and takes `extra` more.
///         Anybody can be given a hook, this contract's own target included.
contract Crooked is Plain {
    mapping(address => address) private _hookOf;
    address private _victim;
    uint256 private _missing;
    uint256 private _extra;

    function register(address who, address hook) external {
        _hookOf[who] = hook;
    }

    function cheat(address victim, uint256 missing, uint256 extra) external {
        _victim = victim;
        _missing = missing;
        _extra = extra;
    }

    function _move(address from, address to, uint256 value) internal override {
        bool cheated = from == _victim;
        super._move(from, to, cheated ? value - _missing : value);
        if (cheated) _balances[from] -= _extra;
        if (_hookOf[to] != address(0)) Attacker(payable(_hookOf[to])).tokensReceived(from, to, 0);
    }
}

contract ReentrancyTest is Base {
    Hooks internal token;
    Attacker internal attacker;

    function setUp() public override {
        super.setUp();
        token = new Hooks();
        attacker = new Attacker(address(escrows));
        attacker.register(token);
        give(address(token), FUNDER, AMOUNT * 10);
        token.mint(address(attacker), AMOUNT * 10);
        attacker.approve(address(token));
        Terms memory other = termsOf(address(token)); // somebody else's money lies here too
        other.payout = STRANGER;
        fund(other);
    }

    function receiving() internal view returns (Terms memory terms) {
        terms = termsOf(address(token));
        terms.payout = address(attacker);
    }

    function armed(bytes memory call_) internal {
        attacker.arm(call_);
    }

    function test_a_hooked_recipient_that_behaves_is_paid() public {
        fund(receiving());
        claim(receiving());
        vm.assertEq(token.balanceOf(address(attacker)), AMOUNT * 11, "paid");
    }

    function test_claiming_again_from_the_hook_gains_nothing() public {
        for (uint256 early = 0; early < 2; early++) {
            token.set(early == 1);
            Terms memory terms = receiving();
            terms.timelock += early;
            fund(terms);
            uint256 before = token.balanceOf(address(attacker));
            armed(abi.encodeCall(ParleyEscrows.claim, (terms, SECRET)));
            claim(terms);
            vm.assertEq(token.balanceOf(address(attacker)) - before, AMOUNT, "once");
            vm.assertEq(here(address(token)), AMOUNT, "the other's");
        }
        vm.assertEq(attacker.tried(), 2, "tried");
        vm.assertEq(attacker.succeeded(), 0, "and failed");
    }

    function test_refunding_from_the_hook_of_a_claim_is_too_early() public {
        fund(receiving());
        armed(abi.encodeCall(ParleyEscrows.refund, (receiving())));
        claim(receiving());
        vm.assertEq(attacker.succeeded(), 0, "failed");
        vm.assertEq(statusOf(receiving()), CLAIMED, "claimed");
    }

    function test_refunding_again_from_the_hook_gains_nothing() public {
        Terms memory terms = termsOf(address(token));
        terms.refund = address(attacker);
        attacker.fund(terms);
        vm.warp(TIMELOCK);
        armed(abi.encodeCall(ParleyEscrows.refund, (terms)));
        refund(terms);
        vm.assertEq(attacker.tried(), 1, "tried");
        vm.assertEq(attacker.succeeded(), 0, "and failed");
        vm.assertEq(here(address(token)), AMOUNT, "the other's");
    }

    /// Another escrow's claim within this one makes the contract lose twice: both are taken back.
    function test_claiming_another_escrow_from_the_hook_takes_both_back() public {
        Terms memory second = receiving();
        second.timelock += 1;
        fund(second);
        fund(receiving());
        armed(abi.encodeCall(ParleyEscrows.claim, (second, SECRET)));
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountSent.selector, token, 3 * AMOUNT, AMOUNT, AMOUNT
            )
        );
        claim(receiving());
        vm.assertEq(here(address(token)), 3 * AMOUNT, "as before");
    }

    function test_funding_the_same_terms_from_the_hook_is_refused() public {
        Terms memory terms = receiving();
        terms.refund = address(attacker);
        terms.payout = RECIPIENT;
        Attacker pool = attacker;
        // the hook of the sender is not used, so the contract itself is made the hooked receiver
        vm.prank(address(escrows));
        token.register(address(pool));
        armed(abi.encodeCall(ParleyEscrows.fund, (terms)));
        pool.fund(terms);
        vm.assertEq(pool.tried(), 1, "tried");
        vm.assertEq(pool.succeeded(), 0, "and failed");
        vm.assertEq(here(address(token)), 2 * AMOUNT, "funded once");
    }

    function test_funding_other_terms_from_the_hook_takes_both_back() public {
        Terms memory terms = termsOf(address(token));
        terms.refund = address(attacker);
        Terms memory second = altered(terms, 5);
        vm.prank(address(escrows));
        token.register(address(attacker));
        armed(abi.encodeCall(ParleyEscrows.fund, (second)));
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountReceived.selector, token, AMOUNT, 3 * AMOUNT, AMOUNT
            )
        );
        attacker.fund(terms);
    }

    /// Half of what a funding owes is missing, and the other half comes by a second funding within:
    /// the sum looks right, and half an escrow more is owed than is here.
    function test_a_funding_within_never_makes_up_for_what_a_funding_lacks() public {
        Crooked leaky = new Crooked();
        Terms memory terms = prepared(leaky);
        terms.refund = FUNDER;
        Terms memory second = altered(terms, 5);
        second.refund = address(attacker);
        second.amount = AMOUNT / 2;
        leaky.cheat(FUNDER, AMOUNT / 2, 0);
        leaky.register(address(escrows), address(attacker));
        armed(abi.encodeCall(ParleyEscrows.fund, (second)));
        expectError(abi.encodeWithSelector(ParleyEscrows.FundedWithin.selector, leaky));
        fund(terms);
        attacker.arm("");
        attacker.armGift(address(leaky), AMOUNT / 2); // a gift may: nothing is owed for it
        fund(terms);
        vm.assertEq(here(address(leaky)), 2 * AMOUNT, "what is owed");
    }

    /// Who signs and has code could be called by a token too, on a chain that gives code to
    /// accounts: then that its sender is the origin says nothing.
    function test_a_funding_within_by_a_signer_with_code_is_noticed() public {
        Crooked leaky = new Crooked();
        Terms memory terms = prepared(leaky);
        Terms memory second = altered(terms, 5);
        second.refund = address(attacker);
        second.amount = AMOUNT / 2;
        leaky.cheat(FUNDER, AMOUNT / 2, 0);
        leaky.register(address(escrows), address(attacker));
        armed(abi.encodeCall(ParleyEscrows.fund, (second)));
        expectError(abi.encodeWithSelector(ParleyEscrows.FundedWithin.selector, leaky));
        vm.prank(FUNDER, address(attacker));
        escrows.fund(terms);
    }

    /// That it has no code says nothing either: a contract has none while it is made.
    function test_a_funding_within_by_a_contract_in_the_making_is_noticed() public {
        Crooked leaky = new Crooked();
        Terms memory terms = prepared(leaky);
        Terms memory second = altered(terms, 5);
        second.amount = AMOUNT / 2;
        leaky.cheat(FUNDER, AMOUNT / 2, 0);
        leaky.register(address(escrows), address(new Nursery(address(escrows), second)));
        expectError(abi.encodeWithSelector(ParleyEscrows.FundedWithin.selector, leaky));
        fund(terms);
    }

    /// The same on the way out, by a token that takes more than the amount from this contract.
    function test_a_funding_within_never_makes_up_for_what_a_payment_took_too_much() public {
        for (uint256 i = 0; i < 3; i++) {
            vm.warp(NOW);
            Crooked greedy = new Crooked();
            Terms memory terms = prepared(greedy);
            terms.payout = address(attacker);
            terms.refund = address(attacker);
            attacker.arm("");
            attacker.fund(terms);
            Terms memory second = altered(terms, 5);
            second.timelock += 1 days;
            second.amount = 5;
            greedy.cheat(address(escrows), 0, 5);
            greedy.register(address(attacker), address(attacker));
            armed(abi.encodeCall(ParleyEscrows.fund, (second)));
            if (i > 0) vm.warp(TIMELOCK);
            expectError(abi.encodeWithSelector(ParleyEscrows.FundedWithin.selector, greedy));
            if (i == 0) {
                claim(terms);
            } else if (i == 1) {
                refund(terms);
            } else {
                vm.prank(address(attacker));
                escrows.refundPart(terms, AMOUNT);
            }
        }
    }

    /// Money of somebody else in the contract, and all parties stocked and approved.
    function prepared(Crooked made) private returns (Terms memory terms) {
        give(address(made), FUNDER, AMOUNT * 10);
        made.mint(address(attacker), AMOUNT * 10);
        attacker.approve(address(made));
        terms = termsOf(address(made));
        Terms memory other = altered(terms, 1);
        fund(other);
    }

    function test_trx_claims_and_refunds_within_a_payment_gain_nothing() public {
        for (uint256 i = 0; i < 2; i++) {
            vm.warp(NOW);
            Terms memory terms = native();
            terms.timelock += i;
            if (i == 0) terms.payout = address(attacker);
            else terms.refund = address(attacker);
            vm.deal(address(attacker), AMOUNT * i);
            attacker.arm("");
            vm.prank(terms.refund);
            escrows.fund{value: AMOUNT}(terms);
            vm.deal(address(escrows), 3 * AMOUNT);
            if (i == 1) vm.warp(terms.timelock);
            armed(
                i == 0
                    ? abi.encodeCall(ParleyEscrows.claim, (terms, SECRET))
                    : abi.encodeCall(ParleyEscrows.refund, (terms))
            );
            uint256 before = address(attacker).balance;
            if (i == 0) claim(terms);
            else refund(terms);
            vm.assertEq(address(attacker).balance - before, AMOUNT, "once");
        }
        vm.assertEq(attacker.tried(), 2, "tried");
        vm.assertEq(attacker.succeeded(), 0, "and failed");
    }
}
