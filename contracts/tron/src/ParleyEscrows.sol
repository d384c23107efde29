// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Terms} from "evm/src/Terms.sol";
import {Erc20} from "evm/src/Erc20.sol";

/// @title Every escrow of a TRON chain: one contract, one storage word per swap leg.
///
/// An escrow is found by its id, the hash over this chain, this contract and all of its terms.
/// The caller brings the terms and the contract looks up their word. There is no owner, no upgrade,
/// no pause, no fee, no approval, and money leaves by `claim`, `refund` and `refundPart` only.
///
/// The money of all escrows lies together, so each verb must leave as much of an asset here as it
/// takes off the sum of what is owed in it. Balances are compared around every token call, and no
/// other escrow may be funded with a token within one: otherwise a hostile receiver could make up
/// for a transfer that moved the wrong amount by a funding that counts twice. Claims and refunds
/// within one only make the comparison stricter. What a token itself does to the common balance
/// (a rebase, a seizure) cannot be prevented here: then who comes first is paid.
contract ParleyEscrows {
    uint256 private constant MIN_AHEAD = 30 minutes;
    uint256 private constant MAX_AHEAD = 30 days;

    // A record, from its lowest bit: 8 for the status, 40 for the block of the funding, 40 for the
    // block of the settling, and the upper 168 of the id itself.
    uint256 private constant FUNDED = 1;
    uint256 private constant CLAIMED = 2;
    uint256 private constant REFUNDED = 3;
    uint256 private constant FACTS = (1 << 88) - 1;

    /// @notice keccak256(abi.encode(chain id, this contract)), as of its deployment: ids must stay
    ///         what they are, whatever CHAINID answers after some upgrade of the chain.
    /// @dev In storage, so that the code is the same everywhere. Reading it costs 50 energy.
    bytes32 public domain;

    /// @dev Never zero, so that a change costs 5,000 energy and not 20,000.
    uint256 private _tokenFundings = 1;

    /// @dev A struct, so that a verb that reads and writes a record finds its place once.
    struct Record {
        uint256 word;
    }

    mapping(bytes32 id => Record) private _records;

    /// @notice The money is here. The terms are repeated in full, so that a swap can be settled
    ///         from the chain alone.
    event EscrowFunded(bytes32 indexed id, bytes32 indexed hashlock, Terms terms);

    /// @notice The whole amount was sent to `payout`.
    event EscrowClaimed(bytes32 indexed id, bytes32 secret);

    /// @notice The money was sent to `refund`. Never before the timelock.
    event EscrowRefunded(bytes32 indexed id);

    error SenderIsNotRefund(address sender, address refund);
    error WrongValue(uint256 value, uint256 expected);
    error ZeroHashlock();
    error ZeroAmount();
    error PayoutRefused(address payout);
    error TimelockOutOfBounds(uint256 timelock, uint256 earliest, uint256 latest);
    error TokenHasNoCode(address token);
    /// @notice These terms were funded before, and terms are good for one funding.
    error FundedBefore(bytes32 id, uint256 status);
    /// @notice No money under these terms: never funded (0), claimed (2) or refunded (3).
    error NotFunded(bytes32 id, uint256 status);
    error ClaimTooLate(uint256 timelock, uint256 timestamp);
    error RefundTooEarly(uint256 timelock, uint256 timestamp);
    error WrongSecret(bytes32 hashlock, bytes32 hash);
    error PartRefused(address token, uint256 part, uint256 amount);
    /// @notice A payment was refused by its receiver. Nothing changed; try again later.
    error PaymentRejected(address to, uint256 amount);
    /// @notice This contract gained something else than the amount: a fee, or nothing at all.
    error WrongAmountReceived(
        address token, uint256 balanceBefore, uint256 balanceAfter, uint256 amount
    );
    /// @notice This contract lost something else than it sent.
    error WrongAmountSent(
        address token, uint256 balanceBefore, uint256 balanceAfter, uint256 amount
    );
    /// @notice A token call led to the funding of another escrow.
    error FundedWithin(address token);

    constructor() {
        domain = keccak256(abi.encode(block.chainid, address(this)));
    }

    /// @notice Takes the money in.
    /// @dev TRX: send exactly the amount. Token: send nothing and approve this contract first.
    /// @param terms Only `terms.refund` may call.
    function fund(Terms calldata terms) external payable {
        address refundTo = terms.refund;
        address payout = terms.payout;
        address token = terms.token;
        uint256 amount = terms.amount;
        if (msg.sender != refundTo) revert SenderIsNotRefund(msg.sender, refundTo);
        if (terms.hashlock == 0) revert ZeroHashlock();
        if (amount == 0) revert ZeroAmount();
        if (payout == address(0) || payout == token || payout == address(this)) {
            revert PayoutRefused(payout);
        }
        _requireTimelock(terms.timelock);

        uint256 expected = token == address(0) ? amount : 0;
        if (msg.value != expected) revert WrongValue(msg.value, expected);
        if (token != address(0) && token.code.length == 0) revert TokenHasNoCode(token);

        bytes32 id = _open(terms);
        _logFunding(id, terms);
        if (token != address(0)) _collect(token, refundTo, amount);
    }

    /// @notice Sends exactly `terms.amount` to `terms.payout`. Anyone may call, before the timelock.
    /// @param terms  The terms of the funding.
    /// @param secret The 32 bytes whose SHA-256 is `terms.hashlock`. Public from now on.
    function claim(Terms calldata terms, bytes32 secret) external {
        if (block.timestamp >= terms.timelock) {
            revert ClaimTooLate(terms.timelock, block.timestamp);
        }
        bytes32 hash = _sha256(secret);
        if (hash != terms.hashlock) revert WrongSecret(terms.hashlock, hash);
        bytes32 id = _close(terms, CLAIMED);
        emit EscrowClaimed(id, secret);
        _pay(terms, terms.payout, terms.amount, terms.amount);
    }

    /// @notice Sends exactly `terms.amount` to `terms.refund`. Anyone may call, from the timelock on.
    /// @param terms The terms of the funding.
    function refund(Terms calldata terms) external {
        _refund(terms, terms.amount, terms.amount);
    }

    /// @notice Sends less of a token to `terms.refund`, who alone may call, and settles the escrow.
    /// @dev For a token that later takes a fee on top of what it moves, rounds, or shrank what lies
    ///      here. At most `terms.amount` may go, fee included: the rest belongs to others.
    /// @param part How much to send. What is left of the amount is lost.
    function refundPart(Terms calldata terms, uint256 part) external {
        if (msg.sender != terms.refund) revert SenderIsNotRefund(msg.sender, terms.refund);
        if (terms.token == address(0) || part == 0 || part > terms.amount) {
            revert PartRefused(terms.token, part, terms.amount);
        }
        _refund(terms, part, 1);
    }

    /// @notice The id of the escrow of these terms. Says nothing about its state.
    function escrowOf(Terms calldata terms) external view returns (bytes32) {
        return keccak256(abi.encode(domain, terms));
    }

    /// @notice What became of an escrow: enough to follow it without any log.
    /// @return status       0 never funded, 1 funded, 2 claimed, 3 refunded.
    /// @return fundedBlock  Number of the block that funded it, or 0.
    /// @return settledBlock Number of the block that settled it, or 0. Its logs show the secret.
    function stateOf(bytes32 id)
        external
        view
        returns (uint256 status, uint256 fundedBlock, uint256 settledBlock)
    {
        uint256 facts = _factsIn(_records[id], id);
        return (facts & 0xff, uint40(facts >> 8), facts >> 48);
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

    /// @dev Hashes the words as they came. `fund` refuses an address with dirty upper bytes, so no
    ///      such words lead to an escrow.
    function _idOf(Terms calldata terms) private view returns (bytes32 id) {
        bytes32 prefix = domain;
        assembly ("memory-safe") {
            let m := mload(0x40)
            mstore(m, prefix)
            calldatacopy(add(m, 0x20), terms, 0xc0)
            id := keccak256(m, 0xe0)
        }
    }

    /// @dev java-tron keeps storage under the lower half of a slot's number alone (Storage.java:
    ///      compose), so whoever can hash 2^64 times finds two ids that share a word. A record
    ///      names its id, or else funding the smaller escrow would open the larger one.
    function _factsIn(Record storage record, bytes32 id) private view returns (uint256 facts) {
        facts = record.word ^ (uint256(id) & ~FACTS);
        if (facts > FACTS) facts = 0; // nothing there, or another's
    }

    function _write(Record storage record, bytes32 id, uint256 facts) private {
        record.word = (uint256(id) & ~FACTS) | facts;
    }

    function _open(Terms calldata terms) private returns (bytes32 id) {
        id = _idOf(terms);
        Record storage record = _records[id];
        if (record.word != 0) revert FundedBefore(id, _factsIn(record, id) & 0xff);
        _write(record, id, block.number << 8 | FUNDED);
    }

    /// @dev `emit EscrowFunded(id, terms.hashlock, terms)`, without looking at every word again: an
    ///      address with dirty upper bytes was refused when `fund` read it.
    function _logFunding(bytes32 id, Terms calldata terms) private {
        bytes32 topic = EscrowFunded.selector;
        bytes32 hashlock = terms.hashlock;
        assembly ("memory-safe") {
            let m := mload(0x40)
            calldatacopy(m, terms, 0xc0)
            log3(m, 0xc0, topic, id, hashlock)
        }
    }

    /// @dev A record is never cleared, so terms are never good for a second funding.
    function _close(Terms calldata terms, uint256 status) private returns (bytes32 id) {
        id = _idOf(terms);
        Record storage record = _records[id];
        uint256 facts = _factsIn(record, id);
        if (facts & 0xff != FUNDED) revert NotFunded(id, facts & 0xff);
        _write(record, id, block.number << 48 | (facts ^ FUNDED) | status);
    }

    /// @param least The least that may leave, so that a token which moves nothing settles nothing.
    function _refund(Terms calldata terms, uint256 sent, uint256 least) private {
        if (block.timestamp < terms.timelock) {
            revert RefundTooEarly(terms.timelock, block.timestamp);
        }
        bytes32 id = _close(terms, REFUNDED);
        emit EscrowRefunded(id);
        _pay(terms, terms.refund, sent, least);
    }

    function _collect(address token, address from, uint256 amount) private {
        uint256 fundings = _tokenFundings;
        uint256 before = Erc20.balanceOf(token, address(this));
        Erc20.transferFrom(token, from, address(this), amount);
        uint256 held = Erc20.balanceOf(token, address(this));
        unchecked {
            if (held < before || held - before != amount) {
                revert WrongAmountReceived(token, before, held, amount);
            }
            if (_tokenFundings != fundings) revert FundedWithin(token);
            if (_mayBeWithin()) _tokenFundings = fundings + 1;
        }
    }

    /// @dev Who signed the transaction and has no code calls from nowhere but its top, so nothing
    ///      is under way that would have to notice, and 5,000 energy are saved. Whoever has code is
    ///      counted, be it one that signs: a chain that gives code to accounts breaks nothing.
    function _mayBeWithin() private view returns (bool) {
        return msg.sender != tx.origin || msg.sender.code.length != 0;
    }

    /// @dev What leaves is between `least` and the amount of the terms, both included.
    function _pay(Terms calldata terms, address to, uint256 sent, uint256 least) private {
        address token = terms.token;
        if (token == address(0)) {
            bool ok;
            assembly ("memory-safe") {
                ok := call(gas(), to, sent, 0, 0, 0, 0) // copies nothing of what comes back
            }
            if (!ok) revert PaymentRejected(to, sent);
            return;
        }
        uint256 fundings = _tokenFundings;
        uint256 before = Erc20.balanceOf(token, address(this));
        Erc20.transfer(token, to, sent);
        uint256 left = Erc20.balanceOf(token, address(this));
        unchecked {
            if (left > before || before - left < least || before - left > terms.amount) {
                revert WrongAmountSent(token, before, left, sent);
            }
        }
        if (_tokenFundings != fundings) revert FundedWithin(token);
    }

    /// @dev A failing or missing precompile must never look like a hash.
    function _sha256(bytes32 secret) private view returns (bytes32 hash) {
        assembly ("memory-safe") {
            mstore(0x00, secret)
            let ok := staticcall(gas(), 0x02, 0x00, 0x20, 0x00, 0x20)
            if iszero(and(ok, eq(returndatasize(), 0x20))) { revert(0, 0) }
            hash := mload(0x00)
        }
    }
}
