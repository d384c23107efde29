// One run of a swap at a time: a stopped swap stays stopped, however often it was begun.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import { ParleyError } from '@parley/core/errors.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { codeOf } from '@parley/sdk/errors.ts';
import { fileStore } from '@parley/sdk/stores/file.ts';
import type { Store } from '@parley/sdk/stores/store.ts';
import { paperScene } from '@parley/sdk/testing/paper-scene.ts';
import { limits } from '@parley/sdk/testing/timed.ts';
import type { Session, Unlocked } from '@parley/trader/session.ts';
import { giveUp } from '@parley/trader/swaps.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { afterEnd, afterProgress, createDriver, wordsOf } from './driver.ts';

const swapId = 's-1';
const asset = (chain: string) => ({ id: chain, chain, token: null, decimals: 8 });
const trade = {
  party: 'taker',
  direction: 'sell_base',
  threadId: 't-1',
  base: asset('one'),
  baseAmount: 1n,
  quote: asset('other'),
  quoteAmount: 2n,
  refundTo: { address: 'a', pubkey: null },
  payTo: { address: 'b', pubkey: null },
};

async function folder(t: TestContext): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), 'parley-mcp-driver-'));
  t.after(() => rm(data, { recursive: true }));
  return data;
}

/** A driver of one swap, whose nodes are away: a run waits and asks again, until it is stopped. */
function driverIn(t: TestContext, data: string, lock: Store['lock'], notes: string[] = []) {
  const store = { swapIds: async () => [swapId], getSwap: async () => ({ trade }), lock };
  const source = async () => {
    throw new Error('the node is away');
  };
  const session = {
    profile: { chains: {} },
    source,
    now: () => 1_000,
    places: { data, ended: join(data, 'ended') },
  } as unknown as Session;
  const client = { swaps: async () => ({ swaps: [], nextCursor: null }) };
  const driver = createDriver({
    session,
    note: (text) => notes.push(text),
    changed: () => {},
    client: client as unknown as ParleyClient,
    signal: new AbortController().signal,
    own: { store } as unknown as Unlocked,
  });
  t.after(() => driver.close());
  return driver;
}

test('a swap that two calls begin at once is one run, and stopping it leaves none', async (t) => {
  let held = 0;
  // Released once nothing runs.
  const driver = driverIn(t, await folder(t), async () => {
    held += 1;
    const release = async () => {
      held -= 1;
    };
    return { release };
  });
  await Promise.all([driver.drive(swapId), driver.drive(swapId)]);
  assert.equal(held, 1);
  await driver.stop(swapId);
  await settled();
  assert.equal(held, 0);
});

test('one of two servers of a profile drives; the other says so, and drives once the first has ended', async (t) => {
  const data = await folder(t);
  const lock = async () => (await fileStore(join(data, 'store'))).lock;
  const notes: string[] = [];
  const first = driverIn(t, data, await lock());
  const second = driverIn(t, data, await lock(), notes);
  await first.drive(swapId);
  await assert.rejects(second.drive(swapId), (error) => codeOf(error) === 'in_use');
  assert.equal(second.of(swapId), null);
  // One that starts meanwhile serves all the same: the swaps it is to drive are on disk.
  await second.resume();
  assert.match(notes.join('\n'), /swap s-1 is not driven: another parley of this profile settles/);
  assert.deepEqual(await readdir(join(data, 'mcp', 'driven')), ['s-1.json']);
  await first.close();
  await second.drive(swapId);
  assert.equal(second.of(swapId)?.state, 'running');
});

test('the last step of a run says nothing about nodes, but for its end', () => {
  for (const step of ['waiting', 'evidence']) {
    const { doubts, said } = afterProgress({ step, text: 'as it is', txid: null });
    assert.deepEqual([doubts, said?.untrusted], [undefined, 'as it is'], step);
  }
  assert.deepEqual(afterEnd('received').doubts, []);
  const text = 'until the clock passes 1795910481';
  const waits = afterProgress({ step: 'waiting', text, txid: null });
  assert.match(waits.said?.untrusted ?? '', /passes 2026-11-29 00:01 UTC$/);
});

test('a gate that nodes keep shut is among the doubts, by its leg where it names one', () => {
  const shut = { code: 'nodes_disagree', sentence: 'they differ' } as const;
  const words = ([null, 'b'] as const).map((leg) => wordsOf({ ...shut, leg }).untrusted);
  assert.deepEqual(words, ['nodes_disagree: they differ', 'leg b: nodes_disagree: they differ']);
});

/** A driver of the swap of a paper scene, whose nodes differ as long as `of` says so. */
async function paperDriver(t: Pick<TestContext, 'after'>, of: { differ: boolean }) {
  const scene = await paperScene('taker');
  const { swapId: id, trade, store, client, chains: own, now } = scene.input;
  assert.ok(trade);
  await store.putTrade(trade);
  const mustAgree = async () => {
    if (of.differ) throw new ParleyError('sources_disagree', 'they differ', {});
  };
  const data = await mkdtemp(join(tmpdir(), 'parley-mcp-driver-'));
  const listed = { id, threadId: trade.threadId, status: 'agreed' };
  const session = {
    profile: { chains: {} },
    now,
    places: { data, ended: join(data, 'ended') },
    source: async (chain: string) => {
      const { source } = own[chain] ?? assert.fail(chain);
      return { ...source, adapter: { ...source.adapter, mustAgree } };
    },
  } as unknown as Session;
  const driver = createDriver({
    session,
    own: { store, wallet: async (chain: string) => own[chain]?.wallet } as unknown as Unlocked,
    client: { ...client, swaps: async () => ({ swaps: [listed], nextCursor: null }) } as never,
    signal: new AbortController().signal,
    note: () => {},
    changed: () => {},
  });
  t.after(async () => {
    await driver.close();
    await rm(data, { recursive: true });
  });
  const until = <T>(is: () => T | Promise<T>) =>
    waitUntil(async () => {
      await now?.();
      return is();
    });
  return { driver, session, store, until, id };
}

test('a gate that nodes keep shut is a doubt of the swap until they agree', limits, async (t) => {
  const of = { differ: true };
  const { driver, until, id } = await paperDriver(t, of);
  const doubts = () =>
    driver
      .of(id)
      ?.doubts.map(({ untrusted }) => untrusted)
      .join();
  await driver.drive(id);
  await until(() => doubts() === 'nodes_disagree: they differ');
  of.differ = false;
  await until(() => doubts() === '');
});

test('a swap that was given up is driven with that word', limits, async (t) => {
  const { driver, session, store, until, id } = await paperDriver(t, { differ: false });
  await giveUp(session, id);
  await driver.drive(id);
  const { funding, givenUp } = await until(async () => {
    const record = await store.getSwap(id);
    return record?.givenUp && record;
  });
  assert.deepEqual([givenUp?.byPerson, funding], [true, null]);
});
