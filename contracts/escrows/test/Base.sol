// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "./Vm.sol";
import {DevCoin} from "../dev/DevCoin.sol";
import {DevToken} from "../dev/DevToken.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Leg, Terms} from "../src/Terms.sol";

struct Escrow {
    Terms terms;
    uint96 lane;
    uint32 counter;
}

/// @notice A funder, a recipient, a stranger, a secret, and one escrow's life in short verbs.
abstract contract Base {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    uint256 internal constant FUNDER_KEY = 0xF00D;
    address internal constant RECIPIENT = address(0xBEEF);
    address internal constant STRANGER = address(0x57A9);
    bytes32 internal constant SECRET = bytes32(uint256(0xa11ce) << 200);
    uint256 internal constant NOW = 1_800_000_000;
    uint256 internal constant FUND_BEFORE = NOW + 2 hours;
    uint256 internal constant TIMELOCK = NOW + 1 days;
    uint256 internal constant AMOUNT = 1_000e6;
    uint96 internal constant LANE = 0x5d1fa3c27be6049800000001;
    uint32 internal constant LAST = 2 ** 30 - 1;
    bytes32 internal constant RECEIVE = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,"
        "uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    uint256 internal constant UNFUNDED = 0;
    uint256 internal constant OPEN = 1;
    uint256 internal constant CLAIMED = 2;
    uint256 internal constant REFUNDED = 3;
    uint256 internal constant ENDED = 4;
    uint256 internal constant VOID = 5;

    ParleyEscrows internal escrows;
    DevCoin internal coin;
    address internal funder;
    // kept, because computing it calls a precompile, and expectRevert looks at the next call
    bytes32 internal hashlock;
    bytes32 internal domain;

    function setUp() public virtual {
        vm.warp(NOW);
        hashlock = sha256(abi.encode(SECRET));
        funder = vm.addr(FUNDER_KEY);
        escrows = deploy();
        domain = keccak256(abi.encode(block.chainid, address(escrows)));
        coin = new DevCoin();
        give(address(coin), funder, AMOUNT * 10);
        vm.deal(funder, AMOUNT * 10);
    }

    function initCode() internal view returns (bytes memory) {
        return vm.parseJsonBytes(vm.readFile("artifacts/ParleyEscrows.json"), ".bytecode");
    }

    /// @dev The committed bytecode itself: what is tested is what is deployed. Coverage and
    ///      traces need PARLEY_FROM_SOURCE=true, which compiles it anew.
    function deploy() internal returns (ParleyEscrows made) {
        if (vm.envOr("PARLEY_FROM_SOURCE", false)) return new ParleyEscrows();
        bytes memory code = initCode();
        assembly ("memory-safe") {
            made := create(0, add(code, 0x20), mload(code))
        }
        vm.assertFalse(address(made) == address(0), "the committed contract does not deploy");
    }

    function escrowIn(address token) internal view returns (Escrow memory) {
        Terms memory terms =
            Terms(hashlock, RECIPIENT, funder, token, AMOUNT, TIMELOCK, FUND_BEFORE);
        return Escrow(terms, LANE, 1);
    }

    function native() internal view returns (Escrow memory) {
        return escrowIn(address(0));
    }

    /// @dev The chain's own coin and a token, for what must hold of both. Their lanes differ.
    function both() internal view returns (Escrow[2] memory kinds) {
        kinds = [native(), escrowIn(address(coin))];
        kinds[1].lane += 1;
    }

    /// @dev Works for every token with the two functions, whatever approve returns.
    function give(address token, address to, uint256 amount) internal {
        DevCoin(token).mint(to, amount);
        vm.prank(to);
        (bool ok,) =
            token.call(abi.encodeCall(DevToken.approve, (address(escrows), type(uint256).max)));
        vm.assertTrue(ok, "approve");
    }

    function valueOf(Escrow memory e) internal pure returns (uint256) {
        return e.terms.token == address(0) ? e.terms.amount : 0;
    }

    function fund(Escrow memory e) internal {
        vm.prank(e.terms.refund);
        escrows.fund{value: valueOf(e)}(e.terms, e.lane, e.counter);
    }

    function claim(Escrow memory e) internal {
        vm.prank(STRANGER);
        escrows.claim(e.terms, e.lane, e.counter, SECRET);
    }

    function refund(Escrow memory e) internal {
        vm.prank(STRANGER);
        escrows.refund(e.terms, e.lane, e.counter);
    }

    function refundPart(Escrow memory e, uint256 part) internal {
        vm.prank(e.terms.refund);
        escrows.refundPart(e.terms, e.lane, e.counter, part);
    }

    function held(address token, address who) internal view returns (uint256) {
        return token == address(0) ? who.balance : DevCoin(token).balanceOf(who);
    }

    function here(address token) internal view returns (uint256) {
        return held(token, address(escrows));
    }

    function idOf(Escrow memory e) internal view returns (bytes32) {
        return keccak256(abi.encode(domain, e.terms, e.lane, e.counter));
    }

    function keyOf(Escrow memory e) internal pure returns (uint256) {
        return uint256(uint160(e.terms.refund)) << 96 | e.lane;
    }

    function wordOf(Escrow memory e, uint256 state, uint256 changedAt)
        internal
        view
        returns (uint256)
    {
        return uint256(idOf(e)) >> 64 << 64 | state << 62 | changedAt << 30 | e.counter;
    }

    function slotOf(Escrow memory e) internal pure returns (bytes32) {
        return keccak256(abi.encode(keyOf(e), uint256(0)));
    }

    function wordIn(Escrow memory e) internal view returns (uint256) {
        uint256[] memory keys = new uint256[](1);
        keys[0] = keyOf(e);
        return escrows.lanesOf(keys)[0];
    }

    function stateOf(Escrow memory e) internal view returns (uint256 state) {
        (state,) = escrows.stateOf(e.terms, e.lane, e.counter);
    }

    function expectState(Escrow memory e, uint256 state, uint256 changedAt) internal view {
        (uint256 state_, uint256 changedAt_) = escrows.stateOf(e.terms, e.lane, e.counter);
        vm.assertEq(state_, state, "state");
        vm.assertEq(changedAt_, changedAt, "changed at");
    }

    function expectError(bytes memory data) internal {
        vm.expectRevert(data);
    }

    function expectNotOpen(Escrow memory e, uint256 state) internal {
        expectError(abi.encodeWithSelector(ParleyEscrows.NotOpen.selector, idOf(e), state));
    }

    function expectNotReady(uint256 state, uint256 used, uint256 counter) internal {
        expectError(
            abi.encodeWithSelector(ParleyEscrows.LaneNotReady.selector, state, used, counter)
        );
    }

    function expectEvent() internal {
        vm.expectEmit(true, true, true, true, address(escrows));
    }

    function bound(uint256 value, uint256 low, uint256 high) internal pure returns (uint256) {
        return low + value % (high - low + 1);
    }

    function copyOf(Escrow memory e) internal pure returns (Escrow memory) {
        return abi.decode(abi.encode(e), (Escrow));
    }

    function nextOf(Escrow memory e) internal pure returns (Escrow memory other) {
        other = copyOf(e);
        other.counter += 1;
    }

    function beside(Escrow memory e) internal pure returns (Escrow memory other) {
        other = copyOf(e);
        other.lane += 1000;
    }

    /// @dev Another escrow by one field: those of the terms, then the lane and the counter.
    function altered(Escrow memory e, uint256 field) internal pure returns (Escrow memory other) {
        other = copyOf(e);
        if (field == 0) other.terms.hashlock ^= bytes32(uint256(1));
        if (field == 1) other.terms.payout = STRANGER;
        if (field == 2) other.terms.refund = STRANGER;
        if (field == 3) other.terms.token = STRANGER;
        if (field == 4) other.terms.amount -= 1;
        if (field == 5) other.terms.timelock += 1;
        if (field == 6) other.terms.fundBefore += 1;
        if (field == 7) other.lane += 1;
        if (field == 8) other.counter += 1;
    }

    /// @dev What the funder signs of a token with this separator (EIP-3009).
    function authorization(Escrow memory e, bytes32 separator) internal view returns (bytes32) {
        Terms memory t = e.terms;
        bytes32 message = keccak256(
            abi.encode(RECEIVE, t.refund, address(escrows), t.amount, 0, t.fundBefore, idOf(e))
        );
        return keccak256(abi.encodePacked(hex"1901", separator, message));
    }

    function claimLeg(Escrow memory e, bytes32 secret) internal pure returns (Leg memory) {
        Terms memory t = e.terms;
        uint256 times = t.timelock << 96 | t.fundBefore << 32 | e.counter;
        return Leg(secret, t.payout, t.token, keyOf(e), t.amount, times);
    }

    function refundLeg(Escrow memory e) internal pure returns (Leg memory) {
        return claimLeg(e, e.terms.hashlock);
    }
}
