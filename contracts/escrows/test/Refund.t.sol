// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Moody} from "./zoo/Moody.sol";

contract RefundTest is Base {
    function test_the_funder_is_paid_whoever_sends_it() public {
        Escrow[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            vm.warp(NOW);
            Escrow memory e = kinds[i];
            uint256 before = held(e.terms.token, funder);
            fund(e);
            vm.warp(TIMELOCK + i);
            expectEvent();
            emit ParleyEscrows.Refunded(idOf(e));
            refund(e);
            vm.assertEq(held(e.terms.token, funder), before, "funder");
            vm.assertEq(here(e.terms.token), 0, "left");
            expectState(e, REFUNDED, TIMELOCK + i);
            vm.assertEq(wordIn(e), wordOf(e, REFUNDED, TIMELOCK + i), "word");
        }
    }

    function test_impossible_in_the_last_second_before_the_timelock() public {
        Escrow[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            vm.warp(NOW);
            fund(kinds[i]);
            vm.warp(TIMELOCK - 1);
            expectError(
                abi.encodeWithSelector(
                    ParleyEscrows.RefundTooEarly.selector, TIMELOCK, TIMELOCK - 1
                )
            );
            vm.prank(funder);
            escrows.refund(kinds[i].terms, kinds[i].lane, 1);
        }
    }

    function test_possible_years_later() public {
        fund(native());
        vm.warp(TIMELOCK + 3650 days);
        refund(native());
        vm.assertEq(funder.balance, AMOUNT * 10, "back");
    }

    function test_once_and_never_after_a_claim() public {
        Escrow[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            for (uint256 end = CLAIMED; end <= REFUNDED; end++) {
                vm.warp(NOW);
                Escrow memory e = copyOf(kinds[i]);
                e.lane += uint96(10 * end);
                fund(e);
                fund(beside(e)); // money for a second refund is here
                if (end == CLAIMED) claim(e);
                vm.warp(TIMELOCK);
                if (end == REFUNDED) refund(e);
                expectNotOpen(e, end);
                refund(e);
            }
        }
    }

    function test_what_was_not_funded_refunds_nothing() public {
        fund(native());
        vm.warp(TIMELOCK + 1);
        for (uint256 field = 0; field < 9; field++) {
            Escrow memory other = altered(native(), field);
            bool sameWord = field != 2 && field < 7;
            expectNotOpen(other, sameWord ? VOID : UNFUNDED);
            refund(other);
        }
    }

    function test_a_funder_that_refuses_burns_nothing_and_can_be_paid_later() public {
        Moody moody = new Moody();
        Escrow memory e = native();
        e.terms.refund = address(moody);
        vm.deal(address(moody), AMOUNT);
        fund(e);
        moody.set(Moody.Mood.Revert);
        vm.warp(TIMELOCK);
        expectError(abi.encodeWithSelector(ParleyEscrows.PaymentRejected.selector, moody, AMOUNT));
        refund(e);
        expectState(e, OPEN, NOW);
        moody.set(Moody.Mood.Accept);
        refund(e);
        vm.assertEq(address(moody).balance, AMOUNT, "paid");
    }

    function test_a_part_is_the_funders_choice_alone() public {
        Escrow memory e = escrowIn(address(coin));
        fund(e);
        vm.warp(TIMELOCK);
        expectError(
            abi.encodeWithSelector(ParleyEscrows.SenderIsNotRefund.selector, STRANGER, funder)
        );
        vm.prank(STRANGER);
        escrows.refundPart(e.terms, e.lane, e.counter, 1);
    }

    function test_a_part_is_at_least_a_unit_at_most_the_amount_and_of_a_token() public {
        Escrow[2] memory kinds = both();
        fund(kinds[0]);
        fund(kinds[1]);
        fund(beside(kinds[1]));
        vm.warp(TIMELOCK);
        for (uint256 i = 0; i < 3; i++) {
            Escrow memory e = i == 2 ? kinds[0] : kinds[1];
            uint256 part = [0, AMOUNT + 1, AMOUNT][i];
            expectError(
                abi.encodeWithSelector(
                    ParleyEscrows.PartRefused.selector, e.terms.token, part, AMOUNT
                )
            );
            refundPart(e, part);
        }
        refundPart(kinds[1], AMOUNT);
        refundPart(beside(kinds[1]), 1);
        vm.assertEq(here(address(coin)), AMOUNT - 1, "what was left of the second");
    }

    function test_a_part_settles_the_escrow_and_not_before_the_timelock() public {
        Escrow memory e = escrowIn(address(coin));
        uint256 before = coin.balanceOf(funder);
        fund(e);
        vm.warp(TIMELOCK - 1);
        expectError(
            abi.encodeWithSelector(ParleyEscrows.RefundTooEarly.selector, TIMELOCK, TIMELOCK - 1)
        );
        refundPart(e, AMOUNT - 1);
        vm.warp(TIMELOCK);
        expectEvent();
        emit ParleyEscrows.Refunded(idOf(e));
        refundPart(e, AMOUNT - 1);
        vm.assertEq(before - coin.balanceOf(funder), 1, "less a unit");
        expectState(e, REFUNDED, TIMELOCK);
        expectNotOpen(e, REFUNDED);
        refund(e);
        expectNotOpen(e, REFUNDED);
        refundPart(e, 1);
    }

    function testFuzz_never_before_the_timelock_and_always_from_it_on(uint256 when) public {
        Escrow memory e = native();
        fund(e);
        when = bound(when, NOW, TIMELOCK + 60 days);
        vm.warp(when);
        bool early = when < TIMELOCK;
        (bool refunded,) =
            address(escrows).call(abi.encodeCall(ParleyEscrows.refund, (e.terms, e.lane, 1)));
        vm.assertTrue(refunded != early, "refund");
        (bool claimed,) = address(escrows)
            .call(abi.encodeCall(ParleyEscrows.claim, (e.terms, e.lane, 1, SECRET)));
        vm.assertTrue(claimed == early, "claim");
    }
}
