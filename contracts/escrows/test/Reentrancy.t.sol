// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow, Item} from "./Base.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Signature} from "../src/Signature.sol";
import {Funding, Group} from "../src/Terms.sol";
import {Attacker, Crooked} from "./zoo/Attacker.sol";
import {Books, SecondDoor} from "./zoo/Odd.sol";
import {Plain} from "./zoo/Tokens.sol";

/// @notice Lets the second door of the same balances move them, and calls back meanwhile.
contract TwoDoors is Crooked, Books {
    function moveBetween(address from, address to, uint256 value) external {
        _move(from, to, value);
    }

    function balanceOf(address who) public view override(Plain, Books) returns (uint256) {
        return super.balanceOf(who);
    }
}

contract ReentrancyTest is Base {
    uint256 private constant VERBS = 14;

    Crooked internal crooked;
    Attacker internal attacker;

    function setUp() public override {
        super.setUp();
        attacker = new Attacker(address(escrows));
        crooked = new Crooked();
        give(address(crooked), funder, AMOUNT * 10);
        give(address(crooked), address(attacker), AMOUNT * 10);
        give(address(coin), address(attacker), AMOUNT * 10);
        vm.deal(address(attacker), AMOUNT);
        Escrow memory others = escrowIn(address(crooked)); // somebody else's money lies here too
        others.lane = 1;
        others.terms.payout = STRANGER;
        fund(others);
        crooked.employ(attacker);
    }

    /// Every verb, as an attacker would call it. Those of open escrows are possible otherwise.
    function verbs() internal view returns (bytes[] memory calls) {
        Escrow memory own = native();
        own.terms.refund = address(attacker);
        Escrow memory token = escrowIn(address(coin));
        token.terms.refund = address(attacker);
        token.lane += 1;
        Escrow memory open = escrowIn(address(crooked));
        open.lane = 1;
        Escrow memory lent = inLane(own);
        Signature memory none = Signature(27, 0, 0);
        calls = new bytes[](VERBS);
        calls[0] = abi.encodeCall(ParleyEscrows.fund, (own.terms, own.lane, 1));
        calls[1] = abi.encodeCall(ParleyEscrows.fund, (token.terms, token.lane, 1));
        calls[2] = abi.encodeCall(
            ParleyEscrows.fundWithPermit, (token.terms, token.lane, 1, AMOUNT, NOW, none)
        );
        calls[3] = abi.encodeCall(
            ParleyEscrows.fundWithAuthorization, (token.terms, token.lane, 1, none)
        );
        calls[4] = abi.encodeCall(ParleyEscrows.claim, (open.terms, open.lane, 1, SECRET));
        calls[5] = abi.encodeCall(ParleyEscrows.refund, (open.terms, open.lane, 1));
        calls[6] = abi.encodeCall(ParleyEscrows.refundPart, (open.terms, open.lane, 1, 1));
        calls[7] = abi.encodeCall(ParleyEscrows.claimMany, (new Group[](0), 0));
        calls[8] = abi.encodeCall(ParleyEscrows.refundMany, (new Group[](0), 0));
        calls[9] =
            abi.encodeCall(ParleyEscrows.fundInLane, (lent.terms, lent.lane, 1, opening(lent)));
        calls[10] = abi.encodeCall(
            ParleyEscrows.fundInLaneWithPermit,
            (token.terms, token.lane, 1, AMOUNT, NOW, none, none)
        );
        calls[11] = abi.encodeCall(
            ParleyEscrows.fundInLaneWithAuthorization, (token.terms, token.lane, 1, none, none)
        );
        calls[12] = abi.encodeCall(ParleyEscrows.fundMany, (new Funding[](0)));
        calls[13] = abi.encodeCall(ParleyEscrows.refundEarly, (open.terms, open.lane, 1, ""));
    }

    function e1() internal view returns (Escrow memory) {
        return escrowIn(address(crooked));
    }

    function arm(uint256 verb) internal {
        attacker.armValue(verbs()[verb], verb == 0 || verb == 9 ? AMOUNT : 0);
    }

    function expectRefused(uint256 tried) internal view {
        vm.assertEq(attacker.tried(), tried, "tried");
        vm.assertEq(attacker.succeeded(), 0, "and failed");
        vm.assertEq(
            bytes32(attacker.refusal()), bytes32(ParleyEscrows.Reentered.selector), "as within"
        );
    }

    /// A funding, one by authorization, one of many, a claim, a refund, a part, the two batches, and
    /// a refund before the timelock.
    function test_no_verb_runs_within_a_token_call() public {
        for (uint256 way = 0; way < 9; way++) {
            for (uint256 verb = 0; verb < VERBS; verb++) {
                uint256 before = vm.snapshotState();
                if (way > 2) {
                    attacker.arm("");
                    fund(e1());
                }
                arm(verb);
                vm.warp(way < 4 || way == 6 || way == 8 ? NOW : TIMELOCK);
                if (way < 3) fundBy(way, e1());
                else settle(e1(), way - 3);
                expectRefused(1);
                vm.assertEq(here(address(crooked)), way < 3 ? 2 * AMOUNT : AMOUNT, "once");
                vm.revertToState(before);
            }
        }
    }

    /// An account can lend itself code (EIP-7702): then it calls again as the transaction's origin.
    function test_the_origin_itself_runs_no_verb_within_a_token_call() public {
        vm.etch(funder, address(attacker).code);
        attacker = Attacker(payable(funder));
        crooked.employ(attacker);
        for (uint256 verb = 0; verb < VERBS; verb++) {
            uint256 before = vm.snapshotState();
            arm(verb);
            vm.prank(funder, funder);
            escrows.fund(e1().terms, LANE, 1);
            expectRefused(1);
            expectState(e1(), OPEN);
            vm.revertToState(before);
        }
    }

    function fundBy(uint256 way, Escrow memory e) internal {
        if (way == 0) return fund(e);
        if (way == 2) {
            Escrow[] memory all = new Escrow[](1);
            all[0] = e;
            vm.prank(funder);
            return escrows.fundMany(fundings(all));
        }
        Signature memory given = sign(FUNDER_KEY, authorization(e, crooked.DOMAIN_SEPARATOR()));
        escrows.fundWithAuthorization(e.terms, e.lane, e.counter, given);
    }

    function settle(Escrow memory e, uint256 way) internal {
        if (way == 0) claim(e);
        if (way == 1) refund(e);
        if (way == 2) refundPart(e, AMOUNT);
        if (way == 3) vm.assertEq(claimMany(one(e, SECRET)), 1, "claimed");
        if (way == 4) vm.assertEq(refundMany(one(e, hashlock)), 1, "refunded");
        if (way == 5) {
            vm.prank(e.terms.payout);
            escrows.refundEarly(e.terms, e.lane, e.counter, "");
        }
    }

    /// Half of what a funding owes is missing, and the other half would come by a second funding
    /// within: the sum would look right, and half an escrow more would be owed than is here.
    function test_a_funding_within_never_makes_up_for_what_a_funding_lacks() public {
        Escrow memory second = e1();
        second.terms.refund = address(attacker);
        second.terms.amount = AMOUNT / 2;
        crooked.cheat(funder, AMOUNT / 2, 0);
        attacker.arm(abi.encodeCall(ParleyEscrows.fund, (second.terms, second.lane, 1)));
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountReceived.selector, crooked, AMOUNT, AMOUNT * 3 / 2, AMOUNT
            )
        );
        fund(e1());
        attacker.arm("");
        attacker.armGift(address(crooked), AMOUNT / 2); // a gift may: nothing is owed for it
        fund(e1());
        vm.assertEq(here(address(crooked)), 2 * AMOUNT, "what is owed");
    }

    /// The same on the way out, by a token that takes more than the amount from this contract.
    function test_a_funding_within_never_makes_up_for_what_a_payment_took_too_much() public {
        Escrow memory e = e1();
        fund(e);
        Escrow memory second = beside(e);
        second.terms.refund = address(attacker);
        second.terms.amount = 5;
        second.terms.timelock += 1 days;
        second.terms.fundBefore += 1 days;
        crooked.cheat(address(escrows), 0, 5);
        attacker.arm(abi.encodeCall(ParleyEscrows.fund, (second.terms, second.lane, 1)));
        for (uint256 way = 0; way < 3; way++) {
            vm.warp(way == 0 ? NOW : TIMELOCK);
            expectError(
                abi.encodeWithSelector(
                    ParleyEscrows.WrongAmountSent.selector, crooked, 2 * AMOUNT, AMOUNT - 5, AMOUNT
                )
            );
            if (way == 0) claim(e);
            else if (way == 1) refund(e);
            else refundPart(e, AMOUNT);
        }
    }

    /// Two addresses that move the same balances: a funding through one within one of the other
    /// would be counted twice.
    function test_a_second_address_of_a_token_is_not_counted_twice() public {
        TwoDoors books = new TwoDoors();
        SecondDoor door = new SecondDoor(books);
        give(address(books), funder, AMOUNT * 10);
        Escrow memory front = escrowIn(address(books));
        Escrow memory back = beside(escrowIn(address(door)));
        fund(front);
        fund(back);
        vm.assertEq(here(address(books)), 2 * AMOUNT, "both");
        claim(front);
        vm.warp(TIMELOCK);
        refund(back);
        vm.assertEq(here(address(books)), 0, "empty");
        vm.warp(NOW);
        front = nextOf(front);
        back.terms.refund = address(attacker);
        back.terms.amount = AMOUNT / 2;
        books.mint(address(attacker), AMOUNT);
        books.employ(attacker);
        books.cheat(funder, AMOUNT / 2, 0);
        attacker.arm(abi.encodeCall(ParleyEscrows.fund, (back.terms, back.lane, 1)));
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountReceived.selector, books, 0, AMOUNT / 2, AMOUNT
            )
        );
        fund(front);
    }

    /// Nothing is under way while a permit is tried: what happens within it happens before.
    function test_verbs_within_a_permit_are_verbs_before_the_funding() public {
        Escrow memory others = escrowIn(address(crooked));
        others.lane = 1;
        others.terms.payout = STRANGER;
        attacker.arm(abi.encodeCall(ParleyEscrows.claim, (others.terms, 1, 1, SECRET)));
        vm.prank(funder);
        escrows.fundWithPermit(e1().terms, LANE, 1, AMOUNT, NOW, Signature(27, 0, 0));
        vm.assertEq(attacker.succeeded(), 1, "claimed within");
        vm.assertEq(crooked.balanceOf(STRANGER), AMOUNT, "paid once");
        vm.assertEq(here(address(crooked)), AMOUNT, "what is open");
        expectState(e1(), OPEN);
        expectState(others, CLAIMED);
    }

    function test_the_lane_taken_within_a_permit_is_not_taken_again() public {
        Escrow memory e = e1();
        e.terms.refund = address(attacker);
        attacker.arm(abi.encodeCall(ParleyEscrows.fund, (e.terms, e.lane, 1)));
        expectNotReady(OPEN, 1, 1);
        vm.prank(address(attacker));
        escrows.fundWithPermit(e.terms, e.lane, 1, AMOUNT, NOW, Signature(27, 0, 0));
    }

    /// What a native receiver may do within its payment: anything that is possible after it.
    function test_native_receivers_that_call_again_are_paid_once() public {
        for (uint256 way = 0; way < 4; way++) {
            uint256 before = vm.snapshotState();
            Escrow memory e = native();
            e.terms.payout = address(attacker);
            e.terms.refund = address(attacker);
            attacker.arm("");
            fund(e);
            fund(beside(native())); // money for a second payment is here
            vm.warp(way % 2 == 0 ? NOW : TIMELOCK);
            attacker.arm(
                way % 2 == 0
                    ? abi.encodeCall(ParleyEscrows.claim, (e.terms, e.lane, 1, SECRET))
                    : abi.encodeCall(ParleyEscrows.refund, (e.terms, e.lane, 1))
            );
            if (way < 2) settle(e, way);
            else settle(e, way + 1);
            vm.assertEq(attacker.tried(), 1, "tried");
            vm.assertEq(attacker.succeeded(), 0, "and failed");
            vm.assertEq(
                bytes32(attacker.refusal()), bytes32(ParleyEscrows.NotOpen.selector), "settled"
            );
            vm.assertEq(address(attacker).balance, AMOUNT, "once");
            vm.assertEq(here(address(0)), AMOUNT, "the other's");
            vm.revertToState(before);
        }
    }

    function test_a_native_receiver_may_use_the_lane_again_at_once() public {
        Escrow memory e = native();
        e.terms.payout = address(attacker);
        e.terms.refund = address(attacker);
        fund(e);
        Escrow memory next = nextOf(e);
        attacker.armValue(abi.encodeCall(ParleyEscrows.fund, (next.terms, next.lane, 2)), AMOUNT);
        claim(e);
        vm.assertEq(attacker.succeeded(), 1, "funded within");
        expectState(e, ENDED);
        expectState(next, OPEN);
        vm.assertEq(here(address(0)), AMOUNT, "what is open");
    }

    /// A receiver that settles the group behind its own leaves the batch nothing to pay there.
    function test_a_receiver_that_settles_the_next_group_is_not_followed_by_a_second_payment()
        public
    {
        Escrow memory first = native();
        first.terms.payout = address(attacker);
        first.terms.refund = address(attacker);
        Escrow memory next = beside(native());
        fund(first);
        fund(next);
        fund(beside(next)); // money for a second payment is here
        Item[] memory items = new Item[](2);
        (items[0].e, items[1].e) = (first, next);
        for (uint256 verb = CLAIMED; verb <= REFUNDED; verb++) {
            uint256 before = vm.snapshotState();
            if (verb == CLAIMED) {
                (items[0].lock, items[1].lock) = (SECRET, SECRET);
                attacker.arm(
                    abi.encodeCall(ParleyEscrows.claim, (next.terms, next.lane, 1, SECRET))
                );
                vm.assertEq(claimMany(items), 1, "claimed");
            } else {
                (items[0].lock, items[1].lock) = (hashlock, hashlock);
                attacker.arm(abi.encodeCall(ParleyEscrows.refund, (next.terms, next.lane, 1)));
                vm.warp(TIMELOCK);
                vm.assertEq(refundMany(items), 1, "refunded");
            }
            vm.assertEq(attacker.tried(), 1, "tried");
            vm.assertEq(attacker.succeeded(), 1, "and paid");
            vm.assertEq(here(address(0)), AMOUNT, "the other's");
            vm.revertToState(before);
        }
    }

    /// In the middle of a batch, a receiver settles what the batch would settle next.
    function test_a_receiver_that_settles_the_rest_of_a_batch_itself() public {
        Escrow[3] memory all = [native(), beside(native()), beside(escrowIn(address(coin)))];
        all[0].terms.payout = address(attacker);
        all[2].lane += 1;
        Item[] memory items = new Item[](3);
        for (uint256 i = 0; i < 3; i++) {
            attacker.arm("");
            fund(all[i]);
            items[i] = Item(all[i], SECRET);
        }
        Group[] memory last = groupsOf(one(all[2], SECRET), true);
        attacker.arm(abi.encodeCall(ParleyEscrows.claimMany, (last, GAS_EACH / 2)));
        vm.assertEq(claimMany(items), 2, "the third was claimed within");
        vm.assertEq(attacker.succeeded(), 1, "by the first's receiver");
        vm.assertEq(RECIPIENT.balance, AMOUNT, "native, once");
        vm.assertEq(coin.balanceOf(RECIPIENT), AMOUNT, "token, once");
        vm.assertEq(here(address(0)) + here(address(coin)), 0, "empty");
        fund(nextOf(all[2])); // the flag of the token call within is gone
    }
}
