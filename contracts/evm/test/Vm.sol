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
    function deal(address who, uint256 balance) external;
    function etch(address where, bytes calldata code) external;
    function mockCall(address callee, bytes calldata data, bytes calldata answer) external;
    function mockCallRevert(address callee, bytes calldata data, bytes calldata answer) external;
    function prank(address sender) external;
    function expectRevert(bytes calldata data) external;
    function expectRevert() external;
    function expectEmit(bool t1, bool t2, bool t3, bool data, address emitter) external;
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);
    function assume(bool condition) external pure;
    function computeCreate2Address(bytes32 salt, bytes32 initCodeHash, address deployer)
        external
        pure
        returns (address);
    function envOr(string calldata name, bool fallback_) external view returns (bool);
    function readFile(string calldata path) external view returns (string memory);
    function parseJsonBytes32(string calldata json, string calldata key)
        external
        pure
        returns (bytes32);
    function parseJsonAddress(string calldata json, string calldata key)
        external
        pure
        returns (address);
    function parseJsonBytes(string calldata json, string calldata key)
        external
        pure
        returns (bytes memory);
    function assertTrue(bool condition, string calldata why) external pure;
    function assertFalse(bool condition, string calldata why) external pure;
    function assertEq(uint256 a, uint256 b, string calldata why) external pure;
    function assertEq(address a, address b, string calldata why) external pure;
    function assertEq(bytes32 a, bytes32 b, string calldata why) external pure;
    function assertEq(bytes calldata a, bytes calldata b, string calldata why) external pure;
    function assertLe(uint256 a, uint256 b, string calldata why) external pure;
}
