// A known token of other decimals: what a person sees as an amount is another one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppChain } from '../../core/app-chain.ts';
import type { ChainKey } from '../../core/families.ts';
import { phraseKeys } from '../../sdk/rescue/derive.ts';
import { newPhrase } from '../../sdk/rescue/phrase.ts';
import { type DealsParts, dealsOf } from './deals.ts';
import { memoryKept } from './kept.ts';
import { held } from './live.ts';
import type { Deal } from './types.ts';

const chains: Readonly<Record<ChainKey, AppChain>> = {
  eth: { family: 'evm', chain: 'eth', nodes: [], chainId: 1 },
  base: { family: 'evm', chain: 'base', nodes: [], chainId: 8453 },
};
const usdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913';
const asked: string[] = [];
const client = {
  me: async () => ({ userId: 'me', wallets: { bitcoin: { login: null, proven: [] } } }),
  thread: async () => {
    asked.push('thread');
    throw new Error('the market was asked for the thread');
  },
};

async function deals() {
  const keys = await phraseKeys(newPhrase(), 'mainnet');
  const adapter = { heads: async () => ({}), parseAddress: (text: string) => text };
  return dealsOf({
    ...{ client, kept: memoryKept(), now: () => 1, onEntry: () => {} },
    vault: { state: held({ kind: 'checked' }), keys: async () => keys },
    nodes: {
      of: (chain: ChainKey) => chains[chain] ?? null,
      source: async (chain: ChainKey) => ({ view: { family: 'evm', chain }, adapter }),
    },
    health: () => ({ store: 'persisted', storeSentence: null, clockOffSeconds: 0 }),
  } as unknown as DealsParts);
}

const dealOf = (decimals: number, token: string | null): Deal => {
  const pin = (chain: string, of: string | null, each: number) => ({
    ...{ id: chain, chain, token: of, decimals: each, highValueFrom: null },
  });
  const [base, quote] = [pin('eth', null, 18), pin('base', token, decimals)];
  return {
    rfq: {
      ...{ id: 'rfq', direction: 'sell_base', baseAmount: '1' },
      ...{ baseAssetId: 'eth', quoteAssetId: 'base' },
    } as Deal['rfq'],
    ...{ threadId: 'thread', quoteAmount: 1n, base, quote },
    addresses: { eth: '0x1', base: '0x1' },
  };
};

test('a known token counts by the table of the app, or nothing is accepted', async () => {
  const { accept, examine, entries } = await deals();
  const wrong = /USDC on "base" has 6 decimals, and the market says 18/;
  const { checks, isGood } = await examine(dealOf(18, usdc));
  const last = checks.at(-1);
  assert.deepEqual(
    [last?.name, last?.ok, last?.code, isGood],
    ['terms', false, 'failed_check', false],
  );
  assert.match(last?.sentence ?? '', wrong);
  await assert.rejects(accept(dealOf(18, usdc)), { code: 'failed_check', message: wrong });
  assert.deepEqual([await entries(), asked], [[], []]);
  for (const deal of [dealOf(6, usdc), dealOf(18, `0x${'12'.repeat(20)}`)]) {
    const { sentence } = (await examine(deal)).checks.at(-1) ?? {};
    assert.equal(sentence, 'the market was asked for the thread');
  }
});
