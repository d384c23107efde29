// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

abstract contract Base {
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function approve(address spender, uint256 value) external virtual returns (bool) {
        allowance[msg.sender][spender] = value;
        return true;
    }

    function transfer(address to, uint256 value) external virtual returns (bool) {
        _move(msg.sender, to, value);
        return _answer();
    }

    function transferFrom(address from, address to, uint256 value)
        external virtual returns (bool) {
        require(allowance[from][msg.sender] >= value, "allowance too low");
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return _answer();
    }

    function _answer() internal pure virtual returns (bool) {
        return true;
    }

    function _move(address from, address to, uint256 value) internal virtual;
}

/// Balances of another contract, under keys of its own: no fixed slot.
contract Ledger {
    mapping(bytes32 => uint256) public amounts;

    function set(address who, uint256 value) external {
        amounts[keccak256(abi.encode(who, "ledger"))] = value;
    }

    function get(address who) external view returns (uint256) {
        return amounts[keccak256(abi.encode(who, "ledger"))];
    }
}

contract Separated is Base {
    Ledger public immutable ledger = new Ledger();

    function balanceOf(address who) public view returns (uint256) {
        return ledger.get(who);
    }

    function _move(address from, address to, uint256 value) internal virtual override {
        ledger.set(from, ledger.get(from) - value);
        ledger.set(to, ledger.get(to) + value);
        emit Transfer(from, to, value);
    }
}

/// Runs other code in its place.
abstract contract Delegates {
    function _delegate(address target) internal {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), target, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
