// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice A wallet that is code (EIP-1271), with one answer about one digest alone.
contract Wallet {
    bytes32 private _digest;
    bytes private _answer;
    bool private _writes;
    bool private _reverts;
    uint256 public asked;

    function set(bytes32 digest, bytes calldata answer_) external {
        (_digest, _answer) = (digest, answer_);
    }

    function misbehave(bool writes, bool reverts) external {
        (_writes, _reverts) = (writes, reverts);
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external {
        if (_writes) asked += 1;
        bytes memory said = digest == _digest && signature.length != 66 ? _answer : bytes("");
        bool reverts = _reverts;
        assembly ("memory-safe") {
            if reverts { revert(add(said, 0x20), mload(said)) }
            return(add(said, 0x20), mload(said))
        }
    }

    receive() external payable {}
}
