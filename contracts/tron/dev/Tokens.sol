// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice The hostile tokens, each one fault away from a plain one.
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

    function transfer(address to, uint256 value) external virtual returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value)
        external
        virtual
        returns (bool)
    {
        require(allowance[from][msg.sender] >= value, "allowance");
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) internal virtual {
        require(_balances[from] >= value, "balance");
        _balances[from] -= value;
        _balances[to] += value;
    }
}

/// @notice Answers false and moves nothing, while told so. Never reverts.
contract FalseWithoutMoving is Plain {
    bool public stuck = true;

    function set(bool next) external {
        stuck = next;
    }

    function transfer(address to, uint256 value) external override returns (bool) {
        if (stuck) return false;
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value)
        external
        override
        returns (bool)
    {
        if (stuck) return false;
        _move(from, to, value);
        return true;
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

contract Pausable is Plain {
    bool public paused;

    function set(bool next) external {
        paused = next;
    }

    function _move(address from, address to, uint256 value) internal override {
        require(!paused, "paused");
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

/// @notice Moves more than it was told to: all that the sender has.
contract MovesAll is Plain {
    bool public all;

    function set(bool next) external {
        all = next;
    }

    function _move(address from, address to, uint256 value) internal override {
        super._move(from, to, all ? _balances[from] : value);
    }
}

/// @notice Pays the escrow and takes a unit more away from it than it held before.
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

    function transfer(address to, uint256 value) external override returns (bool) {
        _move(msg.sender, to, value);
        _bomb();
    }

    function transferFrom(address from, address to, uint256 value)
        external
        override
        returns (bool)
    {
        _move(from, to, value);
        _bomb();
    }

    function _bomb() private view {
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

interface Hooked {
    function tokensToSend(address from, address to, uint256 value) external;
    function tokensReceived(address from, address to, uint256 value) external;
}

/// @notice ERC-777 manners: sender and receiver are called before and after the move.
contract Hooks is Plain {
    mapping(address => address) public hookOf;
    /// @notice Calls the receiver before anything moved, as careless tokens do.
    bool public early;

    function register(address hook) external {
        hookOf[msg.sender] = hook;
    }

    function set(bool next) external {
        early = next;
    }

    function _move(address from, address to, uint256 value) internal override {
        if (hookOf[from] != address(0)) Hooked(hookOf[from]).tokensToSend(from, to, value);
        if (early) _received(from, to, value);
        super._move(from, to, value);
        if (!early) _received(from, to, value);
    }

    function _received(address from, address to, uint256 value) private {
        if (hookOf[to] != address(0)) Hooked(hookOf[to]).tokensReceived(from, to, value);
    }
}
