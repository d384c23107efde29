// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice Receives native money, or not, as told.
contract Moody {
    enum Mood {
        Accept,
        Revert,
        Bomb,
        RevertBomb,
        Write,
        Burn
    }

    Mood public mood;
    uint256[8] public notes;

    function set(Mood next) external {
        mood = next;
    }

    receive() external payable {
        if (mood == Mood.Revert) revert("no, thank you");
        if (mood == Mood.Bomb) {
            assembly ("memory-safe") {
                return(0, 1000000)
            }
        }
        if (mood == Mood.RevertBomb) {
            assembly ("memory-safe") {
                revert(0, 1000000)
            }
        }
        while (mood == Mood.Burn) {}
        if (mood == Mood.Write) {
            for (uint256 i = 0; i < 8; i++) {
                notes[i] = msg.value;
            }
        }
    }
}

/// @notice Notes how much gas it is paid with.
contract Gauge {
    uint256 public seen;

    receive() external payable {
        seen = gasleft();
    }
}
