// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice How money comes in: by allowance, by a permit before it (EIP-2612), or by an
///         authorization (EIP-3009). What the first answers differs, so nothing is declared.
interface Inbound {
    function transferFrom(address from, address to, uint256 value) external;
    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external;
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external;
}

/// @notice Token calls that look at no return value and copy none.
///
/// What a token answers is no evidence: USDT answers nothing, TRON's USDT answers false on success,
/// others answer true and move less. The escrows compare balances instead. Nothing of an answer is
/// copied, so a token cannot make a caller pay for its length.
library Token {
    /// @param token The token whose call reverted, or whose view answered less than a word.
    error TokenCallFailed(address token);

    function balanceOf(address token, address who) internal view returns (uint256 held) {
        bool ok;
        assembly ("memory-safe") {
            mstore(0x00, shl(224, 0x70a08231)) // balanceOf(address)
            mstore(0x04, who)
            ok := staticcall(gas(), token, 0x00, 0x24, 0x00, 0x20)
            ok := and(ok, gt(returndatasize(), 0x1f))
            held := mload(0x00)
        }
        if (!ok) revert TokenCallFailed(token);
    }

    function domainSeparator(address token) internal view returns (bytes32 separator) {
        bool ok;
        assembly ("memory-safe") {
            mstore(0x00, shl(224, 0x3644e515)) // DOMAIN_SEPARATOR()
            ok := staticcall(gas(), token, 0x00, 0x04, 0x00, 0x20)
            ok := and(ok, gt(returndatasize(), 0x1f))
            separator := mload(0x00)
        }
        if (!ok) revert TokenCallFailed(token);
    }

    function transfer(address token, address to, uint256 amount) internal {
        bool ok;
        assembly ("memory-safe") {
            let m := mload(0x40)
            mstore(m, shl(224, 0xa9059cbb)) // transfer(address,uint256)
            mstore(add(m, 0x04), to)
            mstore(add(m, 0x24), amount)
            ok := call(gas(), token, 0, m, 0x44, 0, 0)
        }
        if (!ok) revert TokenCallFailed(token);
    }

    /// @dev Any call whose outcome counts, to bring money in.
    function pull(address token, bytes memory data) internal {
        bool ok;
        assembly ("memory-safe") {
            ok := call(gas(), token, 0, add(data, 0x20), mload(data), 0, 0)
        }
        if (!ok) revert TokenCallFailed(token);
    }

    /// @dev A call that may fail, such as a permit that somebody else has already used.
    function attempt(address token, bytes memory data) internal {
        assembly ("memory-safe") {
            pop(call(gas(), token, 0, add(data, 0x20), mload(data), 0, 0))
        }
    }
}
