// What must hold before a claim shows the secret. The chains are stubs: what they say is the
// adapters' part, shown in their own tests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { About } from '../../chains/interface/building.ts';
import type { Shortage } from '../../chains/interface/gas.ts';
import type { WatchedEscrow } from '../../chains/interface/reading.ts';
import { ParleyError } from '../../core/errors.ts';
import type { Swap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { mayReveal } from './live.ts';
import { stateOf } from './testing/states.ts';

const terms = {
  chain: 'evm',
  hashlock: '00'.repeat(32),
  payout: { address: 'p', pubkey: null },
  refund: { address: 'r', pubkey: null },
  token: null,
  amount: 5n,
  timelock: 1_000,
};
const escrow: WatchedEscrow = { address: 'a', terms, requiredConfirmations: 2, since: 0 };
const { legs, ...rest } = stateOf('funded', 'funded');
const unplanned = { a: { ...legs.a, escrow: null }, b: { ...legs.b, escrow: null } };
const tokens = { a: null, b: null };
const lanes = { a: null, b: null };
const swap = { tokens, lanes, state: { ...rest, legs: unplanned } } as unknown as Swap;

function depsBy(adapter: Partial<ChainAdapter>): Deps {
  const adapters = new Map(['evm', 'bitcoin'].map((chain) => [chain, { chain, ...adapter }]));
  return { adapters } as unknown as Deps;
}

const soon = () => AbortSignal.timeout(10_000);

test('a reveal asks for nothing that the leg’s funder could spoil', async () => {
  const asked: About[] = [];
  const preflight = async (_: unknown, about: About) => {
    asked.push(about);
  };
  await mayReveal(depsBy({ preflight }), swap, { escrow, payer: 'p' }, soon());
  assert.deepEqual(asked, ['claim']);
});

test('a first reveal whose sender cannot pay for it is refused, with what it lacks', async () => {
  const payers: string[] = [];
  const claimShortage = async (_: unknown, address: string): Promise<Shortage | null> => {
    payers.push(address);
    const sentence = `${address} lacks 5 sun`;
    const lack = { code: 'energy_poor', verb: 'claim', address, sentence } as const;
    return address === 'rich' ? null : { ...lack, has: 2n, need: 7n };
  };
  const deps = depsBy({ preflight: async () => {}, claimShortage });
  await mayReveal(deps, swap, { escrow, payer: 'rich' }, soon());
  const poor = mayReveal(deps, swap, { escrow, payer: 'poor' }, soon());
  await assert.rejects(poor, (error: unknown) => {
    assert.ok(error instanceof ParleyError);
    assert.deepEqual([error.code, error.kind], ['claim_unpayable', 'conflict']);
    assert.equal(error.message, 'poor lacks 5 sun');
    assert.deepEqual([error.facts.has, error.facts.need], [2n, 7n]);
    return true;
  });
  assert.deepEqual(payers, ['rich', 'poor']);
  await mayReveal(deps, swap, { escrow, payer: null }, soon());
  assert.deepEqual(payers, ['rich', 'poor']);
});
