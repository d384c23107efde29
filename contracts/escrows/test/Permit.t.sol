// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {DevCoin} from "../dev/DevCoin.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Signature} from "../src/Signature.sol";
import {Token} from "../src/Token.sol";
import {Wrapped} from "./zoo/Signed.sol";
import {FalseOnSuccess} from "./zoo/Tokens.sol";

contract PermitTest is Base {
    bytes32 private constant PERMIT = keccak256(
        "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
    );

    function setUp() public override {
        super.setUp();
        vm.prank(funder);
        coin.approve(address(escrows), 0);
    }

    function signed(uint256 allowance, uint256 nonce) internal view returns (Signature memory) {
        bytes32 message =
            keccak256(abi.encode(PERMIT, funder, address(escrows), allowance, nonce, FUND_BEFORE));
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", coin.DOMAIN_SEPARATOR(), message));
        return sign(FUNDER_KEY, digest);
    }

    function fundBy(address sender, Escrow memory e, uint256 allowance, Signature memory p)
        internal
    {
        vm.prank(sender);
        escrows.fundWithPermit(e.terms, e.lane, e.counter, allowance, FUND_BEFORE, p);
    }

    function e1() internal view returns (Escrow memory) {
        return escrowIn(address(coin));
    }

    function test_nothing_prepared_one_transaction() public {
        expectEvent();
        emit ParleyEscrows.Funded(idOf(e1()), e1().terms, LANE, 1);
        fundBy(funder, e1(), AMOUNT, signed(AMOUNT, 0));
        expectState(e1(), OPEN);
        vm.assertEq(here(address(coin)), AMOUNT, "here");
        vm.assertEq(coin.allowance(funder, address(escrows)), 0, "nothing stays allowed");
        claim(e1());
    }

    function test_an_allowance_for_more_stays_for_the_next_funding() public {
        fundBy(funder, e1(), 3 * AMOUNT, signed(3 * AMOUNT, 0));
        vm.assertEq(coin.allowance(funder, address(escrows)), 2 * AMOUNT, "stays");
        fund(beside(e1()));
    }

    function test_a_permit_that_somebody_used_before_does_not_stop_it() public {
        Signature memory p = signed(AMOUNT, 0);
        vm.prank(STRANGER);
        coin.permit(funder, address(escrows), AMOUNT, FUND_BEFORE, p.v, p.r, p.s);
        fundBy(funder, e1(), AMOUNT, p);
        expectState(e1(), OPEN);
    }

    function test_a_permit_that_fails_without_an_allowance_funds_nothing() public {
        Signature memory p = signed(AMOUNT, 1); // not the next nonce
        expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, coin));
        fundBy(funder, e1(), AMOUNT, p);
        p = signed(AMOUNT - 1, 0);
        expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, coin));
        fundBy(funder, e1(), AMOUNT - 1, p);
        vm.assertEq(wordIn(e1()), 0, "the lane is as it was");
    }

    /// A permit binds no terms: with somebody else's, a stranger would choose where it goes.
    function test_nobody_else_may_bring_the_permit() public {
        Signature memory p = signed(AMOUNT, 0);
        expectError(
            abi.encodeWithSelector(ParleyEscrows.SenderIsNotRefund.selector, STRANGER, funder)
        );
        fundBy(STRANGER, e1(), AMOUNT, p);
        Escrow memory own = altered(e1(), 2);
        expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, coin));
        fundBy(STRANGER, own, AMOUNT, p);
        vm.assertEq(coin.balanceOf(funder), AMOUNT * 10, "untouched");
    }

    /// Wrapped Ether answers every call it does not know, so a permit "succeeds" there.
    function test_a_token_without_permits_needs_an_allowance_whatever_it_answers() public {
        address[2] memory tokens = [address(new FalseOnSuccess()), address(new Wrapped())];
        for (uint256 i = 0; i < 2; i++) {
            DevCoin(tokens[i]).mint(funder, AMOUNT);
            Escrow memory e = escrowIn(tokens[i]);
            e.lane += uint96(i);
            expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, tokens[i]));
            fundBy(funder, e, AMOUNT, Signature(27, 0, 0));
            vm.prank(funder);
            FalseOnSuccess(tokens[i]).approve(address(escrows), AMOUNT);
            fundBy(funder, e, AMOUNT, Signature(27, 0, 0));
            vm.assertEq(here(tokens[i]), AMOUNT, "by the allowance");
        }
    }

    function test_the_native_asset_is_not_funded_by_a_permit() public {
        vm.deal(address(escrows), AMOUNT);
        expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, address(0)));
        fundBy(funder, native(), AMOUNT, Signature(27, 0, 0));
    }

    function test_every_bound_of_a_funding_holds() public {
        Signature memory p = signed(AMOUNT, 0);
        Escrow memory e = e1();
        e.terms.timelock = NOW;
        vm.prank(funder);
        vm.expectRevert();
        escrows.fundWithPermit(e.terms, LANE, 1, AMOUNT, FUND_BEFORE, p);
        vm.warp(FUND_BEFORE);
        expectError(
            abi.encodeWithSelector(ParleyEscrows.FundTooLate.selector, FUND_BEFORE, FUND_BEFORE)
        );
        fundBy(funder, e1(), AMOUNT, p);
        vm.warp(NOW);
        fundBy(funder, e1(), AMOUNT, p);
        vm.prank(funder);
        coin.approve(address(escrows), AMOUNT);
        expectNotReady(OPEN, 1, 1);
        fundBy(funder, e1(), AMOUNT, p);
    }
}
