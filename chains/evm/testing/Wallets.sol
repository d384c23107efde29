// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;


/// Says yes to every signature of every message.
contract YesWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0x1626ba7e;
    }
}

contract NoWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0xffffffff;
    }
}

/// Answers with what it was asked, which begins with the selector: the magic value.
contract Echo {
    fallback(bytes calldata input) external returns (bytes memory) {
        return input;
    }
}

/// The magic value with something behind it in its word.
contract Dirty {
    fallback() external {
        assembly {
            mstore(0, 0x1626ba7e00000000000000000000000000000000000000000000000000000001)
            return(0, 32)
        }
    }
}

/// The four bytes of the magic value and no word.
contract Short {
    fallback() external {
        assembly {
            mstore(0, 0x1626ba7e00000000000000000000000000000000000000000000000000000000)
            return(0, 4)
        }
    }
}

/// True, as a boolean.
contract Boolean {
    fallback() external {
        assembly {
            mstore(0, 1)
            return(0, 32)
        }
    }
}

contract Silent {
    fallback() external {}
}

contract Reverts {
    error Wrong(bytes4 magic);

    fallback() external {
        revert Wrong(0x1626ba7e);
    }
}

contract RevertsMagic {
    fallback() external {
        assembly {
            mstore(0, 0x1626ba7e00000000000000000000000000000000000000000000000000000000)
            revert(0, 32)
        }
    }
}

/// Uses all the gas that it is given.
contract Burner {
    fallback() external {
        while (true) {}
    }
}

/// As many zeros as the gas pays for, about two megabytes.
contract Huge {
    fallback() external {
        assembly {
            return(0, 1900000)
        }
    }
}

contract Destroyed {
    fallback() external {
        selfdestruct(payable(msg.sender));
    }
}

/// No at first and yes when it is asked again.
contract Moody {
    uint256 internal calls;

    fallback(bytes calldata) external returns (bytes memory) {
        calls += 1;
        return abi.encode(calls > 1 ? bytes4(0x1626ba7e) : bytes4(0xffffffff));
    }
}
