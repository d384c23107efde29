// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Terms} from "./Terms.sol";
import {Erc20} from "./Erc20.sol";
import {proxyInitCode} from "./ProxyCode.sol";

/// @title The rules of an escrow: one implementation behind the proxy of every swap leg.
///
/// An escrow stores nothing. Its address is the CREATE2 address of its terms, so the caller brings
/// the terms and the escrow checks that they lead to itself. There is no owner, no upgrade, no
/// pause, no fee, no approval and no other way out than `claim` and `refund`.
///
/// Whether an escrow is settled is its balance, not a flag: a claim needs the whole amount in it,
/// a refund needs something in it. Reentrancy gains nothing: the clock allows either claims or
/// refunds within one transaction, never both, each pays one fixed address only, and a token claim
/// nested in another makes the outer one lose twice the amount, which reverts both.
///
/// Money that did not come through the factory:
/// - native sent to a deployed escrow by a plain transfer is refused (there is no receive);
/// - the escrow's own asset that was sent there before it was deployed, forced in, or sent after
///   it settled belongs to the same terms: while the timelock has not passed, each further whole
///   amount can be claimed for `payout` with the secret; from the timelock on all of it can be
///   refunded to `refund`. It can never block or alter the swap itself;
/// - any other asset (another token, or native forced into a token's escrow) is lost.
contract ParleyEscrow {
    /// @notice The whole amount was paid to `payout`. The first one always paid what was funded.
    event EscrowClaimed(bytes32 secret);

    /// @notice All that the escrow held was sent to `refund`. Never before the timelock.
    event EscrowRefunded();

    /// @notice The terms given belong to the escrow `derived`, not to this one.
    error TermsMismatch(address escrow, address derived);
    error ClaimTooLate(uint256 timelock, uint256 timestamp);
    error RefundTooEarly(uint256 timelock, uint256 timestamp);
    error WrongSecret(bytes32 hashlock, bytes32 hash);
    /// @notice Less in the escrow than the terms promise: settled already, or a token shrank it.
    error BalanceTooLow(uint256 balance, uint256 amount);
    error NothingToRefund();
    /// @notice A native payment was refused by its receiver. Nothing changed; try again later.
    error PaymentRejected(address to, uint256 amount);
    /// @notice A claim made the escrow lose something else than the amount.
    error WrongAmountSent(
        address token, uint256 balanceBefore, uint256 balanceAfter, uint256 amount
    );

    /// @dev 0xff and the factory's address, left aligned: how a CREATE2 preimage begins.
    bytes32 private immutable _create2Prefix;
    bytes32 private immutable _proxyInitCodeHash;

    /// @dev Deployed by the factory in its own constructor, so each knows the other for good.
    constructor() {
        _create2Prefix = bytes32(abi.encodePacked(bytes1(0xff), msg.sender, bytes11(0)));
        _proxyInitCodeHash = keccak256(proxyInitCode(address(this)));
    }

    /// @notice Pays exactly `terms.amount` to `terms.payout`. Anyone may call, before the timelock.
    /// @param terms  The terms this escrow was funded under.
    /// @param secret The 32 bytes whose SHA-256 is `terms.hashlock`. Public from now on.
    function claim(Terms calldata terms, bytes32 secret) external {
        _requireOwn(terms);
        if (block.timestamp >= terms.timelock) {
            revert ClaimTooLate(terms.timelock, block.timestamp);
        }
        bytes32 hash = _sha256(secret);
        if (hash != terms.hashlock) revert WrongSecret(terms.hashlock, hash);

        address token = terms.token;
        uint256 amount = terms.amount;
        if (token == address(0)) {
            uint256 balance = address(this).balance;
            if (balance < amount) revert BalanceTooLow(balance, amount);
            _pay(terms.payout, amount);
        } else {
            uint256 balance = Erc20.balanceOf(token, address(this));
            if (balance < amount) revert BalanceTooLow(balance, amount);
            Erc20.transfer(token, terms.payout, amount);
            uint256 left = Erc20.balanceOf(token, address(this));
            unchecked {
                // balance >= amount, so no larger `left` can wrap around to the amount
                if (balance - left != amount) {
                    revert WrongAmountSent(token, balance, left, amount);
                }
            }
        }
        emit EscrowClaimed(secret);
    }

    /// @notice Sends all that is left to `terms.refund`. Anyone may call, from the timelock on.
    /// @dev What arrives is not checked: a token that turned a fee on must still be able to leave.
    /// @param terms The terms this escrow was funded under.
    function refund(Terms calldata terms) external {
        _requireOwn(terms);
        if (block.timestamp < terms.timelock) {
            revert RefundTooEarly(terms.timelock, block.timestamp);
        }

        address token = terms.token;
        if (token == address(0)) {
            uint256 balance = address(this).balance;
            if (balance == 0) revert NothingToRefund();
            _pay(terms.refund, balance);
        } else {
            uint256 balance = Erc20.balanceOf(token, address(this));
            if (balance == 0) revert NothingToRefund();
            Erc20.transfer(token, terms.refund, balance);
        }
        emit EscrowRefunded();
    }

    /// @dev Hashes the words as they came. The factory refuses an address with dirty upper bytes,
    ///      so no such words lead to an escrow.
    function _requireOwn(Terms calldata terms) private view {
        bytes32 prefix = _create2Prefix;
        bytes32 codeHash = _proxyInitCodeHash;
        address derived;
        assembly ("memory-safe") {
            let m := mload(0x40)
            calldatacopy(m, terms, 0xc0)
            let salt := keccak256(m, 0xc0)
            mstore(m, prefix)
            mstore(add(m, 21), salt)
            mstore(add(m, 53), codeHash)
            derived := and(keccak256(m, 85), 0xffffffffffffffffffffffffffffffffffffffff)
        }
        if (derived != address(this)) revert TermsMismatch(address(this), derived);
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

    function _pay(address to, uint256 amount) private {
        bool ok;
        assembly ("memory-safe") {
            ok := call(gas(), to, amount, 0, 0, 0, 0) // copies nothing of what comes back
        }
        if (!ok) revert PaymentRejected(to, amount);
    }
}
