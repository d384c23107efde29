import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDead, judgeOwner, keeperIn } from './owner.ts';
import { selectorOf } from './words.ts';

const nobody = `0x${'0'.repeat(40)}`;
const grave = `0x${'dEaD'.padStart(40, '0')}`;
const somebody = `0x${'ab'.repeat(20)}`;
const given = { named: [nobody], heir: null, selectors: new Set<string>(), changes: false };
const judged = (asked: Partial<typeof given> | { heir: string }) =>
  judgeOwner({ ...given, ...asked }, (address) => address);

test('a token is without an owner only where all are dead, without heir, role or other code', () => {
  assert.equal(judged({}).gone, true);
  assert.equal(judged({ named: [nobody, grave] }).gone, true);
  assert.equal(judged({ heir: nobody }).gone, true);
  const roles = new Set([selectorOf('updatePauser(address)')]);
  assert.deepEqual(judged({ named: [nobody, somebody] }), {
    gone: false,
    who: `its owner ${somebody}`,
  });
  assert.deepEqual(judged({ heir: somebody }), { gone: false, who: `its owner ${somebody}` });
  assert.deepEqual(judged({ selectors: roles }), {
    gone: false,
    who: 'a holder of a right by updatePauser()',
  });
  assert.deepEqual(judged({ changes: true }), { gone: false, who: 'somebody' });
  assert.deepEqual(judged({ named: [] }), { gone: false, who: 'somebody' });
});

test('addresses in use for what is given up are dead, however they are written', () => {
  for (const each of [nobody, grave, `0x${'1'.padStart(40, '0')}`, `0x${'dead'.padEnd(40, '0')}`]) {
    assert.equal(isDead(each), true, each);
  }
  assert.equal(isDead('0xdEAD000000000000000042069420694206942069'), true);
  assert.equal(isDead(somebody), false);
});

test('a word of storage shows somebody by an address that is no number and not dead', () => {
  const address = BigInt(somebody);
  assert.equal(keeperIn(address), somebody);
  assert.equal(keeperIn(address | (1n << 160n)), somebody);
  for (const none of [0n, 2n ** 128n, 2n ** 256n - 1n, BigInt(`0x${'dead'.padEnd(40, '0')}`)]) {
    assert.equal(keeperIn(none), null, String(none));
  }
  assert.equal(keeperIn(2n ** 128n + 1n), `0x${(2n ** 128n + 1n).toString(16).padStart(40, '0')}`);
});
