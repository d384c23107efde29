// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice What one leg of a swap promises. The address of its escrow commits to every field.
/// @param hashlock SHA-256 of the 32-byte secret.
/// @param payout   Who is paid by a claim, whoever sends it.
/// @param refund   Who funds, and who is paid by a refund, whoever sends it.
/// @param token    ERC-20 contract; zero means the chain's native asset.
/// @param amount   Base units of the token (wei for native).
/// @param timelock Unix seconds. Claims are possible before it, refunds from it on.
struct Terms {
    bytes32 hashlock;
    address payout;
    address refund;
    address token;
    uint256 amount;
    uint256 timelock;
}
