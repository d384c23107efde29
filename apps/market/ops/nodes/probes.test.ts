// The parts that need no node: the limit of calls, which words are secret, what is a refusal of
// bytes.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { RpcError } from '@parley/chains/nodes/rpc.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { Misused } from '@parley/host/command.ts';
import { loadOf } from './load.ts';
import { hiding } from './look.ts';
import { meantBy } from './meant.ts';
import { refusesNonsense } from './probes.ts';

test('the limit of calls that a node takes is found, with what the market needs', async () => {
  let left = 5;
  const ask = async () => {
    left -= 1;
    if (left < 0) throw new Error('HTTP 429');
  };
  const own = { where: 'a node', hide: String };
  const never = new AbortController().signal;
  const loadWith = (neededPerSecond: number) => {
    left = 5;
    return loadOf(own, { neededPerSecond, asks: [ask] }, never, 200);
  };
  const { verdict, facts, says } = await loadWith(10);
  assert.deepEqual([verdict, facts], ['fits', { best: 10, needed: 10 }], says);
  assert.match(says, /at 20 a second it failed \d+ of \d+ \(HTTP 429\)/);
  assert.equal((await loadWith(11)).verdict, 'lacks');
});

test("a node's words in a burst lose control characters and each part of a key", async () => {
  const key = 'k'.repeat(32);
  const words = `\u001b[2J\u202e${'x'.repeat(100)} ${key}`;
  const ask = () => Promise.reject(new Error(words));
  const hide = hiding([`http://host/v3/${key}`]);
  const never = new AbortController().signal;
  const load = { neededPerSecond: 1, asks: [ask] };
  const { says } = await loadOf({ where: 'a node', hide }, load, never, 200);
  assert.match(says, /\(\\u001b\[2J\\u202ex+ …\)/);
  assert.doesNotMatch(says, /[\p{Cc}\p{Cf}]|kk/u);
});

test('users, passwords, keys in paths and in queries are taken out of what a node says', () => {
  const hide = hiding([
    'http://adam:se%20cret@host/v2/0123456789?key=abcdefghi',
    'http://host/jsonrpc',
  ]);
  assert.equal(hide('adam, se%20cret, se cret, 0123456789, abcdefghi'), '…, …, …, …, …');
  assert.equal(hide('v2 of jsonrpc at host'), 'v2 of jsonrpc at host');
});

test('a node that refuses the bytes serves sending, and one that refuses the call does not', async () => {
  const words = 'typed transaction too short';
  const { says, verdict } = await refusesNonsense(
    Promise.reject(new RpcError(-32_000, words, null)),
  );
  assert.deepEqual([says.includes(words), verdict], [true, undefined]);
  assert.equal((await refusesNonsense(Promise.resolve())).verdict, 'weak');
  const refusals = [
    new RpcError(-32_601, 'no', null),
    new RpcError(-32_000, 'the method eth_sendRawTransaction is not available', null),
    new RpcError(0, 'no plan for this', null, { status: 403 }),
    new ParleyError('chain_timeout', 'late', {}),
  ];
  for (const each of refusals) await assert.rejects(refusesNonsense(Promise.reject(each)), each);
});

test('a file of a node that names a file, itself too, is refused', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-node-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'node');
  writeFileSync(file, `@${file}`, { mode: 0o600 });
  assert.throws(() => meantBy('evm:sepolia', [`@${file}`], [], 'core'), Misused);
});
