// Strangers' contracts are asked a few at a time, whoever asks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Rpc } from '@parley/chains/nodes/rpc.ts';
import type { ParleyError } from '@parley/core/errors.ts';
import { checkSignature, type ProofDeps } from './proofs.ts';
import { byTurns } from './turns.ts';

const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const signed = { family: 'evm', address, message: 'text', signature: '0xab' } as const;

/** A node that works for a while at each call. */
function slowNode(ms: number) {
  const seen = { now: 0, most: 0, calls: 0 };
  const call: Rpc['call'] = async (method) => {
    seen.calls += 1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    await sleep(ms);
    seen.now -= 1;
    return method === 'eth_getCode' ? '0x60' : '0x';
  };
  const batch: Rpc['batch'] = async (asked) => asked.map(() => null);
  const node: Rpc = { chain: 'evm-dev', sources: 1, call, ask: async () => null, batch };
  return { seen, deps: { evmNodes: byTurns([node]) } as unknown as ProofDeps };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: ParleyError) => error.code,
  );

test('at most four calls of strangers’ contracts are under way, and all are made in the end', async () => {
  const { seen, deps } = slowNode(5);
  const proofs = Array.from({ length: 40 }, () =>
    codeOf(checkSignature(deps, signed, AbortSignal.timeout(60_000))),
  );
  assert.deepEqual(new Set(await Promise.all(proofs)), new Set(['bad_signature']));
  assert.deepEqual([seen.most, seen.calls, seen.now], [4, 80, 0]);
});

test('a proof that waits too long for a turn ends in time, and leaves the others their place', async () => {
  const { seen, deps } = slowNode(150);
  const patient = Array.from({ length: 4 }, () =>
    codeOf(checkSignature(deps, signed, AbortSignal.timeout(60_000))),
  );
  await sleep(10);
  const hasty = Array.from({ length: 20 }, () =>
    codeOf(checkSignature(deps, signed, AbortSignal.timeout(40))),
  );
  assert.deepEqual(new Set(await Promise.all(hasty)), new Set(['chain_timeout']));
  assert.deepEqual(new Set(await Promise.all(patient)), new Set(['bad_signature']));
  assert.equal(seen.calls, 8, 'nobody who gave up was asked for');
  assert.equal(
    await codeOf(checkSignature(deps, signed, AbortSignal.timeout(60_000))),
    'bad_signature',
  );
});

test('a hundred wait for a turn; one more is refused at once, and the next when there is room', async () => {
  const { seen, deps } = slowNode(20);
  const check = () => codeOf(checkSignature(deps, signed, AbortSignal.timeout(60_000)));
  const all = Array.from({ length: 104 }, check);
  assert.equal(await check(), 'chain_unavailable');
  assert.equal(seen.calls, 4);
  assert.deepEqual(new Set(await Promise.all(all)), new Set(['bad_signature']));
  assert.equal(await check(), 'bad_signature');
});
