// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice The cheatcodes these tests use, and no more. Forge answers at this address.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function warp(uint256 timestamp) external;
    function chainId(uint256 id) external;
    function deal(address who, uint256 balance) external;
    function etch(address where, bytes calldata code) external;
    function load(address where, bytes32 slot) external view returns (bytes32);
    function store(address where, bytes32 slot, bytes32 value) external;
    function mockCall(address callee, bytes calldata data, bytes calldata answer) external;
    function mockCallRevert(address callee, bytes calldata data, bytes calldata answer) external;
    function clearMockedCalls() external;
    function prank(address sender) external;
    function prank(address sender, address origin) external;
    function addr(uint256 key) external pure returns (address);
    function sign(uint256 key, bytes32 digest)
        external
        pure
        returns (uint8 v, bytes32 r, bytes32 s);
    function expectRevert(bytes calldata data) external;
    function expectRevert() external;
    function expectEmit(bool t1, bool t2, bool t3, bool data, address emitter) external;
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);
    function snapshotState() external returns (uint256);
    function revertToState(uint256 id) external returns (bool);
    function assume(bool condition) external pure;
    function envOr(string calldata name, bool fallback_) external view returns (bool);
    function readFile(string calldata path) external view returns (string memory);
    function parseJsonBytes(string calldata json, string calldata key)
        external
        pure
        returns (bytes memory);
    function parseJsonBytes32(string calldata json, string calldata key)
        external
        pure
        returns (bytes32);
    function parseJsonAddress(string calldata json, string calldata key)
        external
        pure
        returns (address);
    function assertTrue(bool condition, string calldata why) external pure;
    function assertFalse(bool condition, string calldata why) external pure;
    function assertEq(uint256 a, uint256 b, string calldata why) external pure;
    function assertEq(address a, address b, string calldata why) external pure;
    function assertEq(bytes32 a, bytes32 b, string calldata why) external pure;
    function assertEq(bytes calldata a, bytes calldata b, string calldata why) external pure;
    function assertLe(uint256 a, uint256 b, string calldata why) external pure;
}
