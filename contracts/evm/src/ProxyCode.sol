// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice The code of every escrow: 38 bytes that hand each call to the implementation.
///
/// Creation (9 bytes), returns what follows it:
///   60 26 80 60 09 3d 39 3d f3
/// Runtime (38 bytes):
///   36 3d 3d 37          calldatacopy(0, 0, calldatasize)
///   36 3d 36 3d          out size = calldatasize, out 0, in size = calldatasize, in 0
///   73 <implementation>
///   5a f4                delegatecall
///   60 25 57             success: jump to the last byte, past which the EVM stops
///   3d 5f fd             failure: revert(0, returndatasize)
///   5b
///
/// Why it is shorter than the well-known 44 bytes (each byte costs 200 gas at funding): claim and
/// refund return nothing, so success needs no copy; and the delegatecall itself writes the revert
/// data over the calldata, up to its size. The errors of the implementation are at most 132 bytes
/// and every call that reaches them carries at least 196, so an error always fits.
function proxyInitCode(address implementation) pure returns (bytes memory) {
    return abi.encodePacked(
        hex"60268060093d393df3363d3d37363d363d73", implementation, hex"5af46025573d5ffd5b"
    );
}
