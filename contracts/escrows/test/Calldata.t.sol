// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Leg} from "../src/Terms.sol";

/// @notice What comes with a call of each verb besides its meaning: upper bytes of narrow words,
///         value, and too few bytes. Each row is a call that would succeed without it.
contract CalldataTest is Base {
    uint256 private constant VERBS = 8;

    struct Call {
        bytes data;
        uint256 value;
        uint256 when;
        uint8[] words; // of three addresses, the lane, the counter, and `v` where there is one
    }

    /// @dev A token's escrow on a lane of its own for what settles; a free lane for what funds.
    function callOf(uint256 verb) internal returns (Call memory made) {
        Escrow memory e = escrowIn(address(coin));
        e.lane += uint96(verb);
        Leg[] memory legs = new Leg[](1);
        made.when = NOW;
        made.words = words(verb == 1 ? 11 : verb == 2 ? 9 : 0);
        if (verb == 0) {
            e = native();
            made.data = abi.encodeCall(ParleyEscrows.fund, (e.terms, e.lane, 1));
            made.value = AMOUNT;
            return made;
        }
        if (verb == 1) {
            made.data = abi.encodeCall(
                ParleyEscrows.fundWithPermit,
                (e.terms, e.lane, 1, AMOUNT, FUND_BEFORE, 27, 0, 0)
            );
            return made;
        }
        if (verb == 2) {
            (uint8 v, bytes32 r, bytes32 s) =
                vm.sign(FUNDER_KEY, authorization(e, coin.DOMAIN_SEPARATOR()));
            made.data = abi.encodeCall(
                ParleyEscrows.fundWithAuthorization, (e.terms, e.lane, 1, v, r, s)
            );
            return made;
        }
        fund(e);
        made.when = verb == 3 || verb == 6 ? NOW : TIMELOCK;
        legs[0] = verb == 6 ? claimLeg(e, SECRET) : refundLeg(e);
        if (verb == 3) {
            made.data = abi.encodeCall(ParleyEscrows.claim, (e.terms, e.lane, 1, SECRET));
        }
        if (verb == 4) made.data = abi.encodeCall(ParleyEscrows.refund, (e.terms, e.lane, 1));
        if (verb == 5) {
            made.data = abi.encodeCall(ParleyEscrows.refundPart, (e.terms, e.lane, 1, 1));
        }
        if (verb < 6) return made;
        // the offset and the length come before a leg; a refund reads neither address of it
        made.words = new uint8[](verb == 6 ? 2 : 0);
        if (verb == 6) (made.words[0], made.words[1]) = (3, 4);
        made.data = verb == 6
            ? abi.encodeCall(ParleyEscrows.claimMany, (legs))
            : abi.encodeCall(ParleyEscrows.refundMany, (legs));
    }

    function words(uint8 v) internal pure returns (uint8[] memory all) {
        all = new uint8[](v == 0 ? 5 : 6);
        (all[0], all[1], all[2], all[3], all[4]) = (1, 2, 3, 7, 8);
        if (v != 0) all[5] = v;
    }

    function widthOf(uint8 word, uint256 verb) internal pure returns (uint256) {
        if (verb >= 6 || word < 7) return 20;
        return word == 7 ? 12 : word == 8 ? 4 : 1;
    }

    function send(bytes memory data, uint256 value) internal returns (bool ok, uint256 answered) {
        bytes memory answer;
        vm.prank(funder);
        (ok, answer) = address(escrows).call{value: value}(data);
        answered = answer.length;
    }

    function test_dirty_words_are_refused_by_every_verb() public {
        for (uint256 verb = 0; verb < VERBS; verb++) {
            vm.warp(NOW);
            Call memory it = callOf(verb);
            vm.warp(it.when);
            for (uint256 i = 0; i < it.words.length; i++) {
                bytes memory bad = bytes.concat(it.data);
                uint8 word = it.words[i];
                bad[4 + 32 * uint256(word) + 31 - widthOf(word, verb)] = 0x01;
                (bool dirty, uint256 answered) = send(bad, it.value);
                vm.assertFalse(dirty, "refused");
                // what funds must not come to hash such words
                if (verb < 2 || verb == 6) vm.assertEq(answered, 0, "by the decoder");
            }
            (bool clean,) = send(it.data, it.value);
            vm.assertTrue(clean, "the same without");
        }
    }

    function test_no_value_comes_with_any_verb_but_a_native_funding() public {
        for (uint256 verb = 1; verb < VERBS; verb++) {
            vm.warp(NOW);
            Call memory it = callOf(verb);
            vm.warp(it.when);
            (bool paying,) = send(it.data, 1);
            vm.assertFalse(paying, "not payable");
            (bool clean,) = send(it.data, 0);
            vm.assertTrue(clean, "the same without");
        }
    }

    function test_calldata_that_ends_early_is_refused() public {
        Escrow memory e = native();
        e.terms.hashlock = sha256(hex"a11ce0");
        fund(e);
        bytes memory short = abi.encodeCall(
            ParleyEscrows.claim, (e.terms, e.lane, e.counter, bytes32(hex"a11ce0"))
        );
        (bool padded,) = send(short, 0);
        vm.assertFalse(padded, "32 bytes are hashed, not 3");
        assembly ("memory-safe") {
            mstore(short, sub(mload(short), 29))
        }
        (bool claimed,) = send(short, 0);
        vm.assertFalse(claimed, "a secret of 3 bytes");
        bytes memory batch = callOf(6).data;
        batch[4 + 63] = 0x02;
        (bool settled,) = send(batch, 0);
        vm.assertFalse(settled, "two legs are said, one is there");
    }

    function test_plain_transfers_and_unknown_calls_are_refused() public {
        bytes[3] memory calls = [bytes(""), hex"00", hex"12345678"];
        for (uint256 i = 0; i < 3; i++) {
            (bool ok,) = send(calls[i], 1);
            vm.assertFalse(ok, "no receive, no fallback");
        }
    }
}
