// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {Terms} from "../src/Terms.sol";
import {Erc20} from "../src/Erc20.sol";
import {ParleyEscrow} from "../src/ParleyEscrow.sol";
import {ParleyFactory} from "../src/ParleyFactory.sol";
import {proxyInitCode} from "../src/ProxyCode.sol";

contract ProxyTest is Base {
    function runtime() internal view returns (bytes memory) {
        return abi.encodePacked(
            hex"363d3d37363d363d73", factory.implementation(), hex"5af46025573d5ffd5b"
        );
    }

    function test_an_escrow_is_38_bytes_of_exactly_this_code() public {
        ParleyEscrow escrow = fund(native());
        vm.assertEq(address(escrow).code, runtime(), "code");
        vm.assertEq(address(escrow).code.length, 38, "bytes");
    }

    function test_the_init_code_returns_the_runtime_and_is_47_bytes() public view {
        bytes memory code = proxyInitCode(factory.implementation());
        vm.assertEq(code, bytes.concat(hex"60268060093d393df3", runtime()), "init code");
        vm.assertEq(code.length, 47, "bytes");
    }

    function testFuzz_the_address_is_create2_of_the_abi_encoded_terms(Terms memory terms)
        public
        view
    {
        address expected = vm.computeCreate2Address(
            keccak256(abi.encode(terms)),
            keccak256(proxyInitCode(factory.implementation())),
            address(factory)
        );
        vm.assertEq(factory.escrowOf(terms), expected, "create2");
    }

    function testFuzz_one_changed_bit_of_the_terms_is_another_escrow(
        Terms memory terms,
        uint256 bit
    ) public view {
        address before = factory.escrowOf(terms);
        uint256 field = bit % 6;
        uint256 flip = 1 << ((bit / 6) % (field == 1 || field == 2 || field == 3 ? 160 : 256));
        if (field == 0) terms.hashlock ^= bytes32(flip);
        if (field == 1) terms.payout = address(uint160(terms.payout) ^ uint160(flip));
        if (field == 2) terms.refund = address(uint160(terms.refund) ^ uint160(flip));
        if (field == 3) terms.token = address(uint160(terms.token) ^ uint160(flip));
        if (field == 4) terms.amount ^= flip;
        if (field == 5) terms.timelock ^= flip;
        vm.assertTrue(factory.escrowOf(terms) != before, "another address");
    }

    /// Dirty upper bytes in an address word would be a second escrow for one set of terms.
    function test_dirty_address_words_are_refused_everywhere() public {
        Terms memory terms = native();
        ParleyEscrow escrow = fund(terms);
        terms.timelock += 1;
        for (uint256 word = 1; word <= 3; word++) {
            bytes memory body = dirty(abi.encode(terms), word);
            vm.prank(FUNDER);
            (bool funded,) = address(factory).call{value: AMOUNT}(
                bytes.concat(ParleyFactory.fund.selector, body)
            );
            vm.assertFalse(funded, "fund");
            (bool predicted,) =
                address(factory).call(bytes.concat(ParleyFactory.escrowOf.selector, body));
            vm.assertFalse(predicted, "escrowOf");
            body = dirty(abi.encode(native()), word);
            (bool claimed,) =
                address(escrow).call(bytes.concat(ParleyEscrow.claim.selector, body, SECRET));
            vm.assertFalse(claimed, "claim");
        }
        vm.assertEq(address(escrow).balance, AMOUNT, "untouched");
    }

    function dirty(bytes memory body, uint256 word) internal pure returns (bytes memory) {
        body[word * 32 + 11] = 0x01;
        return body;
    }

    function test_bytes_behind_the_terms_change_nothing() public {
        Terms memory terms = native();
        address expected = factory.escrowOf(terms);
        vm.prank(FUNDER);
        (bool ok, bytes memory answer) = address(factory).call{value: AMOUNT}(
            bytes.concat(abi.encodeCall(ParleyFactory.fund, (terms)), hex"deadbeef")
        );
        vm.assertTrue(ok, "funded");
        vm.assertEq(abi.decode(answer, (address)), expected, "same escrow");
    }

    function test_cut_calldata_is_refused() public {
        Terms memory terms = native();
        ParleyEscrow escrow = fund(terms);
        bytes memory full = abi.encodeCall(ParleyEscrow.claim, (terms, SECRET));
        for (uint256 length = 0; length < full.length; length += 13) {
            bytes memory cut = new bytes(length);
            for (uint256 i = 0; i < length; i++) {
                cut[i] = full[i];
            }
            (bool ok,) = address(escrow).call(cut);
            vm.assertFalse(ok, "cut");
        }
    }

    function test_plain_native_transfers_and_value_with_a_call_are_refused() public {
        Terms memory terms = native();
        ParleyEscrow escrow = fund(terms);
        vm.deal(STRANGER, 3);
        vm.prank(STRANGER);
        (bool plain,) = address(escrow).call{value: 1}("");
        vm.assertFalse(plain, "plain");
        vm.prank(STRANGER);
        (bool withCall,) =
            address(escrow).call{value: 1}(abi.encodeCall(ParleyEscrow.claim, (terms, SECRET)));
        vm.assertFalse(withCall, "claim with value");
        vm.warp(TIMELOCK);
        vm.prank(STRANGER);
        (bool withRefund,) =
            address(escrow).call{value: 1}(abi.encodeCall(ParleyEscrow.refund, (terms)));
        vm.assertFalse(withRefund, "refund with value");
        vm.prank(STRANGER);
        (bool implementation,) = factory.implementation().call{value: 1}("");
        vm.assertFalse(implementation, "implementation");
    }

    function test_unknown_selectors_do_nothing() public {
        ParleyEscrow escrow = fund(native());
        bytes4[4] memory selectors = [
            bytes4(keccak256("owner()")),
            bytes4(keccak256("initialize(address)")),
            bytes4(keccak256("upgradeTo(address)")),
            bytes4(0)
        ];
        for (uint256 i = 0; i < 4; i++) {
            (bool proxy,) = address(escrow).call(abi.encodeWithSelector(selectors[i], STRANGER));
            (bool maker,) = address(factory).call(abi.encodeWithSelector(selectors[i], STRANGER));
            vm.assertFalse(proxy || maker, "no such function");
        }
    }

    function test_the_implementation_called_directly_is_nobodys_escrow() public {
        Terms memory terms = native();
        address implementation = factory.implementation();
        vm.deal(implementation, AMOUNT);
        bytes memory refusal = abi.encodeWithSelector(
            ParleyEscrow.TermsMismatch.selector, implementation, factory.escrowOf(terms)
        );
        expectError(refusal);
        ParleyEscrow(implementation).claim(terms, SECRET);
        vm.warp(TIMELOCK);
        expectError(refusal);
        ParleyEscrow(implementation).refund(terms);
    }

    function test_a_proxy_made_by_another_deployer_is_no_escrow() public {
        Terms memory terms = native();
        bytes memory code = proxyInitCode(factory.implementation());
        bytes32 salt = keccak256(abi.encode(terms));
        address impostor;
        assembly ("memory-safe") {
            impostor := create2(0, add(code, 0x20), mload(code), salt)
        }
        vm.deal(impostor, AMOUNT);
        expectError(
            abi.encodeWithSelector(
                ParleyEscrow.TermsMismatch.selector, impostor, factory.escrowOf(terms)
            )
        );
        ParleyEscrow(impostor).claim(terms, SECRET);
    }

    function test_an_escrow_of_another_factory_is_another_escrow() public {
        ParleyFactory other = deployFactory();
        Terms memory terms = native();
        vm.assertTrue(other.escrowOf(terms) != factory.escrowOf(terms), "address");
        vm.assertTrue(other.implementation() != factory.implementation(), "implementation");
    }

    /// The longest error has four words: the proxy must hand on every byte of it.
    function test_errors_come_through_the_proxy_whole() public {
        Terms memory terms = termsOf(address(dollar));
        ParleyEscrow escrow = fund(terms);
        vm.warp(TIMELOCK);
        (, bytes memory answer) =
            address(escrow).call(abi.encodeCall(ParleyEscrow.claim, (terms, SECRET)));
        vm.assertEq(
            answer,
            abi.encodeWithSelector(ParleyEscrow.ClaimTooLate.selector, TIMELOCK, TIMELOCK),
            "two words"
        );
        vm.etch(address(dollar), hex"00"); // answers nothing to everything
        (, answer) = address(escrow).call(abi.encodeCall(ParleyEscrow.refund, (terms)));
        vm.assertEq(
            answer,
            abi.encodeWithSelector(Erc20.TokenCallFailed.selector, address(dollar)),
            "one word"
        );
    }

    function test_success_answers_nothing() public {
        Terms memory terms = native();
        ParleyEscrow escrow = fund(terms);
        (bool ok, bytes memory answer) =
            address(escrow).call(abi.encodeCall(ParleyEscrow.claim, (terms, SECRET)));
        vm.assertTrue(ok, "claimed");
        vm.assertEq(answer.length, 0, "empty");
    }
}
