// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Base} from "Base.sol";

contract Rejecting {
    bool public open;

    function set(bool value) external {
        open = value;
    }

    receive() external payable {
        require(open, "no deposits today");
    }
}

/// A token with an administration: blacklist, pause, and balances that can be rewritten.
contract Governed is Base {
    mapping(address => bool) public blacklisted;
    bool public paused;
    mapping(address => uint256) internal held;

    error Blacklisted(address who);

    function balanceOf(address who) public view virtual returns (uint256) {
        return held[who];
    }

    function mint(address to, uint256 value) external {
        held[to] += value;
    }

    function setBalance(address who, uint256 value) external {
        held[who] = value;
    }

    function setBlacklisted(address who, bool value) external {
        blacklisted[who] = value;
    }

    function setPaused(bool value) external {
        paused = value;
    }

    function _move(address from, address to, uint256 value) internal virtual override {
        require(!paused, "the token is paused");
        if (blacklisted[from]) revert Blacklisted(from);
        if (blacklisted[to]) revert Blacklisted(to);
        require(held[from] >= value, "balance too low");
        held[from] -= value;
        held[to] += value;
    }
}

/// Begins to take a tenth of what arrives when it is told to: transfers out stay exact.
contract LateFee is Governed {
    bool public takes;

    function setFee(bool value) external {
        takes = value;
    }

    function _move(address from, address to, uint256 value) internal override {
        super._move(from, to, value);
        if (takes) held[to] -= value / 10;
    }
}

/// A contract wallet of one owner, by EIP-1271, that can also send calls.
contract OwnedWallet {
    address public owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature)
        external view returns (bytes4) {
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        bool valid = ecrecover(hash, uint8(signature[64]), r, s) == owner;
        return valid ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }

    function send(address to, uint256 value, bytes calldata data) external {
        require(msg.sender == owner, "not the owner");
        (bool ok,) = to.call{value: value}(data);
        require(ok, "the call failed");
    }

    receive() external payable {}
}

contract WalletFactory {
    function make(address owner, bytes32 salt) external returns (address) {
        return address(new OwnedWallet{salt: salt}(owner));
    }
}
