// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Makes calls one after the other, as whoever it stands for. It is never deployed: preflight.ts
/// lends its code to an address for the length of an eth_call.
contract Probe {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    error CallFailed(uint256 index, bytes answer);

    /// True, which an address without lent code does not answer.
    function run(Call[] calldata calls) external returns (bool) {
        for (uint256 i = 0; i < calls.length; i++) {
            (bool ok, bytes memory answer) = calls[i].to.call{value: calls[i].value}(calls[i].data);
            if (!ok) revert CallFailed(i, answer);
        }
        return true;
    }

    receive() external payable {}
}
