// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Base, Escrow} from "./Base.sol";
import {ParleyEscrows} from "../src/ParleyEscrows.sol";
import {Signature} from "../src/Signature.sol";
import {Moody} from "./zoo/Moody.sol";
import {TakesFee} from "./zoo/Tokens.sol";
import {Wallet} from "./zoo/Wallet.sol";

/// @notice Refunds before the timelock, because the payee gives up its claim.
contract ConsentTest is Base {
    bytes32 private constant YES = bytes32(bytes4(0x1626ba7e));

    function signedBy(uint256 key, Escrow memory e) internal view returns (bytes memory) {
        return packed(sign(key, consentTo(e, "GiveUpClaim")));
    }

    function packed(Signature memory s) internal pure returns (bytes memory) {
        return abi.encodePacked(s.r, s.s, s.v);
    }

    function refundEarly(address sender, Escrow memory e, bytes memory signature) internal {
        vm.prank(sender);
        escrows.refundEarly(e.terms, e.lane, e.counter, signature);
    }

    function refused(Escrow memory e, bytes memory signature) internal {
        expectError(
            abi.encodeWithSelector(ParleyEscrows.NotGivenUp.selector, idOf(e), e.terms.payout)
        );
        refundEarly(STRANGER, e, signature);
        expectState(e, OPEN);
    }

    function test_the_coins_come_back_at_once_by_the_payee_itself_or_by_its_signature() public {
        for (uint256 row = 0; row < 8; row++) {
            uint256 start = vm.snapshotState();
            Escrow memory e = both()[row % 2];
            fund(beside(e)); // money for a second payment is here
            uint256 before = held(e.terms.token, funder);
            if (row < 4) {
                fund(e);
            } else {
                e = inLane(e);
                fundInLane(e);
            }
            bool signs = row % 4 < 2;
            bytes memory signature = signs ? signedBy(RECIPIENT_KEY, e) : bytes("");
            expectEvent();
            emit ParleyEscrows.Refunded(idOf(e));
            refundEarly(signs ? STRANGER : RECIPIENT, e, signature);
            expectState(e, REFUNDED);
            vm.assertEq(wordIn(e), wordOf(e, REFUNDED), "word");
            vm.assertEq(before, held(e.terms.token, funder), "back");
            vm.assertEq(here(e.terms.token), AMOUNT, "the other's");
            expectNotOpen(e, REFUNDED);
            claim(e);
            expectNotOpen(e, REFUNDED);
            refundEarly(RECIPIENT, e, signature);
            vm.warp(TIMELOCK);
            expectNotOpen(e, REFUNDED);
            refund(e);
            vm.revertToState(start);
        }
    }

    function test_a_consent_is_good_after_the_timelock_too() public {
        Escrow memory e = native();
        fund(e);
        vm.warp(TIMELOCK + 1);
        refundEarly(STRANGER, e, signedBy(RECIPIENT_KEY, e));
        vm.assertEq(funder.balance, AMOUNT * 10, "back");
    }

    function test_nobody_elses_signature_and_none_is_enough() public {
        Escrow memory e = native();
        fund(e);
        refused(e, "");
        refused(e, signedBy(FUNDER_KEY, e));
        refused(e, packed(Signature(27, 0, 0)));
        refused(e, packed(Signature(0, bytes32(uint256(1)), bytes32(uint256(1)))));
        expectError(abi.encodeWithSelector(ParleyEscrows.NotGivenUp.selector, idOf(e), RECIPIENT));
        refundEarly(funder, e, "");
        vm.prank(STRANGER, RECIPIENT); // who began the transaction does not count
        (bool ok,) = address(escrows)
            .call(abi.encodeCall(ParleyEscrows.refundEarly, (e.terms, e.lane, e.counter, "")));
        vm.assertFalse(ok, "not the sender");
    }

    function test_a_signature_of_another_length_is_none() public {
        Escrow memory e = native();
        fund(e);
        bytes memory good = signedBy(RECIPIENT_KEY, e);
        refused(e, bytes.concat(good, hex"00"));
        bytes memory short = bytes.concat(good);
        assembly ("memory-safe") {
            mstore(short, 64)
        }
        refused(e, short);
        refundEarly(STRANGER, e, good);
    }

    function test_a_consent_binds_every_field_the_lane_the_counter_and_the_contract() public {
        Escrow memory e = escrowIn(address(coin));
        for (uint256 field = 0; field < 9; field++) {
            if (field == 2 || field == 3) continue; // another funder; a token without code
            Escrow memory other = altered(e, field);
            if (field == 1) other.terms.payout = funder;
            if (field != 7 && field != 8) other.lane += uint96(10 + field);
            if (field == 8) {
                fund(e);
                claim(e);
            }
            fund(other);
            refused(other, signedBy(RECIPIENT_KEY, e));
        }
        Escrow memory last = beside(native());
        fund(last);
        domain = domainOf(address(this)); // of another contract
        bytes memory elsewhere = signedBy(RECIPIENT_KEY, last);
        domain = domainOf(address(escrows));
        refused(last, elsewhere);
    }

    function test_neither_message_stands_for_the_other_nor_does_the_bare_id() public {
        Escrow memory e = inLane(native());
        expectError(wrongSigner(e, "GiveUpClaim"));
        vm.prank(funder);
        escrows.fundInLane{value: AMOUNT}(
            e.terms, e.lane, 1, sign(RECIPIENT_KEY, consentTo(e, "GiveUpClaim"))
        );
        fundInLane(e);
        refused(e, packed(opening(e)));
        refused(e, packed(sign(RECIPIENT_KEY, idOf(e))));
    }

    function wrongSigner(Escrow memory e, string memory what)
        internal
        view
        returns (bytes memory)
    {
        Signature memory s = sign(RECIPIENT_KEY, consentTo(e, what));
        address signer = ecrecover(consentTo(e, "OpenInMyLane"), s.v, s.r, s.s);
        return abi.encodeWithSignature("WrongSigner(address,address)", signer, RECIPIENT);
    }

    function test_what_is_not_open_is_not_given_up() public {
        Escrow memory e = native();
        bytes memory signature = signedBy(RECIPIENT_KEY, e);
        expectNotOpen(e, UNFUNDED);
        refundEarly(RECIPIENT, e, signature);
        fund(e);
        claim(e);
        expectNotOpen(e, CLAIMED);
        refundEarly(RECIPIENT, e, signature);
        fund(nextOf(e)); // the lane's next use needs a consent of its own
        expectNotOpen(e, ENDED);
        refundEarly(RECIPIENT, e, signature);
        refused(nextOf(e), signature);
    }

    function walletIn(address token) internal returns (Wallet wallet, Escrow memory e) {
        wallet = new Wallet();
        e = escrowIn(token);
        e.terms.payout = address(wallet);
        fund(e);
    }

    function test_a_wallet_that_is_code_says_so_itself() public {
        (Wallet wallet, Escrow memory e) = walletIn(address(coin));
        bytes32 digest = consentTo(e, "GiveUpClaim");
        bytes[7] memory none = [
            bytes(""),
            abi.encode(bytes32(0)),
            abi.encode(uint256(1)),
            abi.encodePacked(bytes4(YES)), // less than a word
            abi.encode(YES | bytes32(uint256(1))),
            abi.encode(uint256(uint32(bytes4(YES)))),
            abi.encode(~YES)
        ];
        for (uint256 i = 0; i < none.length; i++) {
            wallet.set(digest, none[i]);
            refused(e, "whatever");
        }
        wallet.set(consentTo(e, "OpenInMyLane"), abi.encode(YES));
        refused(e, "whatever"); // another question
        wallet.set(digest, abi.encode(YES));
        refused(e, new bytes(66)); // another signature
        wallet.misbehave(false, true);
        refused(e, "whatever"); // says yes, and reverts
        wallet.misbehave(false, false);
        uint256 before = vm.snapshotState();
        for (uint256 length = 0; length < 66; length += 65) {
            refundEarly(STRANGER, e, new bytes(length));
            expectState(e, REFUNDED);
            vm.assertEq(coin.balanceOf(funder), AMOUNT * 10, "back");
            vm.revertToState(before);
        }
    }

    /// Memory behind a short answer is none of it: here the zeros of a funder and a lane.
    function test_less_than_a_word_is_no_consent() public {
        (Wallet wallet, Escrow memory e) = (new Wallet(), native());
        e.terms.payout = address(wallet);
        e.terms.refund = address(uint160(0x12345678) << 128);
        e.lane = 0;
        vm.deal(e.terms.refund, AMOUNT);
        fund(e);
        wallet.set(consentTo(e, "GiveUpClaim"), abi.encodePacked(bytes4(YES)));
        refused(e, "whatever");
    }

    function test_a_wallet_is_asked_and_does_nothing_meanwhile() public {
        (Wallet wallet, Escrow memory e) = walletIn(address(0));
        wallet.set(consentTo(e, "GiveUpClaim"), abi.encode(YES));
        wallet.misbehave(true, false);
        expectError(
            abi.encodeWithSelector(ParleyEscrows.NotGivenUp.selector, idOf(e), address(wallet))
        );
        vm.prank(STRANGER);
        escrows.refundEarly{gas: 500_000}(e.terms, e.lane, e.counter, "");
    }

    /// An account that lent itself code (EIP-7702): its key counts first, then its code.
    function test_an_account_with_lent_code_signs_by_its_key() public {
        Escrow memory e = native();
        fund(e);
        uint256 before = vm.snapshotState();
        vm.etch(RECIPIENT, hex"5f5ffd");
        refused(e, signedBy(FUNDER_KEY, e));
        refundEarly(STRANGER, e, signedBy(RECIPIENT_KEY, e));
        expectState(e, REFUNDED);
        vm.revertToState(before);
        vm.etch(RECIPIENT, address(new Wallet()).code);
        Wallet(payable(RECIPIENT)).set(consentTo(e, "GiveUpClaim"), abi.encode(YES));
        refundEarly(STRANGER, e, signedBy(FUNDER_KEY, e));
        expectState(e, REFUNDED);
    }

    function test_a_payment_that_fails_leaves_the_escrow_open() public {
        Moody moody = new Moody();
        Escrow memory e = native();
        e.terms.refund = address(moody);
        vm.deal(address(moody), AMOUNT);
        fund(e);
        moody.set(Moody.Mood.Revert);
        expectError(abi.encodeWithSelector(ParleyEscrows.PaymentRejected.selector, moody, AMOUNT));
        refundEarly(RECIPIENT, e, "");
        expectState(e, OPEN);
        claim(e);
        TakesFee token = new TakesFee();
        token.set(0);
        give(address(token), funder, AMOUNT);
        e = escrowIn(address(token));
        fund(e);
        token.set(100);
        refundEarly(RECIPIENT, e, "");
        vm.assertEq(token.balanceOf(funder), AMOUNT * 99 / 100, "the receiver bears the fee");
    }
}
