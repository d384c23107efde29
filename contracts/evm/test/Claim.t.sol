// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {Terms} from "../src/Terms.sol";
import {ParleyEscrow} from "../src/ParleyEscrow.sol";
import {Moody} from "./zoo/Moody.sol";

contract ClaimTest is Base {
    function test_the_secret_pays_the_payout_whoever_sends_it() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            ParleyEscrow escrow = fund(both[i]);
            expectClaimed(escrow);
            claim(escrow, both[i]);
            vm.assertEq(held(both[i].token, RECIPIENT), AMOUNT, "recipient");
            vm.assertEq(held(both[i].token, address(escrow)), 0, "escrow");
            vm.assertEq(held(both[i].token, STRANGER), 0, "sender");
        }
    }

    function test_possible_in_the_last_second_before_the_timelock() public {
        Terms memory terms = native();
        ParleyEscrow escrow = fund(terms);
        vm.warp(TIMELOCK - 1);
        claim(escrow, terms);
        vm.assertEq(RECIPIENT.balance, AMOUNT, "paid");
    }

    function test_impossible_from_the_timelock_on() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            vm.warp(NOW);
            ParleyEscrow escrow = fund(both[i]);
            for (uint256 late = 0; late < 2; late++) {
                vm.warp(TIMELOCK + late * 365 days);
                expectError(
                    abi.encodeWithSelector(
                        ParleyEscrow.ClaimTooLate.selector, TIMELOCK, TIMELOCK + late * 365 days
                    )
                );
                claim(escrow, both[i]);
            }
        }
    }

    function test_a_wrong_secret_is_refused() public {
        Terms memory terms = native();
        ParleyEscrow escrow = fund(terms);
        bytes32 wrong = bytes32(uint256(SECRET) ^ 1);
        expectError(
            abi.encodeWithSelector(
                ParleyEscrow.WrongSecret.selector, terms.hashlock, sha256(abi.encode(wrong))
            )
        );
        escrow.claim(terms, wrong);
    }

    /// Where address 2 is empty the secret would stay where the hash is looked for: whoever brings
    /// the hashlock itself would be paid.
    function test_without_a_hash_of_32_bytes_nothing_is_claimed() public {
        Terms memory terms = native();
        ParleyEscrow escrow = fund(terms);
        bytes memory given = abi.encode(terms.hashlock);
        bytes[3] memory answers = [bytes(""), hex"00", bytes.concat(given, given)];
        for (uint256 i = 0; i < answers.length; i++) {
            vm.mockCall(address(2), given, answers[i]);
            expectError("");
            escrow.claim(terms, terms.hashlock);
        }
        vm.mockCallRevert(address(2), given, given);
        expectError("");
        escrow.claim(terms, terms.hashlock);
    }

    /// A secret of another length that hashes right must not fit: it would be theft elsewhere.
    function test_a_hashlock_of_a_secret_that_is_not_32_bytes_opens_nothing() public {
        Terms memory terms = native();
        bytes memory short = hex"a11ce000";
        terms.hashlock = sha256(short);
        ParleyEscrow escrow = fund(terms);
        vm.expectRevert();
        escrow.claim(terms, bytes32(short));
        (bool ok,) = address(escrow)
            .call(
                abi.encodePacked(
                    bytes.concat(ParleyEscrow.claim.selector, abi.encode(terms)), short
                )
            );
        vm.assertFalse(ok, "four bytes of secret");
    }

    function test_terms_that_differ_in_any_field_are_refused() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            ParleyEscrow escrow = fund(both[i]);
            for (uint256 field = 0; field < 6; field++) {
                Terms memory other = altered(both[i], field);
                bytes memory refusal = abi.encodeWithSelector(
                    ParleyEscrow.TermsMismatch.selector, address(escrow), factory.escrowOf(other)
                );
                expectError(refusal);
                escrow.claim(other, SECRET);
                expectError(refusal);
                escrow.refund(other);
            }
        }
    }

    function altered(Terms memory terms, uint256 field) internal pure returns (Terms memory) {
        Terms memory other = abi.decode(abi.encode(terms), (Terms));
        if (field == 0) other.hashlock ^= bytes32(uint256(1));
        if (field == 1) other.payout = STRANGER;
        if (field == 2) other.refund = STRANGER;
        if (field == 3) other.token = STRANGER;
        if (field == 4) other.amount -= 1;
        if (field == 5) other.timelock += 1;
        return other;
    }

    function test_an_empty_escrow_announces_no_claim() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            ParleyEscrow escrow = fund(both[i]);
            claim(escrow, both[i]);
            expectError(abi.encodeWithSelector(ParleyEscrow.BalanceTooLow.selector, 0, AMOUNT));
            claim(escrow, both[i]);
        }
    }

    function test_dust_in_a_settled_escrow_is_not_enough_for_a_claim() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            ParleyEscrow escrow = fund(both[i]);
            claim(escrow, both[i]);
            if (i == 0) vm.deal(address(escrow), AMOUNT - 1);
            else dollar.mint(address(escrow), AMOUNT - 1);
            expectError(
                abi.encodeWithSelector(ParleyEscrow.BalanceTooLow.selector, AMOUNT - 1, AMOUNT)
            );
            claim(escrow, both[i]);
        }
    }

    function test_exactly_the_amount_is_paid_and_the_surplus_waits_for_the_funder() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            vm.warp(NOW);
            address ahead = factory.escrowOf(both[i]);
            if (i == 0) vm.deal(ahead, 7);
            else dollar.mint(ahead, 7);
            ParleyEscrow escrow = fund(both[i]);
            claim(escrow, both[i]);
            vm.assertEq(held(both[i].token, RECIPIENT), AMOUNT, "exactly");
            uint256 before = held(both[i].token, FUNDER);
            vm.warp(TIMELOCK);
            refund(escrow, both[i]);
            vm.assertEq(held(both[i].token, FUNDER) - before, 7, "surplus");
        }
    }

    /// Documented: a whole further amount that a stranger sent belongs to the same terms.
    function test_a_second_whole_amount_goes_to_the_payout_while_the_timelock_runs() public {
        Terms memory terms = termsOf(address(dollar));
        ParleyEscrow escrow = fund(terms);
        claim(escrow, terms);
        dollar.mint(address(escrow), AMOUNT);
        expectClaimed(escrow);
        claim(escrow, terms);
        vm.assertEq(dollar.balanceOf(RECIPIENT), 2 * AMOUNT, "both to the payout");
    }

    function test_a_receiver_that_refuses_burns_nothing_and_can_be_paid_later() public {
        Moody moody = new Moody();
        Terms memory terms = native();
        terms.payout = address(moody);
        ParleyEscrow escrow = fund(terms);
        moody.set(Moody.Mood.Revert);
        expectError(abi.encodeWithSelector(ParleyEscrow.PaymentRejected.selector, moody, AMOUNT));
        claim(escrow, terms);
        vm.assertEq(address(escrow).balance, AMOUNT, "still there");
        moody.set(Moody.Mood.Accept);
        claim(escrow, terms);
        vm.assertEq(address(moody).balance, AMOUNT, "paid");
    }

    function test_a_receiver_that_refuses_for_ever_loses_to_the_refund() public {
        Moody moody = new Moody();
        Terms memory terms = native();
        terms.payout = address(moody);
        ParleyEscrow escrow = fund(terms);
        moody.set(Moody.Mood.Revert);
        vm.expectRevert();
        claim(escrow, terms);
        vm.warp(TIMELOCK);
        uint256 before = FUNDER.balance;
        refund(escrow, terms);
        vm.assertEq(FUNDER.balance - before, AMOUNT, "back");
    }

    function test_a_receiver_that_returns_a_megabyte_costs_no_copy() public {
        Moody moody = new Moody();
        Terms memory terms = native();
        terms.payout = address(moody);
        ParleyEscrow escrow = fund(terms);
        moody.set(Moody.Mood.Bomb);
        // the receiver's own memory for it costs 2.2 million; a copy would cost as much again
        (bool ok,) = address(escrow).call{gas: 2_400_000}(
            abi.encodeCall(ParleyEscrow.claim, (terms, SECRET))
        );
        vm.assertTrue(ok, "no copy");
        moody.set(Moody.Mood.RevertBomb);
        vm.deal(address(escrow), AMOUNT);
        expectError(abi.encodeWithSelector(ParleyEscrow.PaymentRejected.selector, moody, AMOUNT));
        escrow.claim{gas: 2_400_000}(terms, SECRET);
    }

    function test_a_contract_that_needs_much_gas_to_receive_is_paid() public {
        Moody moody = new Moody();
        Terms memory terms = native();
        terms.payout = address(moody);
        ParleyEscrow escrow = fund(terms);
        moody.set(Moody.Mood.Write);
        claim(escrow, terms);
        vm.assertEq(address(moody).balance, AMOUNT, "paid");
    }

    function testFuzz_only_the_secret_opens(bytes32 guess, uint256 when) public {
        vm.assume(guess != SECRET);
        Terms memory terms = native();
        ParleyEscrow escrow = fund(terms);
        vm.warp(bound(when, NOW, TIMELOCK - 1));
        vm.expectRevert();
        escrow.claim(terms, guess);
        claim(escrow, terms);
        vm.assertEq(RECIPIENT.balance, AMOUNT, "paid");
    }

    function testFuzz_every_secret_opens_its_own_lock_and_pays_to_the_unit(
        bytes32 secret,
        uint256 amount,
        uint256 stray,
        bool token
    ) public {
        Terms memory terms = termsOf(token ? address(dollar) : address(0));
        terms.hashlock = sha256(abi.encode(secret));
        terms.amount = bound(amount, 1, type(uint128).max);
        stray = bound(stray, 0, type(uint128).max);
        address ahead = factory.escrowOf(terms);
        if (token) {
            dollar.mint(FUNDER, terms.amount);
            dollar.mint(ahead, stray);
        } else {
            vm.deal(FUNDER, terms.amount);
            vm.deal(ahead, stray);
        }
        ParleyEscrow escrow = fund(terms);
        escrow.claim(terms, secret);
        vm.assertEq(held(terms.token, RECIPIENT), terms.amount, "exactly");
        vm.assertEq(held(terms.token, address(escrow)), stray, "the stray stays");
    }
}
