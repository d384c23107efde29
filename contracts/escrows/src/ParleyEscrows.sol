// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Leg, Terms} from "./Terms.sol";
import {Inbound, Token} from "./Token.sol";

/// @title Every escrow of a chain, EVM or TRON: one contract, and one storage word a lane.
///
/// A lane is a word of its funder, `(refund, lane)`. It costs new state once, because it is written
/// over by the next escrow and never zeroed. A funding takes only a word whose escrow is settled,
/// and only the counter after the word's. So no id is ever open twice, and an open escrow is never
/// written over. The id is the hash of this contract's place, all terms, the lane and the counter.
///
/// There is no owner, no upgrade, no pause, no fee and no `receive`. Money leaves by claims and
/// refunds only.
///
/// The money of all escrows lies together. Every verb must take as much of an asset from here as it
/// takes off the sum of what is owed in it. So balances are compared around every token call, and
/// no verb runs within one. What a token itself does to the common balance (a rebase, a seizure, a
/// freeze) cannot be prevented here.
contract ParleyEscrows {
    using Token for address;

    uint256 private constant MIN_AHEAD = 30 minutes;
    uint256 private constant MAX_AHEAD = 30 days;

    // A word, from its lowest bit: 30 for the counter, 32 for the time of the last change, 2 for
    // the state, and the upper 192 of the id.
    uint256 private constant COUNTER = (1 << 30) - 1;
    uint256 private constant TIME_SHIFT = 30;
    uint256 private constant TIME = ((1 << 32) - 1) << TIME_SHIFT;
    uint256 private constant STATE_SHIFT = 62;
    uint256 private constant STATE = 3 << STATE_SHIFT;
    uint256 private constant ID = ~uint256((1 << 64) - 1);

    uint256 private constant UNFUNDED = 0;
    uint256 private constant OPEN = 1;
    uint256 private constant CLAIMED = 2;
    uint256 private constant REFUNDED = 3;
    uint256 private constant ENDED = 4;
    uint256 private constant VOID = 5;

    bytes32 private constant RECEIVE_WITH_AUTHORIZATION = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,"
        "uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    /// @dev SHA-256 of 32 zero bytes.
    bytes32 private constant SHA256_OF_ZERO =
        0x66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925;

    /// @notice keccak256(abi.encode(chain id, this contract)), as of the deployment.
    /// @dev Not read at run time: a chain that splits must not lock the escrows that are open.
    bytes32 public immutable domain;

    /// @dev A struct, so that a verb which reads and writes a word finds its place once.
    struct Lane {
        uint256 word;
    }

    /// @dev What a batch owes to one receiver in one asset.
    struct Payment {
        address token;
        address to;
        uint256 amount;
    }

    /// @dev Behind a hash, because TRON keeps a word under the lower half of its slot's number.
    mapping(uint256 key => Lane) private _lanes;

    /// @dev Set while a token is called whose balance is being compared.
    bool private transient _comparing;

    /// @notice The money is here. A swap can be settled from this event alone.
    event Funded(bytes32 indexed id, Terms terms, uint96 lane, uint32 counter);
    /// @notice The whole amount was sent to `payout`.
    event Claimed(bytes32 indexed id, bytes32 secret);
    /// @notice The money was sent to `refund`, never before the timelock.
    event Refunded(bytes32 indexed id);

    error Sha256Missing();
    error SenderIsNotRefund(address sender, address refund);
    /// @notice The authorization was signed by somebody else, or for other terms.
    error SignerIsNotRefund(address signer, address refund);
    error WrongValue(uint256 value, uint256 expected);
    error ZeroHashlock();
    error ZeroAmount();
    error PayoutRefused(address payout);
    error TimelockOutOfBounds(uint256 timelock, uint256 earliest, uint256 latest);
    error FundTooLate(uint256 fundBefore, uint256 timestamp);
    /// @notice The lane holds money, or it is at another counter.
    error LaneNotReady(uint256 state, uint256 used, uint256 counter);
    /// @notice No money under this id. `state` is as `stateOf` answers it.
    error NotOpen(bytes32 id, uint256 state);
    error ClaimTooLate(uint256 timelock, uint256 timestamp);
    error RefundTooEarly(uint256 timelock, uint256 timestamp);
    error WrongSecret(bytes32 hashlock, bytes32 hash);
    error PartRefused(address token, uint256 part, uint256 amount);
    /// @notice A native payment was refused by its receiver. Nothing changed; try again later.
    error PaymentRejected(address to, uint256 amount);
    /// @notice This contract gained something else than the amount: a fee, or nothing at all.
    error WrongAmountReceived(
        address token, uint256 balanceBefore, uint256 balanceAfter, uint256 amount
    );
    /// @notice This contract lost something else than it sent.
    error WrongAmountSent(
        address token, uint256 balanceBefore, uint256 balanceAfter, uint256 amount
    );
    /// @notice Called from within a token call of this contract.
    error Reentered();

    modifier outside() {
        if (_comparing) revert Reentered();
        _;
    }

    constructor() {
        if (_sha256(0) != SHA256_OF_ZERO) revert Sha256Missing();
        domain = keccak256(abi.encode(block.chainid, address(this)));
    }

    /// @notice Takes the money in. Native: send exactly the amount. Token: approve it first.
    /// @param terms   Only `terms.refund` may call.
    /// @param lane    Which word of the funder to use.
    /// @param counter The word's counter and one.
    function fund(Terms calldata terms, uint96 lane, uint32 counter) external payable outside {
        _requireSender(terms.refund);
        uint256 expected = terms.token == address(0) ? terms.amount : 0;
        if (msg.value != expected) revert WrongValue(msg.value, expected);
        _open(terms, lane, counter);
        if (terms.token != address(0)) _collect(terms);
    }

    /// @notice `fund` of a token, after a permit (EIP-2612) of the sender.
    /// @dev A permit that fails is ignored: somebody else may have used it, and then its allowance
    ///      is there. A permit binds no terms, so nobody but the refund address may call.
    /// @param allowance What the permit allows: the amount, or more for later fundings.
    function fundWithPermit(
        Terms calldata terms,
        uint96 lane,
        uint32 counter,
        uint256 allowance,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external outside {
        _requireSender(terms.refund);
        bytes memory permit = abi.encodeCall(
            Inbound.permit, (terms.refund, address(this), allowance, deadline, v, r, s)
        );
        terms.token.attempt(permit);
        _open(terms, lane, counter);
        _collect(terms);
    }

    /// @notice Takes a token in by the refund address's signature alone. Anyone may submit it.
    /// @dev EIP-3009 `receiveWithAuthorization`. Its nonce is the escrow's id, so the signature
    ///      binds all terms. It is valid from 0 to `fundBefore`. The signature is recovered here
    ///      too, because a hostile token would let anyone open the lanes of others.
    function fundWithAuthorization(
        Terms calldata terms,
        uint96 lane,
        uint32 counter,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external outside {
        address token = terms.token;
        address from = terms.refund;
        (bytes32 id,) = _idOf(terms, lane, counter);
        bytes memory call_ = abi.encodeCall(
            Inbound.receiveWithAuthorization,
            (from, address(this), terms.amount, 0, terms.fundBefore, id, v, r, s)
        );
        bytes32 message = keccak256(
            abi.encode(
                RECEIVE_WITH_AUTHORIZATION,
                from,
                address(this),
                terms.amount,
                0,
                terms.fundBefore,
                id
            )
        );
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", token.domainSeparator(), message));
        address signer = ecrecover(digest, v, r, s);
        if (signer != from || signer == address(0)) revert SignerIsNotRefund(signer, from);
        _open(terms, lane, counter);
        _receive(token, terms.amount, call_);
    }

    /// @notice Sends exactly the amount to `payout`. Anyone may call, before the timelock.
    /// @param secret The 32 bytes whose SHA-256 is `terms.hashlock`. Public from now on.
    function claim(Terms calldata terms, uint96 lane, uint32 counter, bytes32 secret)
        external
        outside
    {
        if (block.timestamp >= terms.timelock) {
            revert ClaimTooLate(terms.timelock, block.timestamp);
        }
        _requireSecret(terms.hashlock, secret);
        emit Claimed(_close(terms, lane, counter, CLAIMED), secret);
        _pay(terms.token, terms.payout, terms.amount);
    }

    /// @notice Sends exactly the amount to `refund`. Anyone may call, from the timelock on.
    function refund(Terms calldata terms, uint96 lane, uint32 counter) external outside {
        _refund(terms, lane, counter);
        _pay(terms.token, terms.refund, terms.amount);
    }

    /// @notice Sends less of a token to `terms.refund`, who alone may call, and settles the escrow.
    /// @dev For a token that later takes a fee on top of what it moves, rounds, or shrank what lies
    ///      here. At most the amount may leave, fee included: the rest belongs to others.
    /// @param part How much to send. What is left of the amount is lost.
    function refundPart(Terms calldata terms, uint96 lane, uint32 counter, uint256 part)
        external
        outside
    {
        _requireSender(terms.refund);
        if (terms.token == address(0) || part == 0 || part > terms.amount) {
            revert PartRefused(terms.token, part, terms.amount);
        }
        _refund(terms, lane, counter);
        _send(terms.token, terms.refund, part, 1, terms.amount);
    }

    /// @notice Claims what can be claimed. What is too late, or not open under its secret, is left.
    /// @dev Neighbours with the same token and payout are paid by one transfer. A payment that
    ///      fails reverts all.
    /// @param legs Each with its secret as `lock`.
    /// @return claimed How many were claimed.
    function claimMany(Leg[] calldata legs) external outside returns (uint256 claimed) {
        Payment memory sum;
        for (uint256 i = 0; i < legs.length; i++) {
            Leg calldata leg = legs[i];
            if (block.timestamp >= leg.times >> 96) continue;
            bytes32 id = _idOfLeg(leg, _sha256(leg.lock));
            if (!_settle(id, leg.key, uint32(leg.times), CLAIMED)) continue;
            emit Claimed(id, leg.lock);
            _add(sum, leg.token, leg.payout, leg.amount);
            claimed += 1;
        }
        _payOut(sum);
    }

    /// @notice Refunds what can be refunded. What is too early, or not open, is left.
    /// @dev Neighbours with the same token and funder are paid by one transfer. A payment that
    ///      fails reverts all.
    /// @param legs Each with its hashlock as `lock`.
    /// @return refunded How many were refunded.
    function refundMany(Leg[] calldata legs) external outside returns (uint256 refunded) {
        Payment memory sum;
        for (uint256 i = 0; i < legs.length; i++) {
            Leg calldata leg = legs[i];
            if (block.timestamp < leg.times >> 96) continue;
            bytes32 id = _idOfLeg(leg, leg.lock);
            if (!_settle(id, leg.key, uint32(leg.times), REFUNDED)) continue;
            emit Refunded(id);
            _add(sum, leg.token, address(uint160(leg.key >> 96)), leg.amount);
            refunded += 1;
        }
        _payOut(sum);
    }

    /// @notice The id of an escrow. Says nothing about its state.
    function escrowOf(Terms calldata terms, uint96 lane, uint32 counter)
        external
        view
        returns (bytes32)
    {
        return keccak256(abi.encode(domain, terms, lane, counter));
    }

    /// @notice What became of an escrow, as far as its lane remembers.
    /// @return state     0 not funded, 1 open, 2 claimed, 3 refunded, 4 ended (the lane holds a
    ///                   later escrow: only logs tell how), 5 void (the counter went to others).
    /// @return changedAt Unix seconds of the funding (1) or of the settling (2, 3), else 0.
    function stateOf(Terms calldata terms, uint96 lane, uint32 counter)
        external
        view
        returns (uint256 state, uint256 changedAt)
    {
        bytes32 id = keccak256(abi.encode(domain, terms, lane, counter));
        uint256 key = _keyOf(terms.refund, lane);
        state = _stateOf(id, key, counter);
        if (state == OPEN || state == CLAIMED || state == REFUNDED) {
            changedAt = (_lanes[key].word & TIME) >> TIME_SHIFT;
        }
    }

    /// @notice What a lane holds.
    /// @return counter   How often it was used. The next funding must bring one more.
    /// @return state     0 never used, 1 open, 2 claimed, 3 refunded.
    /// @return changedAt Unix seconds of its last change.
    /// @return idStart   The upper 24 bytes of the last escrow's id.
    function laneOf(address funder, uint96 lane)
        external
        view
        returns (uint256 counter, uint256 state, uint256 changedAt, bytes24 idStart)
    {
        uint256 word = _lanes[_keyOf(funder, lane)].word;
        counter = word & COUNTER;
        state = (word & STATE) >> STATE_SHIFT;
        changedAt = (word & TIME) >> TIME_SHIFT;
        idStart = bytes24(bytes32(word));
    }

    /// @notice The words of many lanes at once.
    /// @param keys The funder's 20 bytes, then the lane's 12.
    function lanesOf(uint256[] calldata keys) external view returns (uint256[] memory words) {
        words = new uint256[](keys.length);
        for (uint256 i = 0; i < keys.length; i++) {
            words[i] = _lanes[keys[i]].word;
        }
    }

    function _keyOf(address funder, uint256 lane) private pure returns (uint256) {
        return uint256(uint160(funder)) << 96 | lane;
    }

    /// @dev Hashes the words as they came. A funding refuses an address with dirty upper bytes, so
    ///      no such words lead to an escrow.
    /// @return id     The hash.
    /// @return hashed Where its preimage lies: the domain, then what `Funded` logs. Not reserved.
    function _idOf(Terms calldata terms, uint256 lane, uint256 counter)
        private
        view
        returns (bytes32 id, uint256 hashed)
    {
        bytes32 place = domain;
        assembly ("memory-safe") {
            hashed := mload(0x40)
            mstore(hashed, place)
            calldatacopy(add(hashed, 0x20), terms, 0xe0)
            mstore(add(hashed, 0x100), lane)
            mstore(add(hashed, 0x120), counter)
            id := keccak256(hashed, 0x140)
        }
    }

    /// @dev The same hash of the same words, from where a batch has them.
    function _idOfLeg(Leg calldata leg, bytes32 hashlock) private view returns (bytes32 id) {
        bytes32 place = domain;
        (address payout, address token) = (leg.payout, leg.token);
        (uint256 key, uint256 amount, uint256 times) = (leg.key, leg.amount, leg.times);
        assembly ("memory-safe") {
            let m := mload(0x40)
            mstore(m, place)
            mstore(add(m, 0x20), hashlock)
            mstore(add(m, 0x40), payout)
            mstore(add(m, 0x60), shr(96, key))
            mstore(add(m, 0x80), token)
            mstore(add(m, 0xa0), amount)
            mstore(add(m, 0xc0), shr(96, times))
            mstore(add(m, 0xe0), and(shr(32, times), 0xffffffffffffffff))
            mstore(add(m, 0x100), and(key, 0xffffffffffffffffffffffff))
            mstore(add(m, 0x120), and(times, 0xffffffff))
            id := keccak256(m, 0x140)
        }
    }

    function _stateOf(bytes32 id, uint256 key, uint256 counter) private view returns (uint256) {
        uint256 word = _lanes[key].word;
        uint256 used = word & COUNTER;
        if (used < counter || counter == 0) return UNFUNDED;
        if (used > counter) return ENDED;
        if ((word ^ uint256(id)) & ID != 0) return VOID;
        return (word & STATE) >> STATE_SHIFT;
    }

    function _requireSender(address funder) private view {
        if (msg.sender != funder) revert SenderIsNotRefund(msg.sender, funder);
    }

    function _requireSecret(bytes32 hashlock, bytes32 secret) private view {
        bytes32 hash = _sha256(secret);
        if (hash != hashlock) revert WrongSecret(hashlock, hash);
    }

    function _requireTimes(uint256 timelock, uint256 fundBefore) private view {
        if (block.timestamp >= fundBefore) revert FundTooLate(fundBefore, block.timestamp);
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

    /// @dev Takes the lane and logs the funding. The money comes in the same transaction.
    function _open(Terms calldata terms, uint256 lane, uint256 counter) private {
        address payout = terms.payout;
        if (terms.hashlock == 0) revert ZeroHashlock();
        if (terms.amount == 0) revert ZeroAmount();
        if (payout == address(0) || payout == terms.token || payout == address(this)) {
            revert PayoutRefused(payout);
        }
        _requireTimes(terms.timelock, terms.fundBefore);

        Lane storage taken = _lanes[_keyOf(terms.refund, lane)];
        uint256 word = taken.word;
        uint256 state = (word & STATE) >> STATE_SHIFT;
        uint256 used = word & COUNTER;
        if (state == OPEN || counter != used + 1 || counter > COUNTER) {
            revert LaneNotReady(state, used, counter);
        }
        (bytes32 id, uint256 hashed) = _idOf(terms, lane, counter);
        bytes32 topic = Funded.selector;
        // `emit Funded(id, terms, lane, counter)`, without a second copy of every word
        assembly ("memory-safe") {
            log2(add(hashed, 0x20), 0x120, topic, id)
        }
        taken.word = _wordOf(id, OPEN, counter);
    }

    function _wordOf(bytes32 id, uint256 state, uint256 counter) private view returns (uint256) {
        uint256 time = (block.timestamp << TIME_SHIFT) & TIME;
        return uint256(id) & ID | state << STATE_SHIFT | time | counter;
    }

    /// @dev Changes nothing unless the escrow is open.
    function _settle(bytes32 id, uint256 key, uint256 counter, uint256 state)
        private
        returns (bool settled)
    {
        Lane storage taken = _lanes[key];
        settled = taken.word & ~TIME == (uint256(id) & ID | OPEN << STATE_SHIFT | counter);
        if (settled) taken.word = _wordOf(id, state, counter);
    }

    function _close(Terms calldata terms, uint256 lane, uint256 counter, uint256 state)
        private
        returns (bytes32 id)
    {
        (id,) = _idOf(terms, lane, counter);
        uint256 key = _keyOf(terms.refund, lane);
        if (!_settle(id, key, counter, state)) revert NotOpen(id, _stateOf(id, key, counter));
    }

    function _refund(Terms calldata terms, uint256 lane, uint256 counter) private {
        if (block.timestamp < terms.timelock) {
            revert RefundTooEarly(terms.timelock, block.timestamp);
        }
        emit Refunded(_close(terms, lane, counter, REFUNDED));
    }

    function _collect(Terms calldata terms) private {
        bytes memory call_ =
            abi.encodeCall(Inbound.transferFrom, (terms.refund, address(this), terms.amount));
        _receive(terms.token, terms.amount, call_);
    }

    /// @dev Exactly the amount must come in.
    function _receive(address token, uint256 amount, bytes memory call_) private {
        _comparing = true;
        uint256 before = token.balanceOf(address(this));
        token.pull(call_);
        uint256 held = token.balanceOf(address(this));
        _comparing = false;
        unchecked {
            if (held < before || held - before != amount) {
                revert WrongAmountReceived(token, before, held, amount);
            }
        }
    }

    /// @dev Pays what was owed before, unless it is owed to the same receiver.
    function _add(Payment memory sum, address token, address to, uint256 amount) private {
        if (sum.token != token || sum.to != to) {
            _payOut(sum);
            (sum.token, sum.to, sum.amount) = (token, to, 0);
        }
        sum.amount += amount;
    }

    function _payOut(Payment memory sum) private {
        if (sum.amount != 0) _pay(sum.token, sum.to, sum.amount);
    }

    function _pay(address token, address to, uint256 amount) private {
        if (token != address(0)) {
            _send(token, to, amount, amount, amount);
            return;
        }
        bool ok;
        assembly ("memory-safe") {
            ok := call(gas(), to, amount, 0, 0, 0, 0) // copies nothing of what comes back
        }
        if (!ok) revert PaymentRejected(to, amount);
    }

    /// @dev What leaves is between `least` and `most`, both included.
    function _send(address token, address to, uint256 sent, uint256 least, uint256 most) private {
        _comparing = true;
        uint256 before = token.balanceOf(address(this));
        token.transfer(to, sent);
        uint256 left = token.balanceOf(address(this));
        _comparing = false;
        unchecked {
            if (left > before || before - left < least || before - left > most) {
                revert WrongAmountSent(token, before, left, sent);
            }
        }
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
