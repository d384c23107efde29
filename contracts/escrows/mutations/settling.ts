// What breaks claims, refunds and the payments they make.

import { inEscrows, type Mutation } from '../mutate.ts';

export const settling: Record<string, Mutation> = {
  'claim ever': inEscrows('if (block.timestamp >= terms.timelock)', 'if (false)'),
  'claim in the timelock second': inEscrows(
    'timestamp >= terms.timelock',
    'timestamp > terms.timelock',
  ),
  'claim a second less': inEscrows(
    'timestamp >= terms.timelock',
    'timestamp + 1 >= terms.timelock',
  ),
  'any secret': inEscrows('if (hash != hashlock)', 'if (false)'),
  'no answer for a hash': inEscrows('iszero(and(ok, eq(returndatasize(), 0x20)))', 'iszero(ok)'),
  'part of an answer for a hash': inEscrows(
    'eq(returndatasize(), 0x20)',
    'gt(returndatasize(), 0)',
  ),
  'more than an answer for a hash': inEscrows(
    'eq(returndatasize(), 0x20)',
    'gt(returndatasize(), 31)',
  ),
  'a failure for a hash': inEscrows(
    'iszero(and(ok, eq(returndatasize(), 0x20)))',
    'iszero(eq(returndatasize(), 0x20))',
  ),
  'no claim event': inEscrows(
    'emit Claimed(_close(terms, lane, counter, CLAIMED), secret);',
    '_close(terms, lane, counter, CLAIMED);',
  ),
  'claim event of the hashlock': inEscrows('CLAIMED), secret);', 'CLAIMED), terms.hashlock);'),
  'claim pays the sender': inEscrows(
    '_pay(terms.token, terms.payout',
    '_pay(terms.token, msg.sender',
  ),
  'claim pays the funder': inEscrows(
    '_pay(terms.token, terms.payout',
    '_pay(terms.token, terms.refund',
  ),
  'claim recorded as a refund': inEscrows(
    'counter, CLAIMED), secret',
    'counter, REFUNDED), secret',
  ),
  'claim pays nothing': inEscrows('_pay(terms.token, terms.payout, terms.amount);', ''),
  'refund ever': inEscrows('if (block.timestamp < terms.timelock)', 'if (false)'),
  'refund a second early': inEscrows(
    'timestamp < terms.timelock',
    'timestamp + 1 < terms.timelock',
  ),
  'refund a second late': inEscrows('timestamp < terms.timelock', 'timestamp <= terms.timelock'),
  'refund pays the sender': inEscrows(
    '_pay(terms.token, terms.refund',
    '_pay(terms.token, msg.sender',
  ),
  'refund recorded as a claim': inEscrows(
    'lane, counter, REFUNDED));',
    'lane, counter, CLAIMED));',
  ),
  'no refund event': inEscrows(
    'emit Refunded(_close(terms, lane, counter, REFUNDED));',
    '_close(terms, lane, counter, REFUNDED);',
  ),
  'a part of native': inEscrows('terms.token == address(0) || part == 0', 'part == 0'),
  'an empty part': inEscrows('part == 0 || ', ''),
  'a part above the amount': inEscrows(' || part > terms.amount', ''),
  'the whole is no part': inEscrows('part > terms.amount', 'part >= terms.amount'),
  'a part settles nothing': inEscrows(
    '_refund(terms, lane, counter);\n        _send(',
    'if (lane == counter) revert ZeroAmount();\n        _send(',
  ),
  'a part may move nothing': inEscrows('part, 1, terms.amount)', 'part, 0, terms.amount)'),
  'a part may move more than the amount': inEscrows(
    'part, 1, terms.amount)',
    'part, 1, type(uint256).max)',
  ),
  'a part must be exact': inEscrows('part, 1, terms.amount)', 'part, part, part)'),
  'a part for the sender of all': inEscrows(
    '_send(terms.token, terms.refund, part',
    '_send(terms.token, terms.payout, part',
  ),
  'settled without being open': inEscrows('if (settled) taken.word', 'settled = true; taken.word'),
  'not open goes unnoticed': inEscrows(
    'if (!_settle(id, key, counter, state)) revert',
    'if (!_settle(id, key, counter, state) && false) revert',
  ),
  'settled again': inEscrows(
    'settled = taken.word & ~TIME ==',
    'settled = taken.word & ~(TIME | STATE) | OPEN << STATE_SHIFT ==',
  ),
  'settled at any counter': inEscrows(
    'settled = taken.word & ~TIME == (uint256(id) & ID | OPEN << STATE_SHIFT | counter);',
    'settled = taken.word & ~(TIME | COUNTER) == (uint256(id) & ID | OPEN << STATE_SHIFT) && counter > 0;',
  ),
  'a counter within the time': inEscrows(
    'settled = taken.word & ~TIME ==',
    'settled = taken.word & ~TIME | counter & TIME ==',
  ),
  'any id': inEscrows(
    'settled = taken.word & ~TIME ==',
    'settled = taken.word & ~TIME & ~ID | uint256(id) & ID ==',
  ),
  'a bit less of the id': inEscrows('ID = ~uint256((1 << 64) - 1)', 'ID = ~uint256((1 << 65) - 1)'),
  'half of the id': inEscrows('ID = ~uint256((1 << 64) - 1)', 'ID = ~uint256((1 << 160) - 1)'),
  'settling clears the word': inEscrows(
    'taken.word = _wordOf(id, state, counter);',
    'taken.word = state - state;',
  ),
  'settling is not recorded': inEscrows(
    'if (settled) taken.word = _wordOf(id, state, counter);',
    'if (state == 0) taken.word = _wordOf(id, state, counter);',
  ),
  'the time is not kept': inEscrows(
    '(block.timestamp << TIME_SHIFT) & TIME',
    '(block.timestamp << TIME_SHIFT) & TIME & 0',
  ),
  'the time runs into the state': inEscrows(
    '(block.timestamp << TIME_SHIFT) & TIME',
    'block.timestamp << TIME_SHIFT',
  ),
  'loss wraps around': inEscrows('left > before || ', ''),
  'loss above the most': inEscrows(' || before - left > most', ' || most == 0'),
  'loss below the least': inEscrows('before - left < least || ', 'least == 0 || '),
  'rejected payment unnoticed': inEscrows('if (!ok) revert Payment', 'if (false) revert Payment'),
  'payment with 2300 gas': inEscrows('call(gas(), to, amount', 'call(2300, to, amount'),
  'payment copies the answer': inEscrows(
    'call(gas(), to, amount, 0, 0, 0, 0) //',
    'call(gas(), to, amount, 0, 0, 0, 0)\n returndatacopy(mload(0x40), 0, returndatasize()) //',
  ),
  'payable claim': inEscrows(
    'bytes32 secret)\n        external\n',
    'bytes32 secret)\n        external\n        payable\n',
  ),
  'payable refund': inEscrows(
    'uint32 counter) external outside {\n        _refund',
    'uint32 counter) external payable outside {\n        _refund',
  ),
  'payable part': inEscrows(
    'uint256 part)\n        external\n',
    'uint256 part)\n        external\n        payable\n',
  ),
};
