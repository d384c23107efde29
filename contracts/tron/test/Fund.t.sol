// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {Terms} from "evm/src/Terms.sol";
import {Erc20} from "evm/src/Erc20.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";

contract FundTest is Base {
    function test_the_money_is_here_and_the_record_says_so() public {
        Terms[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            Terms memory terms = kinds[i];
            uint256 before = held(terms.token, FUNDER);
            expectEvent();
            emit ParleyEscrows.EscrowFunded(idOf(terms), hashlock, terms);
            fund(terms);
            vm.assertEq(here(terms.token), AMOUNT, "here");
            vm.assertEq(before - held(terms.token, FUNDER), AMOUNT, "funder");
            (uint256 status, uint256 fundedBlock, uint256 settledBlock) =
                escrows.stateOf(idOf(terms));
            vm.assertEq(status, FUNDED, "status");
            vm.assertEq(fundedBlock, block.number, "block");
            vm.assertEq(settledBlock, 0, "not settled");
            vm.assertEq(escrows.escrowOf(terms), idOf(terms), "id");
        }
    }

    function test_only_the_refund_address_may_fund() public {
        Terms memory terms = native();
        vm.deal(STRANGER, AMOUNT);
        expectError(
            abi.encodeWithSelector(ParleyEscrows.SenderIsNotRefund.selector, STRANGER, FUNDER)
        );
        vm.prank(STRANGER);
        escrows.fund{value: AMOUNT}(terms);
    }

    function test_terms_are_good_for_one_funding_for_ever() public {
        Terms[2] memory kinds = both();
        for (uint256 i = 0; i < 2; i++) {
            for (uint256 end = FUNDED; end <= REFUNDED; end++) {
                vm.warp(NOW);
                Terms memory terms = altered(kinds[i], 6);
                terms.timelock += end;
                fund(terms);
                if (end == CLAIMED) claim(terms);
                vm.warp(terms.timelock);
                if (end == REFUNDED) refund(terms);
                vm.warp(NOW);
                expectError(
                    abi.encodeWithSelector(ParleyEscrows.FundedBefore.selector, idOf(terms), end)
                );
                fund(terms);
            }
        }
    }

    function test_two_escrows_that_differ_in_one_field_live_side_by_side() public {
        fund(native());
        for (uint256 field = 0; field < 6; field++) {
            Terms memory other = altered(native(), field);
            vm.assertFalse(idOf(other) == idOf(native()), "another id");
            if (field == 3) continue; // no such token
            vm.deal(other.refund, AMOUNT);
            fund(other);
        }
        vm.assertEq(here(address(0)), 6 * AMOUNT - 1, "all of it");
    }

    function test_ids_of_another_contract_are_other_ids() public {
        ParleyEscrows second = deploy();
        vm.assertFalse(second.escrowOf(native()) == escrows.escrowOf(native()), "ids");
        vm.assertEq(
            second.domain(), keccak256(abi.encode(block.chainid, address(second))), "domain"
        );
        vm.assertEq(address(second).codehash, address(escrows).codehash, "the same code");
    }

    function test_the_code_is_the_pinned_one() public view {
        string memory artifact = vm.readFile("artifacts/ParleyEscrows.json");
        vm.assertEq(
            address(escrows).codehash,
            vm.parseJsonBytes32(artifact, ".deployedCode.keccak256"),
            "code"
        );
    }

    function test_an_id_stays_what_it_was_when_the_chain_id_changes() public {
        Terms memory terms = native();
        bytes32 id = idOf(terms);
        fund(terms);
        vm.chainId(99);
        vm.assertEq(escrows.escrowOf(terms), id, "as at its funding");
        claim(terms);
    }

    function test_zero_hashlock_and_amount_are_refused() public {
        Terms memory terms = native();
        terms.hashlock = 0;
        expectError(abi.encodeWithSelector(ParleyEscrows.ZeroHashlock.selector));
        fund(terms);
        terms = native();
        terms.amount = 0;
        expectError(abi.encodeWithSelector(ParleyEscrows.ZeroAmount.selector));
        fund(terms);
    }

    function test_payouts_that_could_never_be_paid_are_refused() public {
        address[3] memory payouts = [address(0), address(dollar), address(escrows)];
        for (uint256 i = 0; i < 3; i++) {
            Terms memory terms = termsOf(address(dollar));
            terms.payout = payouts[i];
            expectError(abi.encodeWithSelector(ParleyEscrows.PayoutRefused.selector, payouts[i]));
            fund(terms);
        }
    }

    function test_timelock_bounds_from_both_sides() public {
        uint256 earliest = NOW + 30 minutes;
        uint256 latest = NOW + 30 days;
        for (uint256 i = 0; i < 4; i++) {
            Terms memory terms = native();
            terms.timelock = [earliest - 1, earliest, latest, latest + 1][i];
            if (i == 0 || i == 3) {
                expectError(
                    abi.encodeWithSelector(
                        ParleyEscrows.TimelockOutOfBounds.selector,
                        terms.timelock,
                        earliest,
                        latest
                    )
                );
            }
            fund(terms);
        }
    }

    function test_the_value_is_the_amount_or_nothing_for_a_token() public {
        uint256[3] memory values = [AMOUNT - 1, AMOUNT + 1, 0];
        for (uint256 i = 0; i < 3; i++) {
            expectError(
                abi.encodeWithSelector(ParleyEscrows.WrongValue.selector, values[i], AMOUNT)
            );
            vm.prank(FUNDER);
            escrows.fund{value: values[i]}(native());
        }
        expectError(abi.encodeWithSelector(ParleyEscrows.WrongValue.selector, 1, 0));
        vm.prank(FUNDER);
        escrows.fund{value: 1}(termsOf(address(dollar)));
    }

    function test_a_token_without_code_is_refused() public {
        expectError(abi.encodeWithSelector(ParleyEscrows.TokenHasNoCode.selector, STRANGER));
        fund(termsOf(STRANGER));
    }

    function test_a_funder_without_money_or_approval_is_refused() public {
        vm.prank(FUNDER);
        dollar.approve(address(escrows), AMOUNT - 1);
        expectError(abi.encodeWithSelector(Erc20.TokenCallFailed.selector, dollar));
        fund(termsOf(address(dollar)));
        vm.assertEq(statusOf(termsOf(address(dollar))), 0, "nothing recorded");
    }

    function test_dirty_addresses_are_refused() public {
        bytes memory good = abi.encodeCall(ParleyEscrows.fund, (native()));
        for (uint256 word = 1; word <= 3; word++) {
            bytes memory bad = bytes.concat(good);
            bad[4 + 32 * word] = 0x01;
            vm.prank(FUNDER);
            (bool ok, bytes memory answer) = address(escrows).call{value: AMOUNT}(bad);
            vm.assertFalse(ok, "refused");
            vm.assertEq(answer.length, 0, "by the decoder");
        }
    }

    function test_plain_transfers_are_refused() public {
        vm.prank(FUNDER);
        (bool ok,) = address(escrows).call{value: 1}("");
        vm.assertFalse(ok, "no receive");
    }

    function testFuzz_exactly_the_amount_comes_in(uint256 amount, bool token) public {
        Terms memory terms = termsOf(token ? address(dollar) : address(0));
        terms.amount = bound(amount, 1, type(uint128).max);
        dollar.mint(FUNDER, terms.amount);
        vm.deal(FUNDER, terms.amount);
        uint256 before = here(terms.token);
        fund(terms);
        vm.assertEq(here(terms.token) - before, terms.amount, "to the unit");
    }

    function testFuzz_every_field_counts_in_the_id(Terms memory a, Terms memory b) public view {
        bool same = keccak256(abi.encode(a)) == keccak256(abi.encode(b));
        vm.assertTrue((escrows.escrowOf(a) == escrows.escrowOf(b)) == same, "ids");
        vm.assertEq(escrows.escrowOf(a), idOf(a), "formula");
    }
}
