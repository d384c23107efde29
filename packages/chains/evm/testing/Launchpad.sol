// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Base} from "Base.sol";

// A launchpad for tests, on EVM and TRON: it launches tokens that nobody has power over, and can be
// made to say what no honest one says.

contract LaunchedToken is Base {
    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1_000_000_000 ether;
    mapping(address => uint256) public balanceOf;

    constructor(string memory symbol_, address holder) {
        name = symbol_;
        symbol = symbol_;
        balanceOf[holder] = totalSupply;
        emit Transfer(address(0), holder, totalSupply);
    }

    function _move(address from, address to, uint256 value) internal override {
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

    /// The address need not be a token's.
    function say(uint256 token) external {
        bytes32 topic = TokenCreated.selector;
        assembly {
            mstore(0, caller())
            log2(0, 32, topic, token)
        }
    }
}
