// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

abstract contract Plain {
    mapping(address => uint256) internal _balances;
    mapping(address => mapping(address => uint256)) public allowance;

    function mint(address to, uint256 value) external virtual {
        _balances[to] += value;
    }

    function balanceOf(address who) public view virtual returns (uint256) {
        return _balances[who];
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return _answer();
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        require(allowance[from][msg.sender] >= value, "allowance");
        _move(from, to, value);
        return _answer();
    }

    function _answer() internal virtual returns (bool) {
        return true;
    }

    function _move(address from, address to, uint256 value) internal virtual {
        require(_balances[from] >= value, "balance");
        _balances[from] -= value;
        _balances[to] += value;
    }
}

/// @notice Takes an authorization of anybody's, whatever it says.
abstract contract Authorized is Plain {
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32,
        uint8,
        bytes32,
        bytes32
    ) external {
        _receive(from, to, value);
    }

    function _receive(address from, address to, uint256 value) internal virtual {
        _move(from, to, value);
    }
}

/// @notice Moves and answers false, as TRON's USDT does.
contract FalseOnSuccess is Plain {
    function _answer() internal pure override returns (bool) {
        return false;
    }
}

/// @notice Moves and answers nothing, as USDT does on Ethereum.
contract NoReturn is Plain {
    function _answer() internal pure override returns (bool) {
        assembly ("memory-safe") {
            return(0, 0)
        }
    }
}

/// @notice Keeps a share of what arrives, in hundredths of a percent.
contract TakesFee is Plain {
    uint256 public fee = 100;

    function set(uint256 next) external {
        fee = next;
    }

    function _move(address from, address to, uint256 value) internal override {
        super._move(from, to, value);
        _balances[to] -= value * fee / 10_000;
    }
}

contract FalseWithoutMoving is Plain {
    bool public stuck = true;

    function set(bool next) external {
        stuck = next;
    }

    function _move(address from, address to, uint256 value) internal override {
        if (!stuck) super._move(from, to, value);
    }

    function _answer() internal view override returns (bool) {
        return !stuck;
    }
}

/// @notice Answers true and moves nothing.
contract TrueWithoutMoving is Plain {
    function _move(address, address, uint256) internal override {}
}

/// @notice Every balance is a share of what `set` says (in percent).
contract Rebasing is Plain {
    uint256 public percent = 100;

    function set(uint256 next) external {
        percent = next;
    }

    function balanceOf(address who) public view override returns (uint256) {
        return _balances[who] * percent / 100;
    }

    function _move(address from, address to, uint256 value) internal override {
        super._move(from, to, value * 100 / percent);
    }
}

contract Blacklisting is Plain {
    mapping(address => bool) public listed;

    function set(address who, bool next) external {
        listed[who] = next;
    }

    function _move(address from, address to, uint256 value) internal override {
        require(!listed[from] && !listed[to], "listed");
        super._move(from, to, value);
    }
}

/// @notice Takes `extra` from the sender on top of what it moves.
contract ChargesTheSender is Plain {
    uint256 public extra;

    function set(uint256 next) external {
        extra = next;
    }

    function _move(address from, address to, uint256 value) internal override {
        super._move(from, to, value);
        _balances[from] -= extra;
    }
}

contract MovesAll is Plain {
    bool public all;

    function set(bool next) external {
        all = next;
    }

    function _move(address from, address to, uint256 value) internal override {
        super._move(from, to, all ? _balances[from] : value);
    }
}

/// @notice Takes a unit away from whom it should pay.
contract GoesBackwards is Plain {
    function _move(address, address to, uint256) internal override {
        _balances[to] -= 1;
    }
}

/// @notice Answers a megabyte, or reverts with one.
contract HugeAnswer is Plain {
    bool public reverts;

    function set(bool next) external {
        reverts = next;
    }

    function _answer() internal view override returns (bool) {
        bool bad = reverts;
        assembly ("memory-safe") {
            if bad { revert(0, 1000000) }
            return(0, 1000000)
        }
    }
}

/// @notice balanceOf answers 31 bytes, or reverts, or is as it should be.
contract ShortBalance is Plain {
    uint256 public mode;

    function set(uint256 next) external {
        mode = next;
    }

    function balanceOf(address who) public view override returns (uint256 held) {
        held = _balances[who];
        uint256 how = mode;
        assembly ("memory-safe") {
            if eq(how, 1) {
                mstore(0, held)
                return(0, 31)
            }
            if eq(how, 2) { revert(0, 0) }
        }
    }
}

/// @notice Answers a megabyte to a permit, or reverts with one.
contract HugePermit is Plain {
    bool public reverts;

    function set(bool next) external {
        reverts = next;
    }

    function permit(address, address, uint256, uint256, uint8, bytes32, bytes32) external view {
        bool bad = reverts;
        assembly ("memory-safe") {
            if bad { revert(0, 1000000) }
            return(0, 1000000)
        }
    }
}
