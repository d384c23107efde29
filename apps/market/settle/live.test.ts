// The conditions before a claim shows the secret. The chains are stubs: their answers are the
// adapters' part, shown in their own tests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';
import type { Swap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { mayReveal } from './live.ts';
import { stateOf } from './testing/states.ts';

const [payout, refund] = ['p', 'r'].map((address) => ({ address, pubkey: null }));
const hashlock = '00'.repeat(32);
const terms = { chain: 'evm', hashlock, payout, refund, token: null, amount: 5n, timelock: 1_000 };
const escrow = { address: 'a', terms, requiredConfirmations: 2, since: 0 } as never;
const { legs, ...state } = stateOf('funded', 'funded');
const none = { a: null, b: null };
const unplanned = { a: { ...legs.a, escrow: null }, b: { ...legs.b, escrow: null } };
const swap = { tokens: none, lanes: none, state: { ...state, legs: unplanned } } as unknown as Swap;

function reveal(by: Partial<ChainAdapter>, payer: string | null): Promise<void> {
  const chains = [stubAdapter('evm', 'evm', by), stubAdapter('bitcoin', 'bitcoin')];
  const deps = { adapters: new Map(chains.map((each) => [each.chain, each])) } as unknown as Deps;
  return mayReveal(deps, swap, { escrow, payer }, AbortSignal.timeout(60_000));
}

test('a reveal asks for nothing that the leg’s funder could spoil', async () => {
  const asked: string[] = [];
  const preflight: ChainAdapter['preflight'] = async (_, about) => void asked.push(about);
  await reveal({ preflight }, 'p');
  assert.deepEqual(asked, ['claim']);
});

test('a first reveal whose sender cannot pay for it is refused, with what it lacks', async () => {
  const payers: string[] = [];
  const claimShortage: ChainAdapter['claimShortage'] = async (_, address) => {
    payers.push(address);
    const sentence = `${address} lacks 5 sun`;
    const lack = { code: 'energy_poor', verb: 'claim', address, sentence } as const;
    return address === 'rich' ? null : { ...lack, has: 2n, need: 7n };
  };
  const by = { preflight: async () => {}, claimShortage };
  await reveal(by, 'rich');
  await assert.rejects(reveal(by, 'poor'), {
    code: 'claim_unpayable',
    kind: 'conflict',
    message: 'poor lacks 5 sun',
    facts: { chain: 'evm', payer: 'poor', lack: 'energy_poor', has: 2n, need: 7n },
  });
  await reveal(by, null);
  assert.deepEqual(payers, ['rich', 'poor']);
});
