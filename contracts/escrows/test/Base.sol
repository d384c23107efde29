// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "./Vm.sol";
import {DevCoin} from "../dev/DevCoin.sol";
import {DevToken} from "../dev/DevToken.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Signature} from "../src/Signature.sol";
import {Funding, Group, Leg, Terms} from "../src/Terms.sol";

struct Escrow {
    Terms terms;
    uint96 lane;
    uint32 counter;
}

/// @notice An escrow in a batch, with the secret or hashlock that it is brought with.
struct Item {
    Escrow e;
    bytes32 lock;
}

/// @notice A funder, a recipient, a stranger, a secret, and one escrow's life in short verbs.
abstract contract Base {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    uint256 internal constant FUNDER_KEY = 0xF00D;
    uint256 internal constant RECIPIENT_KEY = 0xBEEF;
    address internal constant RECIPIENT = 0x6E9972213BF459853FA33E28Ab7219e9157C8d02;
    address internal constant STRANGER = address(0x57A9);
    bytes32 internal constant SECRET = bytes32(uint256(0xa11ce) << 200);
    uint256 internal constant NOW = 1_800_000_000;
    uint256 internal constant FUND_BEFORE = NOW + 2 hours;
    uint256 internal constant TIMELOCK = NOW + 1 days;
    uint256 internal constant AMOUNT = 1_000e6;
    uint96 internal constant LANE = 0x5d1fa3c27be6049800000001;
    uint96 internal constant OF_PAYEE = 1 << 95;
    /// @dev Of a group in a batch.
    uint256 internal constant GAS_EACH = 2_000_000;
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
        domain = domainOf(address(escrows));
        coin = new DevCoin();
        give(address(coin), funder, AMOUNT * 10);
        vm.deal(funder, AMOUNT * 10);
    }

    function domainOf(address contract_) internal view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256(
                    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
                ),
                keccak256("Parley"),
                keccak256("1"),
                block.chainid,
                contract_
            )
        );
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
        address owner = e.lane < OF_PAYEE ? e.terms.refund : e.terms.payout;
        return uint256(uint160(owner)) << 96 | e.lane;
    }

    function wordOf(Escrow memory e, uint256 state) internal view returns (uint256) {
        return uint256(idOf(e)) >> 32 << 32 | state << 30 | e.counter;
    }

    function slotOf(Escrow memory e) internal pure returns (bytes32) {
        return keccak256(abi.encode(keyOf(e), uint256(0)));
    }

    function wordIn(Escrow memory e) internal view returns (uint256) {
        uint256[] memory keys = new uint256[](1);
        keys[0] = keyOf(e);
        return escrows.lanesOf(keys)[0];
    }

    function stateOf(Escrow memory e) internal view returns (uint256) {
        return escrows.stateOf(e.terms, e.lane, e.counter);
    }

    function expectState(Escrow memory e, uint256 state) internal view {
        vm.assertEq(stateOf(e), state, "state");
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

    function sign(uint256 key, bytes32 digest) internal pure returns (Signature memory made) {
        (made.v, made.r, made.s) = vm.sign(key, digest);
    }

    /// @dev What an account signs about an escrow, by a type such as "GiveUpClaim".
    function consentTo(Escrow memory e, string memory what) internal view returns (bytes32) {
        bytes32 type_ = keccak256(bytes.concat(bytes(what), "(bytes32 escrow)"));
        bytes32 message = keccak256(abi.encode(type_, idOf(e)));
        return keccak256(abi.encodePacked(hex"1901", domain, message));
    }

    function inLane(Escrow memory e) internal pure returns (Escrow memory other) {
        other = copyOf(e);
        other.lane |= OF_PAYEE;
    }

    function opening(Escrow memory e) internal view returns (Signature memory) {
        return sign(RECIPIENT_KEY, consentTo(e, "OpenInMyLane"));
    }

    function fundInLane(Escrow memory e) internal {
        Signature memory consent = opening(e);
        vm.prank(e.terms.refund);
        escrows.fundInLane{value: valueOf(e)}(e.terms, e.lane, e.counter, consent);
    }

    function fundings(Escrow[] memory all) internal pure returns (Funding[] memory made) {
        made = new Funding[](all.length);
        for (uint256 i = 0; i < all.length; i++) {
            made[i] = Funding(all[i].terms, all[i].lane, all[i].counter);
        }
    }

    function legOf(Item memory item, bool claims) internal pure returns (Leg memory) {
        Terms memory t = item.e.terms;
        address other = claims ? t.refund : t.payout;
        uint256 rest = t.amount << 112 | t.timelock << 72 | t.fundBefore << 32 | item.e.counter;
        return Leg(item.lock, uint256(uint160(other)) << 96 | item.e.lane, rest);
    }

    /// @dev Neighbours of one token and one receiver are a group.
    function groupsOf(Item[] memory items, bool claims)
        internal
        pure
        returns (Group[] memory made)
    {
        made = new Group[](items.length);
        uint256 count;
        for (uint256 i = 0; i < items.length; i++) {
            Terms memory t = items[i].e.terms;
            address to = claims ? t.payout : t.refund;
            if (count == 0 || made[count - 1].token != t.token || made[count - 1].to != to) {
                made[count++] = Group(t.token, to, new Leg[](0));
            }
            Leg[] memory before = made[count - 1].legs;
            Leg[] memory legs = new Leg[](before.length + 1);
            for (uint256 n = 0; n < before.length; n++) {
                legs[n] = before[n];
            }
            legs[before.length] = legOf(items[i], claims);
            made[count - 1].legs = legs;
        }
        assembly ("memory-safe") {
            mstore(made, count)
        }
    }

    function one(Escrow memory e, bytes32 lock) internal pure returns (Item[] memory items) {
        items = new Item[](1);
        items[0] = Item(e, lock);
    }

    function claimMany(Item[] memory items) internal returns (uint256) {
        Group[] memory groups = groupsOf(items, true);
        vm.prank(address(0xCA11));
        return escrows.claimMany(groups, GAS_EACH);
    }

    function refundMany(Item[] memory items) internal returns (uint256) {
        Group[] memory groups = groupsOf(items, false);
        vm.prank(address(0xCA11));
        return escrows.refundMany(groups, GAS_EACH);
    }
}
