// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {Vm} from "./Vm.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Token} from "../src/Token.sol";
import {FalseOnSuccess, NoReturn, TakesFee} from "./zoo/Tokens.sol";

/// @notice Many fundings in one transaction, all or none.
contract ManyTest is Base {
    function escrowsIn(address[] memory tokens) internal view returns (Escrow[] memory all) {
        all = new Escrow[](tokens.length);
        for (uint256 i = 0; i < tokens.length; i++) {
            all[i] = escrowIn(tokens[i]);
            all[i].lane += uint96(i);
            all[i].terms.amount = AMOUNT / 10 + i;
        }
    }

    /// Letters name tokens: n is native, c the coin.
    function spelled(bytes memory letters) internal view returns (Escrow[] memory) {
        address[] memory tokens = new address[](letters.length);
        for (uint256 i = 0; i < letters.length; i++) {
            if (letters[i] == "c") tokens[i] = address(coin);
        }
        return escrowsIn(tokens);
    }

    function sumOf(Escrow[] memory all, address token) internal pure returns (uint256 sum) {
        for (uint256 i = 0; i < all.length; i++) {
            if (all[i].terms.token == token) sum += all[i].terms.amount;
        }
    }

    function fundMany(Escrow[] memory all) internal {
        fundManyFor(all, sumOf(all, address(0)));
    }

    function fundManyFor(Escrow[] memory all, uint256 value) internal {
        vm.prank(funder);
        escrows.fundMany{value: value}(fundings(all));
    }

    function expectNone(Escrow[] memory all) internal view {
        for (uint256 i = 0; i < all.length; i++) {
            vm.assertEq(wordIn(all[i]), 0, "none");
        }
        vm.assertEq(here(address(0)) + here(address(coin)), 0, "nothing here");
    }

    function test_ten_of_both_kinds_are_funded_to_the_unit() public {
        Escrow[] memory all = spelled("nccnncnccc");
        for (uint256 i = 0; i < all.length; i++) {
            expectEvent();
            emit ParleyEscrows.Funded(idOf(all[i]), all[i].terms, all[i].lane, 1);
        }
        fundMany(all);
        vm.assertEq(here(address(0)), sumOf(all, address(0)), "native");
        vm.assertEq(here(address(coin)), sumOf(all, address(coin)), "token");
        for (uint256 i = 0; i < all.length; i++) {
            vm.assertEq(wordIn(all[i]), wordOf(all[i], OPEN), "word");
            claim(all[i]);
        }
        vm.assertEq(here(address(0)) + here(address(coin)), 0, "all were paid");
    }

    function test_neighbours_come_by_one_transfer_and_native_ones_do_not_part_them() public {
        address other = address(new NoReturn());
        give(other, funder, AMOUNT);
        address[] memory tokens = new address[](6);
        (tokens[0], tokens[2], tokens[5]) = (address(coin), address(coin), address(coin));
        (tokens[3], tokens[4]) = (other, other);
        Escrow[] memory all = escrowsIn(tokens);
        vm.recordLogs();
        fundMany(all);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint256 transfers;
        for (uint256 i = 0; i < logs.length; i++) {
            if (logs[i].emitter == address(coin)) transfers += 1;
        }
        vm.assertEq(transfers, 2, "before and behind the other token");
        vm.assertEq(here(address(coin)), sumOf(all, address(coin)), "coin");
        vm.assertEq(here(other), sumOf(all, other), "the other");
    }

    function test_the_value_is_the_sum_of_the_native_ones() public {
        Escrow[] memory all = spelled("ncn");
        uint256 sum = sumOf(all, address(0));
        for (uint256 i = 0; i < 3; i++) {
            uint256 value = [sum - 1, sum + 1, 0][i];
            expectError(abi.encodeWithSelector(ParleyEscrows.WrongValue.selector, value, sum));
            fundManyFor(all, value);
            expectNone(all);
        }
        all = spelled("cc");
        expectError(abi.encodeWithSelector(ParleyEscrows.WrongValue.selector, 1, 0));
        fundManyFor(all, 1);
        all = new Escrow[](0);
        expectError(abi.encodeWithSelector(ParleyEscrows.WrongValue.selector, 1, 0));
        fundManyFor(all, 1);
        fundMany(all);
    }

    /// Amounts that wrap around would be owed and never come.
    function test_sums_that_no_number_holds_are_refused() public {
        bytes memory overflow = abi.encodeWithSignature("Panic(uint256)", 0x11);
        for (uint256 i = 0; i < 2; i++) {
            Escrow[] memory all = spelled(i == 0 ? bytes("nn") : bytes("cc"));
            (all[0].terms.amount, all[1].terms.amount) = (1 << 255, 1 << 255);
            expectError(overflow);
            fundManyFor(all, 0);
            all[1].terms.amount += 1;
            expectError(overflow);
            fundManyFor(all, i == 0 ? 1 : 0);
            expectNone(all);
        }
    }

    function test_one_of_another_funder_refuses_all() public {
        Escrow[] memory all = spelled("ncn");
        all[1].terms.refund = STRANGER;
        give(address(coin), STRANGER, AMOUNT);
        expectError(
            abi.encodeWithSelector(ParleyEscrows.SenderIsNotRefund.selector, funder, STRANGER)
        );
        fundMany(all);
        expectNone(all);
    }

    function test_a_lane_is_taken_once() public {
        Escrow[] memory all = spelled("cnc");
        all[2].lane = all[0].lane;
        expectNotReady(OPEN, 1, 1);
        fundMany(all);
        all[2].counter = 2;
        expectNotReady(OPEN, 1, 2);
        fundMany(all);
        expectNone(all);
    }

    function test_lanes_of_payees_are_refused() public {
        Escrow[] memory all = spelled("cn");
        all[1] = inLane(all[1]);
        expectError(abi.encodeWithSelector(ParleyEscrows.LaneOfPayee.selector, all[1].lane));
        fundMany(all);
    }

    function test_one_that_may_not_be_funded_refuses_all() public {
        for (uint256 i = 0; i < 6; i++) {
            Escrow[] memory all = spelled("ncc");
            Escrow memory bad = all[i % 3];
            if (i == 0) bad.terms.hashlock = 0;
            if (i == 1) bad.terms.amount = 0;
            if (i == 2) bad.terms.payout = address(0);
            if (i == 3) bad.terms.timelock = NOW;
            if (i == 4) bad.terms.fundBefore = NOW;
            if (i == 5) bad.counter = 2;
            vm.prank(funder);
            (bool ok,) = address(escrows).call{value: sumOf(all, address(0))}(
                abi.encodeCall(ParleyEscrows.fundMany, (fundings(all)))
            );
            vm.assertFalse(ok, "refused");
            expectNone(all);
        }
    }

    function test_the_sum_comes_in_or_nothing_does() public {
        TakesFee fee = new TakesFee();
        give(address(fee), funder, AMOUNT);
        address[] memory tokens = new address[](3);
        (tokens[0], tokens[1], tokens[2]) = (address(coin), address(fee), address(fee));
        Escrow[] memory all = escrowsIn(tokens);
        uint256 sum = sumOf(all, address(fee));
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountReceived.selector, fee, 0, sum - sum / 100, sum
            )
        );
        fundMany(all);
        expectNone(all);
        fee.set(0);
        fundMany(all);
        FalseOnSuccess strange = new FalseOnSuccess();
        give(address(strange), funder, sumOf(all, address(fee)) - 1);
        (tokens[1], tokens[2]) = (address(strange), address(strange));
        all = escrowsIn(tokens);
        for (uint256 i = 0; i < 3; i++) {
            all[i].lane += 50;
        }
        expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, strange));
        fundMany(all);
        strange.mint(funder, 1);
        fundMany(all);
        vm.assertEq(here(address(strange)), sumOf(all, address(strange)), "answers false");
    }
}
