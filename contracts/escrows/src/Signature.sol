// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

struct Signature {
    uint8 v;
    bytes32 r;
    bytes32 s;
}

/// @notice An account agrees by its signature. That is good for one escrow, which is open once, so
///         another form of the same signature opens nothing more.
library Consent {
    /// @dev Also the selector of the question (EIP-1271).
    bytes4 private constant YES = 0x1626ba7e;

    error WrongSigner(address signer, address expected);

    function requireFrom(Signature calldata signature, address expected, bytes32 digest)
        internal
        pure
    {
        address signer = ecrecover(digest, signature.v, signature.r, signature.s);
        if (signer != expected || signer == address(0)) revert WrongSigner(signer, expected);
    }

    /// @param signature r, s and v of the account's key; or whatever its code takes for a
    ///        signature. The key counts first, because its code may be lent (EIP-7702).
    /// @param account Not zero, or every signature would be good.
    function isFrom(bytes calldata signature, address account, bytes32 digest)
        internal
        view
        returns (bool)
    {
        if (signature.length == 65) {
            (bytes32 r, bytes32 s) = abi.decode(signature[:64], (bytes32, bytes32));
            if (ecrecover(digest, uint8(signature[64]), r, s) == account) return true;
        }
        bytes memory question = abi.encodeWithSelector(YES, digest, signature);
        bytes32 answer;
        bool ok;
        assembly ("memory-safe") {
            ok := staticcall(gas(), account, add(question, 0x20), mload(question), 0x00, 0x20)
            ok := and(ok, gt(returndatasize(), 0x1f))
            answer := mload(0x00)
        }
        return ok && answer == YES;
    }
}
