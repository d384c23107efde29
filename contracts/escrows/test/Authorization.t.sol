// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Consent, Signature} from "../src/Signature.sol";
import {Token} from "../src/Token.sol";
import {AcceptsAnything, NoSeparator, Wrapped} from "./zoo/Signed.sol";

contract AuthorizationTest is Base {
    uint256 private constant OTHER_KEY = 0xBAD;

    function setUp() public override {
        super.setUp();
        vm.prank(funder);
        coin.approve(address(escrows), 0);
    }

    function signedFor(Escrow memory e, bytes32 separator, uint256 key)
        internal
        view
        returns (Signature memory)
    {
        return sign(key, authorization(e, separator));
    }

    function signed(Escrow memory e) internal view returns (Signature memory) {
        return signedFor(e, coin.DOMAIN_SEPARATOR(), FUNDER_KEY);
    }

    function submit(Escrow memory e, Signature memory p) internal {
        vm.prank(STRANGER);
        escrows.fundWithAuthorization(e.terms, e.lane, e.counter, p);
    }

    function e1() internal view returns (Escrow memory) {
        return escrowIn(address(coin));
    }

    function refused(Escrow memory e, Signature memory p) internal {
        uint256 word = wordIn(e);
        bytes memory call_ =
            abi.encodeCall(ParleyEscrows.fundWithAuthorization, (e.terms, e.lane, e.counter, p));
        vm.prank(STRANGER);
        (bool ok, bytes memory answer) = address(escrows).call(call_);
        vm.assertFalse(ok, "refused");
        vm.assertEq(
            bytes32(bytes4(answer)), bytes32(Consent.WrongSigner.selector), "as somebody else's"
        );
        vm.assertEq(wordIn(e), word, "the lane is as it was");
    }

    function test_a_signature_is_enough_whoever_submits_it() public {
        Signature memory p = signed(e1());
        expectEvent();
        emit ParleyEscrows.Funded(idOf(e1()), e1().terms, LANE, 1);
        submit(e1(), p);
        expectState(e1(), OPEN);
        vm.assertEq(here(address(coin)), AMOUNT, "here");
        vm.assertEq(coin.balanceOf(STRANGER), 0, "nothing for the submitter");
        claim(e1());
        vm.assertEq(coin.balanceOf(RECIPIENT), AMOUNT, "paid");
    }

    function test_the_signature_binds_signer_every_field_the_lane_and_the_counter() public {
        Signature memory p = signed(e1());
        for (uint256 field = 0; field < 9; field++) {
            if (field == 3 || field == 8) continue; // below
            Escrow memory other = altered(e1(), field);
            if (field == 2) coin.mint(STRANGER, AMOUNT);
            refused(other, p);
        }
        expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, STRANGER));
        submit(altered(e1(), 3), p); // that token has no code
        expectNotReady(UNFUNDED, 0, 2);
        submit(nextOf(e1()), p);
        refused(e1(), signedFor(e1(), coin.DOMAIN_SEPARATOR(), OTHER_KEY));
        submit(e1(), p);
    }

    function test_the_error_names_the_signer_and_then_the_refund_address() public {
        Signature memory p = signedFor(e1(), coin.DOMAIN_SEPARATOR(), OTHER_KEY);
        address other = vm.addr(OTHER_KEY);
        expectError(abi.encodeWithSelector(Consent.WrongSigner.selector, other, funder));
        submit(e1(), p);
    }

    function test_no_signature_is_nobodys() public {
        Escrow memory e = e1();
        AcceptsAnything token = new AcceptsAnything(coin.DOMAIN_SEPARATOR());
        e.terms.token = address(token);
        e.terms.refund = address(0);
        refused(e, Signature(0, 0, 0)); // recovers to zero, as the refund address is
        refused(escrowIn(address(token)), Signature(0, 0, 0));
    }

    function test_a_signature_funds_once() public {
        Signature memory p = signed(e1());
        submit(e1(), p);
        expectNotReady(OPEN, 1, 1);
        submit(e1(), p);
        claim(e1());
        expectNotReady(CLAIMED, 1, 1);
        submit(e1(), p);
        refused(nextOf(e1()), p); // nor the next one
    }

    function test_not_from_fund_before_on() public {
        Signature memory p = signed(e1());
        vm.warp(FUND_BEFORE);
        expectError(
            abi.encodeWithSelector(ParleyEscrows.FundTooLate.selector, FUND_BEFORE, FUND_BEFORE)
        );
        submit(e1(), p);
        vm.warp(FUND_BEFORE - 1);
        submit(e1(), p);
    }

    function test_a_funder_without_money_funds_nothing() public {
        Signature memory p = signed(e1());
        vm.prank(funder);
        coin.transfer(RECIPIENT, AMOUNT * 9 + 1);
        expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, coin));
        submit(e1(), p);
        vm.assertEq(wordIn(e1()), 0, "the lane is as it was");
        coin.mint(funder, 1);
        submit(e1(), p);
    }

    /// A token that never looks at a signature would open the lanes of others.
    function test_a_token_that_accepts_anything_opens_nobodys_lane() public {
        AcceptsAnything token = new AcceptsAnything(coin.DOMAIN_SEPARATOR());
        Escrow memory e = escrowIn(address(token));
        refused(e, Signature(27, bytes32(uint256(1)), bytes32(uint256(1))));
        // what its funder signed for the honest token says nothing about this one
        refused(e, signed(e1()));
        Signature memory p = signedFor(e, coin.DOMAIN_SEPARATOR(), OTHER_KEY);
        refused(e, p);
        p = signedFor(e, coin.DOMAIN_SEPARATOR(), FUNDER_KEY);
        submit(e, p); // its terms were signed, whatever the token calls its domain
        expectState(e, OPEN);
        e = beside(escrowIn(address(new AcceptsAnything(keccak256("a lie")))));
        refused(e, signedFor(e, coin.DOMAIN_SEPARATOR(), FUNDER_KEY));
    }

    function test_a_token_that_says_yes_and_moves_nothing_is_refused() public {
        AcceptsAnything token = new AcceptsAnything(coin.DOMAIN_SEPARATOR());
        token.stop();
        Escrow memory e = escrowIn(address(token));
        token.mint(address(escrows), AMOUNT);
        Signature memory p = signedFor(e, coin.DOMAIN_SEPARATOR(), FUNDER_KEY);
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountReceived.selector, token, AMOUNT, AMOUNT, AMOUNT
            )
        );
        submit(e, p);
    }

    function test_a_token_without_a_separator_or_without_code_is_refused() public {
        address[4] memory tokens =
            [address(new NoSeparator()), STRANGER, address(new Wrapped()), address(0)];
        for (uint256 i = 0; i < 4; i++) {
            Escrow memory e = escrowIn(tokens[i]);
            Signature memory p = signedFor(e, 0, FUNDER_KEY);
            expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, tokens[i]));
            // a state change within a static call takes all gas that it was given
            vm.prank(STRANGER);
            escrows.fundWithAuthorization{gas: 500_000}(e.terms, LANE, 1, p);
        }
    }

    /// After a split both chains have the token, and its signatures are the other chain's.
    function test_a_signature_of_before_a_split_is_not_one_of_the_new_chain() public {
        Signature memory p = signed(e1());
        uint256 before = vm.snapshotState();
        vm.chainId(99);
        refused(e1(), p);
        submit(e1(), signed(e1()));
        vm.assertTrue(vm.revertToState(before), "the old chain");
        submit(e1(), p);
    }
}
