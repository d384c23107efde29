import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { hashlockOf } from '@parley/core/hashlock.ts';
import fc from 'fast-check';
import { addName, mostSearchedBytes, newNames, removeName, secretsIn } from './watch.ts';

const hexOf = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((some) => Buffer.from(some).toString('hex'));
const padding = fc.nat(70).map((bytes) => 'c3'.repeat(bytes));

function watching(secret: string, address: string) {
  const hashlock = hashlockOf(secret);
  const names = newNames();
  addName(names, hashlock);
  addName(names, `0x${address.toUpperCase()}`);
  return { names, byHashlock: new Map([[hashlock, null]]), secrets: new Map<string, string>() };
}

test('a secret is found at any byte of calldata that names its escrow or hashlock at any other', () => {
  fc.assert(
    fc.property(
      fc.tuple(hexOf(32), hexOf(20), fc.boolean(), fc.boolean()),
      fc.tuple(padding, padding, padding),
      ([secret, address, byAddress, nameFirst], [before, between, after]) => {
        const state = watching(secret, address);
        const name = byAddress ? address : hashlockOf(secret);
        const [first, second] = nameFirst ? [name, secret] : [secret, name];
        const input = `0x${before}${first}${between}${second}${after}`;
        assert.deepEqual(secretsIn(state, input, false), [secret]);
        const unnamed = `0x${before}${secret}${after}`;
        assert.deepEqual(secretsIn(state, unnamed, false), [], 'named nowhere');
        assert.deepEqual(secretsIn(state, unnamed, true), [secret], 'sent to an escrow');
      },
    ),
  );
});

test('a name that is removed counts no more, and one that is left still does', () => {
  const secret = randomBytes(32).toString('hex');
  const address = randomBytes(20).toString('hex');
  const state = watching(secret, address);
  const alike = `${address.slice(0, 16)}${'00'.repeat(12)}`;
  addName(state.names, `0x${alike}`);
  removeName(state.names, `0x${address}`);
  assert.deepEqual(secretsIn(state, `0x${address}${secret}`, false), []);
  assert.deepEqual(secretsIn(state, `0x${alike}${secret}`, false), [secret]);
  removeName(state.names, alike);
  removeName(state.names, hashlockOf(secret));
  assert.deepEqual([state.names.all.size, state.names.prints.size], [0, 0]);
});

test('only the first bytes are searched, and a secret that is known already is not given again', () => {
  const secret = randomBytes(32).toString('hex');
  const address = randomBytes(20).toString('hex');
  const state = watching(secret, address);
  const long = (bytes: number) => `0x${address}${'00'.repeat(bytes - 20 - 32)}${secret}`;
  assert.deepEqual(secretsIn(state, long(mostSearchedBytes), false), [secret]);
  assert.deepEqual(secretsIn(state, long(mostSearchedBytes + 1), false), []);
  state.secrets.set(hashlockOf(secret), secret);
  assert.deepEqual(secretsIn(state, long(mostSearchedBytes), false), []);
});

test('calldata costs as much to search with ten thousand names, made to look like it, as with two', () => {
  const state = watching('17'.repeat(32), '18'.repeat(20));
  // Anyone may choose a hashlock, so also ones that begin and end like common calldata.
  const input = `0x${'00'.repeat(16_384)}`;
  const timed = () => {
    const times = Array.from({ length: 5 }, () => {
      const start = performance.now();
      for (let count = 0; count < 64; count += 1) secretsIn(state, input, false);
      return performance.now() - start;
    });
    return Math.min(...times);
  };
  timed();
  const two = timed();
  for (let count = 1; count <= 10_000; count += 1) {
    const middle = count.toString(16).padStart(4, '0');
    addName(state.names, `${'00'.repeat(15)}${middle}${'00'.repeat(15)}`);
  }
  const many = timed();
  assert.ok(many < 10 * two + 50, `${many} ms against ${two} ms for a megabyte`);
});
