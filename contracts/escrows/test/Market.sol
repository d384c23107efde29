// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow, Item} from "./Base.sol";
import {DevCoin} from "../dev/DevCoin.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Signature} from "../src/Signature.sol";
import {Terms} from "../src/Terms.sol";
import {Plain} from "./zoo/Tokens.sol";
import {Wild} from "./zoo/Wild.sol";

/// @notice Does anything to any of many escrows at any time, and keeps its own books. Every call
///         has a predicted outcome: one that succeeds or fails against the prediction is a defect.
///         Of a token that misbehaves the outcome is taken as it comes, and the books must hold.
contract Market is Base {
    struct Deal {
        Escrow e;
        bytes32 secret;
        uint256 state; // 0 never open, 1 open, 2 claimed, 3 refunded
        uint256 openings;
    }

    struct Book {
        uint256 used;
        uint256 last;
    }

    bytes32 private constant PERMIT = keccak256(
        "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
    );
    uint256 private constant FOREVER = type(uint256).max;
    uint256 public constant MAX_DEALS = 500;
    uint256 public constant FUNDERS = 3;
    uint256 public constant LANES = 3;
    uint256 public constant PAYEES = 5;
    Wild private immutable _wild;
    /// @notice Native, two honest tokens, and the wild one.
    address[4] public assets;
    Deal[] private _deals;
    mapping(uint256 key => Book) private _books;
    uint256 public surprises; // outcomes against the prediction
    uint256[13] public done; // how often each way succeeded
    mapping(address asset => uint256) public strays;
    mapping(address asset => uint256) public owed;
    mapping(address who => mapping(address asset => uint256)) public due;

    constructor(ParleyEscrows escrows_, DevCoin coin_, address honest, Wild wild) {
        (escrows, coin, _wild) = (escrows_, coin_, wild);
        domain = domainOf(address(escrows));
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

    function payoutKey(uint256 i) public pure returns (uint256) {
        return 0x20000 + i % PAYEES;
    }

    function payoutOf(uint256 i) public pure returns (address) {
        return vm.addr(payoutKey(i));
    }

    function payoutKeyOf(Escrow memory e) private pure returns (uint256 i) {
        while (payoutOf(i) != e.terms.payout) {
            i += 1;
        }
        return payoutKey(i);
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
        if (seed / 33 % 3 == 0) e = inLane(e);
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
        if (i % 4 == 3) key = uint256(uint160(payoutOf(i / 4))) << 96 | OF_PAYEE | i / 20 % LANES;
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
        bool ofPayee = it.e.lane >= OF_PAYEE;
        // now and then the consent is another one's, or a verb is called that takes none
        bool expected = it.e.terms.timelock > block.timestamp && _mayFund(it)
            && (!ofPayee || (way % 7 != 0 && way % 5 != 0));
        bool judged = _misbehave(terms.token, way);
        _stock(terms);
        bool ok = _call(it.e, way);
        if (ok) {
            _opened(i);
            done[ofPayee ? 9 : terms.token == address(coin) ? way % 3 : 3] += 1;
        }
        if (judged && ok != expected) surprises += 1;
        _calm();
    }

    function _opened(uint256 i) private {
        Deal storage it = _deals[i];
        Terms memory terms = it.e.terms;
        it.state = 1;
        it.openings += 1;
        _books[keyOf(it.e)] = Book(it.e.counter, i);
        owed[terms.token] += terms.amount;
        due[terms.refund][terms.token] -= terms.amount;
    }

    function _stock(Terms memory terms) private {
        due[terms.refund][terms.token] += terms.amount;
        if (terms.token == address(0)) {
            vm.deal(terms.refund, terms.refund.balance + terms.amount);
            return;
        }
        Plain(terms.token).mint(terms.refund, terms.amount);
        vm.prank(terms.refund);
        Plain(terms.token).approve(address(escrows), type(uint256).max);
    }

    /// @dev Up to four of one funder, some of one lane, now and then for another value.
    function openMany(uint256 seed, uint96 amount, uint256 ahead) external {
        if (_deals.length + 4 > MAX_DEALS) return;
        Escrow[] memory all = new Escrow[](seed / 5 % 4 + 1);
        uint256 value = seed % 11 == 0 ? 1 : 0;
        uint256 first = _deals.length;
        bool expected = value == 0;
        for (uint256 i = 0; i < all.length; i++) {
            Deal storage made = _deals.push();
            uint256 each = uint256(keccak256(abi.encode(seed, i)));
            (made.e, made.secret) = _agree(each, amount, ahead);
            made.e.terms.refund = funderOf(seed);
            if (each % 7 != 0) made.e.lane = uint96(each / 13 % 40);
            made.e.counter = uint32(_books[keyOf(made.e)].used + 1);
            all[i] = made.e;
            if (!_mayFund(made) || made.e.lane >= OF_PAYEE) expected = false;
            for (uint256 n = 0; n < i; n++) {
                if (keyOf(all[n]) == keyOf(made.e)) expected = false;
            }
            value += valueOf(made.e);
            _stock(made.e.terms);
        }
        bytes memory call_ = abi.encodeCall(ParleyEscrows.fundMany, (fundings(all)));
        vm.deal(funderOf(seed), funderOf(seed).balance + 1);
        due[funderOf(seed)][address(0)] += 1;
        vm.prank(funderOf(seed));
        (bool ok,) = address(escrows).call{value: value}(call_);
        if (ok != expected) surprises += 1;
        if (!ok) return;
        for (uint256 i = 0; i < all.length; i++) {
            _opened(first + i);
        }
        done[10] += all.length;
    }

    function _call(Escrow memory e, uint256 way) private returns (bool ok) {
        uint256 kind = e.terms.token == address(coin) ? way % 3 : 0;
        bool asks = e.lane >= OF_PAYEE && way % 5 != 0;
        uint256 key = way % 7 == 0 ? funderKey(way) : payoutKeyOf(e);
        Signature memory consent = sign(key, consentTo(e, "OpenInMyLane"));
        Signature memory given;
        if (kind == 1) given = _permit(e);
        if (kind == 2) given = _authorization(e);
        bytes memory call_;
        if (asks) {
            call_ = kind == 0
                ? abi.encodeCall(ParleyEscrows.fundInLane, (e.terms, e.lane, e.counter, consent))
                : kind == 1
                    ? abi.encodeCall(
                        ParleyEscrows.fundInLaneWithPermit,
                        (e.terms, e.lane, e.counter, e.terms.amount, FOREVER, consent, given)
                    )
                    : abi.encodeCall(
                        ParleyEscrows.fundInLaneWithAuthorization,
                        (e.terms, e.lane, e.counter, consent, given)
                    );
        } else {
            call_ = kind == 0
                ? abi.encodeCall(ParleyEscrows.fund, (e.terms, e.lane, e.counter))
                : kind == 1
                    ? abi.encodeCall(
                        ParleyEscrows.fundWithPermit,
                        (e.terms, e.lane, e.counter, e.terms.amount, FOREVER, given)
                    )
                    : abi.encodeCall(
                        ParleyEscrows.fundWithAuthorization, (e.terms, e.lane, e.counter, given)
                    );
        }
        vm.prank(kind == 2 ? address(this) : e.terms.refund);
        (ok,) = address(escrows).call{value: valueOf(e)}(call_);
    }

    function _keyOfFunder(address signer) private pure returns (uint256) {
        uint256 who;
        while (funderOf(who) != signer) {
            who += 1;
        }
        return funderKey(who);
    }

    function _permit(Escrow memory e) private returns (Signature memory) {
        address signer = e.terms.refund;
        vm.prank(signer);
        coin.approve(address(escrows), 0);
        uint256 nonce = coin.nonces(signer);
        bytes32 message = keccak256(
            abi.encode(PERMIT, signer, address(escrows), e.terms.amount, nonce, FOREVER)
        );
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", coin.DOMAIN_SEPARATOR(), message));
        return sign(_keyOfFunder(signer), digest);
    }

    function _authorization(Escrow memory e) private view returns (Signature memory) {
        return sign(_keyOfFunder(e.terms.refund), authorization(e, coin.DOMAIN_SEPARATOR()));
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
        _wild.set(manner, address(escrows), call_);
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
        (bool ok,) = address(escrows)
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
        (bool ok,) = address(escrows).call(call_);
        if (ok) _settled(it, 3, e.terms.refund, sent);
        if (ok) done[whole ? 5 : 6] += 1;
        if (judged && ok != expected) surprises += 1;
        _calm();
    }

    /// @dev The payee sends it, or somebody with a signature: of the payee, of a funder, of another
    ///      message, or none.
    function refundEarly(uint256 i, uint256 how) external {
        if (_deals.length == 0) return;
        Deal storage it = _deals[_pick(i)];
        Escrow memory e = it.e;
        bool expected = it.state == 1 && how % 5 < 2;
        bool judged = _misbehave(e.terms.token, how);
        Signature memory given = sign(
            how % 5 == 2 ? funderKey(how) : payoutKeyOf(e),
            consentTo(e, how % 5 == 3 ? "OpenInMyLane" : "GiveUpClaim")
        );
        bytes memory signature = abi.encodePacked(given.r, given.s, given.v);
        if (how % 5 == 4) signature = "";
        bytes memory call_ = abi.encodeCall(
            ParleyEscrows.refundEarly,
            (e.terms, e.lane, e.counter, how % 5 == 0 ? bytes("") : signature)
        );
        vm.prank(how % 5 == 0 ? e.terms.payout : address(this));
        (bool ok,) = address(escrows).call(call_);
        if (ok) {
            _settled(it, 3, e.terms.refund, e.terms.amount);
            done[11 + how % 5] += 1;
        }
        if (judged && ok != expected) surprises += 1;
        _calm();
    }

    /// @dev Up to seven at once, some of them twice, too early, too late or under a wrong secret.
    function many(uint256 seed, bool claims) external {
        if (_deals.length == 0) return;
        uint256[] memory picked = new uint256[](seed % 7 + 1);
        Item[] memory items = new Item[](picked.length);
        for (uint256 i = 0; i < items.length; i++) {
            picked[i] = _pick(uint256(keccak256(abi.encode(seed, i))));
            Deal storage it = _deals[picked[i]];
            items[i] = Item(it.e, claims ? it.secret : it.e.terms.hashlock);
            if (claims && uint256(keccak256(abi.encode(i, seed))) % 5 == 0) items[i].lock = "no";
        }
        bool judged = _misbehave(address(_wild), seed / 8);
        uint256 answered = claims ? claimMany(items) : refundMany(items);
        if (_settledMany(picked, items, claims, judged) != answered) surprises += 1;
        done[claims ? 7 : 8] += answered;
        _calm();
    }

    /// @dev All are settled that may be. Those of a token that misbehaves may be left.
    function _settledMany(uint256[] memory picked, Item[] memory items, bool claims, bool judged)
        private
        returns (uint256 settled)
    {
        for (uint256 i = 0; i < picked.length; i++) {
            Deal storage it = _deals[picked[i]];
            Terms memory terms = it.e.terms;
            if (claims ? !_mayClaim(it, items[i].lock) : !_mayRefund(it)) continue;
            uint256 state = claims ? CLAIMED : REFUNDED;
            if (stateOf(it.e) == state) {
                _settled(it, state, claims ? terms.payout : terms.refund, terms.amount);
                settled += 1;
            } else if (judged || terms.token != address(_wild)) {
                surprises += 1;
            }
        }
    }

    function _settled(Deal storage it, uint256 state, address to, uint256 sent) private {
        address token = it.e.terms.token;
        it.state = state;
        owed[token] -= it.e.terms.amount;
        strays[token] += it.e.terms.amount - sent;
        due[to][token] += sent;
    }

    /// @dev For native money this is a forced transfer, as by a block reward.
    function stray(uint256 seed, uint96 amount) external {
        uint256 units = uint256(amount) % 1e18;
        address asset = assets[seed % 4];
        if (asset == address(0)) vm.deal(address(escrows), address(escrows).balance + units);
        else Plain(asset).mint(address(escrows), units);
        strays[asset] += units;
    }

    function wait(uint256 time) external {
        vm.warp(block.timestamp + time % 12 hours);
    }
}
