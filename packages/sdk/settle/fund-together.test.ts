// Several swaps of one key funded at once, on a real anvil and the TRON dev chain: in one
// transaction that each of them keeps first, and without those that fail.

import assert from 'node:assert/strict';
import { evmDeployment, fundCalls } from '@parley/chains/evm/plan.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { LegName } from '@parley/core/trade.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { parseEther } from 'viem';
import type { ParleyClient } from '../client.ts';
import { ParleyApiError } from '../errors.ts';
import { type SettleInput, settle } from '../settle.ts';
import { memoryStore } from '../stores/memory.ts';
import type { Store } from '../stores/store.ts';
import type { Coin } from '../testing/four-chains.ts';
import {
  evmKey,
  isFunded,
  later,
  onChains,
  recordOf,
  running,
  sideOf,
  stopAll,
  until,
  withAdapter,
} from '../testing/sides.ts';
import { timed } from '../testing/timed.ts';
import type { FundsTogether } from './context.ts';
import { type FundedTogether, fundingsTogether } from './fund-together.ts';

const on = onChains(async ({ anvil, chains }) => {
  const { address } = chains.walletsOf.taker.evm;
  await anvil.call('anvil_setBalance', [address, `0x${parseEther('100').toString(16)}`]);
});

type Many = {
  readonly sides: readonly SettleInput[];
  readonly store: Store;
  /** The batches that were sent. */
  readonly batches: FundedTogether[];
};

/** Takers of as many swaps, with one store, who fund first. */
async function takers(
  count: number,
  coins: Record<LegName, Coin> = { a: 'SOL', b: 'ETH' },
  store: Store = memoryStore(),
): Promise<Many> {
  const batches: FundedTogether[] = [];
  const together = fundingsTogether({ withinMs: 200, onSent: (each) => batches.push(each) });
  const all = Promise.withResolvers<void>();
  let waiting = 0;
  const fundsTogether: FundsTogether = {
    // However long each takes before it funds.
    fund: async (context) => {
      waiting += 1;
      if (waiting === count) all.resolve();
      await all.promise;
      return together.fund(context);
    },
  };
  const sides: SettleInput[] = [];
  for (let at = 0; at < count; at += 1) {
    sides.push(await sideOf(on.chains.swap(coins), 'taker', { store, fundsTogether }));
  }
  return { sides, store, batches };
}

/** Runs them until each has funded. */
async function funded(sides: readonly SettleInput[]): Promise<string[]> {
  const stop = new AbortController();
  const runs = sides.map((side) => running({ ...side, signal: stop.signal }));
  const told = await Promise.all(runs.map(({ next }) => next('funded')));
  const said = await Promise.all(runs.map(({ next }) => next('seen')));
  assert.ok(said.every(({ txid }, at) => txid === told[at]?.txid));
  stop.abort(new Error('enough'));
  await Promise.allSettled(runs.map(({ end }) => end));
  return told.map(({ txid }) => txid ?? '');
}

const countOf = () => on.anvil.countOf(on.chains.walletsOf.taker.evm.address);
const idsOf = (sides: readonly SettleInput[]) => sides.map(({ swapId }) => swapId).toSorted();

async function gasOf(txid: string): Promise<number> {
  const receipt = await on.anvil.call<{ gasUsed: string; status: string }>(
    'eth_getTransactionReceipt',
    [txid],
  );
  assert.equal(receipt.status, '0x1');
  return Number(receipt.gasUsed);
}

timed('ten are funded by one transaction, which each keeps, for less gas than alone', async () => {
  const single = await takers(1);
  const [alone = ''] = await funded(single.sides);
  assert.deepEqual(single.batches, []);
  const many = await takers(10);
  const before = await countOf();
  const txids = await funded(many.sides);
  assert.equal((await countOf()) - before, 1);
  assert.equal(new Set(txids).size, 1);
  assert.deepEqual(
    many.batches.map(({ swapIds }) => swapIds.toSorted()),
    [idsOf(many.sides)],
  );
  for (const side of many.sides) {
    const { funding, owedBy } = await recordOf(side);
    assert.deepEqual(funding?.batch?.toSorted(), idsOf(many.sides));
    assert.ok(owedBy);
  }
  const { txid = '' } = many.batches[0] ?? {};
  const saved = (await gasOf(alone)) * 10 - (await gasOf(txid));
  assert.ok(saved > 9 * 21_000, `ten at once save ${saved} gas`);
});

/** As if the process had ended at this write of a funding, counted over all swaps. */
function dying(many: Many, at: number, when: 'before' | 'after') {
  const over = new AbortController();
  const dead = new Error('the process has ended');
  let writes = 0;
  const die = () => {
    over.abort(dead);
    throw dead;
  };
  const store: Store = {
    ...many.store,
    putSwap: async (record) => {
      if (over.signal.aborted) throw dead;
      if (record.funding !== null) writes += 1;
      const isIt = record.funding !== null && writes === at;
      if (isIt && when === 'before') die();
      await many.store.putSwap(record);
      if (isIt) die();
    },
  };
  return many.sides.map((side) => ({ ...side, store, signal: over.signal }));
}

/** A new process, with an empty memory. */
const restarted = ({ sides }: Many) => {
  const fundsTogether = fundingsTogether({ withinMs: 100 });
  return sides.map((side) => ({ ...side, fundsTogether }));
};

const swaps = 3;
for (const at of [1, 2, 3]) {
  for (const when of ['before', 'after'] as const) {
    const isWhole = at === swaps && when === 'after';
    timed(`a crash ${when} write ${at} of ${swaps} of a batch funds each leg once`, async () => {
      const many = await takers(swaps);
      const before = await countOf();
      await Promise.allSettled(dying(many, at, when).map((side) => settle(side)));
      const kept = (await Promise.all(many.sides.map(recordOf))).flatMap(
        ({ funding }) => funding ?? [],
      );
      assert.equal(kept.length, when === 'after' ? at : at - 1);
      assert.equal(await countOf(), before, 'sent before all kept it');
      const txids = await seenAfter(restarted(many));
      const [batch] = kept;
      if (batch !== undefined) {
        assert.equal((await on.anvil.receipt(batch.txid)) !== null, isWhole);
        assert.equal(txids.includes(batch.txid), isWhole);
      }
      assert.ok((await countOf()) - before <= swaps);
    });
  }
}

/** Runs them until each sees its funding in a block. */
async function seenAfter(sides: readonly SettleInput[]): Promise<string[]> {
  const stop = new AbortController();
  const runs = sides.map((side) => running({ ...side, signal: stop.signal }));
  const seen = await Promise.all(runs.map(({ next }) => next('seen', 1, 'b')));
  const txids = seen.map(({ txid }) => txid ?? '');
  await Promise.all(txids.map((txid) => on.anvil.mined(txid)));
  stop.abort(new Error('enough'));
  await Promise.allSettled(runs.map(({ end }) => end));
  return txids;
}

timed('one whose payout fails, or whose time is over, leaves the others their batch', async () => {
  const many = await takers(4);
  const [bad, late, ...good] = many.sides as [SettleInput, SettleInput, ...SettleInput[]];
  const refusal = new ParleyError('payout_would_fail', 'it takes no coins', {});
  const refused = withAdapter(bad, evmKey, () => ({
    preflight: async () => {
      throw refusal;
    },
  }));
  let isLate = false;
  const outOfTime = withAdapter(late, evmKey, ({ preflight }) => ({
    preflight: async (...asked) => {
      await preflight(...asked);
      isLate ||= asked[1] === 'funding';
    },
  }));
  const now = async () => ((await late.now?.()) ?? 0) + (isLate ? 86_400 : 0);
  const others = [running(refused), running({ ...outOfTime, now })];
  await funded(good);
  const told = others.flatMap(({ emitted }) => emitted.flatMap(({ code }) => code ?? []));
  assert.ok(told.includes('payout_would_fail') && told.includes('too_late_to_fund'), told.join());
  stopAll();
  assert.deepEqual(
    many.batches.map(({ swapIds }) => swapIds.toSorted()),
    [idsOf(good)],
  );
  for (const side of [bad, late]) assert.equal((await recordOf(side)).funding, null);
});

timed('one whose lane another escrow took meanwhile is found by halves', async () => {
  const many = await takers(5);
  const [moved, ...others] = many.sides as [SettleInput, ...SettleInput[]];
  const { wallet, source } = moved.chains[evmKey] ?? {};
  assert.ok(wallet?.family === 'evm' && source?.view.family === 'evm');
  const { view } = source;
  let isTaken = false;
  const taking = withAdapter(moved, evmKey, ({ preflight, broadcast, readSigned }) => ({
    preflight: async (terms, about, signal) => {
      await preflight(terms, about, signal);
      if (about !== 'funding' || isTaken) return;
      isTaken = true;
      const other = { ...terms, hashlock: 'ab'.repeat(32), amount: 1n };
      const [call] = fundCalls(other, evmDeployment(view.chainId), 0n);
      assert.ok(call);
      const { raw, txid } = await wallet.sign(view.chainId, call, signal);
      await broadcast(await readSigned(raw, signal), signal);
      await on.anvil.mined(txid);
    },
  }));
  running(taking);
  await funded(others);
  stopAll();
  const inBatches = many.batches.flatMap(({ swapIds }) => swapIds);
  assert.ok(!inBatches.includes(moved.swapId) && inBatches.length >= 2);
  assert.equal((await recordOf(moved)).funding, null);
});

timed('a batch that no block takes is raised, and each of its swaps has that version', async () => {
  const many = await takers(3);
  const before = await countOf();
  await on.anvil.hold();
  const stop = new AbortController();
  const runs = many.sides.map((side) =>
    running({ ...side, replaceAfterMs: 2_000, signal: stop.signal }),
  );
  await Promise.race(runs.map(({ next }) => next('replaced')));
  const txidsNow = async () =>
    (await Promise.all(many.sides.map(recordOf))).map(({ funding }) => funding?.txid ?? '');
  const first = many.batches[0]?.txid;
  await waitUntil(async () => {
    const [txid, ...others] = await txidsNow();
    return txid !== first && others.every((each) => each === txid);
  });
  await on.anvil.go();
  await Promise.all(runs.map(({ next }) => next('seen', 1, 'b')));
  await waitUntil(async () => (await countOf()) - before === 1);
  stop.abort(new Error('enough'));
  await Promise.allSettled(runs.map(({ end }) => end));
  assert.equal((await countOf()) - before, 1);
  assert.equal(many.batches.length, 1);
});

timed('one that is late ends its batch, and the others are funded without it', async () => {
  const many = await takers(3);
  await on.anvil.hold();
  const [first] = many.sides as [SettleInput];
  await Promise.all(many.sides.map((side) => until(side, isFunded)));
  const { deadlines } = (await recordOf(first)).swap;
  const seconds = deadlines.initiatorFundBy - on.chains.now() + 60;
  const late = running({ ...later(first, seconds), replaceAfterMs: 1_000 });
  const { txid: cancel } = await late.next('cancelled');
  const others = many.sides.slice(1);
  const seen = seenAfter(others);
  await on.anvil.go();
  const txids = await seen;
  assert.ok(txids.every((txid) => txid !== many.batches[0]?.txid));
  await on.anvil.mined(cancel ?? '');
  stopAll();
  assert.equal(await on.anvil.receipt(many.batches[0]?.txid ?? ''), null);
});

timed(
  'one that another device gave up ends its batch, and the others are funded without',
  async () => {
    const many = await takers(3);
    const [given, ...others] = many.sides as [SettleInput, ...SettleInput[]];
    const isOut = async () => (await given.store.getSwap(given.swapId))?.funding ?? null;
    const [client, ...clients] = many.sides.map((side) => {
      const own = side.client as ParleyClient;
      const broadcast: ParleyClient['broadcast'] = async (chain, signed, how) => {
        if ((await isOut())?.raw !== signed) return own.broadcast(chain, signed, how);
        throw new ParleyApiError({ status: 409, code: 'given_up', message: 'it was given up' });
      };
      return { ...own, broadcast } as ParleyClient;
    }) as [ParleyClient, ...ParleyClient[]];
    const swap: ParleyClient['swap'] = async (...about) => {
      const { legs, ...shown } = await client.swap(...about);
      const release = (await isOut()) && { askedAt: 0, at: null, signature: null };
      return { ...shown, legs: { ...legs, a: { ...legs.a, release } } };
    };
    const gone = running({ ...given, client: { ...client, swap } as ParleyClient });
    await funded(others.map((side, at) => ({ ...side, client: clients[at] as ParleyClient })));
    stopAll();
    await gone.end.catch(() => {});
    const { funding, givenUp } = await recordOf(given);
    assert.ok(givenUp && funding?.batch);
    assert.equal(await on.anvil.receipt(funding.txid), null);
  },
);

timed('tokens are approved once, by their sum, and funded together', async () => {
  const many = await takers(3, { a: 'SOL', b: 'EVM dollar' });
  const before = await countOf();
  const [txid = '', ...others] = await funded(many.sides);
  assert.deepEqual(others, [txid, txid]);
  assert.equal((await countOf()) - before, 2);
});

timed('on TRON several fundings are one transaction too', async () => {
  const many = await takers(3, { a: 'SOL', b: 'TRX' });
  const txids = await funded(many.sides);
  assert.equal(new Set(txids).size, 1);
  assert.deepEqual(
    many.batches.map(({ swapIds }) => swapIds.toSorted()),
    [idsOf(many.sides)],
  );
});
