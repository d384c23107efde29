// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {Terms} from "evm/src/Terms.sol";
import {Erc20} from "evm/src/Erc20.sol";
import {DevTether} from "evm/dev/DevTether.sol";
import {FeeToken} from "evm/dev/FeeToken.sol";
import {ReturnsFalse} from "evm/dev/ReturnsFalse.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import "evm/test/zoo/Tokens.sol";

/// @notice Everybody holds the same, and paying makes it more.
contract Paradox {
    uint256 private _held;

    function set(uint256 held_) external {
        _held = held_;
    }

    function balanceOf(address) external view returns (uint256) {
        return _held;
    }

    function transferFrom(address, address, uint256 value) external {
        _held += value;
    }

    function transfer(address, uint256) external {
        _held += 1;
    }
}

/// @notice One expectation for each strange token. Beside each escrow there is always another one
///         of the same token, whose money must stay.
contract ZooTest is Base {
    function stocked(address token) internal returns (Terms memory) {
        give(token, FUNDER, AMOUNT * 10);
        return termsOf(token);
    }

    function beside(Terms memory terms) internal returns (Terms memory other) {
        other = altered(terms, 1);
        fund(other);
    }

    function paysAndRefunds(address token) internal {
        Terms memory terms = stocked(token);
        Terms memory other = beside(terms);
        uint256 before = held(token, FUNDER);
        fund(terms);
        claim(terms);
        vm.assertEq(held(token, RECIPIENT), AMOUNT, "paid");
        terms.timelock += 1;
        fund(terms);
        vm.warp(terms.timelock);
        refund(terms);
        vm.assertEq(held(token, FUNDER), before - AMOUNT, "refunded");
        vm.assertEq(here(token), AMOUNT, "the other's");
        refund(other);
        vm.assertEq(here(token), 0, "empty");
    }

    function wrongIn(Terms memory terms, uint256 before, uint256 after_) internal {
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountReceived.selector, terms.token, before, after_, AMOUNT
            )
        );
        fund(terms);
        vm.assertEq(statusOf(terms), 0, "nothing recorded");
    }

    function expectWrongOut(address token, uint256 before, uint256 after_, uint256 sent) internal {
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountSent.selector, token, before, after_, sent
            )
        );
    }

    function refundPart(Terms memory terms, uint256 part) internal {
        vm.prank(FUNDER);
        escrows.refundPart(terms, part);
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

    function test_answers_without_moving_are_refused_at_funding() public {
        wrongIn(stocked(address(new FalseWithoutMoving())), 0, 0);
        wrongIn(stocked(address(new TrueWithoutMoving())), 0, 0);
    }

    function test_answers_without_moving_are_refused_even_if_money_lies_here() public {
        TrueWithoutMoving token = new TrueWithoutMoving();
        Terms memory terms = stocked(address(token));
        token.mint(address(escrows), AMOUNT);
        wrongIn(terms, AMOUNT, AMOUNT);
    }

    function test_moving_nothing_turned_on_later_settles_nothing() public {
        FalseWithoutMoving token = new FalseWithoutMoving();
        Terms memory terms = stocked(address(token));
        token.set(false);
        Terms memory other = beside(terms);
        fund(terms);
        token.set(true);
        expectWrongOut(address(token), 2 * AMOUNT, 2 * AMOUNT, AMOUNT);
        claim(terms);
        token.set(false);
        claim(terms);
        token.set(true);
        vm.warp(TIMELOCK);
        expectWrongOut(address(token), AMOUNT, AMOUNT, AMOUNT);
        refund(other);
        expectWrongOut(address(token), AMOUNT, AMOUNT, 1);
        refundPart(other, 1);
        token.set(false);
        refund(other);
        vm.assertEq(here(address(token)), 0, "left");
    }

    function test_a_fee_is_refused_at_funding() public {
        FeeToken token = new FeeToken();
        wrongIn(stocked(address(token)), 0, AMOUNT * 99 / 100);
    }

    /// The contract still loses exactly the amount: the fee is between token and receiver.
    function test_a_fee_from_the_receiver_turned_on_later_is_the_receivers_and_refund_leaves()
        public
    {
        FeeToken token = new FeeToken();
        Terms memory terms = stocked(address(token));
        token.setFee(0);
        Terms memory other = beside(terms);
        fund(terms);
        token.setFee(100);
        claim(terms);
        vm.assertEq(token.balanceOf(RECIPIENT), AMOUNT * 99 / 100, "less the token's fee");
        token.setFee(10_000);
        vm.warp(TIMELOCK);
        refund(other);
        vm.assertEq(here(address(token)), 0, "a fee of everything still leaves");
    }

    function test_a_fee_from_the_sender_turned_on_later_never_takes_what_is_anothers() public {
        ChargesTheSender token = new ChargesTheSender();
        Terms memory terms = stocked(address(token));
        Terms memory other = beside(terms);
        fund(terms);
        token.set(3);
        expectWrongOut(address(token), 2 * AMOUNT, AMOUNT - 3, AMOUNT);
        claim(terms);
        vm.warp(TIMELOCK);
        expectWrongOut(address(token), 2 * AMOUNT, AMOUNT - 3, AMOUNT);
        refund(terms);
        expectWrongOut(address(token), 2 * AMOUNT, AMOUNT - 1, AMOUNT - 2);
        refundPart(terms, AMOUNT - 2);
        uint256 before = token.balanceOf(FUNDER);
        refundPart(terms, AMOUNT - 3);
        vm.assertEq(token.balanceOf(FUNDER) - before, AMOUNT - 3, "less the fee");
        vm.assertEq(here(address(token)), AMOUNT, "the other's");
        token.set(0);
        refund(other);
    }

    function test_a_token_that_moves_more_than_told_is_refused_all_ways() public {
        MovesAll token = new MovesAll();
        Terms memory terms = stocked(address(token));
        token.set(true);
        wrongIn(terms, 0, AMOUNT * 10);
        token.set(false);
        beside(terms);
        fund(terms);
        token.set(true);
        expectWrongOut(address(token), 2 * AMOUNT, 0, AMOUNT);
        claim(terms);
        vm.warp(TIMELOCK);
        expectWrongOut(address(token), 2 * AMOUNT, 0, AMOUNT);
        refund(terms);
        expectWrongOut(address(token), 2 * AMOUNT, 0, 1);
        refundPart(terms, 1);
    }

    /// Without its own check, 2^256 - 1 would wrap around: before - 1 is before + (2^256 - 1).
    function test_getting_poorer_is_refused_for_every_amount() public {
        GoesBackwards token = new GoesBackwards();
        Terms memory terms = termsOf(address(token));
        terms.amount = type(uint256).max;
        give(address(token), FUNDER, 1);
        token.mint(address(escrows), 1);
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountReceived.selector, token, 1, 0, terms.amount
            )
        );
        fund(terms);
    }

    /// Without its own check, 5 - 6 would wrap around to an amount that is owed.
    function test_getting_richer_by_a_payment_is_refused_for_every_amount() public {
        Paradox token = new Paradox();
        Terms memory terms = termsOf(address(token));
        terms.amount = type(uint256).max;
        fund(terms);
        token.set(5);
        vm.warp(TIMELOCK);
        expectWrongOut(address(token), 5, 6, 1);
        refundPart(terms, 1);
    }

    /// Documented: with a token that shrinks what lies here, who comes first is paid.
    function test_rebasing_down_pays_who_comes_first_and_the_last_takes_what_is_left() public {
        Rebasing token = new Rebasing();
        Terms memory terms = stocked(address(token));
        Terms memory other = beside(terms);
        fund(terms);
        token.set(80);
        claim(terms);
        vm.assertEq(token.balanceOf(RECIPIENT), AMOUNT, "the amount");
        vm.warp(TIMELOCK);
        expectError(abi.encodeWithSelector(Erc20.TokenCallFailed.selector, token));
        refund(other);
        uint256 before = token.balanceOf(FUNDER);
        refundPart(other, here(address(token)));
        vm.assertEq(token.balanceOf(FUNDER) - before, AMOUNT * 6 / 10, "what is left");
    }

    function test_rebasing_up_pays_the_amount_and_the_rest_is_nobodys() public {
        Rebasing token = new Rebasing();
        Terms memory terms = stocked(address(token));
        fund(terms);
        token.set(200);
        claim(terms);
        vm.assertEq(token.balanceOf(RECIPIENT), AMOUNT, "the amount");
        vm.assertEq(here(address(token)), AMOUNT, "the rest");
    }

    /// Tokens that round (stETH loses a unit now and then) are not for escrows that count units.
    function test_rebasing_that_rounds_refuses_claim_and_refund_and_leaves_by_a_part() public {
        Rebasing token = new Rebasing();
        Terms memory terms = stocked(address(token));
        fund(terms);
        token.set(150);
        expectWrongOut(address(token), AMOUNT * 3 / 2, AMOUNT / 2 + 1, AMOUNT);
        claim(terms);
        vm.warp(TIMELOCK);
        expectWrongOut(address(token), AMOUNT * 3 / 2, AMOUNT / 2 + 1, AMOUNT);
        refund(terms);
        refundPart(terms, AMOUNT);
        vm.assertEq(statusOf(terms), REFUNDED, "left");
    }

    function test_a_listed_recipient_can_be_paid_when_off_the_list_or_else_it_is_refunded()
        public
    {
        Blacklisting token = new Blacklisting();
        Terms memory terms = stocked(address(token));
        fund(terms);
        token.set(RECIPIENT, true);
        expectError(abi.encodeWithSelector(Erc20.TokenCallFailed.selector, token));
        claim(terms);
        token.set(RECIPIENT, false);
        claim(terms);
        vm.assertEq(token.balanceOf(RECIPIENT), AMOUNT, "paid");
        terms.timelock += 1;
        fund(terms);
        token.set(RECIPIENT, true);
        vm.warp(terms.timelock);
        refund(terms);
        vm.assertEq(here(address(token)), 0, "refunded");
    }

    function test_a_listed_funder_or_contract_waits_and_is_refunded_when_off_the_list() public {
        Blacklisting token = new Blacklisting();
        Terms memory terms = stocked(address(token));
        fund(terms);
        vm.warp(TIMELOCK);
        address[2] memory listed = [FUNDER, address(escrows)];
        for (uint256 i = 0; i < 2; i++) {
            token.set(listed[i], true);
            expectError(abi.encodeWithSelector(Erc20.TokenCallFailed.selector, token));
            refund(terms);
            token.set(listed[i], false);
        }
        refund(terms);
    }

    function test_a_paused_token_is_refused_at_funding_and_waits_afterwards() public {
        Pausable token = new Pausable();
        Terms memory terms = stocked(address(token));
        bytes memory refusal = abi.encodeWithSelector(Erc20.TokenCallFailed.selector, token);
        token.set(true);
        expectError(refusal);
        fund(terms);
        token.set(false);
        fund(terms);
        token.set(true);
        expectError(refusal);
        claim(terms);
        vm.warp(TIMELOCK);
        expectError(refusal);
        refund(terms);
        token.set(false);
        refund(terms);
        vm.assertEq(here(address(token)), 0, "refunded");
    }

    /// A megabyte costs the token itself 2.0 million gas; copying it would cost as much again.
    function test_a_huge_answer_is_never_copied() public {
        HugeAnswer token = new HugeAnswer();
        Terms memory terms = stocked(address(token));
        vm.prank(FUNDER);
        escrows.fund{gas: 2_400_000}(terms);
        escrows.claim{gas: 2_400_000}(terms, SECRET);
        vm.assertEq(token.balanceOf(RECIPIENT), AMOUNT, "paid");
        terms.timelock += 1;
        fund(terms);
        vm.warp(terms.timelock);
        escrows.refund{gas: 2_400_000}(terms);
        vm.assertEq(here(address(token)), 0, "refunded");
    }

    function test_a_huge_revert_is_never_copied() public {
        HugeAnswer token = new HugeAnswer();
        Terms memory terms = stocked(address(token));
        fund(terms);
        token.set(true);
        expectError(abi.encodeWithSelector(Erc20.TokenCallFailed.selector, token));
        escrows.claim{gas: 2_400_000}(terms, SECRET);
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
        fund(terms);
        for (uint256 mode = 1; mode <= 2; mode++) {
            token.set(mode);
            vm.warp(NOW);
            expectError(refusal);
            claim(terms);
            vm.warp(TIMELOCK);
            expectError(refusal);
            refund(terms);
        }
        token.set(0);
        refund(terms);
    }

    function test_a_token_whose_code_vanished_settles_nothing() public {
        Terms memory terms = termsOf(address(dollar));
        fund(terms);
        vm.etch(address(dollar), "");
        bytes memory refusal =
            abi.encodeWithSelector(Erc20.TokenCallFailed.selector, address(dollar));
        expectError(refusal);
        claim(terms);
        vm.warp(TIMELOCK);
        expectError(refusal);
        refund(terms);
        expectError(refusal);
        refundPart(terms, 1);
        vm.assertEq(statusOf(terms), FUNDED, "as it was");
    }
}
