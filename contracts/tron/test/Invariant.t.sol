// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, MoreVm} from "./Base.sol";
import {Terms} from "evm/src/Terms.sol";
import {DevDollar} from "evm/dev/DevDollar.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";

/// @notice Does anything to any of many escrows at any time, and keeps its own books. Every call
///         has a predicted outcome: one that succeeds or fails against the prediction is a defect.
contract Market {
    struct Leg {
        Terms terms;
        bytes32 secret;
        uint256 status;
        uint256 fundedBlock;
        uint256 settledBlock;
    }

    MoreVm private constant vm = MoreVm(address(uint160(uint256(keccak256("hevm cheat code")))));
    ParleyEscrows private immutable _escrows;
    DevDollar private immutable _dollar;
    Leg[] private _legs;
    uint256 public constant MAX_LEGS = 24;
    uint256 public surprises; // outcomes against the prediction
    uint256 public succeeded;
    mapping(address token => uint256) public strays;
    mapping(address token => uint256) public owed;
    mapping(address who => mapping(address token => uint256)) public due;

    constructor(ParleyEscrows escrows, DevDollar dollar) {
        _escrows = escrows;
        _dollar = dollar;
    }

    function count() external view returns (uint256) {
        return _legs.length;
    }

    function leg(uint256 i) external view returns (Leg memory) {
        return _legs[i];
    }

    function open(uint256 seed, uint96 amount, uint256 ahead) external {
        if (_legs.length == MAX_LEGS) return;
        bytes32 secret = keccak256(abi.encode(seed, _legs.length));
        Leg storage made = _legs.push();
        made.secret = secret;
        made.terms = Terms(
            sha256(abi.encode(secret)),
            address(uint160(0x20000 + seed % 5)),
            address(uint160(0x10000 + seed % 3)),
            seed % 2 == 0 ? address(_dollar) : address(0),
            uint256(amount) % 1e18 + 1,
            block.timestamp + 30 minutes + ahead % 2 days
        );
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
            _dollar.approve(address(_escrows), terms.amount);
        } else {
            vm.deal(terms.refund, terms.refund.balance + terms.amount);
        }
        bool signs = made.secret[0] < 0x80; // or is a contract
        vm.prank(terms.refund, signs ? terms.refund : address(this));
        (bool ok,) = address(_escrows).call{value: token ? 0 : terms.amount}(
            abi.encodeCall(ParleyEscrows.fund, (terms))
        );
        if (ok) {
            made.status = 1;
            made.fundedBlock = block.number;
            owed[terms.token] += terms.amount;
        } else {
            due[terms.refund][terms.token] += terms.amount; // still has what it was given
        }
        _judge(ok, expected);
    }

    function claim(uint256 i, uint256 guess) external {
        if (_legs.length == 0) return;
        Leg storage it = _legs[i % _legs.length];
        bytes32 secret = guess % 4 != 0 ? it.secret : bytes32(guess);
        bool right = secret == it.secret; // a fuzzer that reads storage may guess it
        bool expected = it.status == 1 && right && block.timestamp < it.terms.timelock;
        bytes memory call_ = abi.encodeCall(ParleyEscrows.claim, (it.terms, secret));
        (bool ok,) = address(_escrows).call(call_);
        if (ok) _settled(it, 2, it.terms.payout, it.terms.amount);
        _judge(ok, expected);
    }

    function refund(uint256 i, uint256 part) external {
        if (_legs.length == 0) return;
        Leg storage it = _legs[i % _legs.length];
        Terms memory terms = it.terms;
        bool expected = it.status == 1 && block.timestamp >= terms.timelock;
        bool whole = part % 3 != 0;
        uint256 sent = whole ? terms.amount : part % terms.amount + 1;
        bytes memory call_ = whole
            ? abi.encodeCall(ParleyEscrows.refund, (terms))
            : abi.encodeCall(ParleyEscrows.refundPart, (terms, sent));
        if (!whole) {
            expected = expected && terms.token != address(0);
            vm.prank(terms.refund);
        }
        (bool ok,) = address(_escrows).call(call_);
        if (ok) _settled(it, 3, terms.refund, sent);
        _judge(ok, expected);
    }

    function _settled(Leg storage it, uint256 status, address to, uint256 sent) private {
        it.status = status;
        it.settledBlock = block.number;
        owed[it.terms.token] -= it.terms.amount;
        strays[it.terms.token] += it.terms.amount - sent;
        due[to][it.terms.token] += sent;
    }

    /// @dev For native money this is a forced transfer, as by a block reward.
    function stray(uint256 seed, uint96 amount) external {
        uint256 units = uint256(amount) % 1e18;
        if (seed % 2 == 0) {
            _dollar.mint(address(_escrows), units);
            strays[address(_dollar)] += units;
        } else {
            vm.deal(address(_escrows), address(_escrows).balance + units);
            strays[address(0)] += units;
        }
    }

    function wait(uint256 time) external {
        vm.warp(block.timestamp + time % 12 hours);
        vm.roll(block.number + time % 100);
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
        market = new Market(escrows, dollar);
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

    function invariant_nothing_happens_against_the_rules() public view {
        vm.assertEq(market.surprises(), 0, "surprises");
    }

    function invariant_what_is_owed_is_here_and_strays_besides() public view {
        address[2] memory kinds = [address(0), address(dollar)];
        for (uint256 i = 0; i < 2; i++) {
            vm.assertEq(here(kinds[i]), market.owed(kinds[i]) + market.strays(kinds[i]), "balance");
        }
    }

    function invariant_everybody_has_what_is_due() public view {
        address[2] memory kinds = [address(0), address(dollar)];
        for (uint256 i = 0; i < 2; i++) {
            for (uint256 n = 0; n < 5; n++) {
                address payout = address(uint160(0x20000 + n));
                address funder = address(uint160(0x10000 + n));
                vm.assertEq(held(kinds[i], payout), market.due(payout, kinds[i]), "payout");
                vm.assertEq(held(kinds[i], funder), market.due(funder, kinds[i]), "funder");
            }
        }
    }

    function invariant_records_say_what_happened_and_when() public view {
        for (uint256 i = 0; i < market.count(); i++) {
            Market.Leg memory it = market.leg(i);
            (uint256 status, uint256 fundedBlock, uint256 settledBlock) =
                escrows.stateOf(idOf(it.terms));
            vm.assertEq(status, it.status, "status");
            vm.assertEq(fundedBlock, it.fundedBlock, "funded");
            vm.assertEq(settledBlock, it.settledBlock, "settled");
        }
    }
}
