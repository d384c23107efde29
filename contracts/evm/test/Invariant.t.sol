// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {Vm} from "./Vm.sol";
import {Terms} from "../src/Terms.sol";
import {ParleyFactory} from "../src/ParleyFactory.sol";
import {ParleyEscrow} from "../src/ParleyEscrow.sol";
import {DevDollar} from "../dev/DevDollar.sol";

/// @notice Does anything to any of many escrows at any time, and keeps its own books. Every call
///         has a predicted outcome: one that succeeds or fails against the prediction is a defect.
contract Market {
    struct Leg {
        Terms terms;
        bytes32 secret;
        ParleyEscrow escrow;
        bool funded;
        uint256 strays; // sent past the factory, before or after the funding
        uint256 claims;
        uint256 refunds;
        uint256 refunded; // how much left by refunds
    }

    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    ParleyFactory private immutable _factory;
    DevDollar private immutable _dollar;
    Leg[] private _legs;
    uint256 public constant MAX_LEGS = 24;
    uint256 public surprises; // outcomes against the prediction
    uint256 public succeeded;

    constructor(ParleyFactory factory, DevDollar dollar) {
        _factory = factory;
        _dollar = dollar;
    }

    function count() external view returns (uint256) {
        return _legs.length;
    }

    function leg(uint256 i) external view returns (Leg memory) {
        return _legs[i];
    }

    function open(uint256 seed, uint96 amount, uint256 ahead, uint96 gift) external {
        if (_legs.length == MAX_LEGS) return;
        bool token = seed % 2 == 0;
        bytes32 secret = keccak256(abi.encode(seed, _legs.length));
        address funder = address(uint160(0x10000 + seed % 3));
        Terms memory terms = Terms(
            sha256(abi.encode(secret)),
            address(uint160(0x20000 + seed % 5)),
            funder,
            token ? address(_dollar) : address(0),
            uint256(amount) % 1e18 + 1,
            block.timestamp + 30 minutes + ahead % 2 days
        );
        Leg storage made = _legs.push();
        made.terms = terms;
        made.secret = secret;
        made.escrow = ParleyEscrow(_factory.escrowOf(terms));
        if (seed % 7 == 0) _stray(made, gift % 1e18);
        _fund(made, true);
    }

    function fundAgain(uint256 i) external {
        if (_legs.length == 0) return;
        _fund(_legs[i % _legs.length], false);
    }

    function _fund(Leg storage made, bool expected) private {
        Terms memory terms = made.terms;
        bool token = terms.token != address(0);
        if (token) {
            _dollar.mint(terms.refund, terms.amount);
            vm.prank(terms.refund);
            _dollar.approve(address(_factory), terms.amount);
        } else {
            vm.deal(terms.refund, terms.refund.balance + terms.amount);
        }
        vm.prank(terms.refund);
        (bool ok,) = address(_factory).call{value: token ? 0 : terms.amount, gas: 500_000}(
            abi.encodeCall(ParleyFactory.fund, (terms))
        );
        if (ok) made.funded = true;
        _judge(ok, expected);
    }

    function claim(uint256 i, uint256 guess) external {
        if (_legs.length == 0) return;
        Leg storage it = _legs[i % _legs.length];
        bytes32 secret = guess % 4 != 0 ? it.secret : bytes32(guess);
        bool right = secret == it.secret; // a fuzzer that reads storage may guess it
        bool expected = it.funded && right && block.timestamp < it.terms.timelock
            && held(it) >= it.terms.amount;
        (bool ok,) =
            address(it.escrow).call(abi.encodeCall(ParleyEscrow.claim, (it.terms, secret)));
        if (ok && it.funded) it.claims += 1;
        _judge(ok && it.funded, expected);
    }

    function refund(uint256 i) external {
        if (_legs.length == 0) return;
        Leg storage it = _legs[i % _legs.length];
        uint256 before = held(it);
        bool expected = it.funded && block.timestamp >= it.terms.timelock && before > 0;
        (bool ok,) = address(it.escrow).call(abi.encodeCall(ParleyEscrow.refund, (it.terms)));
        if (ok && it.funded) {
            it.refunds += 1;
            it.refunded += before - held(it);
        }
        _judge(ok && it.funded, expected);
    }

    function stray(uint256 i, uint96 amount) external {
        if (_legs.length == 0) return;
        _stray(_legs[i % _legs.length], uint256(amount) % 1e18);
    }

    /// @dev For native money this is a forced transfer, as by a block reward.
    function _stray(Leg storage it, uint256 amount) private {
        it.strays += amount;
        if (it.terms.token == address(0)) {
            vm.deal(address(it.escrow), address(it.escrow).balance + amount);
        } else {
            _dollar.mint(address(it.escrow), amount);
        }
    }

    function wait(uint256 time) external {
        vm.warp(block.timestamp + time % 12 hours);
    }

    function held(Leg memory it) public view returns (uint256) {
        return it.terms.token == address(0)
            ? address(it.escrow).balance
            : _dollar.balanceOf(address(it.escrow));
    }

    function _judge(bool ok, bool expected) private {
        if (ok != expected) surprises += 1;
        if (ok) succeeded += 1;
    }
}

contract InvariantTest is Base {
    Market internal market;

    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function setUp() public override {
        super.setUp();
        market = new Market(factory, dollar);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(market);
    }

    /// Claims twice as often as the rest, so that they come before the timelock.
    function targetSelectors() public view returns (FuzzSelector[] memory targets) {
        bytes4[] memory verbs = new bytes4[](9);
        verbs[0] = Market.open.selector;
        verbs[1] = Market.open.selector;
        verbs[2] = Market.claim.selector;
        verbs[3] = Market.claim.selector;
        verbs[4] = Market.refund.selector;
        verbs[5] = Market.stray.selector;
        verbs[6] = Market.wait.selector;
        verbs[7] = Market.fundAgain.selector;
        verbs[8] = Market.refund.selector;
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(market), verbs);
    }

    function invariant_funds_in_are_funds_out_and_held() public view {
        uint256 count = market.count();
        uint256[2] memory held_;
        uint256[2] memory paid;
        uint256[2] memory promised;
        for (uint256 i = 0; i < count; i++) {
            Market.Leg memory it = market.leg(i);
            uint256 asset = it.terms.token == address(0) ? 0 : 1;
            uint256 inside = market.held(it);
            uint256 in_ = (it.funded ? it.terms.amount : 0) + it.strays;
            vm.assertEq(in_, it.claims * it.terms.amount + it.refunded + inside, "each escrow");
            held_[asset] += inside;
            promised[asset] += it.claims * it.terms.amount;
        }
        for (uint256 i = 0; i < 5; i++) {
            paid[0] += address(uint160(0x20000 + i)).balance;
            paid[1] += dollar.balanceOf(address(uint160(0x20000 + i)));
        }
        vm.assertEq(paid[0], promised[0], "native payouts");
        vm.assertEq(paid[1], promised[1], "token payouts");
    }

    function invariant_what_was_funded_is_claimed_or_refunded_never_both() public view {
        uint256 count = market.count();
        for (uint256 i = 0; i < count; i++) {
            Market.Leg memory it = market.leg(i);
            vm.assertTrue(it.funded || it.claims + it.refunds == 0, "nothing before funding");
            if (it.strays == 0) vm.assertLe(it.claims + it.refunds, 1, "settled once");
            // only strays can be moved by a second verb
            uint256 most = it.strays / it.terms.amount + 1;
            vm.assertLe(it.claims, most, "a claim pays a whole amount that is there");
            if (it.claims > 0) vm.assertLe(it.refunded, it.strays, "after a claim only strays");
        }
    }

    function invariant_every_outcome_is_the_predicted_one() public view {
        vm.assertEq(market.surprises(), 0, "surprises");
    }

    function invariant_factory_and_implementation_hold_nothing() public view {
        address[2] memory empty = [address(factory), factory.implementation()];
        for (uint256 i = 0; i < 2; i++) {
            vm.assertEq(empty[i].balance, 0, "native");
            vm.assertEq(dollar.balanceOf(empty[i]), 0, "token");
        }
    }
}
