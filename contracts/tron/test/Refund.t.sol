// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {Terms} from "evm/src/Terms.sol";
import {Moody} from "evm/test/zoo/Moody.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";

contract RefundTest is Base {
    function test_the_funder_is_paid_whoever_sends_it() public {
        Terms[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            vm.warp(NOW);
            Terms memory terms = kinds[i];
            uint256 before = held(terms.token, FUNDER);
            fund(terms);
            vm.warp(TIMELOCK);
            expectEvent();
            emit ParleyEscrows.EscrowRefunded(idOf(terms));
            refund(terms);
            vm.assertEq(held(terms.token, FUNDER), before, "funder");
            vm.assertEq(here(terms.token), 0, "left");
            vm.assertEq(statusOf(terms), REFUNDED, "status");
        }
    }

    function test_impossible_in_the_last_second_before_the_timelock() public {
        Terms[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            vm.warp(NOW);
            fund(kinds[i]);
            vm.warp(TIMELOCK - 1);
            expectError(
                abi.encodeWithSelector(
                    ParleyEscrows.RefundTooEarly.selector, TIMELOCK, TIMELOCK - 1
                )
            );
            vm.prank(FUNDER);
            escrows.refund(kinds[i]);
        }
    }

    function test_possible_years_later() public {
        fund(native());
        vm.warp(TIMELOCK + 3650 days);
        refund(native());
    }

    function test_once_and_never_after_a_claim() public {
        Terms[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            for (uint256 end = CLAIMED; end <= REFUNDED; end++) {
                vm.warp(NOW);
                Terms memory terms = altered(kinds[i], 6);
                terms.timelock += end;
                Terms memory other = altered(terms, 1);
                fund(terms);
                fund(other); // money for a second refund is here
                if (end == CLAIMED) claim(terms);
                vm.warp(terms.timelock);
                if (end == REFUNDED) refund(terms);
                expectNotFunded(terms, end);
                refund(terms);
            }
        }
    }

    function test_terms_that_were_not_funded_refund_nothing() public {
        fund(native());
        fund(termsOf(address(dollar)));
        vm.warp(TIMELOCK + 1);
        for (uint256 field = 0; field < 6; field++) {
            Terms memory other = altered(native(), field);
            expectNotFunded(other, 0);
            refund(other);
        }
    }

    function test_a_funder_that_refuses_burns_nothing_and_can_be_paid_later() public {
        Moody moody = new Moody();
        Terms memory terms = native();
        terms.refund = address(moody);
        vm.deal(address(moody), AMOUNT);
        fund(terms);
        moody.set(Moody.Mood.Revert);
        vm.warp(TIMELOCK);
        expectError(abi.encodeWithSelector(ParleyEscrows.PaymentRejected.selector, moody, AMOUNT));
        refund(terms);
        moody.set(Moody.Mood.Accept);
        refund(terms);
        vm.assertEq(address(moody).balance, AMOUNT, "paid");
    }

    function test_a_part_is_the_funders_choice_alone() public {
        Terms memory terms = termsOf(address(dollar));
        fund(terms);
        vm.warp(TIMELOCK);
        expectError(
            abi.encodeWithSelector(ParleyEscrows.SenderIsNotRefund.selector, STRANGER, FUNDER)
        );
        vm.prank(STRANGER);
        escrows.refundPart(terms, 1);
    }

    function test_a_part_is_at_least_a_unit_at_most_the_amount_and_of_a_token() public {
        fund(native());
        fund(termsOf(address(dollar)));
        fund(altered(termsOf(address(dollar)), 1));
        vm.warp(TIMELOCK);
        for (uint256 i = 0; i < 3; i++) {
            Terms memory terms = i == 2 ? native() : termsOf(address(dollar));
            uint256 part = [0, AMOUNT + 1, AMOUNT][i];
            expectError(
                abi.encodeWithSelector(
                    ParleyEscrows.PartRefused.selector, terms.token, part, AMOUNT
                )
            );
            vm.prank(FUNDER);
            escrows.refundPart(terms, part);
        }
    }

    function test_a_part_settles_the_escrow_and_not_before_the_timelock() public {
        Terms memory terms = termsOf(address(dollar));
        uint256 before = dollar.balanceOf(FUNDER);
        fund(terms);
        vm.warp(TIMELOCK - 1);
        expectError(
            abi.encodeWithSelector(ParleyEscrows.RefundTooEarly.selector, TIMELOCK, TIMELOCK - 1)
        );
        vm.prank(FUNDER);
        escrows.refundPart(terms, AMOUNT - 1);
        vm.warp(TIMELOCK);
        vm.prank(FUNDER);
        escrows.refundPart(terms, AMOUNT - 1);
        vm.assertEq(before - dollar.balanceOf(FUNDER), 1, "less a unit");
        expectNotFunded(terms, REFUNDED);
        refund(terms);
    }

    function testFuzz_never_before_the_timelock_and_always_from_it_on(uint256 when) public {
        Terms memory terms = native();
        fund(terms);
        when = bound(when, NOW, TIMELOCK + 60 days);
        vm.warp(when);
        bool early = when < TIMELOCK;
        (bool refunded,) = address(escrows).call(abi.encodeCall(ParleyEscrows.refund, (terms)));
        vm.assertTrue(refunded != early, "refund");
        (bool claimed,) =
            address(escrows).call(abi.encodeCall(ParleyEscrows.claim, (terms, SECRET)));
        vm.assertTrue(claimed == early, "claim");
    }
}
