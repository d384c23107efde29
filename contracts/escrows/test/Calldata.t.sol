// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Signature} from "../src/Signature.sol";

/// @notice What comes with a call of each verb besides its meaning: upper bytes of narrow words,
///         value, and too few bytes. Each row is a call that would succeed without it. A batch
///         leaves a group with such words (Batch.t.sol).
contract CalldataTest is Base {
    uint256 private constant VERBS = 13;
    uint256 private constant FUNDINGS = 7;
    uint256 private constant CLAIM_MANY = 7;

    struct Call {
        bytes data;
        uint256 value;
        uint256 when;
        bytes narrow; // words and their widths: three addresses, lane, counter, each `v`
    }

    bytes private constant OF_ESCROW = hex"01140214031407" hex"0c0804";

    /// @dev A free lane for what funds; a token's escrow on a lane of its own for what settles.
    function callOf(uint256 verb) internal returns (Call memory made) {
        Escrow memory e = escrowIn(address(coin));
        e.lane += uint96(verb);
        made.when = NOW;
        made.narrow = OF_ESCROW;
        if (verb < FUNDINGS) return funding(verb, e, made);
        fund(e);
        if (verb > 9) made.when = TIMELOCK;
        if (verb == CLAIM_MANY) {
            made.data = abi.encodeCall(
                ParleyEscrows.claimMany, (groupsOf(one(e, SECRET), true), GAS_EACH)
            );
        }
        if (verb == 8) {
            made.data = abi.encodeCall(ParleyEscrows.claim, (e.terms, e.lane, 1, SECRET));
        }
        if (verb == 9) {
            Signature memory given = sign(RECIPIENT_KEY, consentTo(e, "GiveUpClaim"));
            made.data = abi.encodeCall(
                ParleyEscrows.refundEarly,
                (e.terms, e.lane, 1, abi.encodePacked(given.r, given.s, given.v))
            );
        }
        if (verb == 10) made.data = abi.encodeCall(ParleyEscrows.refund, (e.terms, e.lane, 1));
        if (verb == 11) {
            made.data = abi.encodeCall(ParleyEscrows.refundPart, (e.terms, e.lane, 1, 1));
        }
        if (verb == 12) {
            made.data = abi.encodeCall(
                ParleyEscrows.refundMany, (groupsOf(one(e, hashlock), false), GAS_EACH)
            );
        }
        if (verb == CLAIM_MANY || verb == 12) made.narrow = "";
    }

    function funding(uint256 verb, Escrow memory e, Call memory made)
        internal
        view
        returns (Call memory)
    {
        Signature memory none = Signature(27, 0, 0);
        if (verb < 2) {
            made.value = AMOUNT;
            e.terms.token = address(0);
        }
        if (verb % 2 == 1) e = inLane(e);
        Signature memory given = sign(FUNDER_KEY, authorization(e, coin.DOMAIN_SEPARATOR()));
        Signature memory consent = opening(e);
        if (verb == 0) made.data = abi.encodeCall(ParleyEscrows.fund, (e.terms, e.lane, 1));
        if (verb == 1) {
            made.data = abi.encodeCall(ParleyEscrows.fundInLane, (e.terms, e.lane, 1, consent));
            made.narrow = bytes.concat(OF_ESCROW, hex"0901");
        }
        if (verb == 2) {
            made.data = abi.encodeCall(
                ParleyEscrows.fundWithPermit, (e.terms, e.lane, 1, AMOUNT, FUND_BEFORE, none)
            );
            made.narrow = bytes.concat(OF_ESCROW, hex"0b01");
        }
        if (verb == 3) {
            made.data = abi.encodeCall(
                ParleyEscrows.fundInLaneWithPermit,
                (e.terms, e.lane, 1, AMOUNT, FUND_BEFORE, consent, none)
            );
            made.narrow = bytes.concat(OF_ESCROW, hex"0b010e01");
        }
        if (verb == 4) {
            made.data =
                abi.encodeCall(ParleyEscrows.fundWithAuthorization, (e.terms, e.lane, 1, given));
            made.narrow = bytes.concat(OF_ESCROW, hex"0901");
        }
        if (verb == 5) {
            made.data = abi.encodeCall(
                ParleyEscrows.fundInLaneWithAuthorization, (e.terms, e.lane, 1, consent, given)
            );
            made.narrow = bytes.concat(OF_ESCROW, hex"09010c01");
        }
        if (verb == 6) {
            Escrow[] memory all = new Escrow[](1);
            all[0] = e;
            made.data = abi.encodeCall(ParleyEscrows.fundMany, (fundings(all)));
            made.narrow = hex"031404140514090c0a04";
        }
        return made;
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
            for (uint256 i = 0; i < it.narrow.length; i += 2) {
                bytes memory bad = bytes.concat(it.data);
                uint256 end = 4 + 32 * uint256(uint8(it.narrow[i])) + 31;
                bad[end - uint8(it.narrow[i + 1])] = 0x01;
                (bool dirty, uint256 answered) = send(bad, it.value);
                vm.assertFalse(dirty, "refused");
                // a funding must not come to hash such words; the fifth fails for want of a consent
                if (verb < FUNDINGS && verb != 5) vm.assertEq(answered, 0, "by the decoder");
            }
            (bool clean,) = send(it.data, it.value);
            vm.assertTrue(clean, "the same without");
        }
    }

    function test_no_value_comes_with_any_verb_but_a_native_funding() public {
        for (uint256 verb = 2; verb < VERBS; verb++) {
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
        bytes memory batch = callOf(CLAIM_MANY).data;
        batch[4 + 32 * 7 + 31] = 0x02;
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
