// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Consent, Signature} from "../src/Signature.sol";
import {Token} from "../src/Token.sol";
import {Wallet} from "./zoo/Wallet.sol";

/// @notice Lanes of the payee, which it lends by its signature.
contract PayeeLaneTest is Base {
    bytes32 private constant PERMIT = keccak256(
        "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
    );
    uint256 private constant WAYS = 4;

    function e1() internal view returns (Escrow memory) {
        return inLane(escrowIn(address(coin)));
    }

    function permit() internal view returns (Signature memory) {
        uint256 nonce = coin.nonces(funder);
        bytes32 message =
            keccak256(abi.encode(PERMIT, funder, address(escrows), AMOUNT, nonce, FUND_BEFORE));
        return
            sign(
                FUNDER_KEY,
                keccak256(abi.encodePacked(hex"1901", coin.DOMAIN_SEPARATOR(), message))
            );
    }

    function authorized(Escrow memory e) internal view returns (Signature memory) {
        return sign(FUNDER_KEY, authorization(e, coin.DOMAIN_SEPARATOR()));
    }

    /// By value, allowance, permit and authorization. A usual verb has no consent.
    function callOf(uint256 way, Escrow memory e, Signature memory consent, bool usual)
        internal
        view
        returns (bytes memory)
    {
        if (way < 2) {
            return usual
                ? abi.encodeCall(ParleyEscrows.fund, (e.terms, e.lane, e.counter))
                : abi.encodeCall(ParleyEscrows.fundInLane, (e.terms, e.lane, e.counter, consent));
        }
        if (way == 2) {
            return usual
                ? abi.encodeCall(
                    ParleyEscrows.fundWithPermit,
                    (e.terms, e.lane, e.counter, AMOUNT, FUND_BEFORE, permit())
                )
                : abi.encodeCall(
                    ParleyEscrows.fundInLaneWithPermit,
                    (e.terms, e.lane, e.counter, AMOUNT, FUND_BEFORE, consent, permit())
                );
        }
        return usual
            ? abi.encodeCall(
                ParleyEscrows.fundWithAuthorization, (e.terms, e.lane, e.counter, authorized(e))
            )
            : abi.encodeCall(
                ParleyEscrows.fundInLaneWithAuthorization,
                (e.terms, e.lane, e.counter, consent, authorized(e))
            );
    }

    function send(uint256 way, bytes memory call_)
        internal
        returns (bool ok, bytes memory answer)
    {
        vm.prank(way == 3 ? STRANGER : funder);
        (ok, answer) = address(escrows).call{value: way == 0 ? AMOUNT : 0}(call_);
    }

    function escrowOf(uint256 way) internal view returns (Escrow memory e) {
        e = e1();
        e.lane += uint96(way);
        if (way == 0) e.terms.token = address(0);
    }

    function test_every_way_of_funding_takes_the_payees_lane_and_every_verb_finds_it() public {
        for (uint256 way = 0; way < WAYS; way++) {
            for (uint256 verb = 0; verb < 6; verb++) {
                uint256 before = vm.snapshotState();
                if (way == 2) {
                    vm.prank(funder);
                    coin.approve(address(escrows), 0);
                }
                Escrow memory e = escrowOf(way);
                expectState(e, UNFUNDED);
                expectEvent();
                emit ParleyEscrows.Funded(idOf(e), e.terms, e.lane, 1);
                (bool ok,) = send(way, callOf(way, e, opening(e), false));
                vm.assertTrue(ok, "funded");
                expectState(e, OPEN);
                vm.assertEq(here(e.terms.token), AMOUNT, "here");
                vm.assertEq(wordIn(e), wordOf(e, OPEN), "the payee's word");
                vm.assertEq(keyOf(e) >> 96, uint160(RECIPIENT), "the payee's");
                (uint256 counter, uint256 state, bytes28 start) = escrows.laneOf(RECIPIENT, e.lane);
                vm.assertEq(counter, 1, "counter");
                vm.assertEq(state, OPEN, "state");
                vm.assertEq(bytes32(start), bytes32(bytes28(idOf(e))), "id");
                settle(e, verb, way);
                vm.assertEq(here(e.terms.token), 0, "gone");
                vm.revertToState(before);
            }
        }
    }

    function settle(Escrow memory e, uint256 verb, uint256 way) internal {
        bool claimed = verb == 0 || verb == 3;
        vm.warp(claimed || verb == 5 ? NOW : TIMELOCK);
        if (verb == 0) claim(e);
        if (verb == 1 || (verb == 2 && way == 0)) refund(e);
        if (verb == 2 && way != 0) refundPart(e, AMOUNT);
        if (verb == 3) vm.assertEq(claimMany(one(e, SECRET)), 1, "claimed");
        if (verb == 4) vm.assertEq(refundMany(one(e, hashlock)), 1, "refunded");
        if (verb == 5) {
            vm.prank(RECIPIENT);
            escrows.refundEarly(e.terms, e.lane, 1, "");
        }
        expectState(e, claimed ? CLAIMED : REFUNDED);
        vm.assertEq(held(e.terms.token, claimed ? RECIPIENT : funder) % AMOUNT, 0, "paid");
    }

    function test_the_usual_verbs_never_take_it() public {
        for (uint256 way = 0; way < WAYS; way++) {
            Escrow memory e = escrowOf(way);
            (bool ok, bytes memory answer) = send(way, callOf(way, e, opening(e), true));
            vm.assertFalse(ok, "refused");
            vm.assertEq(
                answer, abi.encodeWithSelector(ParleyEscrows.LaneOfPayee.selector, e.lane), "why"
            );
        }
    }

    function test_the_first_lane_of_a_payee_is_half_of_all() public {
        Escrow memory e = native();
        e.lane = OF_PAYEE - 1;
        fund(e);
        e.lane = OF_PAYEE;
        expectError(abi.encodeWithSelector(ParleyEscrows.LaneOfPayee.selector, OF_PAYEE));
        fund(e);
        fundInLane(e);
        e.lane = type(uint96).max;
        fundInLane(e);
    }

    function test_a_stranger_does_not_block_it() public {
        for (uint256 way = 0; way < WAYS; way++) {
            Escrow memory e = escrowOf(way);
            uint256[2] memory keys = [FUNDER_KEY, 0xBAD];
            for (uint256 i = 0; i < 2; i++) {
                Signature memory wrong = sign(keys[i], consentTo(e, "OpenInMyLane"));
                (bool ok, bytes memory answer) = send(way, callOf(way, e, wrong, false));
                vm.assertFalse(ok, "refused");
                vm.assertEq(
                    answer,
                    abi.encodeWithSelector(
                        Consent.WrongSigner.selector, vm.addr(keys[i]), RECIPIENT
                    ),
                    "whose"
                );
            }
            expectState(e, UNFUNDED);
            vm.assertEq(wordIn(e), 0, "as it was");
        }
    }

    function test_a_consent_binds_every_field_the_lane_and_the_counter() public {
        Escrow memory e = inLane(native());
        Signature memory consent = opening(e);
        for (uint256 field = 0; field < 8; field++) {
            if (field == 3) continue; // a token without code
            Escrow memory other = altered(e, field);
            vm.deal(other.terms.refund, AMOUNT);
            vm.prank(other.terms.refund);
            (bool ok, bytes memory answer) =
                address(escrows).call{value: other.terms.amount}(callOf(0, other, consent, false));
            vm.assertFalse(ok, "another escrow");
            vm.assertEq(
                bytes32(bytes4(answer)), bytes32(Consent.WrongSigner.selector), "not signed"
            );
        }
        vm.deal(funder, AMOUNT * 2);
        fundInLane(e);
        claim(e);
        (bool again, bytes memory why) = send(0, callOf(0, nextOf(e), consent, false));
        vm.assertFalse(again, "the next use");
        vm.assertEq(bytes32(bytes4(why)), bytes32(Consent.WrongSigner.selector), "not signed");
        expectNotReady(CLAIMED, 1, 1);
        fundInLane(e);
    }

    /// A maker lends one lane to one funder after the other.
    function test_a_lane_that_is_taken_is_free_for_another_funder_once_it_is_settled() public {
        Escrow memory e = inLane(native());
        Escrow memory other = altered(nextOf(e), 2);
        vm.deal(STRANGER, AMOUNT);
        fundInLane(e);
        expectNotReady(OPEN, 1, 2);
        fundInLane(other);
        claim(e);
        fundInLane(other);
        expectState(e, ENDED);
        expectState(other, OPEN);
        claim(other);
        vm.assertEq(RECIPIENT.balance, 2 * AMOUNT, "both");
    }

    /// One account pays in some swaps and is paid in others.
    function test_lanes_of_payees_and_funders_never_meet() public {
        Escrow memory own = native();
        own.terms.payout = funder;
        Escrow memory lent = inLane(own);
        Signature memory consent = sign(FUNDER_KEY, consentTo(lent, "OpenInMyLane"));
        fund(own);
        vm.prank(funder);
        escrows.fundInLane{value: AMOUNT}(lent.terms, lent.lane, 1, consent);
        vm.assertEq(wordIn(own), wordOf(own, OPEN), "the funder's");
        vm.assertEq(wordIn(lent), wordOf(lent, OPEN), "the payee's");
        claim(own);
        expectState(lent, OPEN);
        claim(lent);
        vm.assertEq(funder.balance, AMOUNT * 10, "both");
    }

    function test_no_native_money_is_made_of_a_permit_or_an_authorization() public {
        vm.deal(address(escrows), AMOUNT); // of others
        Escrow memory e = inLane(native());
        for (uint256 way = 2; way < WAYS; way++) {
            (bool ok, bytes memory answer) = send(way, callOf(way, e, opening(e), false));
            vm.assertFalse(ok, "no token");
            vm.assertEq(
                answer, abi.encodeWithSelector(Token.TokenCallFailed.selector, address(0)), "why"
            );
        }
    }

    function test_every_bound_of_a_funding_holds() public {
        for (uint256 way = 0; way < WAYS; way++) {
            Escrow memory e = escrowOf(way);
            e.terms.timelock = NOW;
            (bool ok,) = send(way, callOf(way, e, opening(e), false));
            vm.assertFalse(ok, "times");
            e = escrowOf(way);
            bytes memory call_ = callOf(way, e, opening(e), false);
            (ok,) = send(way == 0 ? 1 : 0, call_);
            vm.assertFalse(ok, "value");
            if (way == 3) continue;
            vm.deal(STRANGER, AMOUNT);
            vm.prank(STRANGER);
            bytes memory answer;
            (ok, answer) = address(escrows).call{value: way == 0 ? AMOUNT : 0}(call_);
            vm.assertFalse(ok, "the funder alone");
            vm.assertEq(
                answer,
                abi.encodeWithSelector(ParleyEscrows.SenderIsNotRefund.selector, STRANGER, funder),
                "who"
            );
        }
        Escrow memory last = escrowOf(3);
        Signature memory wrong = sign(0xBAD, authorization(last, coin.DOMAIN_SEPARATOR()));
        expectError(abi.encodeWithSelector(Consent.WrongSigner.selector, vm.addr(0xBAD), funder));
        escrows.fundInLaneWithAuthorization(last.terms, last.lane, 1, opening(last), wrong);
    }

    /// Lending asks for a key: a wallet that is code has no lanes to lend.
    function test_a_wallet_that_is_code_lends_none() public {
        Wallet wallet = new Wallet();
        Escrow memory e = inLane(native());
        e.terms.payout = address(wallet);
        wallet.set(consentTo(e, "OpenInMyLane"), abi.encode(bytes4(0x1626ba7e)));
        (bool ok,) = send(0, callOf(0, e, opening(e), false));
        vm.assertFalse(ok, "no key");
    }
}
