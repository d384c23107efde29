// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice ERC-20 calls that look at no return value and copy none.
///
/// What a token answers is no evidence: USDT answers nothing, TRON's USDT answers false on success,
/// others answer true and move less. The callers compare balances instead. And nothing of the
/// answer is copied, so that a token cannot make a caller pay for its length.
library Erc20 {
    /// @param token The token whose call reverted, or whose balanceOf answered less than a word.
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

    function transferFrom(address token, address from, address to, uint256 amount) internal {
        bool ok;
        assembly ("memory-safe") {
            let m := mload(0x40)
            mstore(m, shl(224, 0x23b872dd)) // transferFrom(address,address,uint256)
            mstore(add(m, 0x04), from)
            mstore(add(m, 0x24), to)
            mstore(add(m, 0x44), amount)
            ok := call(gas(), token, 0, m, 0x64, 0, 0)
        }
        if (!ok) revert TokenCallFailed(token);
    }
}
