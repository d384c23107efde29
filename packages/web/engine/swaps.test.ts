// A swap that this page settles: the sender of its claim is the own wallet where it has coins for
// it, else the market; and a person gives it up. On paper chains.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { AppChain } from '@parley/core/app-chain.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { alter, paperScene, recordOf, run, says } from '@parley/sdk/testing/paper-scene.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { held } from '../live.ts';
import type { Deals } from './deals.ts';
import { memoryKept } from './keeping.ts';
import type { OpenNodes } from './nodes.ts';
import { type OpenSwaps, openSwaps } from './swaps.ts';
import { tabLocks } from './testing/locks.ts';
import type { OpenVault } from './vault.ts';
import type { Hands } from './wallets.ts';

/** The taker's swap in a page, with chains whose time passes while it is waited for something. */
async function settling(t: TestContext, { isPoor }: { readonly isPoor: boolean }) {
  const { open, ...more } = await sceneOf({ isPoor });
  const swaps = await open(true);
  t.after(() => swaps.close());
  return { ...more, swaps };
}

/** `open`: a tab of one browser, with or without the wallets. */
async function sceneOf({ isPoor }: { readonly isPoor: boolean }) {
  const scene = await paperScene('taker', { stepSeconds: 20 });
  await run(scene, {}, () => says(scene, 'follow from your own trade'));
  const { input, chains } = scene;
  const asked: string[] = [];
  const relayClaim = async (swapId: string) => {
    asked.push(swapId);
    return { relayed: true, txid: `0x${'5a'.repeat(32)}` };
  };
  const status = async () => ({ chains: [{ chain: chains.a.key, sendsClaims: true }] });
  const lack = { code: 'fee_poor', verb: 'claim', need: 10n, has: 0n, address: '' };
  const claimShortage = async () => ({ ...lack, sentence: 'it has no coins' });
  if (isPoor) alter(scene, 'a', () => ({ claimShortage }));
  const name = crypto.randomUUID();
  const store = { ...input.store, ...tabLocks() };
  const kept = memoryKept();
  const open = (hasWallets: boolean): Promise<OpenSwaps> =>
    openSwaps({
      name,
      store,
      kept,
      pollMs: 0,
      client: { ...input.client, relayClaim, status } as unknown as ParleyClient,
      vault: { state: held({ kind: 'checked' }) } as unknown as OpenVault,
      nodes: {
        chains: held([]),
        of: (chain: string) => ({ chain }),
        source: async (chain: string) => input.chains[chain]?.source,
      } as unknown as OpenNodes,
      deals: { entries: async () => [], change: async () => {} } as unknown as Deals,
      hands: {
        prompts: () => [],
        done: () => {},
        isOpen: () => false,
        wallet: ({ chain }: AppChain) => (hasWallets && input.chains[chain]?.wallet) || null,
      } as unknown as Hands,
      now: () => scene.wall,
      problems: () => [],
      onStoreFault: assert.fail,
      onSaid: () => {},
      onRescue: () => {},
    });
  const until = <T>(is: () => Promise<T>) =>
    waitUntil(async () => {
      await input.now?.();
      return is();
    });
  return { scene, open, asked, until, id: input.swapId };
}

test('with coins the own wallet sends the claim, and the market is told no secret', async (t) => {
  const { swaps, asked, until, id } = await settling(t, { isPoor: false });
  const end = await until(async () => swaps.one(id)?.end);
  assert.deepEqual([end.end, asked], ['received', []]);
});

test('without coins the market is asked to send it', async (t) => {
  const { scene, swaps, asked, until, id } = await settling(t, { isPoor: true });
  await until(async () => (await recordOf(scene)).relay?.txid);
  const relay = await until(async () => swaps.one(id)?.relay);
  assert.deepEqual([asked, relay.refused], [[id], null]);
});

test('a word to give a swap up is kept by the page that settles, and shows no secret', async (t) => {
  const { scene, swaps, until, id } = await settling(t, { isPoor: false });
  await swaps.giveUp(id);
  await until(async () => swaps.one(id)?.isGivenUp);
  const { givenUp, publicSecret } = await recordOf(scene);
  assert.deepEqual([givenUp?.byPerson, publicSecret], [true, null]);
  const { end } = await until(async () => swaps.one(id)?.end);
  assert.deepEqual([end, (await recordOf(scene)).publicSecret], ['nothing', null]);
});

test('a wallet that is connected in one of two windows side by side settles there', async (t) => {
  const { open, until, id } = await sceneOf({ isPoor: false });
  const one = await open(false);
  t.after(() => one.close());
  const other = await open(true);
  t.after(() => other.close());
  // Told by the tab that settles.
  const isAsked = () => other.one(id)?.asks.some(({ kind }) => kind === 'connect_wallet');
  await waitUntil(async () => isAsked());
  other.comeHere(() => false);
  assert.equal(other.driver.now().kind, 'other', 'no swap waits for that account');
  other.comeHere(({ ownAddress }) => ownAddress !== '');
  const end = await until(async () => other.one(id)?.end);
  assert.deepEqual([end.end, other.driver.now().kind], ['received', 'this']);
});
