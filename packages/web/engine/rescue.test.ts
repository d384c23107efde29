// The market's list of swaps, brought back: by the own nodes as far as they can be opened, and
// asked of the person by amounts that its chains vouch for. On paper chains.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { AppChain } from '@parley/core/app-chain.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { phraseKeys } from '@parley/sdk/rescue/derive.ts';
import { newPhrase } from '@parley/sdk/rescue/phrase.ts';
import { type PhraseStore, storeWith } from '@parley/sdk/rescue/store.ts';
import { memoryStore } from '@parley/sdk/stores/memory.ts';
import { newHashlock } from '@parley/sdk/stores/store.ts';
import { agreedAt, paperScene, run } from '@parley/sdk/testing/paper-scene.ts';
import { timed } from '@parley/sdk/testing/timed.ts';
import { memoryKept } from './keeping.ts';
import type { OpenNodes } from './nodes.ts';
import { openRescue } from './rescue.ts';

const keys = await phraseKeys(newPhrase(), 'dev');

type Lies = {
  /** Chains that have no node here. */
  readonly closed?: readonly string[];
  /** The market's word for every coin. */
  readonly decimals?: number;
};

/** The initiator has funded, and lost its device. */
async function asksMarket({ closed = [], decimals = 18 }: Lies) {
  const lost = storeWith(keys, memoryStore(), () => agreedAt);
  const secret = (await lost.getSecret(await newHashlock(lost))) ?? '';
  const scene = await paperScene('taker', { secret });
  const { chains, market } = scene;
  await run(scene, { store: lost }, () => chains.b.mined.length > 0);
  const { takerId, refundTo } = market.trade('taker');
  const names = [chains.a.key, chains.b.key, 'never-heard-of'];
  const client = {
    ...market.client('taker'),
    me: async () => ({
      userId: takerId,
      wallets: { evm: { login: refundTo.address, proven: [] } },
    }),
    assets: async () => ({
      assets: [
        { id: 'short', chain: chains.a.key, address: null, decimals },
        { id: 'long', chain: chains.b.key, address: null, decimals },
      ],
      nextCursor: null,
    }),
  } as unknown as ParleyClient;
  const source = async (chain: string) => {
    const found = closed.includes(chain) ? undefined : scene.input.chains[chain]?.source;
    if (found === undefined) throw new Error(`no node is known for "${chain}": name one`);
    return found;
  };
  const nodes = { chains: { now: () => names.map((chain) => ({ chain })) }, source };
  const store: PhraseStore = storeWith(keys, memoryStore(), () => scene.wall);
  const rescue = await openRescue({
    client,
    kept: memoryKept(),
    nodes: nodes as unknown as OpenNodes,
    phraseStore: async () => store,
    onRestored: () => {},
    onChange: () => {},
  });
  let asked = 0;
  const { swaps } = await rescue.fromMarket(() => {
    asked += 1;
    return true;
  });
  return { restored: swaps[0], asked, a: chains.a.key };
}

timed('a chain that has no node holds up no swap of others', async () => {
  const { restored, asked } = await asksMarket({});
  assert.deepEqual(
    [restored?.outcome, restored?.secret, asked],
    ['restored', 'found', 1],
    restored?.why,
  );
});

timed('a swap on a chain that has no node is refused, with what to do', async () => {
  const { restored, asked } = await asksMarket({ closed: ['evm-dev'] });
  assert.deepEqual([restored?.outcome, asked], ['refused', 0]);
  assert.match(restored?.why ?? '', /"evm-dev" .*: no node is known for "evm-dev": name one$/);
});

timed('amounts whose decimals the chain does not say are asked of nobody', async () => {
  const { restored, asked } = await asksMarket({ decimals: 17 });
  assert.deepEqual([restored?.outcome, asked], ['refused', 0]);
  assert.match(restored?.why ?? '', /^decimals of the coin on .* must be 18, as its chain says/);
});

/** A file that its maker's own hands have sealed: whole, and of no phrase. */
function forged(chains: unknown): string {
  const content = { network: 'dev', writtenAt: agreedAt, chains, swaps: [] };
  const checksum = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return JSON.stringify({ format: 'parley-rescue', version: 1, content, checksum, seal: '' });
}

timed('a forged file names no node, and nothing of it stays', async () => {
  const [guessed, learned]: [AppChain[], AppChain[]] = [[], []];
  const nodes = {
    guess: async (more: AppChain[]) => void guessed.push(...more),
    learn: async (more: AppChain[]) => void learned.push(...more),
  };
  const rescue = await openRescue({
    client: {} as ParleyClient,
    kept: memoryKept(),
    nodes: nodes as unknown as OpenNodes,
    phraseStore: async () => storeWith(keys, memoryStore(), () => agreedAt),
    onRestored: () => {},
    onChange: () => {},
  });
  const more = { nodes: ['https://thief.example'], chain: 'evm-dev', family: 'evm' };
  const deployment = { chainId: 9, contract: 'T', creation: 'c', ...more };
  const text = forged([{ chain: 'tron', family: 'tron', deployment }]);
  await rescue.open(text);
  const [{ family, chain, nodes: named } = { nodes: null }] = guessed;
  assert.deepEqual([family, chain, named], ['tron', 'tron', []]);
  await assert.rejects(rescue.fromFile(text), { code: 'other_phrase' });
  assert.deepEqual(learned, []);
  for (const odd of [
    { chain: 'x', family: 'other' },
    { chain: 5, family: 'bitcoin' },
  ]) {
    await assert.rejects(rescue.open(forged([odd])), { code: 'bad_file' });
  }
  assert.equal(guessed.length, 1);
});
