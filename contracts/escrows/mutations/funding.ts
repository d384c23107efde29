// What breaks the ways to fund, and what an opening takes.

import { inEscrows, type Mutation } from '../mutate.ts';

export const ways: Record<string, Mutation> = {
  'anyone may fund': inEscrows(
    '_requireSender(terms.refund);\n        uint256 expected',
    'uint256 expected',
  ),
  'anyone may bring a permit': inEscrows(
    '_requireSender(terms.refund);\n        bytes memory permit',
    'bytes memory permit',
  ),
  'anyone may choose a part': inEscrows(
    '_requireSender(terms.refund);\n        if (terms.token',
    'if (terms.token',
  ),
  'any sender': inEscrows('if (msg.sender != funder) revert', 'if (false) revert'),
  'value unchecked': inEscrows('if (msg.value != expected)', 'if (false)'),
  'value at least': inEscrows('if (msg.value != expected)', 'if (msg.value < expected)'),
  'value at most': inEscrows('if (msg.value != expected)', 'if (msg.value > expected)'),
  'a token takes value': inEscrows(
    'terms.token == address(0) ? terms.amount : 0;',
    'terms.token == address(0) ? terms.amount : msg.value;',
  ),
  'nothing collected': inEscrows('if (terms.token != address(0)) _collect', 'if (false) _collect'),
  'the permit must not fail': inEscrows(
    'terms.token.attempt(permit);',
    'terms.token.pull(permit);',
  ),
  'no permit is tried': inEscrows(
    'terms.token.attempt(permit);',
    'if (permit.length == 0) revert ZeroAmount();',
  ),
  'permit of the amount': inEscrows(
    '(terms.refund, address(this), allowance, deadline, v, r, s)',
    '(terms.refund, address(this), allowance - allowance + terms.amount, deadline, v, r, s)',
  ),
  'nothing collected after a permit': inEscrows(
    'terms.token.attempt(permit);\n        _open(terms, lane, counter);\n        _collect(terms);',
    'terms.token.attempt(permit);\n        _open(terms, lane, counter);',
  ),
  'no lane taken by a permit': inEscrows(
    'terms.token.attempt(permit);\n        _open(terms, lane, counter);',
    'terms.token.attempt(permit);\n        if (lane == counter) revert ZeroAmount();',
  ),
  'anyone may sign': inEscrows('if (signer != from || signer == address(0))', 'if (false)'),
  'nobody may sign': inEscrows('signer != from || signer == address(0)', 'signer != from'),
  'any signature': inEscrows(
    'signer != from || signer == address(0)',
    'from == address(0) || signer == address(0)',
  ),
  'a signature of other terms': inEscrows(
    'terms.fundBefore,\n                id\n',
    'terms.fundBefore,\n                terms.hashlock\n',
  ),
  'a signature under no separator': inEscrows(
    'token.domainSeparator(), message',
    'domain, message',
  ),
  'a signature that never ends': inEscrows(
    'terms.amount, 0, terms.fundBefore, id, v, r, s)',
    'terms.amount, 0, type(uint256).max, id, v, r, s)',
  ),
  'authorized for another nonce': inEscrows(
    'terms.amount, 0, terms.fundBefore, id, v, r, s)',
    'terms.amount, 0, terms.fundBefore, terms.hashlock, v, r, s)',
  ),
  'no lane taken by an authorization': inEscrows(
    '_open(terms, lane, counter);\n        _receive(token',
    '_receive(token',
  ),
  'nothing received by an authorization': inEscrows(
    '_receive(token, terms.amount, call_);',
    'if (call_.length == 0) revert ZeroAmount();',
  ),
};

export const opening: Record<string, Mutation> = {
  'zero hashlock': inEscrows('if (terms.hashlock == 0)', 'if (false)'),
  'zero amount': inEscrows('if (terms.amount == 0)', 'if (false)'),
  'zero payout': inEscrows('payout == address(0) || ', ''),
  'payout is the token': inEscrows(' || payout == terms.token', ''),
  'payout is the contract': inEscrows(' || payout == address(this)', ''),
  'no times at all': inEscrows('_requireTimes(terms.timelock, terms.fundBefore);', ''),
  'funded ever': inEscrows('if (block.timestamp >= fundBefore)', 'if (false)'),
  'funded in the second of fund before': inEscrows(
    'timestamp >= fundBefore',
    'timestamp > fundBefore',
  ),
  'funded a second less': inEscrows('timestamp >= fundBefore', 'timestamp + 1 >= fundBefore'),
  'timelock one second early': inEscrows('timelock < earliest', 'timelock + 1 < earliest'),
  'timelock excludes the earliest': inEscrows('timelock < earliest', 'timelock <= earliest'),
  'timelock one second late': inEscrows('timelock > latest', 'timelock > latest + 1'),
  'timelock excludes the latest': inEscrows('timelock > latest', 'timelock >= latest'),
  'an open lane is written over': inEscrows(
    'state == OPEN || counter != used + 1',
    'counter != used + 1',
  ),
  'any counter': inEscrows('counter != used + 1 || ', ''),
  'a counter may be skipped': inEscrows('counter != used + 1', 'counter <= used'),
  'a counter may come again': inEscrows('counter != used + 1', 'counter > used + 1'),
  'the last counter is refused': inEscrows('counter > COUNTER', 'counter >= COUNTER'),
  'a counter beyond its bits': inEscrows(' || counter > COUNTER', ''),
  'a settled lane is full': inEscrows('if (state == OPEN || counter', 'if (state != 0 || counter'),
  'only a claimed lane is free': inEscrows(
    'if (state == OPEN || counter',
    'if (state == OPEN || state == REFUNDED || counter',
  ),
  'no funding event': inEscrows(
    'log2(add(hashed, 0x20), 0x120, topic, id)',
    'pop(add(topic, add(id, hashed)))',
  ),
  'event without the counter': inEscrows('add(hashed, 0x20), 0x120,', 'add(hashed, 0x20), 0x100,'),
  'event that begins with the domain': inEscrows('log2(add(hashed, 0x20)', 'log2(add(hashed, 0)'),
  'the lane is not taken': inEscrows(
    'taken.word = _wordOf(id, OPEN, counter);\n',
    'taken.word = word;\n',
  ),
  'opened as claimed': inEscrows('_wordOf(id, OPEN, counter);', '_wordOf(id, CLAIMED, counter);'),
  'gain unchecked': inEscrows('if (held < before || held - before != amount)', 'if (false)'),
  'gain may be less': inEscrows('held - before != amount', 'held - before > amount'),
  'gain may be more': inEscrows('held - before != amount', 'held - before < amount'),
  'gain wraps around': inEscrows('held < before || ', ''),
  'balance, not gain': inEscrows('held - before != amount', 'held != amount'),
};
