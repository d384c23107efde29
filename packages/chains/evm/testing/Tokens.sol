// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Base, Delegates, Separated} from "Base.sol";

/// Tokens for the checks of inspect.ts: each is a plain one with one thing changed.

contract Plain is Base {
    uint8 public constant decimals = 18;
    uint256 public totalSupply = 1_000_000 ether;
    mapping(address => uint256) internal held;

    constructor() {
        held[msg.sender] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function name() public view virtual returns (string memory) {
        return "Plain Token";
    }

    function symbol() public view virtual returns (string memory) {
        return "PLAIN";
    }

    function balanceOf(address who) public view virtual returns (uint256) {
        return held[who];
    }

    function _move(address from, address to, uint256 value) internal virtual override {
        require(held[from] >= value, "balance too low");
        held[from] -= value;
        held[to] += value;
        emit Transfer(from, to, value);
    }
}

abstract contract Owned {
    address public owner = msg.sender;

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    function renounceOwnership() external onlyOwner {
        owner = address(0);
    }
}

contract Fee is Plain {
    function _move(address from, address to, uint256 value) internal override {
        super._move(from, to, value - value * 3 / 100);
        held[from] -= value * 3 / 100;
    }
}

/// Transfers from a contract arrive short, and the contract loses no more than it sent.
contract FeeFromContracts is Plain {
    function _move(address from, address to, uint256 value) internal override {
        uint256 fee = from == msg.sender && from.code.length > 0 ? value / 20 : 0;
        super._move(from, to, value - fee);
        held[from] -= fee;
    }
}

contract LongReason is Plain {
    function _move(address, address, uint256) internal pure override {
        bytes memory text = new bytes(1_000);
        for (uint256 i = 0; i < 1_000; i++) text[i] = "x";
        revert(string(text));
    }
}

contract Elsewhere is Separated {
    string public constant name = "Elsewhere";
    string public constant symbol = "ELSE";
    uint8 public constant decimals = 6;
    uint256 public constant totalSupply = 1_000_000_000;

    constructor() {
        ledger.set(msg.sender, totalSupply);
        emit Transfer(address(0), msg.sender, totalSupply);
    }
}

/// A holder who did not get it from the owner's own list cannot pass it on.
contract Honeypot is Plain, Owned {
    mapping(address => bool) internal friends;

    function _move(address from, address to, uint256 value) internal override {
        require(from == owner || friends[from], "TRANSFER_\u202eFAILED");
        super._move(from, to, value);
    }
}

contract Pretender is Plain, Owned {
    function _move(address from, address to, uint256 value) internal override {
        if (from == owner) super._move(from, to, value);
    }
}

contract Pausable is Plain, Owned {
    bool public paused;

    function pause() external onlyOwner {
        paused = true;
    }

    function unpause() external onlyOwner {
        paused = false;
    }

    function _move(address from, address to, uint256 value) internal virtual override {
        require(!paused, "paused");
        super._move(from, to, value);
    }
}

/// Its owner() is gone, and somebody else may still pause.
contract HiddenOwner is Plain {
    address public constant owner = address(0);
    address internal keeper = msg.sender;
    bool internal off;

    function pause() external {
        require(msg.sender == keeper, "no");
        off = true;
    }

    function _move(address from, address to, uint256 value) internal override {
        require(!off, "off");
        super._move(from, to, value);
    }
}

contract Blacklisting is Plain, Owned {
    mapping(address => bool) public isBlackListed;

    function addBlackList(address who) external onlyOwner {
        isBlackListed[who] = true;
    }

    function _move(address from, address to, uint256 value) internal override {
        require(!isBlackListed[from], "blacklisted");
        super._move(from, to, value);
    }
}

contract Mintable is Plain, Owned {
    function mint(address to, uint256 value) external onlyOwner {
        held[to] += value;
        totalSupply += value;
    }
}

/// Given up by its owner, but with roles besides.
contract Roles is Plain, Owned {
    mapping(bytes32 => mapping(address => bool)) public hasRole;

    function grantRole(bytes32 role, address to) external {
        require(hasRole[0][msg.sender], "no role");
        hasRole[role][to] = true;
    }

    function mint(address to, uint256 value) external {
        require(hasRole["mint"][msg.sender], "no role");
        held[to] += value;
    }
}

contract Bytes32Names is Base {
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1_000 ether;
    bytes32 public constant symbol = "MKR";
    bytes32 public constant name = "Maker";
    mapping(address => uint256) public balanceOf;

    function _move(address from, address to, uint256 value) internal override {
        balanceOf[from] -= value;
        balanceOf[to] += value;
    }
}

contract HugeSymbol is Plain {
    function symbol() public pure override returns (string memory) {
        assembly {
            mstore(0, 0x20)
            mstore(0x20, 1000000)
            mstore(0x40, "MEGA")
            return(0, 1000064)
        }
    }
}

contract LongSymbol is Plain {
    function symbol() public pure override returns (string memory) {
        bytes memory text = new bytes(5_000);
        for (uint256 i = 0; i < 100; i++) text[i] = i % 2 == 0 ? bytes1("A") : bytes1(0x07);
        return string(text);
    }
}

contract ManyDecimals {
    uint8 public constant decimals = 255;
    uint256 public constant totalSupply = 1;
    string public constant symbol = "MANY";
    string public constant name = "Many Decimals";
    mapping(address => uint256) public balanceOf;
}

contract NoSupply is Plain {
    constructor() {
        totalSupply = 0;
    }
}

contract Generous is Plain {
    function balanceOf(address who) public view override returns (uint256) {
        return held[who] + 5;
    }
}

contract NotAToken {
    uint256 public totalSupply = 7;
}

contract LoopsAlways {
    fallback() external {
        while (true) {}
    }
}

contract DestroysItself is Plain {
    constructor() {
        selfdestruct(payable(msg.sender));
    }
}

contract Proxy is Delegates {
    constructor(bytes32 slot, address target, address admin) {
        assembly {
            sstore(slot, target)
            sstore(0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103, admin)
            sstore(0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00, slot)
        }
    }

    fallback() external {
        address target;
        assembly {
            target := sload(sload(0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00))
        }
        _delegate(target);
    }
}

/// For proxies: no constructor sets anything.
contract PlainBehind is Plain {
    bool internal begun;

    function begin() external virtual {
        _begin();
    }

    function _begin() internal {
        require(!begun, "begun");
        begun = true;
        totalSupply = 1_000_000 ether;
        held[msg.sender] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }
}

contract PausableBehind is PlainBehind, Owned {
    bool public paused;

    function begin() external override {
        _begin();
        owner = msg.sender;
    }

    function pause() external onlyOwner {
        paused = true;
    }
}

/// Anybody puts other code into the slot of EIP-1967, whatever admin the proxy has.
contract UpgradesItself is PlainBehind {
    function upgradeTo(address target) external {
        assembly {
            sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, target)
        }
    }
}

/// Speaks of shares, and keeps none yet.
contract NamesShares is PlainBehind {
    function sharesOf(address who) external view returns (uint256) {
        return held[who];
    }
}

contract Beacon {
    address public implementation;

    constructor(address implementation_) {
        implementation = implementation_;
    }
}

contract BeaconProxy is Delegates {
    constructor(address beacon) {
        assembly {
            sstore(0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50, beacon)
        }
    }

    fallback() external {
        address beacon;
        assembly {
            beacon := sload(0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50)
        }
        _delegate(Beacon(beacon).implementation());
    }
}

contract Diamond is Delegates {
    constructor(address facet_) {
        assembly {
            sstore(0x1234567890123456789012345678901234567890123456789012345678901234, facet_)
        }
    }

    function facetAddresses() external view returns (address[] memory all) {
        all = new address[](1);
        assembly {
            mstore(
                add(all, 0x20),
                sload(0x1234567890123456789012345678901234567890123456789012345678901234)
            )
        }
    }

    fallback() external {
        address target;
        assembly {
            target := sload(0x1234567890123456789012345678901234567890123456789012345678901234)
        }
        _delegate(target);
    }
}

/// A transfer of its own, and a door for any other code.
contract BackDoor is Plain, Owned {
    function run(address target, bytes calldata data) external onlyOwner {
        (bool ok,) = target.delegatecall(data);
        require(ok, "failed");
    }
}

contract ProxyAdmin is Owned {
    function upgrade(address, address) external onlyOwner {}
}

/// Its owner names a successor, as USDT's may; no call is handed on here.
contract Replaceable is Plain, Owned {
    bool public deprecated;
    address public upgradedAddress;

    function deprecate(address successor) external onlyOwner {
        deprecated = true;
        upgradedAddress = successor;
    }
}

contract Replaced is Replaceable {
    constructor() {
        deprecated = true;
    }
}

/// Its owner() is gone, and somebody else may still name a successor.
contract HiddenReplacer is Plain {
    address public constant owner = address(0);
    address internal keeper = msg.sender;
    address internal upgradedAddress;

    function deprecate(address successor) external {
        require(msg.sender == keeper, "no");
        upgradedAddress = successor;
    }
}

contract Mortal is Plain, Owned {
    function end() external onlyOwner {
        selfdestruct(payable(owner));
    }
}

contract MortalBehind is PlainBehind {
    function end() external {
        selfdestruct(payable(msg.sender));
    }
}

/// Says yes to a contract that sends its own, and moves nothing: a contract that holds it holds it
/// for good.
contract StuckInContracts is Plain {
    function _move(address from, address to, uint256 value) internal override {
        if (from == msg.sender && from.code.length > 0) return;
        super._move(from, to, value);
    }
}

contract AnswersFalse is Plain {
    function _answer() internal pure override returns (bool) {
        return false;
    }
}

/// Keeps what it stands for where no standard says.
contract LooseProxy is Delegates {
    address internal target;

    constructor(address target_) {
        target = target_;
    }

    fallback() external {
        _delegate(target);
    }
}
