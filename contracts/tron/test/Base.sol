// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "evm/test/Vm.sol";
import {Terms} from "evm/src/Terms.sol";
import {DevDollar} from "evm/dev/DevDollar.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";

/// @notice Cheatcodes that the EVM escrows do not need.
interface MoreVm is Vm {
    function roll(uint256 number) external;
    function prank(address sender, address origin) external;
    function chainId(uint256 id) external;
    function load(address where, bytes32 slot) external view returns (bytes32);
    function store(address where, bytes32 slot, bytes32 value) external;
}

/// @notice A funder, a recipient, a stranger, a secret, and one escrow's life in short verbs.
abstract contract Base {
    MoreVm internal constant vm = MoreVm(address(uint160(uint256(keccak256("hevm cheat code")))));
    address internal constant FUNDER = address(0xF00D);
    address internal constant RECIPIENT = address(0xBEEF);
    address internal constant STRANGER = address(0x57A9);
    bytes32 internal constant SECRET = bytes32(uint256(0xa11ce) << 200);
    uint256 internal constant NOW = 1_800_000_000;
    uint256 internal constant TIMELOCK = NOW + 1 days;
    uint256 internal constant AMOUNT = 1_000e6;
    uint256 internal constant FUNDED = 1;
    uint256 internal constant CLAIMED = 2;
    uint256 internal constant REFUNDED = 3;

    ParleyEscrows internal escrows;
    DevDollar internal dollar;
    // kept, because computing it calls a precompile, and expectRevert looks at the next call
    bytes32 internal hashlock;

    function setUp() public virtual {
        vm.warp(NOW);
        hashlock = sha256(abi.encode(SECRET));
        escrows = deploy();
        dollar = new DevDollar();
        give(address(dollar), FUNDER, AMOUNT * 10);
        vm.deal(FUNDER, AMOUNT * 10);
    }

    /// @dev The committed bytecode itself: what is tested is what is deployed. Coverage and
    ///      traces need PARLEY_FROM_SOURCE=true, which compiles it anew.
    function deploy() internal returns (ParleyEscrows made) {
        if (vm.envOr("PARLEY_FROM_SOURCE", false)) return new ParleyEscrows();
        string memory artifact = vm.readFile("artifacts/ParleyEscrows.json");
        bytes memory code = vm.parseJsonBytes(artifact, ".bytecode");
        assembly ("memory-safe") {
            made := create(0, add(code, 0x20), mload(code))
        }
        vm.assertFalse(address(made) == address(0), "the committed contract does not deploy");
    }

    function termsOf(address token) internal view returns (Terms memory) {
        return Terms(hashlock, RECIPIENT, FUNDER, token, AMOUNT, TIMELOCK);
    }

    function native() internal view returns (Terms memory) {
        return termsOf(address(0));
    }

    /// @dev TRX and a token, for what must hold of both.
    function both() internal view returns (Terms[2] memory) {
        return [native(), termsOf(address(dollar))];
    }

    /// @dev Works for every token with the two functions, whatever approve returns.
    function give(address token, address to, uint256 amount) internal {
        DevDollar(token).mint(to, amount);
        vm.prank(to);
        (bool ok,) =
            token.call(abi.encodeCall(DevDollar.approve, (address(escrows), type(uint256).max)));
        vm.assertTrue(ok, "approve");
    }

    function valueOf(Terms memory terms) internal pure returns (uint256) {
        return terms.token == address(0) ? terms.amount : 0;
    }

    /// @dev As somebody who signs it: sender and origin are one.
    function fund(Terms memory terms) internal {
        vm.prank(terms.refund, terms.refund);
        escrows.fund{value: valueOf(terms)}(terms);
    }

    function claim(Terms memory terms) internal {
        vm.prank(STRANGER);
        escrows.claim(terms, SECRET);
    }

    function refund(Terms memory terms) internal {
        vm.prank(STRANGER);
        escrows.refund(terms);
    }

    function held(address token, address who) internal view returns (uint256) {
        return token == address(0) ? who.balance : DevDollar(token).balanceOf(who);
    }

    function here(address token) internal view returns (uint256) {
        return held(token, address(escrows));
    }

    /// @dev Computed in the test itself, so that a change of the formula is noticed.
    function idOf(Terms memory terms) internal view returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(block.chainid, address(escrows)));
        return keccak256(abi.encode(domain, terms));
    }

    function statusOf(Terms memory terms) internal view returns (uint256 status) {
        (status,,) = escrows.stateOf(idOf(terms));
    }

    function expectError(bytes memory data) internal {
        vm.expectRevert(data);
    }

    function expectNotFunded(Terms memory terms, uint256 status) internal {
        expectError(abi.encodeWithSelector(ParleyEscrows.NotFunded.selector, idOf(terms), status));
    }

    function expectEvent() internal {
        vm.expectEmit(true, true, true, true, address(escrows));
    }

    function bound(uint256 value, uint256 low, uint256 high) internal pure returns (uint256) {
        return low + value % (high - low + 1);
    }

    function altered(Terms memory terms, uint256 field) internal pure returns (Terms memory) {
        Terms memory other = abi.decode(abi.encode(terms), (Terms));
        if (field == 0) other.hashlock ^= bytes32(uint256(1));
        if (field == 1) other.payout = STRANGER;
        if (field == 2) other.refund = STRANGER;
        if (field == 3) other.token = STRANGER;
        if (field == 4) other.amount -= 1;
        if (field == 5) other.timelock += 1;
        return other;
    }
}
