// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {Terms} from "../src/Terms.sol";
import {ParleyEscrow} from "../src/ParleyEscrow.sol";
import {Moody} from "./zoo/Moody.sol";
import {Again} from "./zoo/Receivers.sol";

contract RefundTest is Base {
    function test_all_goes_back_to_the_funder_whoever_sends_it() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            vm.warp(NOW);
            uint256 before = held(both[i].token, FUNDER);
            ParleyEscrow escrow = fund(both[i]);
            vm.warp(TIMELOCK);
            expectRefunded(escrow);
            refund(escrow, both[i]);
            vm.assertEq(held(both[i].token, FUNDER), before, "funder");
            vm.assertEq(held(both[i].token, address(escrow)), 0, "escrow");
            vm.assertEq(held(both[i].token, STRANGER), 0, "sender");
        }
    }

    function test_impossible_in_the_last_second_before_the_timelock() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            vm.warp(NOW);
            ParleyEscrow escrow = fund(both[i]);
            vm.warp(TIMELOCK - 1);
            expectError(
                abi.encodeWithSelector(
                    ParleyEscrow.RefundTooEarly.selector, TIMELOCK, TIMELOCK - 1
                )
            );
            vm.prank(FUNDER);
            escrow.refund(both[i]);
        }
    }

    function test_possible_years_later() public {
        Terms memory terms = native();
        ParleyEscrow escrow = fund(terms);
        vm.warp(TIMELOCK + 3650 days);
        refund(escrow, terms);
        vm.assertEq(address(escrow).balance, 0, "left");
    }

    function test_an_empty_escrow_announces_no_refund() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            for (uint256 claimed = 0; claimed < 2; claimed++) {
                vm.warp(NOW);
                both[i].timelock = TIMELOCK + claimed;
                ParleyEscrow escrow = fund(both[i]);
                if (claimed == 1) claim(escrow, both[i]);
                vm.warp(TIMELOCK + claimed);
                if (claimed == 0) refund(escrow, both[i]);
                expectError(abi.encodeWithSelector(ParleyEscrow.NothingToRefund.selector));
                refund(escrow, both[i]);
            }
        }
    }

    function test_surplus_and_late_strays_leave_with_it() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            vm.warp(NOW);
            ParleyEscrow escrow = fund(both[i]);
            uint256 before = held(both[i].token, FUNDER);
            vm.warp(TIMELOCK);
            if (i == 0) vm.deal(address(escrow), AMOUNT + 5);
            else dollar.mint(address(escrow), 5);
            refund(escrow, both[i]);
            vm.assertEq(held(both[i].token, FUNDER) - before, AMOUNT + 5, "all of it");
            if (i == 0) vm.deal(address(escrow), 3);
            else dollar.mint(address(escrow), 3);
            refund(escrow, both[i]);
            vm.assertEq(held(both[i].token, FUNDER) - before, AMOUNT + 8, "the late stray too");
        }
    }

    function test_a_funder_that_refuses_burns_nothing_and_can_be_paid_later() public {
        Moody moody = new Moody();
        Terms memory terms = native();
        terms.refund = address(moody);
        vm.deal(address(moody), AMOUNT);
        ParleyEscrow escrow = fund(terms);
        moody.set(Moody.Mood.Revert);
        vm.warp(TIMELOCK);
        expectError(abi.encodeWithSelector(ParleyEscrow.PaymentRejected.selector, moody, AMOUNT));
        refund(escrow, terms);
        vm.assertEq(address(escrow).balance, AMOUNT, "still there");
        moody.set(Moody.Mood.Accept);
        refund(escrow, terms);
        vm.assertEq(address(moody).balance, AMOUNT, "paid");
    }

    function test_refunding_from_inside_a_refund_gains_nothing() public {
        Again again = new Again();
        Terms memory terms = native();
        terms.refund = address(again);
        vm.deal(address(again), AMOUNT);
        ParleyEscrow escrow = fund(terms);
        again.arm(terms, SECRET, true);
        vm.warp(TIMELOCK);
        refund(escrow, terms);
        vm.assertEq(again.entered(), 1, "tried");
        vm.assertEq(again.succeeded(), 0, "and failed");
        vm.assertEq(address(again).balance, AMOUNT, "once");
    }

    function test_refunding_from_inside_a_claim_is_too_early() public {
        Again again = new Again();
        Terms memory terms = native();
        terms.payout = address(again);
        ParleyEscrow escrow = fund(terms);
        vm.deal(address(escrow), 5 * AMOUNT);
        again.arm(terms, SECRET, true);
        claim(escrow, terms);
        vm.assertEq(again.entered(), 1, "tried");
        vm.assertEq(again.succeeded(), 0, "and failed");
        vm.assertEq(address(again).balance, AMOUNT, "paid once");
    }

    function test_claiming_from_inside_a_claim_gains_nothing() public {
        Again again = new Again();
        Terms memory terms = native();
        terms.payout = address(again);
        ParleyEscrow escrow = fund(terms);
        vm.deal(address(escrow), 2 * AMOUNT - 1);
        again.arm(terms, SECRET, false);
        claim(escrow, terms);
        vm.assertEq(again.entered(), 1, "tried");
        vm.assertEq(again.succeeded(), 0, "and failed");
        vm.assertEq(address(again).balance, AMOUNT, "paid once");
    }

    function testFuzz_never_before_the_timelock_and_always_from_it_on(uint256 when) public {
        Terms memory terms = native();
        ParleyEscrow escrow = fund(terms);
        when = bound(when, NOW, TIMELOCK + 60 days);
        vm.warp(when);
        bool early = when < TIMELOCK;
        (bool claimed,) = address(escrow).call(abi.encodeCall(ParleyEscrow.claim, (terms, SECRET)));
        vm.assertTrue(claimed == early, "claim");
        (bool refunded,) = address(escrow).call(abi.encodeCall(ParleyEscrow.refund, (terms)));
        vm.assertTrue(refunded != early, "refund");
    }
}
