// A market that says something else all at once hides no open swap, and keeps none from its claim.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppChain } from '@parley/core/app-chain.ts';
import { SettleError } from '@parley/sdk/errors.ts';
import {
  chainsAtStake,
  dealsKey,
  endedKey,
  hasOpen,
  memoryKept,
  networkOf,
  readable,
} from './keeping.ts';
import { openNodes } from './nodes.ts';

const chain = 'ethereum';
const was: AppChain = { family: 'evm', chain, nodes: ['https://a.example'], chainId: 1 };

test('a chain of an open swap stays as it was known; every other one is as the market tells it', async () => {
  for (const now of [
    { ...was, chainId: 10 },
    { ...was, contract: '0x00000000000000000000000000000000000000aa' },
    { family: 'bitcoin', chain, nodes: [], bitcoin: 'mainnet' },
  ] satisfies AppChain[]) {
    const kept = memoryKept();
    const opened = (chains: readonly AppChain[], atStake: readonly string[]) =>
      openNodes({
        kept,
        chains,
        atStake: new Set(atStake),
        network: 'mainnet',
        isServed: true,
        now: () => 1_800_000_000,
        onChange: () => {},
      });
    assert.equal((await opened([was], [])).of(chain), was);
    assert.deepEqual((await opened([now], [chain])).of(chain), was);
    assert.deepEqual((await opened([now], [chain])).of(chain), was);
    // Nodes of today, where nothing else is other.
    const moved: AppChain = { ...was, nodes: ['https://b.example'] };
    assert.equal((await opened([moved], [chain])).of(chain), moved);
    assert.equal((await opened([now], [])).of(chain), now);
  }
});

test('at stake is what has not ended, and a damaged record hides no other', async () => {
  const legs = { a: { chain: 'ethereum' }, b: { chain: 'bitcoin' } };
  const store = {
    swapIds: async () => ['1'],
    getSwap: async () => ({ swap: { legs } }) as never,
  };
  const kept = memoryKept();
  assert.deepEqual([...(await chainsAtStake(store, kept))], ['ethereum', 'bitcoin']);
  const damaged = {
    swapIds: async () => ['2', '1'],
    getSwap: async (id: string) => {
      if (id === '1') return store.getSwap();
      throw new SettleError('bad_record', 'not readable');
    },
  };
  assert.deepEqual([...(await chainsAtStake(damaged, kept))], ['ethereum', 'bitcoin']);
  const heard: string[] = [];
  assert.equal(await readable(damaged, '2', ({ message }) => heard.push(message)), null);
  assert.deepEqual(heard, ['not readable']);
  await kept.change(endedKey('1'), () => '{}');
  assert.equal((await chainsAtStake(store, kept)).size, 0);
});

test('an engine is wanted for an acceptance, an open swap and a payment that may still come', async () => {
  const record = (byHand: boolean) => {
    const legs = { a: { chain, family: 'evm' }, b: { chain: 'btc', family: 'bitcoin' } };
    return { trade: { party: 'taker' }, swap: { legs }, byHand } as never;
  };
  const of = async (ended: string | null, byHand = false, deals: string | null = null) => {
    const kept = memoryKept();
    await kept.change(endedKey('1'), () => ended);
    await kept.change(dealsKey, () => deals);
    const store = { swapIds: async () => ['1'], getSwap: async () => record(byHand) };
    return hasOpen(store, kept, new Set());
  };
  const ended = (end: string) => JSON.stringify({ outcome: { end } });
  assert.equal(await of(null), true);
  assert.equal(await of(ended('received'), true), false);
  assert.equal(await of(ended('nothing'), true), true);
  assert.equal(await of(ended('nothing')), false);
  assert.equal(await of(ended('received'), false, '{"all":[{}]}'), true);
  assert.equal(await of(ended('received'), false, '{"all":[]}'), false);
  const over = new Set<string>();
  const none = { swapIds: async () => ['2'], getSwap: async () => assert.fail('read again') };
  over.add('2');
  assert.equal(await hasOpen(none, memoryKept(), over), false);
});

test('the page stays with the network of its open swaps, but for a dev network', async () => {
  const at = (told: 'mainnet' | 'dev', before: 'mainnet' | 'dev' | null, isOpen: boolean) =>
    networkOf(told, before, async () => isOpen);
  assert.equal(await at('dev', 'mainnet', true), 'mainnet');
  assert.equal(await at('dev', 'mainnet', false), 'dev');
  assert.equal(await at('mainnet', 'dev', true), 'mainnet');
  assert.equal(await at('mainnet', null, true), 'mainnet');
});
