// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The least that a contract wallet does: an owner's calls, one or several, and EIP-1271.
/// @notice For measurements and tests. An account that delegates to it (EIP-7702) calls itself.
contract DevWallet {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    address public owner;
    address public entryPoint;

    error NotAllowed(address caller);
    error CallFailed(uint256 index, bytes answer);

    constructor(address owner_, address entryPoint_) {
        owner = owner_;
        entryPoint = entryPoint_;
    }

    receive() external payable {}

    function execute(address to, uint256 value, bytes calldata data) external {
        _requireAllowed();
        _call(0, to, value, data);
    }

    function executeBatch(Call[] calldata calls) external {
        _requireAllowed();
        for (uint256 i = 0; i < calls.length; ++i) {
            _call(i, calls[i].to, calls[i].value, calls[i].data);
        }
    }

    function isValidSignature(bytes32 hash, bytes calldata signature)
        external
        view
        returns (bytes4)
    {
        return _signedByOwner(hash, signature) ? this.isValidSignature.selector : bytes4(0xffffffff);
    }

    /// @notice As ERC-4337 has it: 0 for a good signature, 1 for another.
    function validateUserOp(bytes32 hash, bytes calldata signature)
        external
        view
        returns (uint256)
    {
        if (msg.sender != entryPoint) revert NotAllowed(msg.sender);
        return _signedByOwner(hash, signature) ? 0 : 1;
    }

    function _requireAllowed() private view {
        if (msg.sender == address(this) || msg.sender == owner || msg.sender == entryPoint) return;
        revert NotAllowed(msg.sender);
    }

    function _call(uint256 index, address to, uint256 value, bytes calldata data) private {
        (bool succeeded, bytes memory answer) = to.call{value: value}(data);
        if (!succeeded) revert CallFailed(index, answer);
    }

    function _signedByOwner(bytes32 hash, bytes calldata signature) private view returns (bool) {
        if (signature.length != 65) return false;
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        address signer = ecrecover(hash, uint8(signature[64]), r, s);
        return signer != address(0) && signer == owner;
    }
}

/// @title What an ERC-4337 entry point does around one operation: nonce, signature, call, payment.
/// @notice For measurements: it is no entry point, and takes less than the deployed ones do.
contract DevEntryPoint {
    struct Operation {
        DevWallet sender;
        uint256 nonce;
        bytes callData;
        uint256 fee;
        bytes signature;
    }

    mapping(DevWallet => uint256) public deposits;
    mapping(DevWallet => uint256) public nonces;

    event UserOperationEvent(
        bytes32 indexed hash, DevWallet indexed sender, uint256 nonce, bool succeeded, uint256 fee
    );

    error WrongNonce(uint256 nonce);
    error WrongSignature();
    error PaymentFailed();

    function depositTo(DevWallet wallet) external payable {
        deposits[wallet] += msg.value;
    }

    function hashOf(Operation calldata op) public view returns (bytes32) {
        return keccak256(
            abi.encode(op.sender, op.nonce, keccak256(op.callData), op.fee, address(this), block.chainid)
        );
    }

    function handleOps(Operation[] calldata ops, address payable beneficiary) external {
        uint256 collected = 0;
        for (uint256 i = 0; i < ops.length; ++i) {
            Operation calldata op = ops[i];
            bytes32 hash = hashOf(op);
            if (nonces[op.sender]++ != op.nonce) revert WrongNonce(op.nonce);
            if (op.sender.validateUserOp(hash, op.signature) != 0) revert WrongSignature();
            deposits[op.sender] -= op.fee;
            (bool succeeded,) = address(op.sender).call(op.callData);
            emit UserOperationEvent(hash, op.sender, op.nonce, succeeded, op.fee);
            collected += op.fee;
        }
        (bool paid,) = beneficiary.call{value: collected}("");
        if (!paid) revert PaymentFailed();
    }
}
