// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {ParleyFactory} from "../src/ParleyFactory.sol";
import {proxyInitCode} from "../src/ProxyCode.sol";

/// @notice deployment.json against the EVM: what every other program takes for granted.
contract PinnedTest is Base {
    bytes32 internal constant MASK = ~bytes32(uint256(0x1f));
    bytes internal constant REST =
        hex"3601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";

    function test_the_deployer_makes_exactly_what_is_pinned_and_only_once() public {
        string memory pinned = vm.readFile("deployment.json");
        string memory artifact = vm.readFile("artifacts/ParleyFactory.json");
        bytes memory initCode = vm.parseJsonBytes(artifact, ".bytecode");
        address deployer = vm.parseJsonAddress(pinned, ".deployer.address");
        vm.etch(deployer, bytes.concat(hex"7f", MASK, REST));
        vm.assertEq(
            deployer.codehash, vm.parseJsonBytes32(pinned, ".deployer.codeHash"), "deployer"
        );
        bytes memory input = bytes.concat(vm.parseJsonBytes32(pinned, ".salt"), initCode);
        (bool made,) = deployer.call(input);
        vm.assertTrue(made, "deployed");

        ParleyFactory there = ParleyFactory(vm.parseJsonAddress(pinned, ".factory.address"));
        address implementation = there.implementation();
        vm.assertEq(
            implementation, vm.parseJsonAddress(pinned, ".implementation.address"), "address"
        );
        vm.assertEq(
            address(there).codehash, vm.parseJsonBytes32(pinned, ".factory.codeHash"), "factory"
        );
        vm.assertEq(
            implementation.codehash,
            vm.parseJsonBytes32(pinned, ".implementation.codeHash"),
            "implementation"
        );
        bytes memory proxy = proxyInitCode(implementation);
        vm.assertEq(
            keccak256(proxy), vm.parseJsonBytes32(pinned, ".proxy.initCodeHash"), "proxy init"
        );
        vm.assertEq(
            proxy,
            bytes.concat(
                vm.parseJsonBytes(pinned, ".proxy.head"),
                bytes20(implementation),
                vm.parseJsonBytes(pinned, ".proxy.tail")
            ),
            "proxy bytes"
        );
        vm.prank(FUNDER);
        address escrow = there.fund{value: AMOUNT}(native());
        vm.assertEq(
            escrow.codehash, vm.parseJsonBytes32(pinned, ".proxy.codeHash"), "proxy runtime"
        );
        (bool twice,) = deployer.call{gas: 3_000_000}(input);
        vm.assertFalse(twice, "once");
    }
}
