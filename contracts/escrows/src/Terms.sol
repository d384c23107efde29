// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice What one leg of a swap promises. The id of its escrow commits to every field.
/// @param hashlock   SHA-256 of the 32-byte secret.
/// @param payout     Who is paid by a claim, whoever sends it.
/// @param refund     Who funds, and who is paid by a refund, whoever sends it.
/// @param token      ERC-20 contract; zero means the chain's native asset.
/// @param amount     Base units of the token (wei or sun for native).
/// @param timelock   Unix seconds. Claims are possible before it, refunds from it on.
/// @param fundBefore Unix seconds. A funding that lands at this time or later is refused.
struct Terms {
    bytes32 hashlock;
    address payout;
    address refund;
    address token;
    uint256 amount;
    uint256 timelock;
    uint256 fundBefore;
}

/// @notice One of the escrows that `fundMany` opens.
struct Funding {
    Terms terms;
    uint96 lane;
    uint32 counter;
}

/// @notice One escrow in a batch, in three words: the coming fork prices each byte of calldata.
/// @param lock  A claim's secret, or a refund's hashlock.
/// @param place The refund address in a claim, the payout in a refund; then the lane's 12 bytes.
/// @param rest  The amount from bit 112 on, 40 bits of the timelock, 40 of `fundBefore`, and 32 of
///              the counter.
struct Leg {
    bytes32 lock;
    uint256 place;
    uint256 rest;
}

/// @notice The escrows of a batch that one payment settles.
/// @param to The payout of all of them in a claim, the refund address in a refund.
struct Group {
    address token;
    address to;
    Leg[] legs;
}
