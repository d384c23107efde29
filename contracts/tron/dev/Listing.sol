// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

// Tokens that somebody may ask to have listed, each with one reason for or against it. For tests.

/// @dev Where a token and what stands before it keep their numbers.
abstract contract Books {
    uint256 internal _supply = 1_000_000_000_000_000;
    mapping(address => uint256) internal _balances;
    mapping(address => mapping(address => uint256)) internal _allowances;
    address internal _owner = msg.sender;

    constructor() {
        _balances[msg.sender] = _supply;
    }
}

contract Good is Books {
    function name() external pure virtual returns (string memory) {
        return "Good Coin";
    }

    function symbol() external view virtual returns (string memory) {
        return "GOOD";
    }

    function decimals() external pure virtual returns (uint8) {
        return 6;
    }

    function totalSupply() external view returns (uint256) {
        return _supply;
    }

    function balanceOf(address who) public view virtual returns (uint256) {
        return _balances[who];
    }

    function allowance(address owner_, address spender) external view returns (uint256) {
        return _allowances[owner_][spender];
    }

    function approve(address spender, uint256 value) external returns (bool) {
        _allowances[msg.sender][spender] = value;
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return _answer();
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        require(_allowances[from][msg.sender] >= value, "allowance");
        _allowances[from][msg.sender] -= value;
        _move(from, to, value);
        return _answer();
    }

    function _answer() internal pure virtual returns (bool) {
        return true;
    }

    function _move(address from, address to, uint256 value) internal virtual {
        require(_balances[from] >= value, "balance");
        _balances[from] -= value;
        _balances[to] += value;
    }
}

abstract contract Owned is Good {
    function owner() external view returns (address) {
        return _owner;
    }

    function renounceOwnership() external onlyOwner {
        _owner = address(0);
    }

    modifier onlyOwner() {
        require(msg.sender == _owner, "not the owner");
        _;
    }
}

contract AnswersFalseButMoves is Good {
    function _answer() internal pure override returns (bool) {
        return false;
    }
}

contract TakesOnePercent is Good {
    function _move(address from, address to, uint256 value) internal override {
        super._move(from, to, value);
        _balances[to] -= value / 100;
    }
}

contract Honeypot is Good {
    mapping(address => bool) private _stuck;

    function _move(address from, address to, uint256 value) internal override {
        require(!_stuck[from], "Bought is bought\u200b");
        if (to.code.length == 0) _stuck[to] = true;
        super._move(from, to, value);
    }
}

/// @notice Goes well for half an hour.
contract TimeTrap is Good {
    uint256 private immutable _until = block.timestamp + 30 minutes;

    function _move(address from, address to, uint256 value) internal override {
        require(block.timestamp < _until, "over");
        super._move(from, to, value);
    }
}

contract CanPause is Owned {
    bool public paused;

    function pause() external onlyOwner {
        paused = true;
    }

    function unpause() external onlyOwner {
        paused = false;
    }

    function _move(address from, address to, uint256 value) internal override {
        require(!paused, "paused");
        super._move(from, to, value);
    }
}

contract CanPauseByRole is CanPause {
    mapping(bytes32 => mapping(address => bool)) public hasRole;
}

contract StopsNow is Good {
    error Stopped(uint256 since);

    function _move(address, address, uint256) internal view override {
        if (_supply != 0) revert Stopped(1);
    }
}

/// @notice Its owner names a successor, as USDT's may; no call is handed on here.
contract CanBeReplaced is Owned {
    bool public deprecated;
    address public upgradedAddress;

    function deprecate(address successor) external onlyOwner {
        deprecated = true;
        upgradedAddress = successor;
    }
}

contract IsReplaced is CanBeReplaced {
    constructor() {
        deprecated = true;
    }
}

contract HasBlacklist is Owned {
    mapping(address => bool) public isBlackListed;

    function addBlackList(address who) external onlyOwner {
        isBlackListed[who] = true;
    }

    function _move(address from, address to, uint256 value) internal override {
        require(!isBlackListed[from], "listed");
        super._move(from, to, value);
    }
}

contract CanMint is Owned {
    function mint(address to, uint256 value) external onlyOwner {
        _supply += value;
        _balances[to] += value;
    }
}

/// @notice 100 kB, and more are claimed to be there.
contract HugeSymbol is Good {
    function symbol() external pure override returns (string memory) {
        assembly ("memory-safe") {
            mstore(0x00, 0x20)
            mstore(0x20, 99000)
            for { let p := 0x40 } lt(p, 4096) { p := add(p, 0x20) } {
                mstore(p, "HUGEHUGEHUGEHUGEHUGEHUGEHUGEHUGE")
            }
            return(0x00, 100000)
        }
    }
}

/// @notice 32 bytes and no string, as the first tokens answer.
contract OldSymbol is Good {
    function symbol() external pure override returns (string memory) {
        assembly ("memory-safe") {
            mstore(0x00, "OLD")
            return(0x00, 0x20)
        }
    }
}

/// @notice It can be paused besides, which is no reason for the loop.
contract LoopsInTransfer is Owned {
    bool public paused;

    function pause() external onlyOwner {
        paused = true;
    }

    function _move(address, address, uint256) internal view override {
        while (_supply != 0) {}
    }
}

contract LoopsInBalance is Good {
    function balanceOf(address) public view override returns (uint256) {
        while (_supply != 0) {}
        return 0;
    }
}

contract ManyDecimals is Good {
    function decimals() external pure override returns (uint8) {
        return 37;
    }
}

/// @notice A thousand shares are a unit, as in tokens that pay interest.
contract KeepsShares is Good {
    function balanceOf(address who) public view override returns (uint256) {
        return _balances[who] / 1000;
    }

    function _move(address from, address to, uint256 value) internal override {
        super._move(from, to, value * 1000);
    }
}

/// @notice A balance counts only where two books agree on it.
contract TwoBooks is Good {
    mapping(address => uint256) private _again;

    function balanceOf(address who) public view override returns (uint256) {
        return _balances[who] < _again[who] ? _balances[who] : _again[who];
    }
}

contract ReadsALot is Good {
    uint256[1000] private _rows;

    function _move(address from, address to, uint256 value) internal override {
        for (uint256 row = 0; row < 1000; row++) require(_rows[row] == 0, "row");
        super._move(from, to, value);
    }
}

/// @notice At most a hundredth of all there is at a time.
contract HasLimit is Good {
    function _move(address from, address to, uint256 value) internal override {
        require(value <= _supply / 100, "too much");
        super._move(from, to, value);
    }
}

/// @notice Nothing moves before somebody opens it.
contract NotOpened is Owned {
    bool public tradingOpen;

    function start() external onlyOwner {
        tradingOpen = true;
    }

    function _move(address from, address to, uint256 value) internal override {
        require(tradingOpen, "not open");
        super._move(from, to, value);
    }
}

contract HiddenKeeper is Good {
    address private _keeper = msg.sender;
    bool private _stopped;

    function owner() external pure returns (address) {
        return address(0);
    }

    function pause() external {
        require(msg.sender == _keeper);
        _stopped = true;
    }

    function _move(address from, address to, uint256 value) internal override {
        require(!_stopped, "stopped");
        super._move(from, to, value);
    }
}

contract AnybodyMints is Good {
    function mint(address to, uint256 value) external {
        _supply += value;
        _balances[to] += value;
    }
}

contract Grows is Good {
    function balanceOf(address who) public view override returns (uint256) {
        return _balances[who] * (365 days + block.timestamp % 365 days) / 365 days;
    }
}

contract ShowsToAll is Good {
    function balanceOf(address who) public view override returns (uint256) {
        return _balances[who] + 5;
    }
}

contract NothingThere {
    uint256 public answer = 42;
}

/// @notice EIP-1967, with an administrator.
contract Proxy is Books {
    constructor(address implementation, address admin) {
        assembly {
            sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, implementation)
            sstore(0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103, admin)
        }
    }

    fallback() external {
        assembly {
            let to := sload(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc)
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), to, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}

/// @notice Keeps what it stands for where no standard says.
contract LooseProxy is Books {
    address private _target;

    constructor(address target) {
        _target = target;
    }

    fallback() external {
        address to = _target;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), to, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
