// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "./Vm.sol";
import {Terms} from "../src/Terms.sol";
import {ParleyFactory} from "../src/ParleyFactory.sol";
import {ParleyEscrow} from "../src/ParleyEscrow.sol";
import {DevDollar} from "../dev/DevDollar.sol";

/// @notice A funder, a recipient, a stranger, a secret, and one escrow's life in short verbs.
abstract contract Base {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    address internal constant FUNDER = address(0xF00D);
    address internal constant RECIPIENT = address(0xBEEF);
    address internal constant STRANGER = address(0x57A9);
    bytes32 internal constant SECRET = bytes32(uint256(0xa11ce) << 200);
    uint256 internal constant NOW = 1_800_000_000;
    uint256 internal constant TIMELOCK = NOW + 1 days;
    uint256 internal constant AMOUNT = 1_000e6;

    ParleyFactory internal factory;
    DevDollar internal dollar;
    // kept, because computing it calls a precompile, and expectRevert looks at the next call
    bytes32 internal hashlock;

    function setUp() public virtual {
        vm.warp(NOW);
        hashlock = sha256(abi.encode(SECRET));
        factory = deployFactory();
        dollar = new DevDollar();
        give(address(dollar), FUNDER, AMOUNT * 10);
        vm.deal(FUNDER, AMOUNT * 10);
    }

    /// @dev The committed bytecode itself: what is tested is what is deployed. Coverage and
    ///      traces need PARLEY_FROM_SOURCE=true, which compiles it anew.
    function deployFactory() internal returns (ParleyFactory made) {
        if (vm.envOr("PARLEY_FROM_SOURCE", false)) return new ParleyFactory();
        string memory artifact = vm.readFile("artifacts/ParleyFactory.json");
        bytes memory code = vm.parseJsonBytes(artifact, ".bytecode");
        assembly ("memory-safe") {
            made := create(0, add(code, 0x20), mload(code))
        }
        vm.assertFalse(address(made) == address(0), "the committed factory does not deploy");
    }

    function termsOf(address token) internal view returns (Terms memory) {
        return Terms(hashlock, RECIPIENT, FUNDER, token, AMOUNT, TIMELOCK);
    }

    function native() internal view returns (Terms memory) {
        return termsOf(address(0));
    }

    /// @dev Works for every token with the two functions, whatever approve returns.
    function give(address token, address to, uint256 amount) internal {
        DevDollar(token).mint(to, amount);
        vm.prank(to);
        (bool ok,) =
            token.call(abi.encodeCall(DevDollar.approve, (address(factory), type(uint256).max)));
        vm.assertTrue(ok, "approve");
    }

    function fund(Terms memory terms) internal returns (ParleyEscrow) {
        vm.prank(terms.refund);
        return
            ParleyEscrow(factory.fund{value: terms.token == address(0) ? terms.amount : 0}(terms));
    }

    function claim(ParleyEscrow escrow, Terms memory terms) internal {
        vm.prank(STRANGER);
        escrow.claim(terms, SECRET);
    }

    function refund(ParleyEscrow escrow, Terms memory terms) internal {
        vm.prank(STRANGER);
        escrow.refund(terms);
    }

    function held(address token, address who) internal view returns (uint256) {
        return token == address(0) ? who.balance : DevDollar(token).balanceOf(who);
    }

    function expectError(bytes memory data) internal {
        vm.expectRevert(data);
    }

    function expectClaimed(ParleyEscrow escrow) internal {
        vm.expectEmit(true, true, true, true, address(escrow));
        emit ParleyEscrow.EscrowClaimed(SECRET);
    }

    function expectRefunded(ParleyEscrow escrow) internal {
        vm.expectEmit(true, true, true, true, address(escrow));
        emit ParleyEscrow.EscrowRefunded();
    }

    function bound(uint256 value, uint256 low, uint256 high) internal pure returns (uint256) {
        return low + value % (high - low + 1);
    }
}
