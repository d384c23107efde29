// What breaks token calls: what must not run within them, and what is believed of an answer.

import { inEscrows, inToken, type Mutation } from '../mutate.ts';

export const within: Record<string, Mutation> = Object.fromEntries([
  ['any verb within a token call', inEscrows('if (_comparing) revert', 'if (false) revert')],
  ['funding within', inEscrows('external payable outside {', 'external payable {')],
  [
    'permit within',
    inEscrows(
      'bytes32 s\n    ) external outside {\n        _require',
      'bytes32 s\n    ) external {\n        _require',
    ),
  ],
  [
    'authorization within',
    inEscrows(
      'bytes32 s\n    ) external outside {\n        address',
      'bytes32 s\n    ) external {\n        address',
    ),
  ],
  [
    'claim within',
    inEscrows(
      'bytes32 secret)\n        external\n        outside\n',
      'bytes32 secret)\n        external\n',
    ),
  ],
  [
    'refund within',
    inEscrows('external outside {\n        _refund', 'external {\n        _refund'),
  ],
  [
    'part within',
    inEscrows(
      'uint256 part)\n        external\n        outside\n',
      'uint256 part)\n        external\n',
    ),
  ],
  [
    'claims within',
    inEscrows('external outside returns (uint256 claimed)', 'external returns (uint256 claimed)'),
  ],
  [
    'refunds within',
    inEscrows('external outside returns (uint256 refunded)', 'external returns (uint256 refunded)'),
  ],
  [
    'a funding is not marked',
    inEscrows(
      '_comparing = true;\n        uint256 before = token.balanceOf(address(this));\n        token.pull',
      'uint256 before = token.balanceOf(address(this));\n        token.pull',
    ),
  ],
  [
    'a payment is not marked',
    inEscrows(
      '_comparing = true;\n        uint256 before = token.balanceOf(address(this));\n        token.transfer',
      'uint256 before = token.balanceOf(address(this));\n        token.transfer',
    ),
  ],
  [
    'the mark of a funding stays',
    inEscrows(
      'uint256 held = token.balanceOf(address(this));\n        _comparing = false;',
      'uint256 held = token.balanceOf(address(this));',
    ),
  ],
  [
    'the mark of a payment stays',
    inEscrows(
      'uint256 left = token.balanceOf(address(this));\n        _comparing = false;',
      'uint256 left = token.balanceOf(address(this));',
    ),
  ],
]);

export const tokens: Record<string, Mutation> = {
  'short balance answer': inToken(
    'who)\n            ok := staticcall(gas(), token, 0x00, 0x24, 0x00, 0x20)\n            ok := and(ok, gt(returndatasize(), 0x1f))',
    'who)\n            ok := staticcall(gas(), token, 0x00, 0x24, 0x00, 0x20)',
  ),
  'reverting balance': inToken(
    '0x24, 0x00, 0x20)\n            ok := and(ok, gt(returndatasize(), 0x1f))',
    '0x24, 0x00, 0x20)\n            ok := 1',
  ),
  'short separator': inToken(
    '0x04, 0x00, 0x20)\n            ok := and(ok, gt(returndatasize(), 0x1f))',
    '0x04, 0x00, 0x20)',
  ),
  'reverting separator': inToken(
    '0x04, 0x00, 0x20)\n            ok := and(ok, gt(returndatasize(), 0x1f))',
    '0x04, 0x00, 0x20)\n            ok := 1',
  ),
  'balance of the token': inToken(
    'mstore(0x04, who)',
    'mstore(0x04, and(who, 0) ) mstore(0x04, token)',
  ),
  'reverting transfer unnoticed': inToken(
    'm, 0x44, 0, 0)\n        }\n        if (!ok)',
    'm, 0x44, 0, 0)\n        }\n        if (false)',
  ),
  'reverting payment in unnoticed': inToken(
    'mload(data), 0, 0)\n        }\n        if (!ok)',
    'mload(data), 0, 0)\n        }\n        if (false)',
  ),
  'transfer needs true': inToken(
    'm, 0x44, 0, 0)',
    'm, 0x44, 0, 0x20)\n            ok := and(ok, and(eq(mload(0), 1), gt(returndatasize(), 31)))',
  ),
  'transferFrom needs true': inToken(
    'ok := call(gas(), token, 0, add(data, 0x20), mload(data), 0, 0)',
    'ok := call(gas(), token, 0, add(data, 0x20), mload(data), 0, 0x20)\n            ok := and(ok, and(eq(mload(0), 1), gt(returndatasize(), 31)))',
  ),
  'transfer copies the answer': inToken(
    'm, 0x44, 0, 0)',
    'm, 0x44, 0, 0)\n            returndatacopy(m, 0, returndatasize())',
  ),
  'transferFrom copies the answer': inToken(
    'ok := call(gas(), token, 0, add(data, 0x20), mload(data), 0, 0)',
    'ok := call(gas(), token, 0, add(data, 0x20), mload(data), 0, 0)\n            returndatacopy(mload(0x40), 0, returndatasize())',
  ),
  'a permit copies the answer': inToken(
    'pop(call(gas(), token, 0, add(data, 0x20), mload(data), 0, 0))',
    'pop(call(gas(), token, 0, add(data, 0x20), mload(data), 0, 0))\n            returndatacopy(mload(0x40), 0, returndatasize())',
  ),
};
