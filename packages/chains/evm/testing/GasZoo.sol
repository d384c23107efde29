// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Base} from "Base.sol";

/// A token that is plain until it is told otherwise.
contract Whim is Base {
    uint256 public writes;
    bool public shouts;
    bool public knowsTrials;
    uint256 private next;
    mapping(uint256 => uint256) private junk;
    mapping(address => uint256) public balanceOf;

    function set(uint256 writes_, bool shouts_, bool knowsTrials_) external {
        (writes, shouts, knowsTrials) = (writes_, shouts_, knowsTrials_);
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
    }

    function _move(address from, address to, uint256 value) internal override {
        if (knowsTrials) require(tx.gasprice == 0, "not in a trial");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        for (uint256 i = 0; i < writes; i++) junk[next++] = 1;
        if (!shouts) return;
        assembly ("memory-safe") {
            revert(0, 120000)
        }
    }
}

contract Furnace {
    bool public burns;
    uint256 public writes;
    mapping(uint256 => uint256) private junk;
    uint256 private next;

    function set(bool burns_, uint256 writes_) external {
        (burns, writes) = (burns_, writes_);
    }

    receive() external payable {
        while (burns) {}
        for (uint256 i = 0; i < writes; i++) junk[next++] = 1;
    }
}

contract Burner {
    bool public shouts;

    function set(bool shouts_) external {
        shouts = shouts_;
    }

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        bytes32 kind = keccak256(
            "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
        );
        bytes32 name = keccak256("Dev Coin");
        return keccak256(abi.encode(kind, name, keccak256("2"), block.chainid, address(this)));
    }

    fallback() external {
        while (!shouts) {}
        assembly ("memory-safe") {
            revert(0, 120000)
        }
    }
}
