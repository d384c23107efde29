// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Signature} from "../src/Signature.sol";
import {Token} from "../src/Token.sol";

contract FundTest is Base {
    function test_the_money_is_here_the_word_and_the_log_say_so() public {
        Escrow[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            Escrow memory e = kinds[i];
            address token = e.terms.token;
            uint256 before = held(token, funder);
            expectEvent();
            emit ParleyEscrows.Funded(idOf(e), e.terms, e.lane, e.counter);
            fund(e);
            vm.assertEq(here(token), AMOUNT, "here");
            vm.assertEq(before - held(token, funder), AMOUNT, "funder");
            expectState(e, OPEN);
            vm.assertEq(wordIn(e), wordOf(e, OPEN), "word");
            vm.assertEq(uint256(vm.load(address(escrows), slotOf(e))), wordIn(e), "its slot");
        }
    }

    function test_only_the_refund_address_may_fund() public {
        Escrow[2] memory kinds = both();
        vm.deal(STRANGER, AMOUNT);
        give(address(coin), STRANGER, AMOUNT);
        for (uint256 i = 0; i < 2; i++) {
            expectError(
                abi.encodeWithSelector(ParleyEscrows.SenderIsNotRefund.selector, STRANGER, funder)
            );
            vm.prank(STRANGER);
            escrows.fund{value: valueOf(kinds[i])}(kinds[i].terms, kinds[i].lane, 1);
        }
    }

    /// A contract that the funder calls is not the funder, and a funder need not begin the call.
    function test_who_began_the_transaction_does_not_count() public {
        Escrow memory e = escrowIn(address(coin));
        bytes[2] memory calls = [
            abi.encodeCall(ParleyEscrows.fund, (e.terms, LANE, 1)),
            abi.encodeCall(
                ParleyEscrows.fundWithPermit, (e.terms, LANE, 1, AMOUNT, NOW, Signature(27, 0, 0))
            )
        ];
        for (uint256 i = 0; i < 2; i++) {
            vm.prank(STRANGER, funder);
            (bool ok, bytes memory answer) = address(escrows).call(calls[i]);
            vm.assertFalse(ok, "for the funder");
            vm.assertEq(
                answer,
                abi.encodeWithSelector(ParleyEscrows.SenderIsNotRefund.selector, STRANGER, funder),
                "by whom"
            );
        }
        vm.prank(funder, STRANGER);
        escrows.fund(e.terms, LANE, 1);
        expectState(e, OPEN);
    }

    function test_zero_hashlock_and_amount_are_refused() public {
        Escrow memory e = native();
        e.terms.hashlock = 0;
        expectError(abi.encodeWithSelector(ParleyEscrows.ZeroHashlock.selector));
        fund(e);
        e = native();
        e.terms.amount = 0;
        expectError(abi.encodeWithSelector(ParleyEscrows.ZeroAmount.selector));
        fund(e);
    }

    function test_payouts_that_could_never_be_paid_are_refused() public {
        address[3] memory payouts = [address(0), address(coin), address(escrows)];
        for (uint256 i = 0; i < 3; i++) {
            Escrow memory e = escrowIn(address(coin));
            e.terms.payout = payouts[i];
            expectError(abi.encodeWithSelector(ParleyEscrows.PayoutRefused.selector, payouts[i]));
            fund(e);
        }
    }

    function test_timelock_bounds_from_both_sides() public {
        uint256 earliest = NOW + 30 minutes;
        uint256 latest = NOW + 30 days;
        for (uint256 i = 0; i < 4; i++) {
            Escrow memory e = native();
            e.terms.timelock = [earliest - 1, earliest, latest, latest + 1][i];
            e.lane += uint96(i);
            if (i == 0 || i == 3) {
                expectError(
                    abi.encodeWithSelector(
                        ParleyEscrows.TimelockOutOfBounds.selector,
                        e.terms.timelock,
                        earliest,
                        latest
                    )
                );
            }
            fund(e);
        }
    }

    function test_not_in_the_second_of_fund_before_and_still_in_the_one_before() public {
        Escrow[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            vm.warp(FUND_BEFORE);
            expectError(
                abi.encodeWithSelector(
                    ParleyEscrows.FundTooLate.selector, FUND_BEFORE, FUND_BEFORE
                )
            );
            fund(kinds[i]);
            vm.warp(FUND_BEFORE - 1);
            fund(kinds[i]);
        }
    }

    function test_a_fund_before_of_long_ago_or_of_never_has_passed() public {
        for (uint256 i = 0; i < 2; i++) {
            Escrow memory e = native();
            e.terms.fundBefore = [0, NOW - 1][i];
            expectError(
                abi.encodeWithSelector(ParleyEscrows.FundTooLate.selector, e.terms.fundBefore, NOW)
            );
            fund(e);
        }
    }

    function test_the_value_is_the_amount_or_nothing_for_a_token() public {
        uint256[3] memory values = [AMOUNT - 1, AMOUNT + 1, 0];
        for (uint256 i = 0; i < 3; i++) {
            expectError(
                abi.encodeWithSelector(ParleyEscrows.WrongValue.selector, values[i], AMOUNT)
            );
            vm.prank(funder);
            escrows.fund{value: values[i]}(native().terms, LANE, 1);
        }
        expectError(abi.encodeWithSelector(ParleyEscrows.WrongValue.selector, 1, 0));
        vm.prank(funder);
        escrows.fund{value: 1}(escrowIn(address(coin)).terms, LANE, 1);
    }

    /// Precompiles answer words for a balance, no code answers nothing, this contract is no token.
    function test_what_is_no_token_is_refused() public {
        for (uint256 i = 1; i <= 10; i++) {
            vm.prank(funder);
            (bool ok,) = address(escrows).call{gas: 300_000}(
                abi.encodeCall(ParleyEscrows.fund, (escrowIn(address(uint160(i))).terms, LANE, 1))
            );
            vm.assertFalse(ok, "a precompile");
        }
        address[2] memory none = [STRANGER, address(escrows)];
        for (uint256 i = 0; i < 2; i++) {
            expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, none[i]));
            fund(escrowIn(none[i]));
        }
    }

    function test_a_funder_without_money_or_approval_is_refused() public {
        Escrow memory e = escrowIn(address(coin));
        vm.prank(funder);
        coin.approve(address(escrows), AMOUNT - 1);
        expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, coin));
        fund(e);
        vm.prank(funder);
        coin.approve(address(escrows), type(uint256).max);
        vm.prank(funder);
        coin.transfer(STRANGER, AMOUNT * 9 + 1);
        expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, coin));
        fund(e);
        vm.assertEq(wordIn(e), 0, "the lane is as it was");
    }

    function testFuzz_exactly_the_amount_comes_in(uint256 amount, bool token) public {
        Escrow memory e = escrowIn(token ? address(coin) : address(0));
        e.terms.amount = bound(amount, 1, type(uint128).max);
        coin.mint(funder, e.terms.amount);
        vm.deal(funder, e.terms.amount);
        uint256 before = held(e.terms.token, funder);
        fund(e);
        vm.assertEq(here(e.terms.token), e.terms.amount, "to the unit");
        vm.assertEq(before - held(e.terms.token, funder), e.terms.amount, "of the funder");
    }

    function testFuzz_every_field_counts_in_the_id(Escrow memory a, Escrow memory b) public view {
        bool same = keccak256(abi.encode(a)) == keccak256(abi.encode(b));
        bytes32 id = escrows.escrowOf(a.terms, a.lane, a.counter);
        vm.assertTrue((id == escrows.escrowOf(b.terms, b.lane, b.counter)) == same, "ids");
        vm.assertEq(id, idOf(a), "formula");
    }
}
