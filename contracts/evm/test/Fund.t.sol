// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {Terms} from "../src/Terms.sol";
import {Erc20} from "../src/Erc20.sol";
import {ParleyFactory} from "../src/ParleyFactory.sol";
import {ParleyEscrow} from "../src/ParleyEscrow.sol";

contract FundTest is Base {
    function test_native_money_is_in_the_escrow_and_nowhere_else() public {
        Terms memory terms = native();
        uint256 before = FUNDER.balance;
        ParleyEscrow escrow = fund(terms);
        vm.assertEq(address(escrow).balance, AMOUNT, "escrow");
        vm.assertEq(address(factory).balance, 0, "factory");
        vm.assertEq(before - FUNDER.balance, AMOUNT, "funder");
    }

    function test_token_money_is_in_the_escrow_and_nowhere_else() public {
        Terms memory terms = termsOf(address(dollar));
        uint256 before = dollar.balanceOf(FUNDER);
        ParleyEscrow escrow = fund(terms);
        vm.assertEq(dollar.balanceOf(address(escrow)), AMOUNT, "escrow");
        vm.assertEq(dollar.balanceOf(address(factory)), 0, "factory");
        vm.assertEq(before - dollar.balanceOf(FUNDER), AMOUNT, "funder");
    }

    function test_the_event_names_escrow_hashlock_and_every_term() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            address predicted = factory.escrowOf(both[i]);
            vm.expectEmit(true, true, true, true, address(factory));
            emit ParleyFactory.EscrowFunded(predicted, both[i].hashlock, both[i]);
            vm.assertEq(address(fund(both[i])), predicted, "address");
        }
    }

    function test_only_the_refund_address_may_fund() public {
        Terms memory terms = native();
        vm.deal(STRANGER, AMOUNT);
        expectError(
            abi.encodeWithSelector(ParleyFactory.SenderIsNotRefund.selector, STRANGER, FUNDER)
        );
        vm.prank(STRANGER);
        factory.fund{value: AMOUNT}(terms);
    }

    function test_a_zero_refund_address_is_refused_of_every_sender() public {
        Terms memory terms = native();
        terms.refund = address(0);
        expectError(
            abi.encodeWithSelector(ParleyFactory.SenderIsNotRefund.selector, FUNDER, address(0))
        );
        vm.prank(FUNDER);
        factory.fund{value: AMOUNT}(terms);
    }

    function test_a_stranger_cannot_spend_the_approval_of_another() public {
        Terms memory terms = termsOf(address(dollar));
        terms.payout = STRANGER;
        expectError(
            abi.encodeWithSelector(ParleyFactory.SenderIsNotRefund.selector, STRANGER, FUNDER)
        );
        vm.prank(STRANGER);
        factory.fund(terms);
    }

    function test_native_value_must_be_the_amount_exactly() public {
        uint256[3] memory values = [uint256(0), AMOUNT - 1, AMOUNT + 1];
        for (uint256 i = 0; i < 3; i++) {
            expectError(
                abi.encodeWithSelector(ParleyFactory.WrongValue.selector, values[i], AMOUNT)
            );
            vm.prank(FUNDER);
            factory.fund{value: values[i]}(native());
        }
    }

    function test_a_token_funding_takes_no_native_value() public {
        expectError(abi.encodeWithSelector(ParleyFactory.WrongValue.selector, 1, 0));
        vm.prank(FUNDER);
        factory.fund{value: 1}(termsOf(address(dollar)));
    }

    function test_zero_hashlock_is_refused() public {
        Terms memory terms = native();
        terms.hashlock = 0;
        expectError(abi.encodeWithSelector(ParleyFactory.ZeroHashlock.selector));
        fund(terms);
    }

    function test_zero_amount_is_refused_native_and_token() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            both[i].amount = 0;
            expectError(abi.encodeWithSelector(ParleyFactory.ZeroAmount.selector));
            fund(both[i]);
        }
    }

    function test_zero_payout_is_refused_native_and_token() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            both[i].payout = address(0);
            expectError(abi.encodeWithSelector(ParleyFactory.PayoutRefused.selector, address(0)));
            fund(both[i]);
        }
    }

    function test_a_payout_that_would_burn_the_money_is_refused() public {
        Terms memory terms = termsOf(address(dollar));
        address[2] memory burners = [address(dollar), address(factory)];
        for (uint256 i = 0; i < 2; i++) {
            terms.payout = burners[i];
            expectError(abi.encodeWithSelector(ParleyFactory.PayoutRefused.selector, burners[i]));
            fund(terms);
        }
    }

    function test_the_timelock_is_30_minutes_to_30_days_ahead_both_included() public {
        Terms memory terms = native();
        uint256[2] memory good = [NOW + 30 minutes, NOW + 30 days];
        uint256[5] memory bad =
            [NOW + 30 minutes - 1, NOW + 30 days + 1, 0, NOW, type(uint256).max];
        for (uint256 i = 0; i < good.length; i++) {
            terms.timelock = good[i];
            vm.assertEq(address(fund(terms)).balance, AMOUNT, "within");
        }
        for (uint256 i = 0; i < bad.length; i++) {
            terms.timelock = bad[i];
            expectError(
                abi.encodeWithSelector(
                    ParleyFactory.TimelockOutOfBounds.selector,
                    bad[i],
                    NOW + 30 minutes,
                    NOW + 30 days
                )
            );
            fund(terms);
        }
    }

    function test_a_token_without_code_is_refused() public {
        address[2] memory none = [address(0x7047), address(0x02)]; // nobody, and a precompile
        for (uint256 i = 0; i < 2; i++) {
            expectError(abi.encodeWithSelector(ParleyFactory.TokenHasNoCode.selector, none[i]));
            fund(termsOf(none[i]));
        }
    }

    function test_a_contract_that_is_no_token_is_refused() public {
        expectError(abi.encodeWithSelector(Erc20.TokenCallFailed.selector, address(factory)));
        fund(termsOf(address(factory)));
    }

    function test_missing_approval_is_refused() public {
        vm.prank(FUNDER);
        dollar.approve(address(factory), AMOUNT - 1);
        expectError(abi.encodeWithSelector(Erc20.TokenCallFailed.selector, address(dollar)));
        fund(termsOf(address(dollar)));
    }

    function test_an_exact_approval_is_enough() public {
        vm.prank(FUNDER);
        dollar.approve(address(factory), AMOUNT);
        fund(termsOf(address(dollar)));
        vm.assertEq(dollar.allowance(FUNDER, address(factory)), 0, "used up");
    }

    function test_the_same_terms_are_funded_once_while_open() public {
        Terms memory terms = native();
        ParleyEscrow escrow = fund(terms);
        expectError(
            abi.encodeWithSelector(ParleyFactory.EscrowNotCreated.selector, address(escrow))
        );
        fund(terms);
        vm.assertEq(address(escrow).balance, AMOUNT, "unchanged");
    }

    function test_a_claimed_escrow_can_never_be_funded_again() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            ParleyEscrow escrow = fund(both[i]);
            claim(escrow, both[i]);
            expectError(
                abi.encodeWithSelector(ParleyFactory.EscrowNotCreated.selector, address(escrow))
            );
            fund(both[i]);
        }
    }

    function test_a_refunded_escrow_can_never_be_funded_again() public {
        Terms memory terms = native();
        ParleyEscrow escrow = fund(terms);
        vm.warp(TIMELOCK);
        refund(escrow, terms);
        vm.warp(NOW); // so that the timelock itself is not what refuses
        expectError(
            abi.encodeWithSelector(ParleyFactory.EscrowNotCreated.selector, address(escrow))
        );
        fund(terms);
    }

    function test_money_sent_ahead_blocks_no_funding_and_counts_for_nothing() public {
        Terms[2] memory both = [native(), termsOf(address(dollar))];
        for (uint256 i = 0; i < 2; i++) {
            address ahead = factory.escrowOf(both[i]);
            if (i == 0) vm.deal(ahead, 7);
            else dollar.mint(ahead, 7);
            fund(both[i]);
            vm.assertEq(held(both[i].token, ahead), AMOUNT + 7, "both in");
        }
    }

    function test_the_factory_takes_no_money_but_through_fund() public {
        vm.deal(STRANGER, 1);
        vm.prank(STRANGER);
        (bool ok,) = address(factory).call{value: 1}("");
        vm.assertFalse(ok, "plain transfer");
        vm.assertFalse(address(factory.implementation()).code.length == 0, "implementation");
    }

    function testFuzz_any_amount_and_timelock_within_bounds_is_funded_exactly(
        uint256 amount,
        uint256 ahead,
        address payout,
        bytes32 lock,
        bool token
    ) public {
        Terms memory terms = termsOf(token ? address(dollar) : address(0));
        vm.assume(payout != address(0) && payout != address(dollar));
        vm.assume(payout != address(factory) && lock != 0);
        terms.hashlock = lock;
        terms.payout = payout;
        terms.amount = bound(amount, 1, type(uint256).max - dollar.totalSupply());
        terms.timelock = NOW + bound(ahead, 30 minutes, 30 days);
        if (token) dollar.mint(FUNDER, terms.amount);
        else vm.deal(FUNDER, terms.amount);
        ParleyEscrow escrow = fund(terms);
        vm.assertEq(held(terms.token, address(escrow)), terms.amount, "held");
        vm.assertEq(address(escrow), factory.escrowOf(terms), "address");
    }

    function testFuzz_a_timelock_outside_the_bounds_is_refused(uint256 timelock) public {
        vm.assume(timelock < NOW + 30 minutes || timelock > NOW + 30 days);
        Terms memory terms = native();
        terms.timelock = timelock;
        vm.expectRevert();
        fund(terms);
    }
}
