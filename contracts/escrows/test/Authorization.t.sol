// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {DevCoin} from "../dev/DevCoin.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Token} from "../src/Token.sol";
import {AcceptsAnything, FeeOfAuthorized, NoSeparator, Wrapped} from "./zoo/Signed.sol";

contract AuthorizationTest is Base {
    struct Signature {
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    uint256 private constant OTHER_KEY = 0xBAD;
    bytes32 private constant RECEIVE = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,"
        "uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    function setUp() public override {
        super.setUp();
        vm.prank(funder);
        coin.approve(address(escrows), 0);
    }

    function signedFor(Escrow memory e, bytes32 separator, uint256 key)
        internal
        view
        returns (Signature memory p)
    {
        bytes32 message = keccak256(
            abi.encode(
                RECEIVE,
                e.terms.refund,
                address(escrows),
                e.terms.amount,
                0,
                e.terms.fundBefore,
                idOf(e)
            )
        );
        (p.v, p.r, p.s) = vm.sign(key, keccak256(abi.encodePacked(hex"1901", separator, message)));
    }

    function signed(Escrow memory e) internal view returns (Signature memory) {
        return signedFor(e, coin.DOMAIN_SEPARATOR(), FUNDER_KEY);
    }

    function submit(Escrow memory e, Signature memory p) internal {
        vm.prank(STRANGER);
        escrows.fundWithAuthorization(e.terms, e.lane, e.counter, p.v, p.r, p.s);
    }

    function e1() internal view returns (Escrow memory) {
        return escrowIn(address(coin));
    }

    function refused(Escrow memory e, Signature memory p) internal {
        uint256 word = wordIn(e);
        bytes memory call_ = abi.encodeCall(
            ParleyEscrows.fundWithAuthorization, (e.terms, e.lane, e.counter, p.v, p.r, p.s)
        );
        vm.prank(STRANGER);
        (bool ok, bytes memory answer) = address(escrows).call(call_);
        vm.assertFalse(ok, "refused");
        vm.assertEq(
            bytes32(bytes4(answer)),
            bytes32(ParleyEscrows.SignerIsNotRefund.selector),
            "as somebody else's"
        );
        vm.assertEq(wordIn(e), word, "the lane is as it was");
    }

    function test_a_signature_is_enough_whoever_submits_it() public {
        Signature memory p = signed(e1());
        expectEvent();
        emit ParleyEscrows.Funded(idOf(e1()), e1().terms, LANE, 1);
        submit(e1(), p);
        expectState(e1(), OPEN, NOW);
        vm.assertEq(here(address(coin)), AMOUNT, "here");
        vm.assertEq(coin.balanceOf(STRANGER), 0, "nothing for the submitter");
        claim(e1());
        vm.assertEq(coin.balanceOf(RECIPIENT), AMOUNT, "paid");
    }

    function test_a_refund_goes_to_the_signer() public {
        submit(e1(), signed(e1()));
        vm.warp(TIMELOCK);
        refund(e1());
        vm.assertEq(coin.balanceOf(funder), AMOUNT * 10, "back");
    }

    function test_the_signature_binds_every_field_the_lane_and_the_counter() public {
        Signature memory p = signed(e1());
        for (uint256 field = 0; field < 9; field++) {
            if (field == 3) continue; // below: that token has no code
            Escrow memory other = altered(e1(), field);
            if (field == 2) coin.mint(STRANGER, AMOUNT);
            refused(other, p);
        }
        expectError(abi.encodeWithSelector(Token.TokenCallFailed.selector, STRANGER));
        submit(altered(e1(), 3), p);
        submit(e1(), p);
    }

    function test_somebody_elses_signature_is_refused() public {
        refused(e1(), signedFor(e1(), coin.DOMAIN_SEPARATOR(), OTHER_KEY));
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
        refused(nextOf(e1()), p);
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

    function test_a_counter_that_the_funder_used_otherwise_takes_no_signature() public {
        Signature memory p = signed(e1());
        fund(native());
        expectNotReady(OPEN, 1, 1);
        submit(e1(), p);
        vm.assertEq(coin.balanceOf(funder), AMOUNT * 10, "nothing moved");
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
        expectState(e, OPEN, NOW);
    }

    function test_a_token_that_lies_about_its_separator_takes_no_honest_signature() public {
        AcceptsAnything token = new AcceptsAnything(keccak256("a lie"));
        Escrow memory e = escrowIn(address(token));
        refused(e, signedFor(e, coin.DOMAIN_SEPARATOR(), FUNDER_KEY));
        refused(e, signed(e1()));
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

    function test_a_fee_of_what_was_authorized_is_refused() public {
        FeeOfAuthorized token = new FeeOfAuthorized();
        Escrow memory e = escrowIn(address(token));
        Signature memory p = signedFor(e, token.DOMAIN_SEPARATOR(), FUNDER_KEY);
        expectError(
            abi.encodeWithSelector(
                ParleyEscrows.WrongAmountReceived.selector, token, 0, AMOUNT - 1, AMOUNT
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
            escrows.fundWithAuthorization{gas: 500_000}(e.terms, LANE, 1, p.v, p.r, p.s);
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

    function test_it_takes_no_value() public {
        Signature memory p = signed(e1());
        bytes memory call_ = abi.encodeCall(
            ParleyEscrows.fundWithAuthorization, (e1().terms, LANE, 1, p.v, p.r, p.s)
        );
        vm.deal(STRANGER, 1);
        vm.prank(STRANGER);
        (bool ok,) = address(escrows).call{value: 1}(call_);
        vm.assertFalse(ok, "not payable");
    }

    function test_dirty_words_are_refused() public {
        Signature memory p = signed(e1());
        bytes memory good = abi.encodeCall(
            ParleyEscrows.fundWithAuthorization, (e1().terms, LANE, 1, p.v, p.r, p.s)
        );
        // three addresses, lane, counter, v
        uint8[6] memory words = [1, 2, 3, 7, 8, 9];
        uint8[6] memory widths = [20, 20, 20, 12, 4, 1];
        for (uint256 i = 0; i < 6; i++) {
            bytes memory bad = bytes.concat(good);
            bad[4 + 32 * uint256(words[i]) + 31 - widths[i]] = 0x01;
            (bool ok,) = address(escrows).call(bad);
            vm.assertFalse(ok, "refused");
        }
        (bool clean,) = address(escrows).call(good);
        vm.assertTrue(clean, "the same without");
    }

    function testFuzz_only_the_funders_signature_opens(uint256 key, uint256 field) public {
        key = bound(key, 1, 1e60);
        vm.assume(vm.addr(key) != funder);
        refused(e1(), signedFor(e1(), coin.DOMAIN_SEPARATOR(), key));
        uint256 which = bound(field, 0, 8);
        Escrow memory other = altered(e1(), which == 3 ? 4 : which);
        refused(e1(), signed(other));
        submit(e1(), signed(e1()));
    }
}
