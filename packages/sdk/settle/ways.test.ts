// An account without code signs what a market offers to be signed. A signed authorization may be
// sent by anybody who has it: it is forgotten when no block can take it by what all nodes say, and
// the leg holds nothing. On paper chains.

import assert from 'node:assert/strict';
import { ParleyError } from '@parley/core/errors.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';
import { memoryStore } from '../stores/memory.ts';
import { evmOf, evmView, keptRecord } from '../testing/honest.ts';
import { alter, type PaperScene, paperScene, recordOf, run, says } from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';
import type { Built } from '../types.ts';
import type { Wallet } from '../wallets/wallet.ts';
import { contextOf, type FundingWay } from './context.ts';
import { endUnsent, wayOf } from './ways.ts';

/** The taker has signed for its leg, nobody has sent it, and its time is over. */
async function signedInVain(): Promise<PaperScene> {
  const scene = await paperScene('taker', { theirsAt: Infinity });
  await run(scene, {}, () => says(scene, 'follow from your own trade'));
  const record = await recordOf(scene);
  const { initiatorFundBy } = record.swap.deadlines;
  const { address: escrow } = scene.watched.b;
  const call = { to: '0x', data: '0x', value: '0' };
  const authorization = { escrow, signature: '0x', call, validBefore: initiatorFundBy };
  await scene.input.store.putSwap({ ...record, authorization: { ...authorization, keptAtMs: 0 } });
  scene.wall = initiatorFundBy + 3_600;
  alter(scene, 'b', () => ({ ways: { mayOpen: async () => false } }));
  return scene;
}

const isKept = async (scene: PaperScene) => Boolean((await recordOf(scene)).authorization);

/**
 * Once its chain was read: the driver asks the chain again right before it forgets the
 * authorization.
 */
async function ends({ input }: PaperScene): Promise<void> {
  const context = contextOf({ ...input, chainTimeoutMs: 5_000 });
  await context.store.getSwap(input.swapId);
  await endUnsent(context);
}

const deep = { txid: '0xthere', confirmations: 99, deep: true };
type Altered = Parameters<typeof alter>[2];
const funded: Altered = ({ look }) => ({
  look: async (...about: Parameters<typeof look>) => {
    const { heads, facts } = await look(...about);
    const of = { funded: deep, balance: 10n ** 17n, empty: false };
    return { heads, facts: facts.map((each) => ({ ...each, ...of })) };
  },
});
/** Its newest block is of yesterday. */
const stands: Altered = ({ look }) => ({
  look: async (...about: Parameters<typeof look>) => {
    const { heads, facts } = await look(...about);
    return { heads: { ...heads, clock: heads.clock - 86_400 }, facts };
  },
});

for (const [what, how] of [
  ['a block may still take it', () => ({ ways: { mayOpen: async () => true } })],
  ['its chain does not say', () => ({ ways: undefined })],
  [
    'its nodes differ',
    () => ({
      mustAgree: async () => Promise.reject(new ParleyError('sources_disagree', 'they differ', {})),
    }),
  ],
  ['the leg is funded', funded],
  ['its chain stands still', stands],
] as readonly (readonly [string, Altered])[]) {
  timed(`a signed authorization is kept while ${what}`, async () => {
    const scene = await signedInVain();
    alter(scene, 'b', how);
    await ends(scene).catch(({ code }) => assert.equal(code, 'sources_disagree'));
    assert.equal(await isKept(scene), true);
  });
}

timed('one that no block can take, for a leg that nobody funded, ends with nothing', async () => {
  const scene = await signedInVain();
  assert.equal((await run(scene, { client: null }))?.end, 'nothing');
  assert.equal(await isKept(scene), false);
});

/** How the maker funds its dollars where the market offers both signatures. */
async function wayWhere(signsByKey: () => Promise<boolean>, fundingWays?: readonly FundingWay[]) {
  const { swap } = keptRecord('maker');
  const fundsShortage = async () => ({ code: 'fee_poor' }) as never;
  const ways = { signsByKey } as never;
  const adapter = stubAdapter(evmView.chain, 'evm', { ways, fundsShortage });
  const signTypedData = async () => assert.fail('nothing is signed');
  const wallet = { family: 'evm', ...evmOf('maker'), signTypedData } as unknown as Wallet;
  const context = contextOf({
    swapId: swap.id,
    client: null,
    store: memoryStore(),
    ...(fundingWays && { fundingWays }),
    chains: { [evmView.chain]: { source: { view: evmView, adapter }, wallet } },
  });
  await context.store.putSwap(keptRecord('maker'));
  const alternatives = [{ way: 'permit' }, { way: 'authorization', relay: true }];
  return wayOf(context, { sign: 'evm-tx', txs: [{}, {}], alternatives } as unknown as Built);
}

timed('an account with code signs nothing that a market offers', async () => {
  const byKey = async () => true;
  assert.equal((await wayWhere(byKey)).way, 'authorization');
  assert.equal((await wayWhere(byKey, ['permit', 'approval'])).way, 'permit');
  const byCode = async () => false;
  for (const ways of [undefined, ['permit', 'approval']] as const) {
    assert.equal((await wayWhere(byCode, ways)).way, 'transactions');
  }
  for (const way of ['permit', 'authorization'] as const) {
    await assert.rejects(wayWhere(byCode, [way]), { code: 'funding_would_fail' });
  }
  const silent = async () => Promise.reject(new ParleyError('chain_unavailable', 'not now', {}));
  await assert.rejects(wayWhere(silent), { code: 'chain_unavailable' });
});
