// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// A launchpad for tests, on EVM and TRON: it launches tokens that nobody has power over, and can be
// made to say what no honest one says.

contract LaunchedToken {
    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1_000_000_000 ether;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory symbol_, address holder) {
        name = symbol_;
        symbol = symbol_;
        balanceOf[holder] = totalSupply;
        emit Transfer(address(0), holder, totalSupply);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        move(from, to, value);
        return true;
    }

    function move(address from, address to, uint256 value) private {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

contract Launchpad {
    event TokenCreated(address indexed token, address creator);
    event TokenListed(uint256 id, string symbol, address token, address indexed creator);

    uint256 public launched;

    function launch(string calldata symbol) public {
        address token = address(new LaunchedToken(symbol, msg.sender));
        emit TokenCreated(token, msg.sender);
        emit TokenListed(launched++, symbol, token, msg.sender);
    }

    function launchMany(string[] calldata symbols) external {
        for (uint256 at; at < symbols.length; ++at) launch(symbols[at]);
    }

    /// What it says need not be so.
    function say(uint256 token) external {
        bytes32 topic = TokenCreated.selector;
        assembly {
            mstore(0, caller())
            log2(0, 32, topic, token)
        }
    }
}
