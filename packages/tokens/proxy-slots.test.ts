import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proxyAt, proxySlots } from './proxy-slots.ts';

test('slots of proxies are those of the standards', () => {
  assert.deepEqual(
    proxySlots.map(({ slot }) => slot),
    [
      '360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
      'a3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50',
      'b53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103',
      '7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3',
      '10d6a54a4754c8869d6886b5f5d7fbfa5b4522237ea5c60d11bc4e7a1ff9390b',
      'c5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7',
    ],
  );
});

const address = (digit: string) => `0x${digit.repeat(40)}`;

/** The findings where the slots, in their order, hold these addresses; `-` for an empty one. */
function holding(digits: string) {
  const held = new Map(proxySlots.map(({ slot }, at) => [slot, digits[at] ?? '-']));
  return proxyAt(async (slot) => {
    const digit = held.get(slot) ?? '-';
    return digit === '-' ? `0x${'0'.repeat(64)}` : digit.repeat(40).padStart(64, '0');
  });
}

test('a proxy has its implementation and the admin of the same form', async () => {
  assert.equal(await holding('------'), null);
  const kept = { beacon: null, implementations: [address('a')] };
  assert.deepEqual(await holding('a-c---'), { ...kept, kind: 'EIP-1967', admin: address('c') });
  const old = 'OpenZeppelin, old form';
  assert.deepEqual(await holding('---ac-'), { ...kept, kind: old, admin: address('c') });
  assert.deepEqual(await holding('-----a'), { ...kept, kind: 'EIP-1822', admin: null });
});

test('an admin says nothing of a beacon, nor of another form', async () => {
  for (const digits of ['-bc---', 'abc---', '--ca--', '--c--a', 'a-ca--', 'a---c-']) {
    assert.equal((await holding(digits))?.admin, null, digits);
  }
  assert.deepEqual((await holding('a-cd-e'))?.implementations, ['a', 'd', 'e'].map(address));
  assert.equal((await holding('ab----'))?.beacon, address('b'));
});
