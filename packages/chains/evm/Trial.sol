// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Makes the steps of a trial one after the other, each by an actor of its own, and tells what each
/// answers. It is never deployed: abilities.ts lends its code to every actor for the length of an
/// eth_call. Nothing that a token does can make it revert, and nothing that a token answers is kept
/// beyond `MOST_ANSWER` bytes.
contract Trial {
    struct Step {
        address actor;
        address to;
        bytes data;
        uint256 gasMost;
    }

    uint256 private constant MOST_ANSWER = 256;

    /// Ends with the first step that fails, which has no answer.
    function run(Step[] calldata steps) external returns (bytes[] memory answers) {
        answers = new bytes[](steps.length);
        for (uint256 i = 0; i < steps.length; i++) {
            Step calldata step = steps[i];
            (bool ok, bytes memory answer) =
                Trial(step.actor).act(step.to, step.gasMost, step.data);
            if (!ok) {
                assembly ("memory-safe") {
                    mstore(answers, i)
                }
                break;
            }
            answers[i] = answer;
        }
    }

    /// Makes one call as whoever it stands for.
    function act(address to, uint256 gasMost, bytes calldata data)
        external
        returns (bool ok, bytes memory answer)
    {
        bytes memory input = data;
        answer = new bytes(MOST_ANSWER);
        assembly ("memory-safe") {
            ok := call(gasMost, to, 0, add(input, 0x20), mload(input), 0, 0)
            let size := returndatasize()
            if gt(size, MOST_ANSWER) { size := MOST_ANSWER }
            returndatacopy(add(answer, 0x20), 0, size)
            mstore(answer, size)
        }
    }
}
