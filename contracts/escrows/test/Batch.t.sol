// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow, Item} from "./Base.sol";
import {Vm} from "./Vm.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Group} from "../src/Terms.sol";
import {Gauge, Moody} from "./zoo/Moody.sol";
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

    function claims(Escrow[] memory all) internal pure returns (Item[] memory items) {
        items = new Item[](all.length);
        for (uint256 i = 0; i < all.length; i++) {
            items[i] = Item(all[i], secretOf(i));
        }
    }

    function refunds(Escrow[] memory all) internal pure returns (Item[] memory items) {
        items = new Item[](all.length);
        for (uint256 i = 0; i < all.length; i++) {
            items[i] = Item(all[i], all[i].terms.hashlock);
        }
    }

    function test_ten_claims_of_mixed_assets_and_receivers_pay_each_to_the_unit() public {
        Escrow[] memory all = fundAll(10);
        vm.warp(NOW + 5);
        vm.assertEq(claimMany(claims(all)), 10, "claimed");
        uint256[4] memory due;
        for (uint256 i = 0; i < 10; i++) {
            expectState(all[i], CLAIMED);
            vm.assertEq(wordIn(all[i]), wordOf(all[i], CLAIMED), "word");
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
            vm.assertEq(wordIn(all[i]), wordOf(all[i], REFUNDED), "word");
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
        Item[] memory items = claims(all);
        claimMany(one(all[0], secretOf(0))); // claimed before
        items[1].lock ^= bytes32(uint256(1)); // another secret
        items[2].e = altered(all[2], 4); // other terms
        items[3].e = nextOf(all[3]);
        vm.assertEq(claimMany(items), 1, "the last");
        expectState(all[4], CLAIMED);
        for (uint256 i = 1; i < 4; i++) {
            expectState(all[i], OPEN);
        }
        vm.assertEq(claimMany(items), 0, "none");
        vm.assertEq(claimMany(new Item[](0)), 0, "of none");
    }

    function test_nobody_is_called_for_nothing() public {
        Gauge gauge = new Gauge();
        Escrow memory e = native();
        (e.terms.payout, e.terms.refund) = (address(gauge), address(gauge));
        vm.deal(address(gauge), AMOUNT);
        fund(e);
        vm.assertEq(claimMany(one(e, "another")), 0, "none");
        vm.assertEq(refundMany(one(e, hashlock)), 0, "none");
        vm.assertEq(gauge.seen(), 0, "not called");
        vm.assertEq(claimMany(one(e, SECRET)), 1, "claimed");
        vm.assertTrue(gauge.seen() > 0, "called");
    }

    function test_a_leg_twice_is_settled_once() public {
        Escrow[] memory all = fundAll(2);
        Item[] memory items = new Item[](2);
        items[0] = Item(all[0], secretOf(0));
        items[1] = items[0];
        fund(beside(all[0])); // money for a second claim is here
        vm.assertEq(claimMany(items), 1, "claimed");
        vm.warp(TIMELOCK);
        items[0] = Item(all[1], all[1].terms.hashlock);
        items[1] = items[0];
        vm.assertEq(refundMany(items), 1, "refunded");
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
        expectState(all[0], OPEN);
        vm.assertEq(refundMany(refunds(all)), 1, "and can be refunded");
        expectState(all[0], REFUNDED);
        expectState(all[1], CLAIMED);
    }

    function test_a_secret_is_no_hashlock_and_a_hashlock_no_secret() public {
        Escrow[] memory all = fundAll(1);
        vm.assertEq(claimMany(refunds(all)), 0, "the hashlock claims nothing");
        vm.warp(TIMELOCK);
        vm.assertEq(refundMany(claims(all)), 0, "the secret refunds nothing");
        vm.assertEq(refundMany(refunds(all)), 1, "its hashlock does");
    }

    /// @dev Ten, of which the receiver or the token of one in the middle can be chosen.
    function tenAround(Escrow memory odd) internal returns (Escrow[] memory all) {
        all = new Escrow[](10);
        for (uint256 i = 0; i < 10; i++) {
            Escrow memory e = i == 5 ? odd : mixed(i);
            e.lane = LANE + uint96(i);
            e.terms.hashlock = sha256(abi.encode(secretOf(i)));
            if (e.terms.token != address(0) && i == 5) give(e.terms.token, funder, AMOUNT);
            all[i] = e;
            fund(e);
        }
    }

    /// Claims or refunds ten of which one cannot be paid, then that one.
    function survives(Escrow[] memory all, bool claims_, uint256 gas_) internal {
        if (!claims_) vm.warp(TIMELOCK);
        Item[] memory items = claims_ ? claims(all) : refunds(all);
        Group[] memory groups = groupsOf(items, claims_);
        uint256 settled = claims_
            ? escrows.claimMany{gas: gas_}(groups, GAS_EACH)
            : escrows.refundMany{gas: gas_}(groups, GAS_EACH);
        vm.assertEq(settled, 9, "the others");
        for (uint256 i = 0; i < 10; i++) {
            expectState(all[i], i == 5 ? OPEN : claims_ ? CLAIMED : REFUNDED);
        }
        vm.assertLe(all[5].terms.amount, here(all[5].terms.token), "its money stays");
    }

    function test_a_receiver_that_rejects_or_burns_all_gas_is_left_alone() public {
        for (uint256 i = 0; i < 4; i++) {
            uint256 start = vm.snapshotState();
            Moody moody = new Moody();
            Escrow memory odd = native();
            bool claims_ = i < 2;
            if (claims_) odd.terms.payout = address(moody);
            else odd.terms.refund = address(moody);
            vm.deal(odd.terms.refund, AMOUNT);
            vm.deal(funder, AMOUNT * 10);
            Escrow[] memory all = tenAround(odd);
            moody.set(i % 2 == 0 ? Moody.Mood.Revert : Moody.Mood.Burn);
            survives(all, claims_, 10 * GAS_EACH);
            moody.set(Moody.Mood.Accept);
            vm.assertEq(claims_ ? claimMany(claims(all)) : refundMany(refunds(all)), 1, "later");
            vm.assertEq(address(moody).balance, AMOUNT, "paid");
            vm.revertToState(start);
        }
    }

    function test_a_token_that_refuses_or_lies_leaves_its_group_alone() public {
        for (uint256 i = 0; i < 4; i++) {
            uint256 start = vm.snapshotState();
            Blacklisting blocked = new Blacklisting();
            ChargesTheSender greedy = new ChargesTheSender();
            Escrow[] memory all = tenAround(escrowIn(i < 2 ? address(blocked) : address(greedy)));
            greedy.mint(address(escrows), 1);
            if (i < 2) blocked.set(i == 0 ? RECIPIENT : funder, true);
            else greedy.set(1);
            survives(all, i % 2 == 0, 10 * GAS_EACH);
            blocked.set(i == 0 ? RECIPIENT : funder, false);
            greedy.set(0);
            vm.assertEq(i % 2 == 0 ? claimMany(claims(all)) : refundMany(refunds(all)), 1, "later");
            vm.revertToState(start);
        }
    }

    /// A group is one payment: its escrows are paid together, or left together.
    function test_a_group_is_paid_whole_or_left_whole() public {
        Blacklisting blocked = new Blacklisting();
        Escrow[] memory all = new Escrow[](3);
        give(address(blocked), funder, AMOUNT * 3);
        for (uint256 i = 0; i < 3; i++) {
            all[i] = escrowIn(address(blocked));
            all[i].lane += uint96(i);
            all[i].terms.hashlock = sha256(abi.encode(secretOf(i)));
            fund(all[i]);
        }
        blocked.set(RECIPIENT, true);
        vm.assertEq(claimMany(claims(all)), 0, "none");
        for (uint256 i = 0; i < 3; i++) {
            expectState(all[i], OPEN);
        }
        blocked.set(RECIPIENT, false);
        vm.assertEq(claimMany(claims(all)), 3, "all");
    }

    /// With any gas at all a leg is settled and paid, or neither; and what is there suffices for
    /// the group that it is promised to, or nothing happens.
    function test_too_little_gas_settles_nothing_unpaid() public {
        uint256 some;
        for (uint256 gas_ = 30_000; gas_ < 260_000; gas_ += 700) {
            uint256 start = vm.snapshotState();
            Escrow[] memory all = fundAll(2);
            Group[] memory groups = groupsOf(claims(all), true);
            vm.prank(STRANGER);
            (bool ok,) = address(escrows).call{gas: gas_}(
                abi.encodeCall(ParleyEscrows.claimMany, (groups, 90_000))
            );
            for (uint256 i = 0; i < 2; i++) {
                uint256 got = held(all[i].terms.token, RECIPIENT);
                vm.assertEq(got, ok ? all[i].terms.amount : 0, "paid");
                expectState(all[i], ok ? CLAIMED : OPEN);
            }
            if (ok) some += 1;
            vm.revertToState(start);
        }
        vm.assertTrue(some > 50, "some were paid");
    }

    /// A bound that no payment fits into leaves its legs open, whatever gas there is.
    function test_a_group_has_the_gas_it_was_promised_and_no_more() public {
        bool paid;
        for (uint256 gas_ = 0; gas_ < 90_000; gas_ += 700) {
            uint256 start = vm.snapshotState();
            Escrow[] memory all = fundAll(2);
            uint256 claimed = escrows.claimMany(groupsOf(claims(all), true), gas_);
            for (uint256 i = 0; i < 2; i++) {
                uint256 got = held(all[i].terms.token, RECIPIENT);
                bool open = stateOf(all[i]) == OPEN;
                vm.assertEq(got, open ? 0 : all[i].terms.amount, "paid or open");
                if (!open) claimed -= 1;
            }
            vm.assertEq(claimed, 0, "counted");
            paid = stateOf(all[1]) == CLAIMED;
            vm.assertTrue(gas_ > 0 || !paid, "not with nothing");
            vm.revertToState(start);
        }
        vm.assertTrue(paid, "in the end");
    }

    /// Around the least that suffices, in steps below what a call takes.
    function test_a_group_has_all_the_gas_it_was_promised_or_nothing_happens() public {
        Gauge gauge = new Gauge();
        Escrow memory e = native();
        e.terms.payout = address(gauge);
        fund(e);
        Group[] memory groups = groupsOf(one(e, SECRET), true);
        uint256 expected;
        for (uint256 gas_ = 100_000; gas_ < 112_000; gas_ += 50) {
            uint256 start = vm.snapshotState();
            (bool ok,) = address(escrows).call{gas: gas_}(
                abi.encodeCall(ParleyEscrows.claimMany, (groups, 100_000))
            );
            uint256 seen = gauge.seen();
            vm.assertTrue((seen > 0) == ok, "paid");
            if (ok && expected == 0) expected = seen;
            if (ok) vm.assertEq(seen, expected, "as much as ever");
            vm.revertToState(start);
        }
        vm.assertTrue(expected > 80_000, "some were paid");
    }

    function test_the_error_says_what_is_left_and_what_was_promised() public {
        Group[] memory groups = groupsOf(claims(fundAll(1)), true);
        (bool ok, bytes memory answer) = address(escrows).call{gas: 500_000}(
            abi.encodeCall(ParleyEscrows.claimMany, (groups, 500_000))
        );
        vm.assertFalse(ok, "refused");
        vm.assertEq(
            bytes32(bytes4(answer)), bytes32(ParleyEscrows.GasTooLittle.selector), "as too little"
        );
        (uint256 left, uint256 promised) = this.valuesIn(answer);
        vm.assertTrue(left < 500_000 && left > 450_000, "left");
        vm.assertEq(promised, 500_000, "promised");
        // a gas limit that no number holds
        (ok,) = address(escrows)
            .call(abi.encodeCall(ParleyEscrows.claimMany, (groups, type(uint256).max)));
        vm.assertFalse(ok, "no wrap to nothing");
    }

    function valuesIn(bytes calldata error_) external pure returns (uint256, uint256) {
        return abi.decode(error_[4:], (uint256, uint256));
    }

    function test_nobody_else_settles_a_group() public {
        Escrow[] memory all = fundAll(1);
        Group[] memory groups = groupsOf(claims(all), true);
        expectError(abi.encodeWithSelector(ParleyEscrows.SenderIsNotThis.selector, address(this)));
        escrows.settleGroup(groups[0], CLAIMED);
        expectState(all[0], OPEN);
    }

    /// A group that is no group is left; the next one is settled.
    function test_addresses_with_more_than_20_bytes_are_left() public {
        Escrow[] memory all = fundAll(2);
        for (uint256 word = 0; word < 2; word++) {
            bytes memory call_ =
                abi.encodeCall(ParleyEscrows.claimMany, (groupsOf(claims(all), true), GAS_EACH));
            call_[4 + 32 * (5 + word) + 11] = 0x01;
            (bool ok, bytes memory answer) = address(escrows).call(call_);
            vm.assertTrue(ok, "read");
            vm.assertEq(abi.decode(answer, (uint256)), 1 - word, "the other");
            expectState(all[0], OPEN);
        }
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
        e.terms.amount = bound(amount, 1, (1 << 144) - 1);
        e.terms.timelock = bound(e.terms.timelock, NOW + 30 minutes, NOW + 30 days);
        e.terms.fundBefore = bound(e.terms.fundBefore, NOW + 1, type(uint40).max);
        vm.deal(e.terms.refund, e.terms.amount);
        if (e.lane < OF_PAYEE) fund(e);
        else fundInLane(e);
        uint256 open = vm.snapshotState();
        vm.assertEq(claimMany(one(e, secret)), 1, "claimed");
        vm.assertEq(RECIPIENT.balance, e.terms.amount, "paid");
        vm.revertToState(open);
        vm.warp(e.terms.timelock);
        vm.assertEq(refundMany(one(e, e.terms.hashlock)), 1, "refunded");
        vm.assertEq(e.terms.refund.balance, e.terms.amount, "back");
    }

    /// Any change of one bit in a leg leads to nothing that is open.
    function testFuzz_another_leg_by_a_bit_settles_nothing(uint256 word, uint256 bit) public {
        Escrow memory e = escrowIn(address(coin));
        fund(e);
        fund(beside(e));
        bytes memory call_ =
            abi.encodeCall(ParleyEscrows.claimMany, (groupsOf(one(e, SECRET), true), GAS_EACH));
        // token and receiver, then the leg behind an offset and a length
        uint256 which = bound(word, 0, 4);
        uint256 at_ = 4 + 32 * (which < 2 ? 4 + which : 6 + which) + bound(bit, 0, 255) / 8;
        call_[at_] = bytes1(uint8(call_[at_]) ^ uint8(1 << bit % 8));
        (bool ok, bytes memory answer) = address(escrows).call(call_);
        if (ok) vm.assertEq(abi.decode(answer, (uint256)), 0, "claimed");
        expectState(e, OPEN);
    }
}
