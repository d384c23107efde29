// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Terms} from "../../src/Terms.sol";
import {ParleyEscrow} from "../../src/ParleyEscrow.sol";

/// @notice Claims or refunds again from inside the payment it receives.
contract Again {
    Terms private _terms;
    bytes32 private _secret;
    bool private _refunds;
    uint256 public entered;
    uint256 public succeeded;

    function arm(Terms calldata terms, bytes32 secret, bool refunds) external {
        _terms = terms;
        _secret = secret;
        _refunds = refunds;
    }

    receive() external payable {
        if (entered == 3) return;
        entered += 1;
        ParleyEscrow escrow = ParleyEscrow(msg.sender);
        if (_refunds) {
            try escrow.refund(_terms) {
                succeeded += 1;
            } catch {}
        } else {
            try escrow.claim(_terms, _secret) {
                succeeded += 1;
            } catch {}
        }
    }
}
