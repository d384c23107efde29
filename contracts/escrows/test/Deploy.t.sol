// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";

/// @notice Puts words where lanes are before it leaves the contract's code behind: why an instance
///         is known by its init code, and never by the code it left.
contract Forger {
    constructor(bytes memory code, bytes32 slot, bytes32 word) {
        assembly ("memory-safe") {
            sstore(slot, word)
            return(add(code, 0x20), mload(code))
        }
    }
}

contract DeployTest is Base {
    address private constant DEPLOYER = 0x4e59b44847b379578588920cA78FbF26c0B4956C;
    /// What the keyless transaction puts there, on every chain.
    bytes private constant DEPLOYER_CODE = hex"7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081"
        hex"602082378035828234f58015156039578182fd5b8082525050506014600cf3";

    function pin(string memory key) internal view returns (bytes32) {
        return vm.parseJsonBytes32(vm.readFile("deployment.json"), key);
    }

    function test_the_init_code_and_its_address_are_the_pinned_ones() public {
        bytes memory code = initCode();
        vm.assertEq(keccak256(code), pin(".initCode.keccak256"), "keccak");
        vm.assertEq(sha256(code), pin(".initCode.sha256"), "sha256");
        vm.etch(DEPLOYER, DEPLOYER_CODE);
        (bool ok, bytes memory made) = DEPLOYER.call(bytes.concat(pin(".salt"), code));
        vm.assertTrue(ok, "deployed");
        address there = vm.parseJsonAddress(vm.readFile("deployment.json"), ".address");
        vm.assertEq(address(bytes20(made)), there, "address");
        vm.assertEq(ParleyEscrows(there).domain(), domainOf(there), "domain");
        (bool again,) = DEPLOYER.call(bytes.concat(pin(".salt"), code));
        vm.assertFalse(again, "once");
    }

    function create(bytes memory code) internal returns (address made, bytes memory answer) {
        assembly ("memory-safe") {
            made := create(0, add(code, 0x20), mload(code))
            answer := mload(0x40)
            mstore(answer, returndatasize())
            returndatacopy(add(answer, 0x20), 0, returndatasize())
            mstore(0x40, add(add(answer, 0x20), and(add(returndatasize(), 31), not(31))))
        }
    }

    function test_a_chain_without_sha_256_gets_no_contract() public {
        bytes memory code = initCode();
        bytes memory zero = abi.encode(bytes32(0));
        vm.mockCall(address(2), zero, "");
        (address made, bytes memory answer) = create(code);
        vm.assertEq(made, address(0), "no answer");
        vm.assertEq(answer.length, 0, "nothing to say");
        vm.mockCall(address(2), zero, abi.encode(keccak256("another hash")));
        (made, answer) = create(code);
        vm.assertEq(made, address(0), "another hash");
        vm.assertEq(answer, abi.encodePacked(ParleyEscrows.Sha256Missing.selector), "says so");
        vm.clearMockedCalls();
        (made,) = create(code);
        vm.assertFalse(made == address(0), "with it");
    }

    function test_it_takes_no_value_when_it_is_made() public {
        bytes memory code = initCode();
        vm.deal(address(this), 1);
        address made;
        assembly ("memory-safe") {
            made := create(1, add(code, 0x20), mload(code))
        }
        vm.assertEq(made, address(0), "not payable");
    }

    function test_the_code_on_chain_proves_nothing() public {
        bytes32 word = bytes32(wordOf(native(), OPEN));
        Forger forged = new Forger(address(escrows).code, slotOf(native()), word);
        vm.assertEq(address(forged).codehash, address(escrows).codehash, "the same code");
        ParleyEscrows fake = ParleyEscrows(address(forged));
        vm.assertEq(
            fake.stateOf(native().terms, LANE, 1), OPEN, "and an escrow that nobody funded"
        );
        vm.assertEq(address(fake).balance, 0, "without money");
    }
}
