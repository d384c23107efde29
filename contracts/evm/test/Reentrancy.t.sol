// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {Terms} from "../src/Terms.sol";
import {Erc20} from "../src/Erc20.sol";
import {ParleyEscrow} from "../src/ParleyEscrow.sol";
import {ParleyFactory} from "../src/ParleyFactory.sol";
import {Hooked, Hooks} from "./zoo/Tokens.sol";

/// @notice Sits at both ends of a hook token and calls back in the middle of a transfer.
contract Attacker is Hooked {
    enum Plan {
        Nothing,
        ClaimAgain,
        RefundInstead,
        FundAgain,
        ClaimThenPayBack
    }

    ParleyFactory private immutable _factory;
    Hooks private immutable _token;
    Plan public plan;
    Terms private _terms;
    bytes32 private _secret;
    bool private _inside;
    uint256 public tried;
    uint256 public succeeded;

    constructor(ParleyFactory factory, Hooks token) {
        _factory = factory;
        _token = token;
        token.register(address(this));
        token.approve(address(factory), type(uint256).max);
    }

    function arm(Plan next, Terms calldata terms, bytes32 secret) external {
        plan = next;
        _terms = terms;
        _secret = secret;
    }

    function fund(Terms calldata terms) external returns (ParleyEscrow) {
        return ParleyEscrow(_factory.fund(terms));
    }

    function tokensToSend(address, address, uint256) external {
        _act();
    }

    function tokensReceived(address, address, uint256) external {
        _act();
    }

    function _act() private {
        if (_inside || plan == Plan.Nothing) return;
        _inside = true;
        tried += 1;
        ParleyEscrow escrow = ParleyEscrow(_factory.escrowOf(_terms));
        bytes memory call_ = plan == Plan.RefundInstead
            ? abi.encodeCall(ParleyEscrow.refund, (_terms))
            : abi.encodeCall(ParleyEscrow.claim, (_terms, _secret));
        if (plan == Plan.FundAgain) {
            // most of the gas stays here: a collision burns what it is given
            try _factory.fund{gas: 200_000}(_terms) {
                succeeded += 1;
            } catch {}
        } else {
            (bool ok,) = address(escrow).call(call_);
            if (ok) succeeded += 1;
            if (ok && plan == Plan.ClaimThenPayBack) {
                _token.transfer(address(escrow), _terms.amount);
            }
        }
        _inside = false;
    }
}

contract ReentrancyTest is Base {
    Hooks internal token;
    Attacker internal attacker;

    function setUp() public override {
        super.setUp();
        token = new Hooks();
        attacker = new Attacker(factory, token);
        give(address(token), FUNDER, AMOUNT * 10);
        token.mint(address(attacker), AMOUNT * 10);
    }

    function receiving() internal view returns (Terms memory terms) {
        terms = termsOf(address(token));
        terms.payout = address(attacker);
    }

    function funding() internal view returns (Terms memory terms) {
        terms = termsOf(address(token));
        terms.refund = address(attacker);
    }

    function test_a_hooked_recipient_that_behaves_is_paid() public {
        Terms memory terms = receiving();
        ParleyEscrow escrow = fund(terms);
        claim(escrow, terms);
        vm.assertEq(token.balanceOf(address(attacker)), AMOUNT * 11, "paid");
    }

    function test_claiming_again_from_the_hook_finds_nothing() public {
        for (uint256 early = 0; early < 2; early++) {
            token.set(early == 1);
            Terms memory terms = receiving();
            terms.timelock += early;
            ParleyEscrow escrow = fund(terms);
            uint256 before = token.balanceOf(address(attacker));
            attacker.arm(Attacker.Plan.ClaimAgain, terms, SECRET);
            // early: the inner claim takes the amount, so the outer one has nothing and fails
            vm.prank(STRANGER);
            (bool ok,) = address(escrow).call(abi.encodeCall(ParleyEscrow.claim, (terms, SECRET)));
            uint256 paid = token.balanceOf(address(attacker)) - before;
            vm.assertEq(paid, ok ? AMOUNT : 0, "once at most");
            vm.assertEq(token.balanceOf(address(escrow)), ok ? 0 : AMOUNT, "conserved");
            vm.assertTrue(ok == (early == 0), "early hooks defeat themselves");
        }
        vm.assertEq(attacker.tried(), 1, "a reverted attempt leaves no trace");
    }

    function test_claiming_twice_in_one_call_from_a_rich_escrow_reverts_both() public {
        for (uint256 early = 0; early < 2; early++) {
            token.set(early == 1);
            Terms memory terms = receiving();
            terms.timelock += early;
            ParleyEscrow escrow = fund(terms);
            token.mint(address(escrow), AMOUNT);
            uint256 before = token.balanceOf(address(attacker));
            attacker.arm(Attacker.Plan.ClaimAgain, terms, SECRET);
            expectError(
                abi.encodeWithSelector(
                    ParleyEscrow.WrongAmountSent.selector, token, 2 * AMOUNT, 0, AMOUNT
                )
            );
            claim(escrow, terms);
            vm.assertEq(token.balanceOf(address(attacker)), before, "nothing gained");
        }
    }

    function test_paying_back_what_was_claimed_twice_gains_nothing() public {
        Terms memory terms = receiving();
        ParleyEscrow escrow = fund(terms);
        token.mint(address(escrow), AMOUNT);
        uint256 before = token.balanceOf(address(attacker));
        attacker.arm(Attacker.Plan.ClaimThenPayBack, terms, SECRET);
        claim(escrow, terms);
        vm.assertEq(attacker.succeeded(), 1, "it did claim twice");
        vm.assertEq(token.balanceOf(address(attacker)) - before, AMOUNT, "and paid one back");
        vm.assertEq(token.balanceOf(address(escrow)), AMOUNT, "the stray is still there");
    }

    function test_refunding_from_the_hook_of_a_claim_is_too_early() public {
        Terms memory terms = termsOf(address(token));
        terms.payout = address(attacker);
        terms.refund = FUNDER;
        ParleyEscrow escrow = fund(terms);
        token.mint(address(escrow), AMOUNT);
        attacker.arm(Attacker.Plan.RefundInstead, terms, SECRET);
        claim(escrow, terms);
        vm.assertEq(attacker.tried(), 1, "tried");
        vm.assertEq(attacker.succeeded(), 0, "and failed");
        vm.assertEq(token.balanceOf(address(escrow)), AMOUNT, "stray untouched");
    }

    function test_refunding_from_the_hook_of_a_refund_pays_once() public {
        Terms memory terms = funding();
        ParleyEscrow escrow = attacker.fund(terms);
        attacker.arm(Attacker.Plan.RefundInstead, terms, SECRET);
        vm.warp(TIMELOCK);
        refund(escrow, terms);
        vm.assertEq(attacker.succeeded(), 0, "the second finds nothing");
        vm.assertEq(token.balanceOf(address(attacker)), AMOUNT * 10, "once");
    }

    function test_funding_the_same_terms_from_the_hook_collides() public {
        Terms memory terms = funding();
        attacker.arm(Attacker.Plan.FundAgain, terms, SECRET);
        ParleyEscrow escrow = attacker.fund(terms);
        vm.assertEq(attacker.tried(), 1, "tried");
        vm.assertEq(attacker.succeeded(), 0, "and failed");
        vm.assertEq(token.balanceOf(address(escrow)), AMOUNT, "funded once");
    }

    function test_funding_other_terms_from_the_hook_funds_both_in_full() public {
        Terms memory terms = funding();
        Terms memory other = funding();
        other.timelock += 1;
        attacker.arm(Attacker.Plan.FundAgain, other, SECRET);
        ParleyEscrow escrow = attacker.fund(terms);
        vm.assertEq(attacker.succeeded(), 1, "two escrows");
        vm.assertEq(token.balanceOf(address(escrow)), AMOUNT, "one");
        vm.assertEq(token.balanceOf(factory.escrowOf(other)), AMOUNT, "the other");
    }

    /// A claim in the middle of a funding can only take money that was there before, and then the
    /// escrow did not gain the amount.
    function test_claiming_in_the_middle_of_a_funding_refuses_the_funding() public {
        Terms memory terms = funding();
        token.mint(factory.escrowOf(terms), AMOUNT);
        attacker.arm(Attacker.Plan.ClaimAgain, terms, SECRET);
        expectError(
            abi.encodeWithSelector(
                ParleyFactory.WrongAmountReceived.selector, token, AMOUNT, AMOUNT, AMOUNT
            )
        );
        attacker.fund(terms);
        vm.assertEq(token.balanceOf(RECIPIENT), 0, "nothing left");
    }
}
