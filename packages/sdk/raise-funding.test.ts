// A Bitcoin funding that no block takes is raised in time, with the same coins: whichever version
// is mined funds the leg, once. On a real bitcoind.

import assert from 'node:assert/strict';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Progress, SettleInput } from './settle.ts';
import type { Kept } from './stores/store.ts';
import { hastySide, isFunded, onChains, recordOf, until, withAdapter } from './testing/sides.ts';
import { timed } from './testing/timed.ts';

const bitcoinKey = 'bitcoin-regtest';
const on = onChains();
const core = <T>(...call: Parameters<typeof on.core>) => on.core<T>(...call);

async function fundingOf(input: SettleInput): Promise<Kept> {
  const { funding } = await recordOf(input);
  assert.ok(funding);
  return funding;
}

type Decoded = { vin: { txid: string; vout: number }[]; vout: { value: number }[] };
async function decoded(raw: string): Promise<Decoded> {
  return core<Decoded>('decoderawtransaction', [raw]);
}
const coinsOf = ({ vin }: Decoded) => vin.map(({ txid, vout }) => `${txid}:${vout}`).sort();

const isReplaced = ({ step }: Progress) => step === 'replaced';
const isDeep = ({ step, leg, text }: Progress) =>
  step === 'seen' && leg === 'b' && text === 'funding of leg b is deep';

/** While `work` runs, no block is mined but when it says so. */
async function withoutBlocks(work: () => Promise<void>): Promise<void> {
  await on.chains.dev.mining(bitcoinKey, false);
  try {
    await work();
  } finally {
    await on.chains.dev.mining(bitcoinKey, true);
  }
}

async function pooled({ txid, raw }: Kept): Promise<void> {
  while (!(await core<string[]>('getrawmempool')).includes(txid)) {
    await core('sendrawtransaction', [raw]).catch(() => sleep(50));
  }
}

/** Refuses what `refuses` picks, as the customer's own node would. */
function withNode(input: SettleInput, refuses: (txid: string) => string | null): SettleInput {
  return withAdapter(input, bitcoinKey, ({ broadcast }) => ({
    broadcast: async (transaction, signal) => {
      const words = refuses(transaction.txid);
      if (words !== null) throw new ParleyError('refused_by_node', words, {});
      return broadcast(transaction, signal);
    },
  }));
}

timed('a funding that waits is raised, again if need be, and funds the leg once', async () => {
  const taker = await hastySide(on.chains.swap(), 'taker');
  await withoutBlocks(async () => {
    await until(taker, isFunded);
    const first = await fundingOf(taker);
    await until(taker, isReplaced);
    const second = await fundingOf(taker);
    assert.deepEqual(second.former, [first.txid]);
    // As after a crash: the raised version was kept, and is raised in its turn.
    await until(taker, isReplaced);
    const third = await fundingOf(taker);
    assert.deepEqual(third.former, [first.txid, second.txid]);
    const [was, is] = await Promise.all([decoded(first.raw), decoded(third.raw)]);
    assert.deepEqual(coinsOf(is), coinsOf(was));
    assert.equal(is.vout[0]?.value, 0.01);
    await pooled(third);
    assert.deepEqual(await core('getrawmempool'), [third.txid]);
    for (const former of [first, second]) {
      await assert.rejects(core('sendrawtransaction', [former.raw]), /fee|conflict/);
    }
  });
  const third = await fundingOf(taker);
  const { txid } = await until({ ...taker, replaceAfterMs: 60_000 }, isDeep);
  assert.equal(txid, third.txid);
});

timed('a former version that is mined funds the leg, and nothing is sent beside it', async () => {
  const taker = await hastySide(on.chains.swap(), 'taker');
  await withoutBlocks(async () => {
    await until(taker, isFunded);
    const first = await fundingOf(taker);
    const cut = withNode(taker, (txid) => (txid === first.txid ? null : 'not now'));
    await until(cut, isReplaced);
    const raised = await fundingOf(taker);
    assert.deepEqual(await core('getrawmempool'), [first.txid]);
    await on.chains.dev.mine(bitcoinKey, 3);
    const { txid } = await until(taker, isDeep);
    assert.equal(txid, first.txid);
    await assert.rejects(core('sendrawtransaction', [raised.raw]), /missingorspent/);
  });
});

timed('a fee that the node does not take is raised at once, not after the wait', async () => {
  const scene = on.chains.swap();
  const taker = await hastySide(scene, 'taker', { replaceAfterMs: 3_600_000 });
  await withoutBlocks(async () => {
    let refusals = 0;
    const picky = withNode(taker, () => {
      refusals += 1;
      return refusals <= 1 ? 'mempool min fee not met, 200 < 400' : null;
    });
    const { client } = picky;
    assert.ok(client);
    // The market's own node did not take it either, and says nothing of it.
    const silent = {
      ...client,
      broadcast: async () => ({ txid: '' }),
    } as unknown as typeof client;
    await until({ ...picky, client: silent }, isReplaced);
    const raised = await fundingOf(taker);
    assert.equal(raised.former?.length, 1);
    await pooled(raised);
  });
  await until({ ...taker, replaceAfterMs: 60_000 }, isDeep);
});
