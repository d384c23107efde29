// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {DevBooks, DevToken} from "../../escrows/dev/DevToken.sol";

// For development chains. Anyone mints; never use them for value.

/// @title A well-behaved dollar.
contract DevDollar is DevToken {
    string public constant name = "Dev Dollar";
    string public constant symbol = "USDD";
}

/// @title A dollar with the manners of USDT.
/// @notice transfer, transferFrom and approve return nothing, and an allowance that is not zero
///         must be set to zero before it can be set to something else.
contract DevTether is DevBooks {
    string public constant name = "Dev Tether";
    string public constant symbol = "USDX";

    error AllowanceNotZero(address spender, uint256 allowance);

    function approve(address spender, uint256 value) external {
        uint256 allowed = allowance[msg.sender][spender];
        if (value != 0 && allowed != 0) revert AllowanceNotZero(spender, allowed);
        _approve(msg.sender, spender, value);
    }

    function transfer(address to, uint256 value) external {
        _move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) {
            if (allowed < value) revert InsufficientAllowance(msg.sender, allowed, value);
            allowance[from][msg.sender] = allowed - value;
        }
        _move(from, to, value);
    }
}

/// @title Moves the money and answers false, as TRON's USDT does.
contract ReturnsFalse is DevToken {
    string public constant name = "Returns False";
    string public constant symbol = "FALSE";

    function _answer() internal pure override returns (bool) {
        return false;
    }
}

/// @title Takes a fee of 1 % (rounded down) out of every transfer.
/// @notice `setFee` turns the fee off and on again, so that a test can fund an escrow first.
contract FeeToken is DevToken {
    string public constant name = "Fee Token";
    string public constant symbol = "FEE";
    uint256 public feeBasisPoints = 100;

    error FeeTooHigh(uint256 basisPoints);

    function setFee(uint256 basisPoints) external {
        if (basisPoints > 10_000) revert FeeTooHigh(basisPoints);
        feeBasisPoints = basisPoints;
    }

    function _move(address from, address to, uint256 value) internal override {
        uint256 fee = value * feeBasisPoints / 10_000;
        super._move(from, to, value - fee);
        balanceOf[from] -= fee;
        totalSupply -= fee;
        emit Transfer(from, address(0), fee);
    }
}
