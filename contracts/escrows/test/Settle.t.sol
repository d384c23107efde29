// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Moody} from "./zoo/Moody.sol";

/// @notice Claims and refunds. What holds of both is one table of the two verbs, of both kinds of
///         asset.
contract SettleTest is Base {
    function settle(Escrow memory e, uint256 verb) internal {
        if (verb == CLAIMED) claim(e);
        else refund(e);
    }

    function payeeOf(Escrow memory e, uint256 verb) internal pure returns (address) {
        return verb == CLAIMED ? e.terms.payout : e.terms.refund;
    }

    /// @dev In the last second of claims, or the first of refunds.
    function warpTo(uint256 verb) internal {
        vm.warp(verb == CLAIMED ? TIMELOCK - 1 : TIMELOCK);
    }

    /// @dev The cases: a verb, an asset, and a lane of its own.
    function opened(uint256 row) internal returns (Escrow memory e, uint256 verb) {
        verb = row < 2 ? CLAIMED : REFUNDED;
        e = both()[row % 2];
        e.lane += uint96(10 * row);
        vm.warp(NOW);
        fund(e);
    }

    function expectWrongTime(uint256 verb) internal {
        vm.warp(verb == CLAIMED ? TIMELOCK : TIMELOCK - 1);
        expectTimeError(verb);
    }

    function expectTimeError(uint256 verb) internal {
        bytes4 late = ParleyEscrows.ClaimTooLate.selector;
        bytes4 early = ParleyEscrows.RefundTooEarly.selector;
        expectError(
            abi.encodeWithSelector(verb == CLAIMED ? late : early, TIMELOCK, block.timestamp)
        );
    }

    function test_the_payee_is_paid_whoever_sends_it_and_only_on_its_side_of_the_timelock()
        public
    {
        for (uint256 row = 0; row < 4; row++) {
            (Escrow memory e, uint256 verb) = opened(row);
            address token = e.terms.token;
            uint256 before = held(token, payeeOf(e, verb));
            expectWrongTime(verb);
            settle(e, verb);
            warpTo(verb);
            expectEvent();
            if (verb == CLAIMED) emit ParleyEscrows.Claimed(idOf(e), SECRET);
            else emit ParleyEscrows.Refunded(idOf(e));
            settle(e, verb);
            vm.assertEq(held(token, payeeOf(e, verb)) - before, AMOUNT, "paid");
            vm.assertEq(held(token, STRANGER), 0, "not the sender");
            vm.assertEq(here(token), 0, "left");
            expectState(e, verb);
            vm.assertEq(wordIn(e), wordOf(e, verb), "word");
        }
    }

    function test_far_from_the_timelock_the_error_says_which_time_is_which() public {
        for (uint256 row = 0; row < 4; row++) {
            (Escrow memory e, uint256 verb) = opened(row);
            vm.warp(verb == CLAIMED ? TIMELOCK + 7 : NOW);
            expectTimeError(verb);
            settle(e, verb);
        }
    }

    function test_once_by_either_verb() public {
        for (uint256 row = 0; row < 4; row++) {
            (Escrow memory e, uint256 verb) = opened(row);
            fund(beside(e)); // funds for a second payment are here
            warpTo(verb);
            settle(e, verb);
            uint256 left = here(e.terms.token);
            for (uint256 again = CLAIMED; again <= REFUNDED; again++) {
                warpTo(again);
                expectNotOpen(e, verb);
                settle(e, again);
            }
            vm.assertEq(here(e.terms.token), left, "the other's");
        }
    }

    function test_what_was_not_funded_settles_nothing() public {
        Escrow memory e = native();
        fund(e);
        fund(beside(escrowIn(address(coin))));
        for (uint256 verb = CLAIMED; verb <= REFUNDED; verb++) {
            warpTo(verb);
            for (uint256 field = verb == CLAIMED ? 1 : 0; field < 9; field++) {
                Escrow memory other = altered(e, field);
                if (field == 5) other.terms.timelock -= verb == CLAIMED ? 0 : 2;
                bool sameWord = field != 2 && field < 7;
                expectNotOpen(other, sameWord ? VOID : UNFUNDED);
                settle(other, verb);
            }
        }
        vm.assertEq(here(address(0)), AMOUNT, "untouched");
    }

    /// A receiver that always refuses a claim is outlived by the refund.
    function test_a_payee_that_refuses_burns_nothing_and_can_be_paid_later() public {
        for (uint256 verb = CLAIMED; verb <= REFUNDED; verb++) {
            vm.warp(NOW);
            Moody moody = new Moody();
            Escrow memory e = native();
            e.lane += uint96(verb);
            if (verb == CLAIMED) e.terms.payout = address(moody);
            else e.terms.refund = address(moody);
            vm.deal(e.terms.refund, AMOUNT);
            fund(e);
            moody.set(Moody.Mood.Revert);
            warpTo(verb);
            expectError(
                abi.encodeWithSelector(ParleyEscrows.PaymentRejected.selector, moody, AMOUNT)
            );
            settle(e, verb);
            expectState(e, OPEN);
            moody.set(Moody.Mood.Write);
            settle(e, verb);
            vm.assertEq(address(moody).balance, AMOUNT, "paid");
        }
    }

    function test_a_wrong_secret_opens_nothing() public {
        Escrow memory e = native();
        fund(e);
        bytes32 guess = bytes32(uint256(1));
        bytes32 hash = sha256(abi.encode(guess));
        expectError(abi.encodeWithSelector(ParleyEscrows.WrongSecret.selector, hashlock, hash));
        escrows.claim(e.terms, e.lane, e.counter, guess);
        expectState(e, OPEN);
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

    function test_a_part_is_the_funders_choice_alone() public {
        Escrow memory e = escrowIn(address(coin));
        fund(e);
        vm.warp(TIMELOCK);
        expectError(
            abi.encodeWithSelector(ParleyEscrows.SenderIsNotRefund.selector, STRANGER, funder)
        );
        vm.prank(STRANGER, funder);
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
        expectState(e, REFUNDED);
        expectNotOpen(e, REFUNDED);
        refund(e);
        expectNotOpen(e, REFUNDED);
        refundPart(e, 1);
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
