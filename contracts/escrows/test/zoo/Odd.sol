// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "../Vm.sol";

/// @notice Everybody holds the same, and paying makes it more.
contract Paradox {
    uint256 private _held;

    function set(uint256 held_) external {
        _held = held_;
    }

    function balanceOf(address) external view returns (uint256) {
        return _held;
    }

    function transferFrom(address, address, uint256 value) external {
        _held += value;
    }

    function transfer(address, uint256) external {
        _held += 1;
    }
}

/// @notice The chain's own coin under a token's address, as on Celo: one balance, two names.
contract TwoNames {
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    function balanceOf(address who) external view returns (uint256) {
        return who.balance;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        require(from.balance >= value, "balance");
        vm.deal(from, from.balance - value);
        vm.deal(to, to.balance + value);
    }
}

interface Books {
    function balanceOf(address who) external view returns (uint256);
    function moveBetween(address from, address to, uint256 value) external;
}

/// @notice A second address for the balances of another token, as some old tokens have.
contract SecondDoor {
    Books private immutable _books;

    constructor(Books books) {
        _books = books;
    }

    function balanceOf(address who) external view returns (uint256) {
        return _books.balanceOf(who);
    }

    function transfer(address to, uint256 value) external {
        _books.moveBetween(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        _books.moveBetween(from, to, value);
    }
}
