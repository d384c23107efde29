// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Moody} from "./zoo/Moody.sol";

contract ClaimTest is Base {
    function test_the_payout_is_paid_whoever_sends_it_and_the_secret_is_logged() public {
        Escrow[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            Escrow memory e = kinds[i];
            vm.warp(NOW);
            fund(e);
            vm.warp(NOW + 77);
            expectEvent();
            emit ParleyEscrows.Claimed(idOf(e), SECRET);
            claim(e);
            vm.assertEq(held(e.terms.token, RECIPIENT), AMOUNT, "paid");
            vm.assertEq(held(e.terms.token, STRANGER), 0, "not the sender");
            vm.assertEq(here(e.terms.token), 0, "left");
            expectState(e, CLAIMED, NOW + 77);
            vm.assertEq(wordIn(e), wordOf(e, CLAIMED, NOW + 77), "word");
        }
    }

    function test_possible_in_the_last_second_and_not_in_the_timelocks() public {
        Escrow[2] memory kinds = both();
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
        Escrow memory e = native();
        fund(e);
        bytes32 guess = bytes32(uint256(1));
        bytes32 hash = sha256(abi.encode(guess));
        expectError(abi.encodeWithSelector(ParleyEscrows.WrongSecret.selector, hashlock, hash));
        escrows.claim(e.terms, e.lane, e.counter, guess);
        expectState(e, OPEN, NOW);
    }

    /// Where address 2 is empty the secret would stay where the hash is looked for: whoever brings
    /// the hashlock itself would be paid.
    function test_without_a_hash_of_32_bytes_nothing_is_claimed() public {
        Escrow memory e = native();
        fund(e);
        bytes memory given = abi.encode(hashlock);
        bytes[3] memory answers = [bytes(""), hex"00", bytes.concat(given, given)];
        for (uint256 i = 0; i < answers.length; i++) {
            vm.mockCall(address(2), given, answers[i]);
            expectError("");
            escrows.claim(e.terms, e.lane, e.counter, hashlock);
        }
        vm.mockCallRevert(address(2), given, given);
        expectError("");
        escrows.claim(e.terms, e.lane, e.counter, hashlock);
    }

    function test_the_secret_has_32_bytes_and_no_fewer() public {
        Escrow memory e = native();
        e.terms.hashlock = sha256(hex"a11ce0");
        fund(e);
        bytes memory call_ = abi.encodeCall(
            ParleyEscrows.claim, (e.terms, e.lane, e.counter, bytes32(hex"a11ce0"))
        );
        (bool padded,) = address(escrows).call(call_);
        vm.assertFalse(padded, "32 bytes are hashed, not 3");
        assembly ("memory-safe") {
            mstore(call_, sub(mload(call_), 29))
        }
        (bool short,) = address(escrows).call(call_);
        vm.assertFalse(short, "calldata that ends early");
    }

    function test_what_was_not_funded_claims_nothing() public {
        Escrow memory e = native();
        fund(e);
        fund(beside(escrowIn(address(coin))));
        for (uint256 field = 1; field < 9; field++) {
            Escrow memory other = altered(e, field);
            bool sameWord = field != 2 && field < 7;
            expectNotOpen(other, sameWord ? VOID : UNFUNDED);
            claim(other);
        }
        vm.assertEq(here(address(0)), AMOUNT, "untouched");
    }

    function test_once() public {
        Escrow[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            fund(kinds[i]);
            fund(beside(kinds[i])); // money for a second claim is here
            claim(kinds[i]);
            expectNotOpen(kinds[i], CLAIMED);
            claim(kinds[i]);
            vm.assertEq(here(kinds[i].terms.token), AMOUNT, "the other's");
        }
    }

    function test_not_after_a_refund() public {
        Escrow memory e = native();
        fund(e);
        fund(beside(e));
        vm.warp(TIMELOCK);
        refund(e);
        vm.warp(TIMELOCK - 1);
        expectNotOpen(e, REFUNDED);
        claim(e);
    }

    function test_strays_are_nobodys() public {
        Escrow[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            fund(kinds[i]);
            if (i == 0) vm.deal(address(escrows), AMOUNT + 7);
            else coin.mint(address(escrows), 7);
            claim(kinds[i]);
            vm.assertEq(held(kinds[i].terms.token, RECIPIENT), AMOUNT, "exactly");
            vm.assertEq(here(kinds[i].terms.token), 7, "stays");
        }
    }

    function test_no_value_comes_with_a_claim_or_refund() public {
        Escrow memory e = native();
        Escrow memory token = beside(escrowIn(address(coin)));
        fund(e);
        fund(token);
        vm.deal(STRANGER, 1);
        vm.deal(funder, 1);
        bytes[3] memory calls = [
            abi.encodeCall(ParleyEscrows.claim, (e.terms, LANE, 1, SECRET)),
            abi.encodeCall(ParleyEscrows.refund, (e.terms, LANE, 1)),
            abi.encodeCall(ParleyEscrows.refundPart, (token.terms, token.lane, 1, 1))
        ];
        for (uint256 i = 0; i < 3; i++) {
            vm.warp(i == 0 ? NOW : TIMELOCK);
            vm.prank(i == 2 ? funder : STRANGER);
            (bool ok,) = address(escrows).call{value: 1}(calls[i]);
            vm.assertFalse(ok, "not payable");
        }
    }

    /// Of a claim and of a refund: the words of three addresses, then the lane and the counter.
    function test_dirty_words_settle_nothing() public {
        Escrow memory e = beside(escrowIn(address(coin)));
        fund(e);
        uint8[5] memory words = [1, 2, 3, 7, 8];
        uint8[5] memory widths = [20, 20, 20, 12, 4];
        for (uint256 verb = 0; verb < 2; verb++) {
            vm.warp(verb == 0 ? NOW : TIMELOCK);
            bytes memory good = verb == 0
                ? abi.encodeCall(ParleyEscrows.claim, (e.terms, e.lane, 1, SECRET))
                : abi.encodeCall(ParleyEscrows.refund, (e.terms, e.lane, 1));
            for (uint256 i = 0; i < 5; i++) {
                bytes memory bad = bytes.concat(good);
                bad[4 + 32 * uint256(words[i]) + 31 - widths[i]] = 0x01;
                (bool ok,) = address(escrows).call(bad);
                vm.assertFalse(ok, "refused");
            }
        }
        expectState(e, OPEN, NOW);
    }

    function test_a_receiver_that_refuses_burns_nothing_and_can_be_paid_later() public {
        Moody moody = new Moody();
        Escrow memory e = native();
        e.terms.payout = address(moody);
        fund(e);
        moody.set(Moody.Mood.Revert);
        expectError(abi.encodeWithSelector(ParleyEscrows.PaymentRejected.selector, moody, AMOUNT));
        claim(e);
        expectState(e, OPEN, NOW);
        moody.set(Moody.Mood.Write);
        claim(e);
        vm.assertEq(address(moody).balance, AMOUNT, "paid");
    }

    function test_a_receiver_that_always_refuses_is_outlived_by_the_refund() public {
        Moody moody = new Moody();
        Escrow memory e = native();
        e.terms.payout = address(moody);
        fund(e);
        moody.set(Moody.Mood.Revert);
        vm.warp(TIMELOCK);
        refund(e);
        vm.assertEq(funder.balance, AMOUNT * 10, "back");
    }

    function test_a_receiver_that_returns_a_megabyte_costs_no_copy() public {
        Moody moody = new Moody();
        Escrow memory e = native();
        e.terms.payout = address(moody);
        fund(e);
        moody.set(Moody.Mood.RevertBomb);
        expectError(abi.encodeWithSelector(ParleyEscrows.PaymentRejected.selector, moody, AMOUNT));
        escrows.claim{gas: 2_400_000}(e.terms, e.lane, e.counter, SECRET);
        moody.set(Moody.Mood.Bomb);
        escrows.claim{gas: 2_400_000}(e.terms, e.lane, e.counter, SECRET);
        vm.assertEq(address(moody).balance, AMOUNT, "paid");
    }

    function testFuzz_only_the_secret_opens(bytes32 guess, uint256 when) public {
        vm.assume(guess != SECRET);
        Escrow memory e = native();
        fund(e);
        vm.warp(bound(when, NOW, TIMELOCK - 1));
        vm.expectRevert();
        escrows.claim(e.terms, e.lane, e.counter, guess);
        claim(e);
        vm.assertEq(RECIPIENT.balance, AMOUNT, "paid");
    }

    function testFuzz_every_secret_opens_its_own_lock_and_pays_to_the_unit(
        bytes32 secret,
        uint256 amount,
        uint256 others,
        bool token
    ) public {
        Escrow memory e = escrowIn(token ? address(coin) : address(0));
        e.terms.hashlock = sha256(abi.encode(secret));
        e.terms.amount = bound(amount, 1, type(uint128).max);
        Escrow memory other = beside(e);
        other.terms.amount = bound(others, 1, type(uint128).max);
        coin.mint(funder, e.terms.amount + other.terms.amount);
        vm.deal(funder, e.terms.amount + other.terms.amount);
        fund(other);
        fund(e);
        escrows.claim(e.terms, e.lane, e.counter, secret);
        vm.assertEq(held(e.terms.token, RECIPIENT), e.terms.amount, "exactly");
        vm.assertEq(here(e.terms.token), other.terms.amount, "the other's is untouched");
    }
}
