// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Terms} from "./Terms.sol";
import {Erc20} from "./Erc20.sol";
import {ParleyEscrow} from "./ParleyEscrow.sol";
import {proxyInitCode} from "./ProxyCode.sol";

/// @title Deploys and funds one escrow per swap leg, in one transaction.
///
/// The escrow's address is CREATE2 of this factory, the salt keccak256(abi.encode(terms)) and the
/// proxy's init code: it commits to all terms, can be computed before it exists, and can never be
/// funded here a second time. Nobody owns this contract and it holds no money between transactions.
///
/// A payout equal to the escrow itself needs no check: the address is a hash over the payout.
contract ParleyFactory {
    uint256 private constant MIN_AHEAD = 30 minutes;
    uint256 private constant MAX_AHEAD = 30 days;
    uint256 private constant INIT_CODE_LENGTH = 47;

    /// @notice The code behind every escrow. Deployed with this contract, for good.
    address public immutable implementation;

    bytes32 private immutable _initCodeHead;
    bytes32 private immutable _initCodeTail;

    /// @notice The escrow now holds the whole amount. The terms are repeated in full, so that a
    ///         swap can be settled from the chain alone.
    event EscrowFunded(address indexed escrow, bytes32 indexed hashlock, Terms terms);

    error SenderIsNotRefund(address sender, address refund);
    error WrongValue(uint256 value, uint256 expected);
    error ZeroHashlock();
    error ZeroAmount();
    error PayoutRefused(address payout);
    error TimelockOutOfBounds(uint256 timelock, uint256 earliest, uint256 latest);
    error TokenHasNoCode(address token);
    /// @notice These terms were funded before (settled or not), or the call stack is exhausted.
    error EscrowNotCreated(address escrow);
    /// @notice The escrow gained something else than the amount: a fee, or nothing at all.
    error WrongAmountReceived(
        address token, uint256 balanceBefore, uint256 balanceAfter, uint256 amount
    );

    constructor() {
        implementation = address(new ParleyEscrow());
        bytes memory code = proxyInitCode(implementation);
        assert(code.length == INIT_CODE_LENGTH);
        bytes32 head;
        bytes32 tail;
        assembly ("memory-safe") {
            head := mload(add(code, 0x20))
            tail := and(mload(add(code, 0x40)), not(sub(shl(136, 1), 1))) // its first 15 bytes
        }
        _initCodeHead = head;
        _initCodeTail = tail;
    }

    /// @notice Deploys the escrow of these terms and moves the money in.
    /// @dev Native: send exactly the amount. Token: send nothing and approve this contract first.
    ///      A repeated funding reverts, but burns nearly all gas given to it: simulate first.
    /// @param terms Only `terms.refund` may call.
    /// @return escrow Where the money now is.
    function fund(Terms calldata terms) external payable returns (address escrow) {
        address refund = terms.refund;
        address payout = terms.payout;
        address token = terms.token;
        uint256 amount = terms.amount;
        if (msg.sender != refund) revert SenderIsNotRefund(msg.sender, refund);
        if (terms.hashlock == 0) revert ZeroHashlock();
        if (amount == 0) revert ZeroAmount();
        if (payout == address(0) || payout == token || payout == address(this)) {
            revert PayoutRefused(payout);
        }
        _requireTimelock(terms.timelock);

        if (token == address(0)) {
            if (msg.value != amount) revert WrongValue(msg.value, amount);
            escrow = _createAndLog(terms, amount);
        } else {
            if (msg.value != 0) revert WrongValue(msg.value, 0);
            if (token.code.length == 0) revert TokenHasNoCode(token);
            escrow = _createAndLog(terms, 0);
            uint256 before = Erc20.balanceOf(token, escrow);
            Erc20.transferFrom(token, refund, escrow, amount);
            uint256 held = Erc20.balanceOf(token, escrow);
            unchecked {
                if (held < before || held - before != amount) {
                    revert WrongAmountReceived(token, before, held, amount);
                }
            }
        }
    }

    /// @notice Where the escrow of these terms is, or would be. Says nothing about its state.
    function escrowOf(Terms calldata terms) external view returns (address) {
        return _predict(keccak256(abi.encode(terms)));
    }

    function _requireTimelock(uint256 timelock) private view {
        uint256 earliest;
        uint256 latest;
        unchecked {
            earliest = block.timestamp + MIN_AHEAD; // no clock is near 2^256
            latest = block.timestamp + MAX_AHEAD;
        }
        if (timelock < earliest || timelock > latest) {
            revert TimelockOutOfBounds(timelock, earliest, latest);
        }
    }

    function _createAndLog(Terms calldata terms, uint256 value) private returns (address escrow) {
        bytes32 head = _initCodeHead;
        bytes32 tail = _initCodeTail;
        bytes32 topic = EscrowFunded.selector;
        bytes32 salt;
        assembly ("memory-safe") {
            // its addresses were read, so found clean, before: these words are abi.encode(terms)
            let m := mload(0x40)
            calldatacopy(m, terms, 0xc0)
            salt := keccak256(m, 0xc0)
            mstore(0x00, head)
            mstore(0x20, tail)
            escrow := create2(value, 0x00, INIT_CODE_LENGTH, salt)
            if escrow { log3(m, 0xc0, topic, escrow, calldataload(terms)) }
        }
        if (escrow == address(0)) revert EscrowNotCreated(_predict(salt));
    }

    function _predict(bytes32 salt) private view returns (address) {
        bytes32 codeHash = keccak256(proxyInitCode(implementation));
        bytes32 hash = keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, codeHash));
        return address(uint160(uint256(hash)));
    }
}
