// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Makes the steps of a trial one after the other, each by an actor of its own, and weighs both
/// ends of each with balances. It is never deployed: trial.ts lends its code to the director and
/// to every actor for the length of an eth_call. Nothing that a token does can make it revert,
/// and nothing that a token answers is kept beyond `MOST_ANSWER` bytes.
contract Trial {
    struct Step {
        address actor;
        address to;
        bytes data;
        uint256 gasMost;
        /// Zero: nothing is weighed.
        address payer;
        address payee;
    }

    struct Result {
        bool made;
        bool ok;
        uint256 gasUsed;
        bytes answer;
        /// Of the payer before and after, then of the payee; NO_BALANCE where none is answered.
        uint256[4] balances;
    }

    uint256 private constant MOST_ANSWER = 256;
    uint256 private constant NO_BALANCE = type(uint256).max;

    /// Stops after the first step that fails or does not move exactly the amount.
    function run(address token, uint256 amount, uint256 readGas, Step[] calldata steps)
        external
        returns (Result[] memory results)
    {
        results = new Result[](steps.length);
        for (uint256 i = 0; i < steps.length; i++) {
            Step calldata step = steps[i];
            Result memory result = results[i];
            result.made = true;
            bool weighed = step.payer != address(0);
            if (weighed) {
                result.balances[0] = _balance(token, step.payer, readGas);
                result.balances[2] = _balance(token, step.payee, readGas);
            }
            (result.ok, result.gasUsed, result.answer) =
                Trial(step.actor).act(step.to, step.gasMost, step.data);
            if (weighed) {
                result.balances[1] = _balance(token, step.payer, readGas);
                result.balances[3] = _balance(token, step.payee, readGas);
            }
            if (!result.ok || (weighed && !_exact(result.balances, amount))) break;
        }
    }

    /// Makes one call as whoever it stands for.
    function act(address to, uint256 gasMost, bytes calldata data)
        external
        returns (bool ok, uint256 gasUsed, bytes memory answer)
    {
        bytes memory input = data;
        answer = new bytes(MOST_ANSWER);
        gasUsed = gasleft();
        assembly ("memory-safe") {
            ok := call(gasMost, to, 0, add(input, 0x20), mload(input), 0, 0)
            let size := returndatasize()
            if gt(size, MOST_ANSWER) { size := MOST_ANSWER }
            returndatacopy(add(answer, 0x20), 0, size)
            mstore(answer, size)
        }
        gasUsed -= gasleft();
    }

    function _exact(uint256[4] memory balances, uint256 amount) private pure returns (bool) {
        unchecked {
            return balances[0] - balances[1] == amount && balances[3] - balances[2] == amount;
        }
    }

    function _balance(address token, address who, uint256 gasMost)
        private
        view
        returns (uint256 held)
    {
        bytes memory input = abi.encodeWithSelector(0x70a08231, who);
        held = NO_BALANCE;
        assembly ("memory-safe") {
            let ok := staticcall(gasMost, token, add(input, 0x20), mload(input), 0, 0x20)
            if and(ok, gt(returndatasize(), 0x1f)) { held := mload(0) }
        }
    }
}
