// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {Vm} from "./Vm.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Leg} from "../src/Terms.sol";
import {Token} from "../src/Token.sol";
import {Moody} from "./zoo/Moody.sol";
import {Paradox} from "./zoo/Odd.sol";
import {Blacklisting, ChargesTheSender} from "./zoo/Tokens.sol";

contract BatchTest is Base {
    bytes32 private constant CLAIMED_EVENT = keccak256("Claimed(bytes32,bytes32)");

    function secretOf(uint256 i) internal pure returns (bytes32) {
        return keccak256(abi.encode("secret", i));
    }

    /// Every third native, the others of one token, every fifth paid to somebody else.
    function mixed(uint256 i) internal view returns (Escrow memory e) {
        e = escrowIn(i % 3 == 0 ? address(0) : address(coin));
        e.lane += uint96(i);
        e.terms.hashlock = sha256(abi.encode(secretOf(i)));
        e.terms.amount = AMOUNT / 10 + i;
        if (i % 5 == 4) e.terms.payout = STRANGER;
    }

    function fundAll(uint256 count) internal returns (Escrow[] memory all) {
        all = new Escrow[](count);
        for (uint256 i = 0; i < count; i++) {
            all[i] = mixed(i);
            fund(all[i]);
        }
    }

    function claims(Escrow[] memory all) internal pure returns (Leg[] memory legs) {
        legs = new Leg[](all.length);
        for (uint256 i = 0; i < all.length; i++) {
            legs[i] = claimLeg(all[i], secretOf(i));
        }
    }

    function refunds(Escrow[] memory all) internal pure returns (Leg[] memory legs) {
        legs = new Leg[](all.length);
        for (uint256 i = 0; i < all.length; i++) {
            legs[i] = refundLeg(all[i]);
        }
    }

    function claimMany(Leg[] memory legs) internal returns (uint256) {
        vm.prank(address(0xCA11));
        return escrows.claimMany(legs);
    }

    function refundMany(Leg[] memory legs) internal returns (uint256) {
        vm.prank(address(0xCA11));
        return escrows.refundMany(legs);
    }

    function one(Leg memory leg) internal pure returns (Leg[] memory legs) {
        legs = new Leg[](1);
        legs[0] = leg;
    }

    function test_ten_claims_of_mixed_assets_and_receivers_pay_each_to_the_unit() public {
        Escrow[] memory all = fundAll(10);
        vm.warp(NOW + 5);
        vm.assertEq(claimMany(claims(all)), 10, "claimed");
        uint256[4] memory due;
        for (uint256 i = 0; i < 10; i++) {
            expectState(all[i], CLAIMED, NOW + 5);
            vm.assertEq(wordIn(all[i]), wordOf(all[i], CLAIMED, NOW + 5), "word");
            due[(i % 3 == 0 ? 0 : 1) + (i % 5 == 4 ? 2 : 0)] += all[i].terms.amount;
        }
        vm.assertEq(RECIPIENT.balance, due[0], "native");
        vm.assertEq(coin.balanceOf(RECIPIENT), due[1], "token");
        vm.assertEq(STRANGER.balance, due[2], "native, another receiver");
        vm.assertEq(coin.balanceOf(STRANGER), due[3], "token, another receiver");
        vm.assertEq(here(address(0)) + here(address(coin)), 0, "left");
    }

    function test_each_claim_is_logged_with_its_secret() public {
        Escrow[] memory all = fundAll(6);
        vm.recordLogs();
        claimMany(claims(all));
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint256 seen;
        for (uint256 i = 0; i < logs.length; i++) {
            if (logs[i].emitter != address(escrows)) continue;
            vm.assertEq(logs[i].topics[0], CLAIMED_EVENT, "claimed");
            vm.assertEq(logs[i].topics[1], idOf(all[seen]), "id");
            vm.assertEq(logs[i].data, abi.encode(secretOf(seen)), "secret");
            seen += 1;
        }
        vm.assertEq(seen, 6, "all");
    }

    function test_each_refund_is_logged_and_goes_to_its_funder() public {
        Escrow[] memory all = fundAll(6);
        Escrow memory others = native();
        others.terms.refund = STRANGER;
        vm.deal(STRANGER, AMOUNT);
        fund(others);
        all[2] = others;
        vm.warp(TIMELOCK);
        for (uint256 i = 0; i < 6; i++) {
            expectEvent();
            emit ParleyEscrows.Refunded(idOf(all[i]));
        }
        vm.assertEq(refundMany(refunds(all)), 6, "refunded");
        vm.assertEq(STRANGER.balance, AMOUNT, "of another funder");
        vm.assertEq(funder.balance, AMOUNT * 10, "native");
        vm.assertEq(coin.balanceOf(funder), AMOUNT * 10 - mixed(2).terms.amount, "token");
        for (uint256 i = 0; i < 6; i++) {
            vm.assertEq(wordIn(all[i]), wordOf(all[i], REFUNDED, TIMELOCK), "word");
        }
    }

    function test_neighbours_are_paid_by_one_transfer() public {
        Escrow[] memory all = new Escrow[](4);
        for (uint256 i = 0; i < 4; i++) {
            all[i] = mixed(3 * i + 1); // all of the token
            all[i].terms.payout = RECIPIENT;
            all[i].terms.hashlock = sha256(abi.encode(secretOf(i)));
            fund(all[i]);
        }
        vm.recordLogs();
        vm.assertEq(claimMany(claims(all)), 4, "claimed");
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint256 transfers;
        for (uint256 i = 0; i < logs.length; i++) {
            if (logs[i].emitter == address(coin)) transfers += 1;
        }
        vm.assertEq(transfers, 1, "transfers");
        vm.assertEq(here(address(coin)), 0, "all paid");
    }

    function test_what_is_not_open_under_its_secret_is_left() public {
        Escrow[] memory all = fundAll(5);
        Leg[] memory legs = claims(all);
        claimMany(one(legs[0])); // claimed before
        legs[1].lock = bytes32(uint256(legs[1].lock) ^ 1); // another secret
        legs[2].amount -= 1; // other terms
        legs[3].times += 1; // the lane's next use
        vm.assertEq(claimMany(legs), 1, "the last");
        expectState(all[4], CLAIMED, NOW);
        for (uint256 i = 1; i < 4; i++) {
            expectState(all[i], OPEN, NOW);
        }
        vm.assertEq(claimMany(legs), 0, "none");
        vm.assertEq(claimMany(new Leg[](0)), 0, "of none");
    }

    function test_nobody_is_called_for_nothing() public {
        Escrow[] memory all = fundAll(2);
        all[0] = all[1]; // of the token, and its secret is not the first's
        vm.mockCallRevert(address(0), "", "");
        vm.assertEq(claimMany(claims(all)), 1, "claimed");
        vm.assertEq(claimMany(claims(all)), 0, "none");
        vm.warp(TIMELOCK);
        vm.assertEq(refundMany(refunds(all)), 0, "none");
    }

    function test_a_leg_twice_is_settled_once() public {
        Escrow[] memory all = fundAll(2);
        Leg[] memory legs = new Leg[](2);
        legs[0] = claimLeg(all[0], secretOf(0));
        legs[1] = legs[0];
        fund(beside(all[0])); // money for a second claim is here
        vm.assertEq(claimMany(legs), 1, "claimed");
        vm.warp(TIMELOCK);
        legs[0] = refundLeg(all[1]);
        legs[1] = legs[0];
        vm.assertEq(refundMany(legs), 1, "refunded");
        vm.assertEq(RECIPIENT.balance, all[0].terms.amount, "once");
        vm.assertEq(coin.balanceOf(funder), AMOUNT * 10, "once");
    }

    function test_the_timelock_from_both_sides() public {
        Escrow[] memory all = fundAll(2);
        all[1] = altered(all[1], 5);
        all[1].lane += 50;
        fund(all[1]); // a second later than the other
        vm.warp(TIMELOCK - 1);
        vm.assertEq(refundMany(refunds(all)), 0, "both are too early");
        vm.warp(TIMELOCK);
        vm.assertEq(claimMany(claims(all)), 1, "one is too late");
        expectState(all[0], OPEN, NOW);
        vm.assertEq(refundMany(refunds(all)), 1, "and can be refunded");
        expectState(all[0], REFUNDED, TIMELOCK);
        expectState(all[1], CLAIMED, TIMELOCK);
    }

    function test_a_secret_is_no_hashlock_and_a_hashlock_no_secret() public {
        Escrow[] memory all = fundAll(1);
        vm.assertEq(claimMany(refunds(all)), 0, "the hashlock claims nothing");
        vm.warp(TIMELOCK);
        vm.assertEq(refundMany(claims(all)), 0, "the secret refunds nothing");
        vm.assertEq(refundMany(refunds(all)), 1, "its hashlock does");
    }

    function test_a_payment_that_fails_takes_all_back() public {
        Moody moody = new Moody();
        Escrow[] memory all = fundAll(3);
        Escrow memory e = beside(native());
        e.terms.hashlock = all[1].terms.hashlock;
        e.terms.payout = address(moody);
        fund(e);
        all[1] = e;
        moody.set(Moody.Mood.Revert);
        expectError(abi.encodeWithSelector(ParleyEscrows.PaymentRejected.selector, moody, AMOUNT));
        claimMany(claims(all));
        expectState(all[0], OPEN, NOW);
        expectState(all[1], OPEN, NOW);
        vm.assertEq(RECIPIENT.balance, 0, "nobody was paid");
        moody.set(Moody.Mood.Accept);
        vm.assertEq(claimMany(claims(all)), 3, "without it all are");
    }

    function test_a_token_that_lies_in_a_batch_takes_all_back() public {
        Blacklisting blocked = new Blacklisting();
        ChargesTheSender greedy = new ChargesTheSender();
        address[2] memory tokens = [address(blocked), address(greedy)];
        Escrow[] memory all = fundAll(2);
        for (uint256 i = 0; i < 2; i++) {
            Escrow memory e = escrowIn(tokens[i]);
            e.lane += uint96(80 + i);
            e.terms.hashlock = all[1].terms.hashlock;
            give(tokens[i], funder, AMOUNT * 2);
            fund(beside(e));
            fund(e);
            all[1] = e;
            if (i == 0) {
                blocked.set(RECIPIENT, true);
                expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, blocked));
            } else {
                greedy.set(1);
                expectError(
                    abi.encodeWithSelector(
                        ParleyEscrows.WrongAmountSent.selector,
                        greedy,
                        2 * AMOUNT,
                        AMOUNT - 1,
                        AMOUNT
                    )
                );
            }
            claimMany(claims(all));
            expectState(all[0], OPEN, NOW);
        }
        vm.warp(TIMELOCK);
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountSent.selector, greedy, 2 * AMOUNT, AMOUNT - 1, AMOUNT
            )
        );
        refundMany(refunds(all));
        greedy.set(0);
        vm.assertEq(refundMany(refunds(all)), 2, "when it is honest again");
    }

    /// Two halves of all numbers would wrap to nothing: settled, and unpaid.
    function test_a_sum_that_no_number_holds_takes_all_back() public {
        Paradox token = new Paradox();
        Escrow[] memory all = new Escrow[](2);
        for (uint256 i = 0; i < 2; i++) {
            all[i] = mixed(i);
            all[i].terms.token = address(token);
            all[i].terms.amount = 1 << 255;
            token.set(0);
            fund(all[i]);
        }
        bytes memory overflow = abi.encodeWithSignature("Panic(uint256)", 0x11);
        expectError(overflow);
        claimMany(claims(all));
        vm.warp(TIMELOCK);
        expectError(overflow);
        refundMany(refunds(all));
        expectState(all[0], OPEN, NOW);
        expectState(all[1], OPEN, NOW);
    }

    function testFuzz_a_leg_names_the_escrow_that_its_terms_name(
        Escrow memory e,
        bytes32 secret,
        uint256 amount
    ) public {
        vm.assume(e.terms.refund.code.length == 0 && uint160(e.terms.refund) > 0xffff);
        e.counter = 1;
        e.terms.hashlock = sha256(abi.encode(secret));
        e.terms.payout = RECIPIENT;
        e.terms.token = address(0);
        e.terms.amount = bound(amount, 1, type(uint128).max);
        e.terms.timelock = bound(e.terms.timelock, NOW + 30 minutes, NOW + 30 days);
        e.terms.fundBefore = bound(e.terms.fundBefore, NOW + 1, type(uint64).max);
        vm.deal(e.terms.refund, e.terms.amount);
        fund(e);
        uint256 open = vm.snapshotState();
        vm.assertEq(claimMany(one(claimLeg(e, secret))), 1, "claimed");
        vm.assertEq(RECIPIENT.balance, e.terms.amount, "paid");
        vm.revertToState(open);
        vm.warp(e.terms.timelock);
        vm.assertEq(refundMany(one(refundLeg(e))), 1, "refunded");
        vm.assertEq(e.terms.refund.balance, e.terms.amount, "back");
    }

    /// Any change of one bit in a leg leads to nothing that is open.
    function testFuzz_another_leg_by_a_bit_settles_nothing(uint256 word, uint256 bit) public {
        Escrow memory e = escrowIn(address(coin));
        fund(e);
        fund(beside(e));
        bytes memory call_ = abi.encodeCall(ParleyEscrows.claimMany, (one(claimLeg(e, SECRET))));
        uint256 at_ = 4 + 64 + 32 * bound(word, 0, 5) + bound(bit, 0, 255) / 8;
        call_[at_] = bytes1(uint8(call_[at_]) ^ uint8(1 << bit % 8));
        (bool ok, bytes memory answer) = address(escrows).call(call_);
        if (ok) vm.assertEq(abi.decode(answer, (uint256)), 0, "claimed");
        expectState(e, OPEN, NOW);
    }
}
