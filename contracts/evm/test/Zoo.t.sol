// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {Terms} from "../src/Terms.sol";
import {Erc20} from "../src/Erc20.sol";
import {ParleyEscrow} from "../src/ParleyEscrow.sol";
import {ParleyFactory} from "../src/ParleyFactory.sol";
import {DevTether} from "../dev/DevTether.sol";
import {FeeToken} from "../dev/FeeToken.sol";
import {ReturnsFalse} from "../dev/ReturnsFalse.sol";
import "./zoo/Tokens.sol";

/// @notice One expectation for each strange token.
contract ZooTest is Base {
    function stocked(address token) internal returns (Terms memory) {
        give(token, FUNDER, AMOUNT * 10);
        return termsOf(token);
    }

    function paysAndRefunds(address token) internal {
        Terms memory terms = stocked(token);
        uint256 before = held(token, FUNDER);
        ParleyEscrow escrow = fund(terms);
        expectClaimed(escrow);
        claim(escrow, terms);
        vm.assertEq(held(token, RECIPIENT), AMOUNT, "paid");
        terms.timelock += 1;
        escrow = fund(terms);
        vm.warp(terms.timelock);
        expectRefunded(escrow);
        refund(escrow, terms);
        vm.assertEq(held(token, FUNDER), before - AMOUNT, "refunded");
    }

    function refusedAtFunding(Terms memory terms, uint256 before, uint256 held_) internal {
        expectError(
            abi.encodeWithSelector(
                ParleyFactory.WrongAmountReceived.selector, terms.token, before, held_, AMOUNT
            )
        );
        fund(terms);
        vm.assertEq(factory.escrowOf(terms).code.length, 0, "nothing was deployed");
    }

    function test_normal_pays_and_refunds() public {
        paysAndRefunds(address(dollar));
    }

    function test_no_return_pays_and_refunds() public {
        paysAndRefunds(address(new DevTether()));
    }

    function test_false_on_success_pays_and_refunds() public {
        paysAndRefunds(address(new ReturnsFalse()));
    }

    function test_false_without_moving_is_refused_at_funding() public {
        refusedAtFunding(stocked(address(new FalseWithoutMoving())), 0, 0);
    }

    function test_true_without_moving_is_refused_at_funding() public {
        refusedAtFunding(stocked(address(new TrueWithoutMoving())), 0, 0);
    }

    function test_true_without_moving_is_refused_even_if_the_escrow_was_paid_ahead() public {
        TrueWithoutMoving token = new TrueWithoutMoving();
        Terms memory terms = stocked(address(token));
        token.mint(factory.escrowOf(terms), AMOUNT);
        refusedAtFunding(terms, AMOUNT, AMOUNT);
    }

    function test_false_without_moving_turned_on_later_claims_nothing() public {
        FalseWithoutMoving token = new FalseWithoutMoving();
        Terms memory terms = stocked(address(token));
        token.set(false);
        ParleyEscrow escrow = fund(terms);
        token.set(true);
        expectError(
            abi.encodeWithSelector(
                ParleyEscrow.WrongAmountSent.selector, token, AMOUNT, AMOUNT, AMOUNT
            )
        );
        claim(escrow, terms);
        token.set(false);
        claim(escrow, terms);
        vm.assertEq(token.balanceOf(RECIPIENT), AMOUNT, "paid when it moves again");
    }

    /// Documented: a refund is not checked, so watchers need the log AND an empty balance.
    function test_a_refund_that_moved_nothing_can_be_repeated() public {
        FalseWithoutMoving token = new FalseWithoutMoving();
        Terms memory terms = stocked(address(token));
        token.set(false);
        ParleyEscrow escrow = fund(terms);
        token.set(true);
        vm.warp(TIMELOCK);
        refund(escrow, terms);
        vm.assertEq(token.balanceOf(address(escrow)), AMOUNT, "still there");
        token.set(false);
        refund(escrow, terms);
        vm.assertEq(token.balanceOf(address(escrow)), 0, "left");
    }

    function test_a_fee_is_refused_at_funding() public {
        Terms memory terms = stocked(address(new FeeToken()));
        refusedAtFunding(terms, 0, AMOUNT * 99 / 100);
    }

    function test_a_fee_is_refused_even_if_a_gift_makes_up_for_it() public {
        FeeToken token = new FeeToken();
        Terms memory terms = stocked(address(token));
        token.mint(factory.escrowOf(terms), AMOUNT / 100);
        refusedAtFunding(terms, AMOUNT / 100, AMOUNT);
    }

    /// The escrow still loses exactly the amount, and the fee is between token and receiver.
    function test_a_fee_from_the_receiver_turned_on_later_is_the_receivers_and_refund_leaves()
        public
    {
        FeeToken token = new FeeToken();
        Terms memory terms = stocked(address(token));
        token.setFee(0);
        ParleyEscrow escrow = fund(terms);
        token.setFee(100);
        claim(escrow, terms);
        vm.assertEq(token.balanceOf(RECIPIENT), AMOUNT * 99 / 100, "less the token's fee");
        vm.assertEq(token.balanceOf(address(escrow)), 0, "exactly the amount left");
        token.setFee(0);
        terms.timelock += 1;
        escrow = fund(terms);
        token.setFee(10_000);
        vm.warp(terms.timelock);
        refund(escrow, terms);
        vm.assertEq(token.balanceOf(address(escrow)), 0, "a fee of everything still leaves");
    }

    function test_a_fee_from_the_sender_turned_on_later_refuses_the_claim_and_refund_leaves()
        public
    {
        ChargesTheSender token = new ChargesTheSender();
        Terms memory terms = stocked(address(token));
        address ahead = factory.escrowOf(terms);
        token.mint(ahead, 2);
        ParleyEscrow escrow = fund(terms);
        token.set(1);
        expectError(
            abi.encodeWithSelector(
                ParleyEscrow.WrongAmountSent.selector, token, AMOUNT + 2, 1, AMOUNT
            )
        );
        claim(escrow, terms);
        token.set(0);
        vm.warp(TIMELOCK);
        refund(escrow, terms);
        vm.assertEq(token.balanceOf(address(escrow)), 0, "left");
    }

    function test_a_token_that_moves_more_than_told_is_refused_both_ways() public {
        MovesAll token = new MovesAll();
        Terms memory terms = stocked(address(token));
        token.set(true);
        refusedAtFunding(terms, 0, AMOUNT * 10);
        token.set(false);
        token.mint(factory.escrowOf(terms), 5);
        ParleyEscrow escrow = fund(terms);
        token.set(true);
        expectError(
            abi.encodeWithSelector(
                ParleyEscrow.WrongAmountSent.selector, token, AMOUNT + 5, 0, AMOUNT
            )
        );
        claim(escrow, terms);
    }

    /// Without its own check, 2^256 - 1 would wrap around: before - 1 is before + (2^256 - 1).
    function test_an_escrow_that_gets_poorer_is_refused_for_every_amount() public {
        GoesBackwards token = new GoesBackwards();
        Terms memory terms = termsOf(address(token));
        terms.amount = type(uint256).max;
        give(address(token), FUNDER, 1);
        token.mint(factory.escrowOf(terms), 1);
        expectError(
            abi.encodeWithSelector(
                ParleyFactory.WrongAmountReceived.selector, token, 1, 0, terms.amount
            )
        );
        fund(terms);
    }

    function test_rebasing_down_refuses_the_claim_and_the_rest_is_refunded() public {
        Rebasing token = new Rebasing();
        Terms memory terms = stocked(address(token));
        ParleyEscrow escrow = fund(terms);
        token.set(50);
        expectError(
            abi.encodeWithSelector(ParleyEscrow.BalanceTooLow.selector, AMOUNT / 2, AMOUNT)
        );
        claim(escrow, terms);
        uint256 before = token.balanceOf(FUNDER);
        vm.warp(TIMELOCK);
        refund(escrow, terms);
        vm.assertEq(token.balanceOf(FUNDER) - before, AMOUNT / 2, "what is left");
    }

    function test_rebasing_up_pays_the_amount_and_the_rest_is_refunded() public {
        Rebasing token = new Rebasing();
        Terms memory terms = stocked(address(token));
        ParleyEscrow escrow = fund(terms);
        token.set(200);
        claim(escrow, terms);
        vm.assertEq(token.balanceOf(RECIPIENT), AMOUNT, "the amount");
        uint256 before = token.balanceOf(FUNDER);
        vm.warp(TIMELOCK);
        refund(escrow, terms);
        vm.assertEq(token.balanceOf(FUNDER) - before, AMOUNT, "the rest");
    }

    /// Tokens that round (stETH loses a unit now and then) are not for escrows that count units.
    function test_rebasing_that_rounds_refuses_the_claim_and_is_refunded() public {
        Rebasing token = new Rebasing();
        Terms memory terms = stocked(address(token));
        ParleyEscrow escrow = fund(terms);
        token.set(150);
        expectError(
            abi.encodeWithSelector(
                ParleyEscrow.WrongAmountSent.selector,
                token,
                AMOUNT * 3 / 2,
                AMOUNT / 2 + 1,
                AMOUNT
            )
        );
        claim(escrow, terms);
        vm.warp(TIMELOCK);
        refund(escrow, terms);
        vm.assertEq(token.balanceOf(address(escrow)), 0, "refunded");
    }

    function test_a_listed_recipient_can_be_paid_when_off_the_list_or_else_it_is_refunded()
        public
    {
        Blacklisting token = new Blacklisting();
        Terms memory terms = stocked(address(token));
        ParleyEscrow escrow = fund(terms);
        token.set(RECIPIENT, true);
        expectError(abi.encodeWithSelector(Erc20.TokenCallFailed.selector, token));
        claim(escrow, terms);
        token.set(RECIPIENT, false);
        claim(escrow, terms);
        vm.assertEq(token.balanceOf(RECIPIENT), AMOUNT, "paid");
        terms.timelock += 1;
        escrow = fund(terms);
        token.set(RECIPIENT, true);
        vm.warp(terms.timelock);
        refund(escrow, terms);
        vm.assertEq(token.balanceOf(address(escrow)), 0, "refunded");
    }

    function test_a_listed_funder_or_escrow_waits_and_is_refunded_when_off_the_list() public {
        Blacklisting token = new Blacklisting();
        Terms memory terms = stocked(address(token));
        ParleyEscrow escrow = fund(terms);
        vm.warp(TIMELOCK);
        address[2] memory listed = [FUNDER, address(escrow)];
        for (uint256 i = 0; i < 2; i++) {
            token.set(listed[i], true);
            expectError(abi.encodeWithSelector(Erc20.TokenCallFailed.selector, token));
            refund(escrow, terms);
            token.set(listed[i], false);
        }
        refund(escrow, terms);
        vm.assertEq(token.balanceOf(address(escrow)), 0, "refunded");
    }

    function test_a_paused_token_is_refused_at_funding_and_waits_afterwards() public {
        Pausable token = new Pausable();
        Terms memory terms = stocked(address(token));
        bytes memory refusal = abi.encodeWithSelector(Erc20.TokenCallFailed.selector, token);
        token.set(true);
        expectError(refusal);
        fund(terms);
        token.set(false);
        ParleyEscrow escrow = fund(terms);
        token.set(true);
        expectError(refusal);
        claim(escrow, terms);
        vm.warp(TIMELOCK);
        expectError(refusal);
        refund(escrow, terms);
        token.set(false);
        refund(escrow, terms);
        vm.assertEq(token.balanceOf(address(escrow)), 0, "refunded");
    }

    /// A megabyte costs the token itself 2.0 million gas; copying it would cost as much again.
    function test_a_huge_answer_is_never_copied() public {
        HugeAnswer token = new HugeAnswer();
        Terms memory terms = stocked(address(token));
        vm.prank(FUNDER);
        ParleyEscrow escrow = ParleyEscrow(factory.fund{gas: 2_400_000}(terms));
        vm.prank(STRANGER);
        escrow.claim{gas: 2_400_000}(terms, SECRET);
        vm.assertEq(token.balanceOf(RECIPIENT), AMOUNT, "paid");
        terms.timelock += 1;
        escrow = fund(terms);
        vm.warp(terms.timelock);
        escrow.refund{gas: 2_400_000}(terms);
        vm.assertEq(token.balanceOf(address(escrow)), 0, "refunded");
    }

    function test_a_huge_revert_is_never_copied() public {
        HugeAnswer token = new HugeAnswer();
        Terms memory terms = stocked(address(token));
        ParleyEscrow escrow = fund(terms);
        token.set(true);
        expectError(abi.encodeWithSelector(Erc20.TokenCallFailed.selector, token));
        escrow.claim{gas: 2_400_000}(terms, SECRET);
    }

    function test_a_balance_that_is_no_word_or_reverts_is_refused_everywhere() public {
        ShortBalance token = new ShortBalance();
        Terms memory terms = stocked(address(token));
        bytes memory refusal = abi.encodeWithSelector(Erc20.TokenCallFailed.selector, token);
        for (uint256 mode = 1; mode <= 2; mode++) {
            token.set(mode);
            expectError(refusal);
            fund(terms);
        }
        token.set(0);
        ParleyEscrow escrow = fund(terms);
        for (uint256 mode = 1; mode <= 2; mode++) {
            token.set(mode);
            vm.warp(NOW);
            expectError(refusal);
            claim(escrow, terms);
            vm.warp(TIMELOCK);
            expectError(refusal);
            refund(escrow, terms);
        }
        token.set(0);
        refund(escrow, terms);
    }

    function test_a_token_whose_code_vanished_announces_neither_claim_nor_refund() public {
        Terms memory terms = termsOf(address(dollar));
        ParleyEscrow escrow = fund(terms);
        vm.etch(address(dollar), "");
        bytes memory refusal =
            abi.encodeWithSelector(Erc20.TokenCallFailed.selector, address(dollar));
        expectError(refusal);
        claim(escrow, terms);
        vm.warp(TIMELOCK);
        expectError(refusal);
        refund(escrow, terms);
    }

    function test_tether_refuses_a_second_approval_until_it_is_zero() public {
        DevTether token = new DevTether();
        stocked(address(token));
        expectError(
            abi.encodeWithSelector(DevTether.AllowanceNotZero.selector, factory, type(uint256).max)
        );
        vm.prank(FUNDER);
        token.approve(address(factory), 1);
        vm.prank(FUNDER);
        token.approve(address(factory), 0);
        vm.prank(FUNDER);
        token.approve(address(factory), 1);
        vm.assertEq(token.allowance(FUNDER, address(factory)), 1, "set");
    }
}
