// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Signature} from "../src/Signature.sol";
import {Token} from "../src/Token.sol";
import {Paradox, TwoNames} from "./zoo/Odd.sol";
import "./zoo/Tokens.sol";

/// @notice One expectation for each strange token. Beside each escrow there is always another one
///         of the same token, whose money must stay.
contract ZooTest is Base {
    function stocked(address token) internal returns (Escrow memory) {
        give(token, funder, AMOUNT * 10);
        return escrowIn(token);
    }

    function withAnother(Escrow memory e) internal returns (Escrow memory other) {
        other = beside(e);
        fund(other);
    }

    function paysAndRefunds(address token, uint96 lane) internal {
        vm.warp(NOW);
        Escrow memory e = stocked(token);
        e.lane += lane;
        Escrow memory other = withAnother(e);
        uint256 before = held(token, funder);
        fund(e);
        claim(e);
        vm.assertEq(held(token, RECIPIENT), AMOUNT, "paid");
        e = nextOf(e);
        fund(e);
        vm.warp(TIMELOCK);
        refund(e);
        vm.assertEq(held(token, funder), before - AMOUNT, "refunded");
        vm.assertEq(here(token), AMOUNT, "the other's");
        refund(other);
        vm.assertEq(here(token), 0, "empty");
    }

    function wrongIn(Escrow memory e, uint256 before, uint256 after_) internal {
        uint256 word = wordIn(e);
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountReceived.selector, e.terms.token, before, after_, AMOUNT
            )
        );
        fund(e);
        vm.assertEq(wordIn(e), word, "the lane is as it was");
    }

    function expectWrongOut(address token, uint256 before, uint256 after_, uint256 sent) internal {
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountSent.selector, token, before, after_, sent
            )
        );
    }

    function expectFailure(address token) internal {
        expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, token));
    }

    function test_tokens_that_move_what_they_are_told_pay_and_refund_whatever_they_answer()
        public
    {
        paysAndRefunds(address(coin), 0);
        paysAndRefunds(address(new NoReturn()), 1);
        paysAndRefunds(address(new FalseOnSuccess()), 2);
    }

    function test_answers_without_moving_are_refused_at_funding_whatever_lies_here() public {
        wrongIn(stocked(address(new FalseWithoutMoving())), 0, 0);
        TrueWithoutMoving token = new TrueWithoutMoving();
        Escrow memory e = stocked(address(token));
        wrongIn(e, 0, 0);
        token.mint(address(escrows), AMOUNT);
        wrongIn(e, AMOUNT, AMOUNT);
    }

    function test_moving_nothing_turned_on_later_settles_nothing() public {
        FalseWithoutMoving token = new FalseWithoutMoving();
        Escrow memory e = stocked(address(token));
        token.set(false);
        Escrow memory other = withAnother(e);
        fund(e);
        token.set(true);
        expectWrongOut(address(token), 2 * AMOUNT, 2 * AMOUNT, AMOUNT);
        claim(e);
        token.set(false);
        claim(e);
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
        wrongIn(stocked(address(new TakesFee())), 0, AMOUNT * 99 / 100);
    }

    /// The contract still loses exactly the amount: the fee is between token and receiver.
    function test_a_fee_from_the_receiver_turned_on_later_is_the_receivers_and_refund_leaves()
        public
    {
        TakesFee token = new TakesFee();
        Escrow memory e = stocked(address(token));
        token.set(0);
        Escrow memory other = withAnother(e);
        fund(e);
        token.set(100);
        claim(e);
        vm.assertEq(token.balanceOf(RECIPIENT), AMOUNT * 99 / 100, "less the token's fee");
        token.set(10_000);
        vm.warp(TIMELOCK);
        refund(other);
        vm.assertEq(here(address(token)), 0, "a fee of everything still leaves");
    }

    function test_a_fee_from_the_sender_turned_on_later_never_takes_what_is_anothers() public {
        ChargesTheSender token = new ChargesTheSender();
        Escrow memory e = stocked(address(token));
        Escrow memory other = withAnother(e);
        fund(e);
        token.set(3);
        expectWrongOut(address(token), 2 * AMOUNT, AMOUNT - 3, AMOUNT);
        claim(e);
        vm.warp(TIMELOCK);
        expectWrongOut(address(token), 2 * AMOUNT, AMOUNT - 3, AMOUNT);
        refund(e);
        expectWrongOut(address(token), 2 * AMOUNT, AMOUNT - 1, AMOUNT - 2);
        refundPart(e, AMOUNT - 2);
        uint256 before = token.balanceOf(funder);
        refundPart(e, AMOUNT - 3);
        vm.assertEq(token.balanceOf(funder) - before, AMOUNT - 3, "less the fee");
        vm.assertEq(here(address(token)), AMOUNT, "the other's");
        token.set(0);
        refund(other);
    }

    function test_a_token_that_moves_more_than_told_is_refused_all_ways() public {
        MovesAll token = new MovesAll();
        Escrow memory e = stocked(address(token));
        token.set(true);
        wrongIn(e, 0, AMOUNT * 10);
        token.set(false);
        withAnother(e);
        fund(e);
        token.set(true);
        expectWrongOut(address(token), 2 * AMOUNT, 0, AMOUNT);
        claim(e);
        vm.warp(TIMELOCK);
        expectWrongOut(address(token), 2 * AMOUNT, 0, AMOUNT);
        refund(e);
        expectWrongOut(address(token), 2 * AMOUNT, 0, 1);
        refundPart(e, 1);
    }

    /// Without its own check, 2^256 - 1 would wrap around: before - 1 is before + (2^256 - 1).
    function test_getting_poorer_is_refused_for_every_amount() public {
        GoesBackwards token = new GoesBackwards();
        Escrow memory e = escrowIn(address(token));
        e.terms.amount = type(uint256).max;
        give(address(token), funder, 1);
        token.mint(address(escrows), 1);
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountReceived.selector, token, 1, 0, e.terms.amount
            )
        );
        fund(e);
    }

    /// Without its own check, 5 - 6 would wrap around to an amount that is owed.
    function test_getting_richer_by_a_payment_is_refused_for_every_amount() public {
        Paradox token = new Paradox();
        Escrow memory e = escrowIn(address(token));
        e.terms.amount = type(uint256).max;
        fund(e);
        token.set(5);
        vm.warp(TIMELOCK);
        expectWrongOut(address(token), 5, 6, 1);
        refundPart(e, 1);
    }

    /// Documented: with a token that shrinks what lies here, who comes first is paid.
    function test_rebasing_down_pays_who_comes_first_and_the_last_takes_what_is_left() public {
        Rebasing token = new Rebasing();
        Escrow memory e = stocked(address(token));
        Escrow memory other = withAnother(e);
        fund(e);
        token.set(80);
        claim(e);
        vm.assertEq(token.balanceOf(RECIPIENT), AMOUNT, "the amount");
        vm.warp(TIMELOCK);
        expectFailure(address(token));
        refund(other);
        uint256 before = token.balanceOf(funder);
        refundPart(other, here(address(token)));
        vm.assertEq(token.balanceOf(funder) - before, AMOUNT * 6 / 10, "what is left");
    }

    /// Tokens that round (stETH loses a unit now and then) are not for escrows that count units.
    function test_rebasing_that_rounds_refuses_claim_and_refund_and_leaves_by_a_part() public {
        Rebasing token = new Rebasing();
        Escrow memory e = stocked(address(token));
        fund(e);
        token.set(150);
        expectWrongOut(address(token), AMOUNT * 3 / 2, AMOUNT / 2 + 1, AMOUNT);
        claim(e);
        vm.warp(TIMELOCK);
        expectWrongOut(address(token), AMOUNT * 3 / 2, AMOUNT / 2 + 1, AMOUNT);
        refund(e);
        refundPart(e, AMOUNT);
        expectState(e, REFUNDED);
    }

    /// What a token's issuer freezes (this contract as a pause does, a recipient, a funder) waits.
    /// What is not its business goes on: the other's part, and swaps of other tokens.
    function test_what_is_frozen_waits_and_nothing_else_does() public {
        Blacklisting token = new Blacklisting();
        Escrow memory e = stocked(address(token));
        address[3] memory frozen = [address(escrows), RECIPIENT, funder];
        for (uint256 i = 0; i < 3; i++) {
            vm.warp(NOW);
            Escrow[3] memory all = [copyOf(e), copyOf(e), altered(escrowIn(address(coin)), 7)];
            for (uint256 n = 0; n < 3; n++) {
                all[n].lane += uint96(10 * i + 2 * n);
                fund(all[n]);
            }
            token.set(frozen[i], true);
            if (i < 2) expectFailure(address(token));
            claim(all[0]);
            if (i != 1) expectFailure(address(token));
            fund(beside(all[0]));
            claim(all[2]);
            vm.warp(TIMELOCK);
            if (i != 1) expectFailure(address(token));
            refund(all[1]);
            token.set(frozen[i], false);
            if (i != 1) refund(all[1]);
            if (i < 2) refund(all[0]);
            expectState(all[1], REFUNDED);
        }
    }

    /// A megabyte costs the token itself 2.0 million gas; copying it would cost as much again.
    function test_a_huge_answer_or_revert_is_never_copied() public {
        HugeAnswer token = new HugeAnswer();
        Escrow memory e = stocked(address(token));
        vm.prank(funder);
        escrows.fund{gas: 2_400_000}(e.terms, e.lane, e.counter);
        escrows.claim{gas: 2_400_000}(e.terms, e.lane, e.counter, SECRET);
        vm.assertEq(token.balanceOf(RECIPIENT), AMOUNT, "paid");
        e = nextOf(e);
        fund(e);
        vm.warp(TIMELOCK);
        escrows.refund{gas: 2_400_000}(e.terms, e.lane, e.counter);
        vm.assertEq(here(address(token)), 0, "refunded");
        e = nextOf(e);
        vm.warp(NOW);
        fund(e);
        token.set(true);
        expectFailure(address(token));
        escrows.claim{gas: 2_400_000}(e.terms, e.lane, e.counter, SECRET);
        expectFailure(address(token));
        vm.prank(funder);
        escrows.fund{gas: 2_400_000}(e.terms, e.lane + 1, 1);
    }

    /// Nor that of a permit: what failed there is not even looked at.
    function test_a_huge_answer_to_a_permit_is_never_copied() public {
        HugePermit token = new HugePermit();
        Escrow memory e = stocked(address(token));
        vm.prank(funder);
        escrows.fundWithPermit{gas: 2_500_000}(e.terms, LANE, 1, 1, NOW, Signature(27, 0, 0));
        token.set(true);
        e.lane += 1;
        vm.prank(funder);
        escrows.fundWithPermit{gas: 2_500_000}(e.terms, LANE + 1, 1, 1, NOW, Signature(27, 0, 0));
        expectState(e, OPEN);
    }

    function test_a_balance_that_is_no_word_or_reverts_is_refused_everywhere() public {
        ShortBalance token = new ShortBalance();
        Escrow memory e = stocked(address(token));
        for (uint256 mode = 1; mode <= 2; mode++) {
            token.set(mode);
            expectFailure(address(token));
            fund(e);
        }
        token.set(0);
        fund(e);
        for (uint256 mode = 1; mode <= 2; mode++) {
            token.set(mode);
            vm.warp(NOW);
            expectFailure(address(token));
            claim(e);
            vm.warp(TIMELOCK);
            expectFailure(address(token));
            refund(e);
        }
        token.set(0);
        refund(e);
    }

    function test_a_token_whose_code_vanished_settles_nothing() public {
        Escrow memory e = escrowIn(address(coin));
        fund(e);
        vm.etch(address(coin), "");
        expectFailure(address(coin));
        claim(e);
        vm.warp(TIMELOCK);
        expectFailure(address(coin));
        refund(e);
        expectFailure(address(coin));
        refundPart(e, 1);
        expectState(e, OPEN);
    }

    /// Where the chain's coin is a token too, both kinds of escrow share one balance.
    function test_the_native_asset_under_a_tokens_name_is_counted_once() public {
        TwoNames token = new TwoNames();
        Escrow memory asToken = escrowIn(address(token));
        Escrow memory asCoin = beside(native());
        fund(asCoin);
        fund(asToken);
        vm.assertEq(address(escrows).balance, 2 * AMOUNT, "both");
        claim(asToken);
        vm.assertEq(RECIPIENT.balance, AMOUNT, "one");
        vm.assertEq(address(escrows).balance, AMOUNT, "the other's");
        vm.warp(TIMELOCK);
        refund(asCoin);
        vm.assertEq(address(escrows).balance, 0, "empty");
        expectError(abi.encodeWithSelector(ParleyEscrows.WrongValue.selector, AMOUNT, 0));
        vm.prank(funder);
        escrows.fund{value: AMOUNT}(asToken.terms, LANE, 2);
    }
}
