// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Escrow} from "./Base.sol";
import {Vm} from "./Vm.sol";
import {DevCoin} from "../dev/DevCoin.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Leg, Terms} from "../src/Terms.sol";
import {Plain} from "./zoo/Tokens.sol";
import {Wild} from "./zoo/Wild.sol";

/// @notice Does anything to any of many escrows at any time, and keeps its own books. Every call
///         has a predicted outcome: one that succeeds or fails against the prediction is a defect.
///         Of a token that misbehaves the outcome is taken as it comes, and the books must hold.
contract Market {
    struct Deal {
        Escrow e;
        bytes32 secret;
        uint256 state; // 0 never open, 1 open, 2 claimed, 3 refunded
        uint256 changedAt;
        uint256 openings;
    }

    struct Book {
        uint256 used;
        uint256 last;
    }

    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    bytes32 private constant PERMIT = keccak256(
        "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
    );
    bytes32 private constant RECEIVE = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,"
        "uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    uint256 public constant MAX_DEALS = 500;
    uint256 public constant FUNDERS = 3;
    uint256 public constant LANES = 3;
    ParleyEscrows private immutable _escrows;
    DevCoin private immutable _coin;
    Wild private immutable _wild;
    /// @notice Native, two honest tokens, and the wild one.
    address[4] public assets;
    Deal[] private _deals;
    mapping(uint256 key => Book) private _books;
    uint256 public surprises; // outcomes against the prediction
    uint256[9] public done; // how often each way succeeded
    mapping(address asset => uint256) public strays;
    mapping(address asset => uint256) public owed;
    mapping(address who => mapping(address asset => uint256)) public due;

    constructor(ParleyEscrows escrows, DevCoin coin, address honest, Wild wild) {
        (_escrows, _coin, _wild) = (escrows, coin, wild);
        assets = [address(0), address(coin), honest, address(wild)];
    }

    function count() external view returns (uint256) {
        return _deals.length;
    }

    function deal(uint256 i) external view returns (Deal memory) {
        return _deals[i];
    }

    function book(uint256 key) external view returns (Book memory) {
        return _books[key];
    }

    function funderKey(uint256 i) public pure returns (uint256) {
        return 0xF00D00 + i % FUNDERS;
    }

    function funderOf(uint256 i) public pure returns (address) {
        return vm.addr(funderKey(i));
    }

    function payoutOf(uint256 i) public pure returns (address) {
        return address(uint160(0x20000 + i % 5));
    }

    function keyOf(Escrow memory e) public pure returns (uint256) {
        return uint256(uint160(e.terms.refund)) << 96 | e.lane;
    }

    function _isOpen(uint256 key) private view returns (bool) {
        return _books[key].used > 0 && _deals[_books[key].last].state == 1;
    }

    function _agree(uint256 seed, uint256 amount, uint256 ahead)
        private
        view
        returns (Escrow memory e, bytes32 secret)
    {
        secret = keccak256(abi.encode(seed, _deals.length));
        e.terms = Terms(
            sha256(abi.encode(secret)),
            payoutOf(seed / 7),
            funderOf(seed / 3),
            assets[seed % 4],
            amount % 1e18 + 1,
            block.timestamp + 30 minutes + ahead % 2 days,
            block.timestamp + 1 + ahead % 1 days
        );
        e.lane = uint96(seed / 11 % LANES);
        e.counter = uint32(_books[keyOf(e)].used + 1);
    }

    function open(uint256 seed, uint96 amount, uint256 ahead, uint256 way) external {
        if (_deals.length == MAX_DEALS) return;
        Deal storage made = _deals.push();
        (made.e, made.secret) = _agree(seed, amount, ahead);
        // now and then a counter that is not the next
        if (way % 13 == 0) made.e.counter -= 1;
        if (way % 17 == 0) made.e.counter += 1;
        _fund(_deals.length - 1, way);
    }

    function _pick(uint256 i) private view returns (uint256) {
        uint256 key = uint256(uint160(funderOf(i / 4))) << 96 | i / 12 % LANES;
        if (i % 4 != 0 && _books[key].used > 0) return _books[key].last;
        return i % _deals.length;
    }

    /// @dev The terms of an escrow that was tried before, in the counter it had.
    function fundAgain(uint256 i, uint256 way) external {
        if (_deals.length == 0) return;
        _fund(i % _deals.length, way);
    }

    function _mayFund(Deal storage it) private view returns (bool) {
        uint256 key = keyOf(it.e);
        uint256 ahead = it.e.terms.timelock - block.timestamp;
        return !_isOpen(key) && it.e.counter == _books[key].used + 1
            && block.timestamp < it.e.terms.fundBefore && it.e.terms.timelock > block.timestamp
            && ahead >= 30 minutes && ahead <= 30 days;
    }

    function _fund(uint256 i, uint256 way) private {
        Deal storage it = _deals[i];
        Terms memory terms = it.e.terms;
        bool expected = it.e.terms.timelock > block.timestamp && _mayFund(it);
        bool judged = _misbehave(terms.token, way);
        uint256 before = _stock(terms);
        bool ok = _call(it.e, way);
        if (ok) {
            it.state = 1;
            it.changedAt = block.timestamp;
            it.openings += 1;
            _books[keyOf(it.e)] = Book(it.e.counter, i);
            owed[terms.token] += terms.amount;
            done[terms.token == address(_coin) ? way % 3 : 3] += 1;
        }
        due[terms.refund][terms.token] = before + (ok ? 0 : terms.amount);
        if (judged && ok != expected) surprises += 1;
        _calm();
    }

    function _stock(Terms memory terms) private returns (uint256 before) {
        before = due[terms.refund][terms.token];
        if (terms.token == address(0)) {
            vm.deal(terms.refund, terms.refund.balance + terms.amount);
            return before;
        }
        Plain(terms.token).mint(terms.refund, terms.amount);
        vm.prank(terms.refund);
        Plain(terms.token).approve(address(_escrows), terms.amount);
    }

    function _call(Escrow memory e, uint256 way) private returns (bool ok) {
        bool signs = e.terms.token == address(_coin);
        if (signs && way % 3 == 1) return _byPermit(e);
        if (signs && way % 3 == 2) return _byAuthorization(e);
        bytes memory call_ = abi.encodeCall(ParleyEscrows.fund, (e.terms, e.lane, e.counter));
        vm.prank(e.terms.refund);
        (ok,) =
            address(_escrows).call{value: e.terms.token == address(0) ? e.terms.amount : 0}(call_);
    }

    function _signed(address signer, bytes32 message)
        private
        view
        returns (uint8 v, bytes32 r, bytes32 s)
    {
        uint256 who;
        while (funderOf(who) != signer) {
            who += 1;
        }
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", _coin.DOMAIN_SEPARATOR(), message));
        return vm.sign(funderKey(who), digest);
    }

    function _byPermit(Escrow memory e) private returns (bool ok) {
        address signer = e.terms.refund;
        vm.prank(signer);
        _coin.approve(address(_escrows), 0);
        bytes32 message = keccak256(
            abi.encode(
                PERMIT,
                signer,
                address(_escrows),
                e.terms.amount,
                _coin.nonces(signer),
                type(uint256).max
            )
        );
        (uint8 v, bytes32 r, bytes32 s) = _signed(signer, message);
        bytes memory call_ = abi.encodeCall(
            ParleyEscrows.fundWithPermit,
            (e.terms, e.lane, e.counter, e.terms.amount, type(uint256).max, v, r, s)
        );
        vm.prank(signer);
        (ok,) = address(_escrows).call(call_);
    }

    function _byAuthorization(Escrow memory e) private returns (bool ok) {
        bytes32 message = keccak256(
            abi.encode(
                RECEIVE,
                e.terms.refund,
                address(_escrows),
                e.terms.amount,
                0,
                e.terms.fundBefore,
                _escrows.escrowOf(e.terms, e.lane, e.counter)
            )
        );
        (uint8 v, bytes32 r, bytes32 s) = _signed(e.terms.refund, message);
        (ok,) = address(_escrows)
            .call(
                abi.encodeCall(
                    ParleyEscrows.fundWithAuthorization, (e.terms, e.lane, e.counter, v, r, s)
                )
            );
    }

    function _misbehave(address asset, uint256 how) private returns (bool judged) {
        if (asset != address(_wild)) return true;
        Wild.Manner manner = Wild.Manner(how / 2 % 7);
        bytes memory call_;
        if (_deals.length > 0) {
            Deal storage other = _deals[_pick(how)];
            Escrow memory e = other.e;
            call_ = abi.encodeCall(ParleyEscrows.claim, (e.terms, e.lane, e.counter, other.secret));
        }
        _wild.set(manner, address(_escrows), call_);
        return manner == Wild.Manner.Honest || manner == Wild.Manner.Reenters;
    }

    function _calm() private {
        _wild.set(Wild.Manner.Honest, address(0), "");
    }

    function _mayClaim(Deal storage it, bytes32 secret) private view returns (bool) {
        return it.state == 1 && secret == it.secret && block.timestamp < it.e.terms.timelock;
    }

    function _mayRefund(Deal storage it) private view returns (bool) {
        return it.state == 1 && block.timestamp >= it.e.terms.timelock;
    }

    function claim(uint256 i, uint256 guess) external {
        if (_deals.length == 0) return;
        Deal storage it = _deals[_pick(i)];
        Escrow memory e = it.e;
        bytes32 secret = guess % 4 != 0 ? it.secret : bytes32(guess);
        bool expected = _mayClaim(it, secret);
        bool judged = _misbehave(e.terms.token, guess);
        (bool ok,) = address(_escrows)
            .call(abi.encodeCall(ParleyEscrows.claim, (e.terms, e.lane, e.counter, secret)));
        if (ok) _settled(it, 2, e.terms.payout, e.terms.amount);
        if (ok) done[4] += 1;
        if (judged && ok != expected) surprises += 1;
        _calm();
    }

    function refund(uint256 i, uint256 part) external {
        if (_deals.length == 0) return;
        Deal storage it = _deals[_pick(i)];
        Escrow memory e = it.e;
        bool whole = part % 3 != 0;
        uint256 sent = whole ? e.terms.amount : part % e.terms.amount + 1;
        bool expected = _mayRefund(it) && (whole || e.terms.token != address(0));
        bool judged = _misbehave(e.terms.token, part);
        bytes memory call_ = whole
            ? abi.encodeCall(ParleyEscrows.refund, (e.terms, e.lane, e.counter))
            : abi.encodeCall(ParleyEscrows.refundPart, (e.terms, e.lane, e.counter, sent));
        vm.prank(whole ? address(this) : e.terms.refund);
        (bool ok,) = address(_escrows).call(call_);
        if (ok) _settled(it, 3, e.terms.refund, sent);
        if (ok) done[whole ? 5 : 6] += 1;
        if (judged && ok != expected) surprises += 1;
        _calm();
    }

    /// @dev Up to seven at once, some of them twice, too early, too late or under a wrong secret.
    function many(uint256 seed, bool claims) external {
        if (_deals.length == 0) return;
        uint256[] memory picked = new uint256[](seed % 7 + 1);
        Leg[] memory legs = new Leg[](picked.length);
        for (uint256 i = 0; i < legs.length; i++) {
            picked[i] = _pick(uint256(keccak256(abi.encode(seed, i))));
            legs[i] = _legOf(_deals[picked[i]], claims);
            if (claims && uint256(keccak256(abi.encode(i, seed))) % 5 == 0) legs[i].lock = "no";
        }
        bool judged = _misbehave(address(_wild), seed / 8);
        bytes memory call_ = claims
            ? abi.encodeCall(ParleyEscrows.claimMany, (legs))
            : abi.encodeCall(ParleyEscrows.refundMany, (legs));
        (bool ok, bytes memory answer) = address(_escrows).call(call_);
        if (ok) _settledMany(picked, legs, claims, abi.decode(answer, (uint256)));
        if (judged && !ok) surprises += 1;
        _calm();
    }

    function _legOf(Deal storage it, bool claims) private view returns (Leg memory) {
        Terms memory t = it.e.terms;
        uint256 times = t.timelock << 96 | t.fundBefore << 32 | it.e.counter;
        bytes32 lock = claims ? it.secret : t.hashlock;
        return Leg(lock, t.payout, t.token, keyOf(it.e), t.amount, times);
    }

    function _settledMany(
        uint256[] memory picked,
        Leg[] memory legs,
        bool claims,
        uint256 answered
    ) private {
        uint256 settled;
        for (uint256 i = 0; i < picked.length; i++) {
            Deal storage it = _deals[picked[i]];
            if (claims ? !_mayClaim(it, legs[i].lock) : !_mayRefund(it)) continue;
            address to = claims ? it.e.terms.payout : it.e.terms.refund;
            _settled(it, claims ? 2 : 3, to, it.e.terms.amount);
            settled += 1;
        }
        if (settled != answered) surprises += 1;
        done[claims ? 7 : 8] += settled;
    }

    function _settled(Deal storage it, uint256 state, address to, uint256 sent) private {
        address token = it.e.terms.token;
        it.state = state;
        it.changedAt = block.timestamp;
        owed[token] -= it.e.terms.amount;
        strays[token] += it.e.terms.amount - sent;
        due[to][token] += sent;
    }

    /// @dev For native money this is a forced transfer, as by a block reward.
    function stray(uint256 seed, uint96 amount) external {
        uint256 units = uint256(amount) % 1e18;
        address asset = assets[seed % 4];
        if (asset == address(0)) vm.deal(address(_escrows), address(_escrows).balance + units);
        else Plain(asset).mint(address(_escrows), units);
        strays[asset] += units;
    }

    function wait(uint256 time) external {
        vm.warp(block.timestamp + time % 12 hours);
    }
}
