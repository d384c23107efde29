// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Consent, Signature} from "./Signature.sol";
import {Funding, Group, Leg, Terms} from "./Terms.sol";
import {Inbound, Token} from "./Token.sol";

/// @title Every escrow of a chain, EVM or TRON: one contract, and one storage word a lane.
///
/// A lane is a word of its funder, or of its payee if the top bit of its number is set. It costs
/// new state once, because it is written over by the next escrow and never zeroed. A funding takes
/// only a word whose escrow is settled, and only the counter after the word's. So no id is ever
/// open twice, and an open escrow is never written over. The id is the hash of this contract's
/// place, all terms, the lane and the counter.
///
/// There is no owner, no upgrade, no pause, no fee and no `receive`. Money leaves by claims and
/// refunds only.
///
/// The money of all escrows lies together. Every verb must take as much of an asset from here as it
/// takes off the sum of what is owed in it. So balances are compared around every token call, and
/// no verb runs within one. What a token itself does to the common balance (a rebase, a seizure, a
/// freeze) cannot be prevented here.
contract ParleyEscrows {
    using Consent for Signature;
    using Consent for bytes;
    using Token for address;

    uint256 private constant MIN_AHEAD = 30 minutes;
    uint256 private constant MAX_AHEAD = 30 days;
    /// @dev More than it takes to begin a call.
    uint256 private constant CALL_GAS = 1_000;

    // A word, from its lowest bit: 30 for the counter, 2 for the state, and the upper 224 of the id.
    uint256 private constant COUNTER = (1 << 30) - 1;
    uint256 private constant STATE_SHIFT = 30;
    uint256 private constant STATE = 3 << STATE_SHIFT;
    uint256 private constant ID = ~uint256((1 << 32) - 1);
    uint256 private constant LANE = (1 << 96) - 1;
    /// @dev The bit of a lane's number that makes it the payee's.
    uint256 private constant OF_PAYEE = 95;

    uint256 private constant UNFUNDED = 0;
    uint256 private constant OPEN = 1;
    uint256 private constant CLAIMED = 2;
    uint256 private constant REFUNDED = 3;
    uint256 private constant ENDED = 4;
    uint256 private constant VOID = 5;

    bytes32 private constant EIP712_DOMAIN = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    );
    bytes32 private constant GIVE_UP_CLAIM = keccak256("GiveUpClaim(bytes32 escrow)");
    bytes32 private constant OPEN_IN_MY_LANE = keccak256("OpenInMyLane(bytes32 escrow)");
    bytes32 private constant RECEIVE_WITH_AUTHORIZATION = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,"
        "uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    /// @dev SHA-256 of 32 zero bytes.
    bytes32 private constant SHA256_OF_ZERO =
        0x66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925;

    /// @notice The separator of EIP-712 for "Parley", version "1", as of the deployment.
    /// @dev Not read at run time: a chain that splits must not lock the escrows that are open.
    bytes32 public immutable domain;

    /// @dev A struct, so that a verb which reads and writes a word finds its place once.
    struct Lane {
        uint256 word;
    }

    /// @dev Behind a hash, because TRON keeps a word under the lower half of its slot's number.
    mapping(uint256 key => Lane) private _lanes;

    /// @dev Set while a token is called whose balance is being compared.
    uint256 private transient _comparing;

    /// @notice The money is here. A swap can be settled from this event alone.
    event Funded(bytes32 indexed id, Terms terms, uint96 lane, uint32 counter);
    /// @notice The whole amount was sent to `payout`.
    event Claimed(bytes32 indexed id, bytes32 secret);
    /// @notice The money was sent to `refund`, before the timelock only if the payout agreed.
    event Refunded(bytes32 indexed id);

    error Sha256Missing();
    error SenderIsNotRefund(address sender, address refund);
    error SenderIsNotThis(address sender);
    /// @notice The payee's lanes need the payee's consent.
    error LaneOfPayee(uint96 lane);
    /// @notice The payout neither sent the call nor signed it.
    error NotGivenUp(bytes32 id, address payout);
    /// @notice The gas that is left does not let a group have its own.
    error GasTooLittle(uint256 left, uint256 gasEach);
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
        if (_comparing != 0) revert Reentered();
        _;
    }

    constructor() {
        if (_sha256(0) != SHA256_OF_ZERO) revert Sha256Missing();
        domain = keccak256(
            abi.encode(
                EIP712_DOMAIN, keccak256("Parley"), keccak256("1"), block.chainid, address(this)
            )
        );
    }

    /// @notice Takes the money in. Native: send exactly the amount. Token: approve it first.
    /// @param terms   Only `terms.refund` may call.
    /// @param lane    Which word of the funder to use.
    /// @param counter The word's counter and one.
    function fund(Terms calldata terms, uint96 lane, uint32 counter) external payable outside {
        _requireOwn(lane);
        _openPaid(terms, lane, counter);
        if (msg.value == 0) _collect(terms.token, terms.amount);
    }

    /// @notice `fund` in a lane of the payee.
    /// @param consent Signature of `OpenInMyLane` by the payout: a stranger would block its lanes.
    function fundInLane(
        Terms calldata terms,
        uint96 lane,
        uint32 counter,
        Signature calldata consent
    ) external payable outside {
        _requireLane(terms.payout, _openPaid(terms, lane, counter), consent);
        if (msg.value == 0) _collect(terms.token, terms.amount);
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
        Signature calldata permit
    ) external outside {
        _requireOwn(lane);
        _openPermitted(terms, lane, counter, allowance, deadline, permit);
        _collect(terms.token, terms.amount);
    }

    /// @notice `fundWithPermit` in a lane of the payee.
    /// @param consent As in `fundInLane`.
    function fundInLaneWithPermit(
        Terms calldata terms,
        uint96 lane,
        uint32 counter,
        uint256 allowance,
        uint256 deadline,
        Signature calldata consent,
        Signature calldata permit
    ) external outside {
        bytes32 id = _openPermitted(terms, lane, counter, allowance, deadline, permit);
        _requireLane(terms.payout, id, consent);
        _collect(terms.token, terms.amount);
    }

    /// @notice Takes a token in by the refund address's signature alone. Anyone may submit it.
    /// @dev EIP-3009 `receiveWithAuthorization`. Its nonce is the escrow's id, so the signature
    ///      binds all terms. It is valid from 0 to `fundBefore`. The signature is recovered here
    ///      too, because a hostile token would let anyone open the lanes of others.
    function fundWithAuthorization(
        Terms calldata terms,
        uint96 lane,
        uint32 counter,
        Signature calldata authorization
    ) external outside {
        _requireOwn(lane);
        _authorized(terms, _open(terms, lane, counter), authorization);
    }

    /// @notice `fundWithAuthorization` in a lane of the payee.
    /// @param consent As in `fundInLane`.
    function fundInLaneWithAuthorization(
        Terms calldata terms,
        uint96 lane,
        uint32 counter,
        Signature calldata consent,
        Signature calldata authorization
    ) external outside {
        bytes32 id = _open(terms, lane, counter);
        _requireLane(terms.payout, id, consent);
        _authorized(terms, id, authorization);
    }

    /// @notice `fund` of many, all or none. The value is the sum of the native ones.
    /// @dev Neighbours with the same token are pulled by one transfer.
    /// @param fundings Each with the sender as `terms.refund`.
    function fundMany(Funding[] calldata fundings) external payable outside {
        uint256 value;
        address token;
        uint256 sum;
        for (uint256 i = 0; i < fundings.length; i++) {
            Funding calldata funding = fundings[i];
            Terms calldata terms = funding.terms;
            _requireSender(terms.refund);
            _requireOwn(funding.lane);
            _open(terms, funding.lane, funding.counter);
            if (terms.token == address(0)) {
                value += terms.amount;
                continue;
            }
            if (terms.token != token) {
                if (sum != 0) _collect(token, sum);
                (token, sum) = (terms.token, 0);
            }
            sum += terms.amount;
        }
        if (sum != 0) _collect(token, sum);
        if (msg.value != value) revert WrongValue(msg.value, value);
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
        _requireOver(terms.timelock);
        emit Refunded(_close(terms, lane, counter, REFUNDED));
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
        _requireOver(terms.timelock);
        emit Refunded(_close(terms, lane, counter, REFUNDED));
        _send(terms.token, terms.refund, part, 1, terms.amount);
    }

    /// @notice `refund` at any time, since the payee gives up its claim. Anyone may call.
    /// @param signature Of `GiveUpClaim` by the payout: r, s and v of its key, or what its code
    ///        accepts (EIP-1271). It is not read if the payout itself is the sender.
    function refundEarly(
        Terms calldata terms,
        uint96 lane,
        uint32 counter,
        bytes calldata signature
    ) external outside {
        address payout = terms.payout;
        bytes32 id = _close(terms, lane, counter, REFUNDED);
        if (msg.sender != payout && !signature.isFrom(payout, _digest(GIVE_UP_CLAIM, id))) {
            revert NotGivenUp(id, payout);
        }
        emit Refunded(id);
        _pay(terms.token, terms.refund, terms.amount);
    }

    /// @notice Claims what can be claimed. It leaves a leg that is too late or not open under its
    ///         secret, and a whole group whose payment fails or takes more gas than it has.
    /// @param groups  Each is paid by one transfer; its legs have their secrets as `lock`.
    /// @param gasEach The gas of a group. All reverts if less is left for one of them.
    /// @return claimed How many were claimed.
    function claimMany(Group[] calldata groups, uint256 gasEach)
        external
        outside
        returns (uint256 claimed)
    {
        return _settleMany(groups, gasEach, CLAIMED);
    }

    /// @notice Refunds what can be refunded. It leaves a leg that is too early or not open, and a
    ///         whole group whose payment fails or takes more gas than it has.
    /// @param groups  Each is paid by one transfer; its legs have their hashlocks as `lock`.
    /// @param gasEach The gas of a group. All reverts if less is left for one of them.
    /// @return refunded How many were refunded.
    function refundMany(Group[] calldata groups, uint256 gasEach)
        external
        outside
        returns (uint256 refunded)
    {
        return _settleMany(groups, gasEach, REFUNDED);
    }

    /// @notice This contract alone may call: a frame that reverts leaves nothing of its group.
    /// @param state 2 claims, 3 refunds.
    function settleGroup(Group calldata group, uint256 state) external returns (uint256 settled) {
        if (msg.sender != address(this)) revert SenderIsNotThis(msg.sender);
        (address token, address to, Leg[] calldata legs) = (group.token, group.to, group.legs);
        uint256 sum;
        for (uint256 i = 0; i < legs.length; i++) {
            uint256 amount = _settleLeg(legs[i], token, to, state);
            if (amount == 0) continue;
            unchecked {
                sum += amount; // of 144 bits each
                settled += 1;
            }
        }
        if (sum != 0) _pay(token, to, sum);
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
    /// @return 0 not funded, 1 open, 2 claimed, 3 refunded, 4 ended (the lane holds a later escrow:
    ///         only logs tell how), 5 void (the counter went to others).
    function stateOf(Terms calldata terms, uint96 lane, uint32 counter)
        external
        view
        returns (uint256)
    {
        bytes32 id = keccak256(abi.encode(domain, terms, lane, counter));
        return _stateOf(id, _keyOf(terms, lane), counter);
    }

    /// @notice What a lane holds.
    /// @param owner Its payee if the top bit of its number is set, else its funder.
    /// @return counter How often it was used. The next funding must bring one more.
    /// @return state   0 never used, 1 open, 2 claimed, 3 refunded.
    /// @return idStart The upper 28 bytes of the last escrow's id.
    function laneOf(address owner, uint96 lane)
        external
        view
        returns (uint256 counter, uint256 state, bytes28 idStart)
    {
        uint256 word = _lanes[uint256(uint160(owner)) << 96 | lane].word;
        counter = word & COUNTER;
        state = (word & STATE) >> STATE_SHIFT;
        idStart = bytes28(bytes32(word));
    }

    /// @notice The words of many lanes at once.
    /// @param keys The owner's 20 bytes, then the lane's 12.
    function lanesOf(uint256[] calldata keys) external view returns (uint256[] memory words) {
        words = new uint256[](keys.length);
        for (uint256 i = 0; i < keys.length; i++) {
            words[i] = _lanes[keys[i]].word;
        }
    }

    function _keyOf(Terms calldata terms, uint256 lane) private pure returns (uint256 key) {
        assembly ("memory-safe") {
            // the payout is the word before the refund address
            let owner := calldataload(add(terms, sub(0x40, shl(5, shr(OF_PAYEE, lane)))))
            key := or(shl(96, owner), lane)
        }
    }

    function _digest(bytes32 type_, bytes32 id) private view returns (bytes32) {
        bytes32 message = keccak256(abi.encode(type_, id));
        return keccak256(abi.encodePacked(hex"1901", domain, message));
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
    function _idOfLeg(Leg calldata leg, bytes32 hashlock, address token, address to, bool claimed)
        private
        view
        returns (bytes32 id, uint256 key)
    {
        bytes32 separator = domain;
        (uint256 place, uint256 rest) = (leg.place, leg.rest);
        assembly ("memory-safe") {
            let m := mload(0x40)
            let other := shr(96, place)
            let lane := and(place, LANE)
            // the payout, then the refund address
            let first := add(m, 0x40)
            mstore(m, separator)
            mstore(add(m, 0x20), hashlock)
            mstore(add(first, shl(5, iszero(claimed))), to)
            mstore(add(first, shl(5, claimed)), other)
            mstore(add(m, 0x80), token)
            mstore(add(m, 0xa0), shr(112, rest))
            mstore(add(m, 0xc0), and(shr(72, rest), 0xffffffffff))
            mstore(add(m, 0xe0), and(shr(32, rest), 0xffffffffff))
            mstore(add(m, 0x100), lane)
            mstore(add(m, 0x120), and(rest, 0xffffffff))
            id := keccak256(m, 0x140)
            let owner := mload(add(first, shl(5, iszero(shr(OF_PAYEE, lane)))))
            key := or(shl(96, owner), lane)
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

    function _requireOver(uint256 timelock) private view {
        if (block.timestamp < timelock) revert RefundTooEarly(timelock, block.timestamp);
    }

    function _requireOwn(uint96 lane) private pure {
        if (lane >> OF_PAYEE != 0) revert LaneOfPayee(lane);
    }

    function _requireLane(address payout, bytes32 id, Signature calldata consent) private view {
        consent.requireFrom(payout, _digest(OPEN_IN_MY_LANE, id));
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

    /// @dev `_open` by the funder, with the value that belongs to it.
    function _openPaid(Terms calldata terms, uint256 lane, uint256 counter)
        private
        returns (bytes32)
    {
        _requireSender(terms.refund);
        uint256 expected = terms.token == address(0) ? terms.amount : 0;
        if (msg.value != expected) revert WrongValue(msg.value, expected);
        return _open(terms, lane, counter);
    }

    function _openPermitted(
        Terms calldata terms,
        uint256 lane,
        uint256 counter,
        uint256 allowance,
        uint256 deadline,
        Signature calldata permit
    ) private returns (bytes32) {
        _requireSender(terms.refund);
        bytes memory call_ = abi.encodeCall(
            Inbound.permit,
            (terms.refund, address(this), allowance, deadline, permit.v, permit.r, permit.s)
        );
        terms.token.attempt(call_);
        return _open(terms, lane, counter);
    }

    /// @dev Takes the lane and logs the funding. The money comes in the same transaction.
    function _open(Terms calldata terms, uint256 lane, uint256 counter) private returns (bytes32) {
        address payout = terms.payout;
        if (terms.hashlock == 0) revert ZeroHashlock();
        if (terms.amount == 0) revert ZeroAmount();
        if (payout == address(0) || payout == terms.token || payout == address(this)) {
            revert PayoutRefused(payout);
        }
        _requireTimes(terms.timelock, terms.fundBefore);

        Lane storage taken = _lanes[_keyOf(terms, lane)];
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
        return id;
    }

    function _wordOf(bytes32 id, uint256 state, uint256 counter) private pure returns (uint256) {
        return uint256(id) & ID | state << STATE_SHIFT | counter;
    }

    /// @dev Changes nothing unless the escrow is open.
    function _settle(bytes32 id, uint256 key, uint256 counter, uint256 state)
        private
        returns (bool settled)
    {
        Lane storage taken = _lanes[key];
        // a counter has no bits where the state is
        settled = taken.word ^ _wordOf(id, OPEN, counter) | counter >> STATE_SHIFT == 0;
        if (settled) taken.word = _wordOf(id, state, counter);
    }

    /// @return amount What is to be paid, 0 if the leg is left.
    function _settleLeg(Leg calldata leg, address token, address to, uint256 state)
        private
        returns (uint256 amount)
    {
        (bytes32 lock, uint256 rest) = (leg.lock, leg.rest);
        bool early = block.timestamp < uint40(rest >> 72);
        if (early != (state == CLAIMED)) return 0;
        bytes32 hashlock = early ? _sha256(lock) : lock;
        (bytes32 id, uint256 key) = _idOfLeg(leg, hashlock, token, to, early);
        if (!_settle(id, key, uint32(rest), state)) return 0;
        if (early) emit Claimed(id, lock);
        else emit Refunded(id);
        return rest >> 112;
    }

    function _close(Terms calldata terms, uint256 lane, uint256 counter, uint256 state)
        private
        returns (bytes32 id)
    {
        (id,) = _idOf(terms, lane, counter);
        uint256 key = _keyOf(terms, lane);
        if (!_settle(id, key, counter, state)) revert NotOpen(id, _stateOf(id, key, counter));
    }

    /// @dev Gives each group a frame of its own, with all the gas that it was promised: if it
    ///      fails, then by itself.
    function _settleMany(Group[] calldata groups, uint256 gasEach, uint256 state)
        private
        returns (uint256 settled)
    {
        for (uint256 i = 0; i < groups.length; i++) {
            (uint256 call_, uint256 size) = _groupCall(groups[i], state);
            uint256 left = gasleft();
            if (left - left / 64 < gasEach + CALL_GAS) revert GasTooLittle(left, gasEach);
            assembly ("memory-safe") {
                if call(gasEach, address(), 0, call_, size, 0x00, 0x20) {
                    settled := add(settled, mload(0x00))
                }
            }
        }
    }

    /// @dev abi.encodeCall(this.settleGroup, (group, state)), without a loop over the legs.
    /// @return call_ Where it lies. Not reserved.
    function _groupCall(Group calldata group, uint256 state)
        private
        pure
        returns (uint256 call_, uint256 size)
    {
        bytes4 selector = ParleyEscrows.settleGroup.selector;
        Leg[] calldata legs = group.legs;
        assembly ("memory-safe") {
            call_ := mload(0x40)
            mstore(call_, selector)
            mstore(add(call_, 0x04), 0x40)
            mstore(add(call_, 0x24), state)
            calldatacopy(add(call_, 0x44), group, 0x40)
            mstore(add(call_, 0x84), 0x60)
            mstore(add(call_, 0xa4), legs.length)
            size := mul(legs.length, 0x60)
            calldatacopy(add(call_, 0xc4), legs.offset, size)
            size := add(size, 0xc4)
        }
    }

    function _collect(address token, uint256 amount) private {
        bytes memory call_ =
            abi.encodeCall(Inbound.transferFrom, (msg.sender, address(this), amount));
        _receive(token, amount, call_);
    }

    function _authorized(Terms calldata terms, bytes32 id, Signature calldata signature) private {
        (address token, address from, uint256 amount) = (terms.token, terms.refund, terms.amount);
        bytes32 message = keccak256(
            abi.encode(
                RECEIVE_WITH_AUTHORIZATION, from, address(this), amount, 0, terms.fundBefore, id
            )
        );
        signature.requireFrom(
            from, keccak256(abi.encodePacked(hex"1901", token.domainSeparator(), message))
        );
        bytes memory call_ = abi.encodeCall(
            Inbound.receiveWithAuthorization,
            (
                from,
                address(this),
                amount,
                0,
                terms.fundBefore,
                id,
                signature.v,
                signature.r,
                signature.s
            )
        );
        _receive(token, amount, call_);
    }

    /// @dev Exactly the amount must come in.
    function _receive(address token, uint256 amount, bytes memory call_) private {
        _comparing = 1;
        uint256 before = token.balanceOf(address(this));
        token.pull(call_);
        uint256 held = token.balanceOf(address(this));
        _comparing = 0;
        unchecked {
            if (held < before || held - before != amount) {
                revert WrongAmountReceived(token, before, held, amount);
            }
        }
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
        _comparing = 1;
        uint256 before = token.balanceOf(address(this));
        token.transfer(to, sent);
        uint256 left = token.balanceOf(address(this));
        _comparing = 0;
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
