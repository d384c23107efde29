// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {Terms} from "evm/src/Terms.sol";
import {Moody} from "evm/test/zoo/Moody.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";

contract ClaimTest is Base {
    function test_the_payout_is_paid_whoever_sends_it_and_the_secret_is_logged() public {
        Terms[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            Terms memory terms = kinds[i];
            fund(terms);
            uint256 fundedAt = block.number;
            vm.roll(fundedAt + 9);
            expectEvent();
            emit ParleyEscrows.EscrowClaimed(idOf(terms), SECRET);
            claim(terms);
            vm.roll(fundedAt);
            vm.assertEq(held(terms.token, RECIPIENT), AMOUNT, "paid");
            vm.assertEq(held(terms.token, STRANGER), 0, "not the sender");
            vm.assertEq(here(terms.token), 0, "left");
            (uint256 status, uint256 fundedBlock, uint256 settledBlock) =
                escrows.stateOf(idOf(terms));
            vm.assertEq(status, CLAIMED, "status");
            vm.assertEq(fundedBlock, fundedAt, "funded");
            vm.assertEq(settledBlock, fundedAt + 9, "settled");
        }
    }

    function test_possible_in_the_last_second_and_not_in_the_timelocks() public {
        Terms[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            vm.warp(NOW);
            fund(kinds[i]);
            vm.warp(TIMELOCK);
            expectError(
                abi.encodeWithSelector(ParleyEscrows.ClaimTooLate.selector, TIMELOCK, TIMELOCK)
            );
            claim(kinds[i]);
            vm.warp(TIMELOCK - 1);
            claim(kinds[i]);
        }
    }

    function test_a_wrong_secret_opens_nothing() public {
        Terms memory terms = native();
        fund(terms);
        bytes32 guess = bytes32(uint256(1));
        bytes32 hash = sha256(abi.encode(guess));
        expectError(abi.encodeWithSelector(ParleyEscrows.WrongSecret.selector, hashlock, hash));
        escrows.claim(terms, guess);
    }

    /// Where address 2 is empty the secret would stay where the hash is looked for: whoever brings
    /// the hashlock itself would be paid.
    function test_without_a_hash_of_32_bytes_nothing_is_claimed() public {
        Terms memory terms = native();
        fund(terms);
        bytes memory given = abi.encode(hashlock);
        bytes[3] memory answers = [bytes(""), hex"00", bytes.concat(given, given)];
        for (uint256 i = 0; i < answers.length; i++) {
            vm.mockCall(address(2), given, answers[i]);
            expectError("");
            escrows.claim(terms, hashlock);
        }
        vm.mockCallRevert(address(2), given, given);
        expectError("");
        escrows.claim(terms, hashlock);
    }

    function test_the_secret_has_32_bytes_and_no_fewer() public {
        Terms memory terms = native();
        terms.hashlock = sha256(hex"a11ce0");
        fund(terms);
        bytes memory call_ = abi.encodeCall(ParleyEscrows.claim, (terms, bytes32(hex"a11ce0")));
        (bool padded,) = address(escrows).call(call_);
        vm.assertFalse(padded, "32 bytes are hashed, not 3");
        assembly ("memory-safe") {
            mstore(call_, sub(mload(call_), 29))
        }
        (bool short,) = address(escrows).call(call_);
        vm.assertFalse(short, "calldata that ends early");
    }

    function test_terms_that_were_not_funded_claim_nothing() public {
        Terms memory terms = native();
        fund(terms);
        fund(termsOf(address(dollar)));
        for (uint256 field = 1; field < 6; field++) {
            Terms memory other = altered(terms, field);
            expectNotFunded(other, 0);
            claim(other);
        }
        vm.assertEq(here(address(0)), AMOUNT, "untouched");
    }

    /// Two ids may share a word of storage on TRON (see README.md), at the cost of 2^64 hashes.
    function test_the_record_of_another_id_opens_nothing() public {
        Terms memory small = native();
        small.amount = 1;
        Terms memory large = altered(native(), 1);
        vm.deal(STRANGER, AMOUNT);
        fund(altered(native(), 2));
        fund(small);
        bytes32 from = keccak256(abi.encode(idOf(small), uint256(2)));
        bytes32 to = keccak256(abi.encode(idOf(large), uint256(2)));
        bytes32 record = vm.load(address(escrows), from);
        vm.assertFalse(record == 0, "the records are where this test looks");
        vm.store(address(escrows), to, record);
        vm.assertEq(statusOf(large), 0, "not funded");
        expectNotFunded(large, 0);
        claim(large);
        expectError(
            abi.encodeWithSelector(ParleyEscrows.FundedBefore.selector, idOf(large), uint256(0))
        );
        fund(large);
        vm.warp(TIMELOCK);
        expectNotFunded(large, 0);
        refund(large);
        vm.assertEq(here(address(0)), AMOUNT + 1, "untouched");
    }

    function test_once() public {
        Terms[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            Terms memory later = altered(kinds[i], 5);
            fund(kinds[i]);
            fund(later); // money for a second claim is here
            claim(kinds[i]);
            expectNotFunded(kinds[i], CLAIMED);
            claim(kinds[i]);
            vm.assertEq(here(kinds[i].token), AMOUNT, "the other's");
        }
    }

    function test_not_after_a_refund() public {
        Terms memory terms = native();
        fund(terms);
        vm.warp(TIMELOCK);
        refund(terms);
        vm.warp(TIMELOCK - 1);
        expectNotFunded(terms, REFUNDED);
        claim(terms);
    }

    function test_strays_are_nobodys() public {
        Terms[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            fund(kinds[i]);
            if (i == 0) vm.deal(address(escrows), AMOUNT + 7);
            else dollar.mint(address(escrows), 7);
            claim(kinds[i]);
            vm.assertEq(held(kinds[i].token, RECIPIENT), AMOUNT, "exactly");
            vm.assertEq(here(kinds[i].token), 7, "stays");
        }
    }

    function test_no_value_comes_with_a_claim_or_refund() public {
        Terms memory terms = native();
        fund(terms);
        vm.deal(STRANGER, 2);
        bytes[3] memory calls = [
            abi.encodeCall(ParleyEscrows.claim, (terms, SECRET)),
            abi.encodeCall(ParleyEscrows.refund, (terms)),
            abi.encodeCall(ParleyEscrows.refundPart, (terms, 1))
        ];
        for (uint256 i = 0; i < 3; i++) {
            vm.warp(i == 0 ? NOW : TIMELOCK);
            vm.prank(STRANGER);
            (bool ok,) = address(escrows).call{value: 1}(calls[i]);
            vm.assertFalse(ok, "not payable");
        }
    }

    function test_a_receiver_that_refuses_burns_nothing_and_can_be_paid_later() public {
        Moody moody = new Moody();
        Terms memory terms = native();
        terms.payout = address(moody);
        fund(terms);
        moody.set(Moody.Mood.Revert);
        expectError(abi.encodeWithSelector(ParleyEscrows.PaymentRejected.selector, moody, AMOUNT));
        claim(terms);
        vm.assertEq(statusOf(terms), FUNDED, "still there");
        moody.set(Moody.Mood.Write);
        claim(terms);
        vm.assertEq(address(moody).balance, AMOUNT, "paid");
    }

    function test_a_receiver_that_returns_a_megabyte_costs_no_copy() public {
        Moody moody = new Moody();
        Terms memory terms = native();
        terms.payout = address(moody);
        fund(terms);
        moody.set(Moody.Mood.RevertBomb);
        expectError(abi.encodeWithSelector(ParleyEscrows.PaymentRejected.selector, moody, AMOUNT));
        escrows.claim{gas: 2_400_000}(terms, SECRET);
        moody.set(Moody.Mood.Bomb);
        // the receiver's own memory for it costs 2.2 million; a copy would cost as much again
        escrows.claim{gas: 2_400_000}(terms, SECRET);
        vm.assertEq(address(moody).balance, AMOUNT, "paid");
    }

    function testFuzz_only_the_secret_opens(bytes32 guess, uint256 when) public {
        vm.assume(guess != SECRET);
        Terms memory terms = native();
        fund(terms);
        vm.warp(bound(when, NOW, TIMELOCK - 1));
        vm.expectRevert();
        escrows.claim(terms, guess);
        claim(terms);
        vm.assertEq(RECIPIENT.balance, AMOUNT, "paid");
    }

    function testFuzz_every_secret_opens_its_own_lock_and_pays_to_the_unit(
        bytes32 secret,
        uint256 amount,
        uint256 others,
        bool token
    ) public {
        Terms memory terms = termsOf(token ? address(dollar) : address(0));
        terms.hashlock = sha256(abi.encode(secret));
        terms.amount = bound(amount, 1, type(uint128).max);
        Terms memory other = altered(terms, 5);
        other.amount = bound(others, 1, type(uint128).max);
        dollar.mint(FUNDER, terms.amount + other.amount);
        vm.deal(FUNDER, terms.amount + other.amount);
        fund(other);
        fund(terms);
        escrows.claim(terms, secret);
        vm.assertEq(held(terms.token, RECIPIENT), terms.amount, "exactly");
        vm.assertEq(here(terms.token), other.amount, "the other's is untouched");
    }
}
