// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base} from "./Base.sol";
import {Market} from "./Market.sol";
import {NoReturn} from "./zoo/Tokens.sol";
import {Wild} from "./zoo/Wild.sol";

contract InvariantTest is Base {
    Market internal market;
    Wild internal wild;
    address internal honest;

    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function setUp() public override {
        super.setUp();
        wild = new Wild();
        honest = address(new NoReturn());
        market = new Market(escrows, coin, honest, wild);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(market);
    }

    /// Openings and claims more often than the rest, so that much is open and claimed in time.
    function targetSelectors() public view returns (FuzzSelector[] memory targets) {
        bytes4[] memory verbs = new bytes4[](14);
        verbs[0] = Market.open.selector;
        verbs[1] = Market.open.selector;
        verbs[2] = Market.open.selector;
        verbs[3] = Market.claim.selector;
        verbs[4] = Market.claim.selector;
        verbs[5] = Market.refund.selector;
        verbs[6] = Market.refund.selector;
        verbs[7] = Market.many.selector;
        verbs[8] = Market.many.selector;
        verbs[9] = Market.stray.selector;
        verbs[10] = Market.wait.selector;
        verbs[11] = Market.fundAgain.selector;
        verbs[12] = Market.openMany.selector;
        verbs[13] = Market.refundEarly.selector;
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(market), verbs);
    }

    /// One, since forge plays the same random market again for each.
    function invariant_the_books_hold() public view {
        nothing_happens_against_the_rules();
        what_is_owed_is_here_and_strays_besides();
        what_is_owed_is_the_sum_of_what_is_open();
        everybody_has_what_is_due();
        every_escrow_reads_as_the_books_say();
        words_hold_the_last_escrow_and_are_never_zero_again();
    }

    function nothing_happens_against_the_rules() internal view {
        vm.assertEq(market.surprises(), 0, "surprises");
        vm.assertEq(wild.entered(), 0, "verbs within a token call");
    }

    /// Equal for what is honest. A token that moves what it likes is never owed more than is here.
    function what_is_owed_is_here_and_strays_besides() internal view {
        for (uint256 i = 0; i < 4; i++) {
            address asset = market.assets(i);
            vm.assertLe(market.owed(asset), here(asset), "owed");
            if (i == 3) continue;
            vm.assertEq(here(asset), market.owed(asset) + market.strays(asset), "balance");
        }
    }

    function what_is_owed_is_the_sum_of_what_is_open() internal view {
        uint256[4] memory open;
        for (uint256 i = 0; i < market.count(); i++) {
            Market.Deal memory it = market.deal(i);
            if (stateOf(it.e) != OPEN) continue;
            for (uint256 asset = 0; asset < 4; asset++) {
                if (market.assets(asset) == it.e.terms.token) open[asset] += it.e.terms.amount;
            }
        }
        for (uint256 asset = 0; asset < 4; asset++) {
            vm.assertEq(open[asset], market.owed(market.assets(asset)), "open");
        }
    }

    function everybody_has_what_is_due() internal view {
        for (uint256 i = 0; i < 3; i++) {
            address asset = market.assets(i);
            for (uint256 n = 0; n < 5; n++) {
                address payout = market.payoutOf(n);
                address refund = market.funderOf(n);
                vm.assertEq(held(asset, payout), market.due(payout, asset), "payout");
                vm.assertEq(held(asset, refund), market.due(refund, asset), "funder");
            }
        }
    }

    function every_escrow_reads_as_the_books_say() internal view {
        for (uint256 i = 0; i < market.count(); i++) {
            Market.Deal memory it = market.deal(i);
            Market.Book memory book = market.book(keyOf(it.e));
            vm.assertLe(it.openings, 1, "no id is open twice");
            uint256 state = it.state;
            if (it.e.counter == 0 || it.e.counter > book.used) state = UNFUNDED;
            else if (it.e.counter < book.used) state = ENDED;
            else if (book.last != i) state = VOID;
            expectState(it.e, state);
        }
    }

    function words_hold_the_last_escrow_and_are_never_zero_again() internal view {
        for (uint256 lane = 0; lane < 40; lane++) {
            for (uint256 i = 0; i < market.FUNDERS(); i++) {
                holds_the_last(uint256(uint160(market.funderOf(i))) << 96 | lane);
            }
            if (lane >= market.LANES()) continue;
            for (uint256 i = 0; i < market.PAYEES(); i++) {
                holds_the_last(uint256(uint160(market.payoutOf(i))) << 96 | OF_PAYEE | lane);
            }
        }
    }

    function holds_the_last(uint256 key) internal view {
        uint256[] memory keys = new uint256[](1);
        keys[0] = key;
        uint256 word = escrows.lanesOf(keys)[0];
        Market.Book memory book = market.book(key);
        if (book.used == 0) return vm.assertEq(word, 0, "never used");
        Market.Deal memory it = market.deal(book.last);
        vm.assertFalse(word == 0, "never zero again");
        vm.assertEq(word, wordOf(it.e, it.state), "word");
    }

    /// A walk with a fixed seed: whoever looks for defects must have done everything there is.
    function test_the_market_does_everything() public {
        uint256 seed = 1;
        for (uint256 i = 0; i < 1600; i++) {
            seed = uint256(keccak256(abi.encode(seed)));
            uint256 a = uint256(keccak256(abi.encode(seed, 1)));
            uint256 b = uint256(keccak256(abi.encode(seed, 2)));
            if (seed % 10 == 8) market.openMany(a, uint96(b), b);
            if (seed % 10 == 9) market.refundEarly(a, b);
            if (seed % 10 < 3) market.open(a, uint96(b), b, a / 64);
            if (seed % 10 == 3) market.claim(a, b);
            if (seed % 10 == 4) market.refund(a, b);
            if (seed % 10 == 5) market.many(a, b % 2 == 0);
            if (seed % 10 == 6) market.wait(a);
            if (seed % 10 == 7) market.fundAgain(a, b);
        }
        for (uint256 way = 0; way < 13; way++) {
            vm.assertLe(3, market.done(way), "too little happened");
        }
        invariant_the_books_hold();
    }
}
