// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

bytes32 constant DOMAIN =
    keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

/// Tokens that take signatures of their holders, well or badly. For abilities.test.ts.
contract Permitting {
    bytes32 private constant PERMIT = keccak256(
        "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
    );
    bytes32 private constant RECEIVE = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,"
        "uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => uint256) public nonces;
    bool public off;

    function name() public view virtual returns (string memory) {
        return "Signed";
    }

    function version() public view virtual returns (string memory) {
        return "7";
    }

    function DOMAIN_SEPARATOR() public view virtual returns (bytes32) {
        return _named(name(), version());
    }

    function _named(string memory name_, string memory version_) internal view returns (bytes32) {
        bytes32 n = keccak256(bytes(name_));
        return keccak256(
            abi.encode(DOMAIN, n, keccak256(bytes(version_)), block.chainid, address(this))
        );
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
    }

    function turnOff() external {
        off = true;
    }

    function permit(
        address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r,
        bytes32 s
    ) public virtual {
        require(!off && block.timestamp <= deadline, "off");
        bytes32 message =
            keccak256(abi.encode(PERMIT, owner, spender, value, nonces[owner]++, deadline));
        _check(owner, message, v, r, s);
        allowance[owner][spender] = value;
    }

    function _receive(
        address from, address to, uint256 value, uint256 validBefore, bytes32 nonce, uint8 v,
        bytes32 r, bytes32 s
    ) internal {
        require(!off && _mayBring(to), "off");
        _check(from, keccak256(abi.encode(RECEIVE, from, to, value, 0, validBefore, nonce)), v, r, s);
        balanceOf[from] -= value;
        balanceOf[to] += value;
    }

    function _mayBring(address to) internal view virtual returns (bool) {
        return msg.sender == to;
    }

    function _check(address expected, bytes32 message, uint8 v, bytes32 r, bytes32 s)
        internal view virtual {
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), message));
        require(ecrecover(digest, v, r, s) == expected, "signature");
    }
}

contract NoNothing is Permitting {
    function receiveWithAuthorization(
        address from, address to, uint256 value, uint256, uint256 validBefore, bytes32 nonce,
        uint8 v, bytes32 r, bytes32 s
    ) external {
        require(value > 0, "nothing");
        _receive(from, to, value, validBefore, nonce, v, r, s);
    }
}

/// Its authorizations may be brought by its payee, and by anybody once it is opened.
contract Guarded is Permitting {
    bool internal _open;

    function open() external {
        _open = true;
    }

    function receiveWithAuthorization(
        address from, address to, uint256 value, uint256, uint256 validBefore, bytes32 nonce,
        uint8 v, bytes32 r, bytes32 s
    ) external {
        _receive(from, to, value, validBefore, nonce, v, r, s);
    }

    function _mayBring(address to) internal view virtual override returns (bool) {
        return _open || msg.sender == to;
    }
}

contract Unguarded is Guarded {
    constructor() {
        _open = true;
    }
}

/// Any contract may bring them.
contract ForContracts is Guarded {
    function _mayBring(address) internal view override returns (bool) {
        return msg.sender.code.length > 0;
    }
}

/// So may everybody without code.
contract ForPeople is Guarded {
    function _mayBring(address to) internal view override returns (bool) {
        return msg.sender == to || msg.sender.code.length == 0;
    }
}

/// As tokens that Polygon's bridge made.
contract Bridged is Permitting {
    function ERC712_VERSION() external pure returns (string memory) {
        return "1";
    }

    function version() public pure override returns (string memory) {
        revert();
    }

    function DOMAIN_SEPARATOR() public view override returns (bytes32) {
        bytes32 types = keccak256(
            "EIP712Domain(string name,string version,address verifyingContract,bytes32 salt)"
        );
        bytes32 n = keccak256(bytes(name()));
        return keccak256(abi.encode(types, n, keccak256("1"), address(this), block.chainid));
    }
}

/// Takes anybody's signature for anybody's.
contract Careless is NoNothing {
    function _check(address, bytes32, uint8, bytes32, bytes32) internal pure override {}
}

/// Says the separator of another contract.
contract Lying is NoNothing {
    function DOMAIN_SEPARATOR() public pure override returns (bytes32) {
        return keccak256("of another");
    }
}

/// Its permit wants the right signature, and does nothing.
contract Ignoring is Permitting {
    function permit(
        address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r,
        bytes32 s
    ) public override {
        super.permit(owner, spender, value, deadline, v, r, s);
        allowance[owner][spender] = 0;
    }
}

contract DaiLike {
    mapping(address => uint256) public nonces;
    mapping(address => mapping(address => uint256)) public allowance;
    string public constant name = "Dai";
    string public constant version = "1";

    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return keccak256(
            abi.encode(DOMAIN, keccak256("Dai"), keccak256("1"), block.chainid, address(this))
        );
    }

    function permit(address holder, address spender, uint256, uint256, bool, uint8, bytes32, bytes32)
        external
    {
        allowance[holder][spender] = type(uint256).max;
    }
}

/// Takes every call it does not know for a deposit.
contract TakesCalls {
    mapping(address => mapping(address => uint256)) public allowance;
    string public constant name = "Wrapped";

    fallback() external payable {}
    receive() external payable {}
}

/// The same, and answers each with a word: its own separator.
contract AnswersAll {
    fallback() external payable {
        bytes32 types =
            keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)");
        bytes32 own =
            keccak256(abi.encode(types, keccak256("Answers"), block.chainid, address(this)));
        if (msg.sig == 0x06fdde03) {
            bytes memory text = abi.encode("Answers");
            assembly ("memory-safe") { return(add(text, 0x20), mload(text)) }
        }
        assembly ("memory-safe") {
            mstore(0, own)
            return(0, 0x20)
        }
    }
}

contract Megabyte {
    fallback() external payable {
        assembly ("memory-safe") { return(0, 0x100000) }
    }
}
