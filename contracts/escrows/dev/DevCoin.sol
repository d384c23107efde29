// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {DevToken} from "./DevToken.sol";

/// @title A dollar with permits (EIP-2612) and authorizations (EIP-3009), as USDC has them.
/// @notice For development chains. Anyone mints; never use it for value.
contract DevCoin is DevToken {
    string public constant name = "Dev Coin";
    string public constant version = "2";
    string public constant symbol = "USDV";
    bytes32 private constant DOMAIN = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    );
    bytes32 private constant PERMIT = keccak256(
        "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
    );
    bytes32 private constant RECEIVE = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,"
        "uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    mapping(address => uint256) public nonces;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    error CallerIsNotReceiver(address caller, address receiver);
    error NotValidNow(uint256 timestamp, uint256 validAfter, uint256 validBefore);
    error AuthorizationAlreadyUsed(address authorizer, bytes32 nonce);
    error WrongSignature(address signer, address expected);

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                DOMAIN,
                keccak256(bytes(name)),
                keccak256(bytes(version)),
                block.chainid,
                address(this)
            )
        );
    }

    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        if (block.timestamp > deadline) revert NotValidNow(block.timestamp, 0, deadline);
        bytes32 message =
            keccak256(abi.encode(PERMIT, owner, spender, value, nonces[owner]++, deadline));
        _requireSigned(owner, message, v, r, s);
        _approve(owner, spender, value);
    }

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
    ) external {
        if (msg.sender != to) revert CallerIsNotReceiver(msg.sender, to);
        if (block.timestamp <= validAfter || block.timestamp >= validBefore) {
            revert NotValidNow(block.timestamp, validAfter, validBefore);
        }
        if (authorizationState[from][nonce]) revert AuthorizationAlreadyUsed(from, nonce);
        bytes32 message =
            keccak256(abi.encode(RECEIVE, from, to, value, validAfter, validBefore, nonce));
        _requireSigned(from, message, v, r, s);
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        _move(from, to, value);
    }

    function _requireSigned(address expected, bytes32 message, uint8 v, bytes32 r, bytes32 s)
        private
        view
    {
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), message));
        address signer = ecrecover(digest, v, r, s);
        if (signer == address(0) || signer != expected) revert WrongSignature(signer, expected);
    }
}
