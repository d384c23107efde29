// What breaks claims and refunds of many at once.

import { inEscrows, type Mutation } from '../mutate.ts';

export const batches: Record<string, Mutation> = {
  'claims ever': inEscrows('if (block.timestamp >= leg.times >> 96) continue;', ''),
  'claims in the timelock second': inEscrows('timestamp >= leg.times', 'timestamp > leg.times'),
  'claims a second less': inEscrows('timestamp >= leg.times', 'timestamp + 1 >= leg.times'),
  'refunds ever': inEscrows('if (block.timestamp < leg.times >> 96) continue;', ''),
  'refunds a second early': inEscrows('timestamp < leg.times', 'timestamp + 1 < leg.times'),
  'refunds a second late': inEscrows('timestamp < leg.times', 'timestamp <= leg.times'),
  'claims by the hashlock': inEscrows(
    '_idOfLeg(leg, _sha256(leg.lock))',
    '_idOfLeg(leg, leg.lock)',
  ),
  'refunds by the secret': inEscrows('_idOfLeg(leg, leg.lock)', '_idOfLeg(leg, _sha256(leg.lock))'),
  'claims what is not open': inEscrows(
    'if (!_settle(id, leg.key, uint32(leg.times), CLAIMED)) continue;',
    '_settle(id, leg.key, uint32(leg.times), CLAIMED);',
  ),
  'refunds what is not open': inEscrows(
    'if (!_settle(id, leg.key, uint32(leg.times), REFUNDED)) continue;',
    '_settle(id, leg.key, uint32(leg.times), REFUNDED);',
  ),
  'claims recorded as refunds': inEscrows(
    'uint32(leg.times), CLAIMED',
    'uint32(leg.times), REFUNDED',
  ),
  'refunds recorded as claims': inEscrows(
    'uint32(leg.times), REFUNDED',
    'uint32(leg.times), CLAIMED',
  ),
  'claims are not logged': inEscrows('emit Claimed(id, leg.lock);', ''),
  'refunds are not logged': inEscrows('emit Refunded(id);', ''),
  'claims pay the sender': inEscrows(
    '_add(sum, leg.token, leg.payout',
    '_add(sum, leg.token, msg.sender',
  ),
  'refunds pay the payout': inEscrows('address(uint160(leg.key >> 96))', 'leg.payout'),
  'claims are not counted': inEscrows('claimed += 1;', 'claimed = 1;'),
  'refunds are not counted': inEscrows('refunded += 1;', 'refunded = 1;'),
  'the last claim is not paid': inEscrows(
    'claimed += 1;\n        }\n        _payOut(sum);',
    'claimed += 1;\n        }',
  ),
  'the last refund is not paid': inEscrows(
    'refunded += 1;\n        }\n        _payOut(sum);',
    'refunded += 1;\n        }',
  ),
  'another receiver is not seen': inEscrows(
    'if (sum.token != token || sum.to != to)',
    'if (sum.token != token)',
  ),
  'another token is not seen': inEscrows(
    'if (sum.token != token || sum.to != to)',
    'if (sum.to != to)',
  ),
  'each is paid by itself': inEscrows('if (sum.token != token || sum.to != to)', 'if (true)'),
  'what was owed before is not paid': inEscrows(
    '_payOut(sum);\n            (sum.token',
    'if (sum.amount == type(uint256).max) _payOut(sum);\n            (sum.token',
  ),
  'what was owed before is owed again': inEscrows('(token, to, 0);', '(token, to, sum.amount);'),
  'only the last of neighbours is paid': inEscrows('sum.amount += amount;', 'sum.amount = amount;'),
  'nothing is a payment': inEscrows('if (sum.amount != 0) _pay', 'if (sum.to != address(1)) _pay'),
  'a leg without its hashlock': inEscrows(
    'mstore(add(m, 0x20), hashlock)',
    'mstore(add(m, 0x20), and(hashlock, 0))',
  ),
  'a leg without its fund before': inEscrows(
    'and(shr(32, times), 0xffffffffffffffff)',
    'shr(32, times)',
  ),
  'a leg without its lane': inEscrows('and(key, 0xffffffffffffffffffffffff)', 'key'),
  'a leg without its counter': inEscrows('and(times, 0xffffffff)', 'times'),
};
