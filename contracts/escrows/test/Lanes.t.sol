// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";

contract LanesTest is Base {
    /// As if the lane had been used so often, and its last escrow refunded.
    function used(Escrow memory e, uint32 counter) internal {
        Escrow memory last = copyOf(e);
        last.counter = counter;
        vm.store(address(escrows), slotOf(e), bytes32(wordOf(last, REFUNDED)));
    }

    function test_a_lane_begins_with_one() public {
        Escrow memory e = native();
        for (uint256 i = 0; i < 3; i++) {
            e.counter = [uint32(0), 2, type(uint32).max][i];
            expectNotReady(0, 0, e.counter);
            fund(e);
            expectState(e, UNFUNDED);
        }
        e.counter = 1;
        fund(e);
    }

    function test_a_settled_lane_takes_the_next_counter_and_no_other() public {
        for (uint256 end = CLAIMED; end <= REFUNDED; end++) {
            vm.warp(NOW);
            Escrow memory e = native();
            e.lane += uint96(end);
            fund(e);
            if (end == REFUNDED) vm.warp(TIMELOCK);
            if (end == CLAIMED) claim(e);
            else refund(e);
            vm.warp(NOW + 1);
            for (uint256 i = 0; i < 4; i++) {
                Escrow memory other = copyOf(e);
                other.counter = [uint32(0), 1, 3, type(uint32).max][i];
                expectNotReady(end, 1, other.counter);
                fund(other);
            }
            vm.assertEq(wordIn(e), wordOf(e, end), "as it was");
            fund(nextOf(e));
            vm.assertEq(wordIn(e), wordOf(nextOf(e), OPEN), "written over");
        }
    }

    function test_an_open_lane_takes_nothing() public {
        Escrow memory e = native();
        fund(e);
        uint256 word = wordIn(e);
        for (uint32 counter = 0; counter < 4; counter++) {
            Escrow memory other = altered(e, 5);
            other.counter = counter;
            expectNotReady(OPEN, 1, counter);
            fund(other);
        }
        vm.warp(TIMELOCK + 30 days); // it stays open until somebody settles it
        Escrow memory late = nextOf(e);
        late.terms.timelock = TIMELOCK + 31 days;
        late.terms.fundBefore = TIMELOCK + 31 days;
        expectNotReady(OPEN, 1, 2);
        fund(late);
        vm.assertEq(wordIn(e), word, "as it was");
    }

    function test_the_last_counter_is_taken_and_none_after_it() public {
        Escrow memory e = native();
        e.counter = LAST;
        used(e, LAST - 1);
        fund(e);
        expectState(e, OPEN);
        vm.assertEq(wordIn(e), wordOf(e, OPEN), "word");
        claim(e);
        expectState(e, CLAIMED);
        Escrow[3] memory none = [nextOf(e), copyOf(e), copyOf(e)];
        none[1].counter = 0;
        none[2].counter = 1;
        for (uint256 i = 0; i < 3; i++) {
            expectNotReady(CLAIMED, LAST, none[i].counter);
            fund(none[i]);
        }
    }

    function test_two_escrows_of_one_lane_one_after_the_other() public {
        Escrow memory first = native();
        Escrow memory second = altered(nextOf(first), 4);
        fund(first);
        expectState(second, UNFUNDED);
        vm.warp(NOW + 60);
        claim(first);
        expectState(first, CLAIMED);
        vm.warp(NOW + 120);
        fund(second);
        expectState(first, ENDED);
        expectState(second, OPEN);
        // what was sent for the first lands after the lane's next use
        expectNotOpen(first, ENDED);
        claim(first);
        claim(second);
        vm.assertEq(RECIPIENT.balance, 2 * AMOUNT - 1, "both paid");
    }

    function test_a_counter_that_went_to_others_is_void() public {
        Escrow memory agreed = native();
        Escrow memory taken = altered(agreed, 4);
        fund(taken);
        expectState(agreed, VOID);
        expectNotReady(OPEN, 1, 1);
        fund(agreed);
        expectNotOpen(agreed, VOID);
        claim(agreed);
        claim(taken);
        expectState(agreed, VOID);
        fund(nextOf(taken));
        expectState(agreed, ENDED);
    }

    /// Each of the 224 bits that the word has room for: two lanes may share one on TRON.
    function testFuzz_one_bit_of_the_id_is_enough_to_open_nothing(uint256 bit) public {
        Escrow memory e = native();
        fund(e);
        uint256 word = wordIn(e) ^ 1 << bound(bit, 32, 255);
        vm.store(address(escrows), slotOf(e), bytes32(word));
        expectState(e, VOID);
        expectNotOpen(e, VOID);
        claim(e);
        vm.warp(TIMELOCK);
        expectNotOpen(e, VOID);
        refund(e);
    }

    /// The id commits to the counter, and the word's own is looked at all the same.
    function testFuzz_a_word_of_another_counter_opens_nothing(uint256 bit) public {
        Escrow memory e = native();
        fund(e);
        bit = bound(bit, 0, 29);
        uint256 word = wordIn(e) ^ 1 << bit;
        vm.store(address(escrows), slotOf(e), bytes32(word));
        expectNotOpen(e, bit == 0 ? UNFUNDED : ENDED);
        claim(e);
        vm.warp(TIMELOCK);
        expectNotOpen(e, bit == 0 ? UNFUNDED : ENDED);
        refund(e);
    }

    function testFuzz_a_counter_is_never_read_into_the_state(uint256 bit) public {
        Escrow memory e = native();
        e.counter = uint32(1 | 1 << bound(bit, 30, 31));
        vm.deal(address(escrows), AMOUNT);
        uint256 word = uint256(idOf(e)) >> 32 << 32;
        for (uint256 state = UNFUNDED; state <= REFUNDED; state++) {
            vm.store(address(escrows), slotOf(e), bytes32(word | state << 30 | 1));
            expectNotOpen(e, UNFUNDED);
            claim(e);
        }
        vm.store(address(escrows), slotOf(e), bytes32(word | OPEN << 30 | e.counter));
        expectNotOpen(e, UNFUNDED);
        claim(e);
    }

    function test_what_a_lane_holds() public {
        Escrow memory e = native();
        lane(e, 0, 0, 0);
        fund(e);
        lane(e, 1, OPEN, bytes28(idOf(e)));
        claim(e);
        lane(e, 1, CLAIMED, bytes28(idOf(e)));
        Escrow memory next = nextOf(e);
        fund(next);
        vm.warp(TIMELOCK);
        refund(next);
        lane(e, 2, REFUNDED, bytes28(idOf(next)));
    }

    function lane(Escrow memory e, uint256 counter, uint256 state, bytes28 idStart) internal view {
        (uint256 counter_, uint256 state_, bytes28 idStart_) =
            escrows.laneOf(e.terms.refund, e.lane);
        vm.assertEq(counter_, counter, "counter");
        vm.assertEq(state_, state, "state");
        vm.assertEq(bytes32(idStart_), bytes32(idStart), "id");
    }

    function test_many_lanes_at_once_in_their_order() public {
        Escrow[2] memory kinds = both();
        fund(kinds[0]);
        fund(kinds[1]);
        uint256[] memory keys = new uint256[](3);
        (keys[0], keys[1], keys[2]) = (keyOf(kinds[1]), 0, keyOf(kinds[0]));
        uint256[] memory words = escrows.lanesOf(keys);
        vm.assertEq(words.length, 3, "all");
        vm.assertEq(words[0], wordOf(kinds[1], OPEN), "first");
        vm.assertEq(words[1], 0, "never used");
        vm.assertEq(words[2], wordOf(kinds[0], OPEN), "last");
        vm.assertEq(escrows.lanesOf(new uint256[](0)).length, 0, "none");
    }

    function test_ids_stay_what_they_were_when_the_chain_splits() public {
        Escrow[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            fund(kinds[i]);
        }
        vm.chainId(99);
        vm.assertEq(escrows.domain(), domain, "as of the deployment");
        vm.assertEq(escrows.escrowOf(native().terms, LANE, 1), idOf(native()), "id");
        claim(kinds[0]);
        vm.warp(TIMELOCK);
        refund(kinds[1]);
        vm.warp(NOW);
        fund(nextOf(kinds[0]));
        expectState(nextOf(kinds[0]), OPEN);
    }

    function test_another_contract_or_chain_is_another_domain() public {
        ParleyEscrows second = deploy();
        vm.assertEq(escrows.domain(), domain, "domain");
        vm.assertEq(second.domain(), domainOf(address(second)), "contract");
        vm.assertFalse(
            second.escrowOf(native().terms, LANE, 1) == idOf(native()), "ids of another contract"
        );
        vm.chainId(99);
        ParleyEscrows elsewhere = deploy();
        vm.assertEq(elsewhere.domain(), domainOf(address(elsewhere)), "chain");
    }
}
