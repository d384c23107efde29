// One run of a swap at a time: what is stopped is stopped, however often it was begun.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import type { Cli } from '../cli/io.ts';
import type { Session, Unlocked } from '../cli/session.ts';
import type { ParleyClient } from '../sdk/client.ts';
import { codeOf } from '../sdk/errors.ts';
import { fileStore } from '../sdk/stores/file.ts';
import type { Store } from '../sdk/stores/store.ts';
import { afterLine, createDriver } from './driver.ts';

const swapId = 's-1';
const asset = (chain: string) => ({ id: chain, chain, token: null, decimals: 8 });
const trade = {
  ...{ party: 'taker', direction: 'sell_base', threadId: 't-1' },
  ...{ base: asset('one'), baseAmount: 1n, quote: asset('other'), quoteAmount: 2n },
  ...{ refundTo: { address: 'a', pubkey: null }, payTo: { address: 'b', pubkey: null } },
};

async function folder(t: TestContext): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), 'parley-mcp-driver-'));
  t.after(() => rm(data, { recursive: true }));
  return data;
}

/** Of one swap, whose nodes are away: a run waits and asks again, until it is stopped. */
function driverIn(t: TestContext, data: string, lock: Store['lock'], notes: string[] = []) {
  const store = { swapIds: async () => [swapId], getSwap: async () => ({ trade }), lock };
  const source = async () => {
    throw new Error('the node is away');
  };
  const session = {
    ...{ profile: { chains: {} }, source, now: () => 1_000 },
    places: { data, ended: join(data, 'ended') },
  } as unknown as Session;
  const client = { swaps: async () => ({ swaps: [], nextCursor: null }) };
  const driver = createDriver({
    ...{ session, note: (text) => notes.push(text), client: client as unknown as ParleyClient },
    cli: { err: () => {}, signal: new AbortController().signal } as unknown as Cli,
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

test('of two servers of a profile one drives; the other says so, and drives once the first has ended', async (t) => {
  const data = await folder(t);
  const lock = async () => (await fileStore(join(data, 'store'))).lock;
  const notes: string[] = [];
  const [first, second] = [driverIn(t, data, await lock()), driverIn(t, data, await lock(), notes)];
  await first.drive(swapId);
  await assert.rejects(second.drive(swapId), (error) => codeOf(error) === 'in_use');
  assert.equal(second.of(swapId), null);
  // One that starts meanwhile serves all the same: what it is to drive is on disk.
  await second.resume();
  assert.match(notes.join('\n'), /swap s-1 is not driven: another parley of this profile settles/);
  assert.deepEqual(await readdir(join(data, 'mcp', 'driven')), ['s-1.json']);
  await first.close();
  await second.drive(swapId);
  assert.equal(second.of(swapId)?.state, 'running');
});

test('what is wrong with nodes stays beside what comes after it, until they are well', () => {
  const told = (line: object, doubts: Parameters<typeof afterLine>[1] = []) =>
    afterLine(JSON.stringify(line), doubts).doubts;
  const words = (doubts: ReturnType<typeof told>) => doubts?.map(({ said }) => said.untrusted);
  const about = { step: 'evidence', leg: 'a' } as const;
  const first = told({ ...about, code: 'node_behind', text: 'node 2 stands at block 7' });
  assert.deepEqual(words(first), ['leg a: node_behind: node 2 stands at block 7']);
  const waits = { step: 'waiting', leg: 'a', code: null, text: 'for a block' };
  assert.equal(told(waits, first), undefined);
  const both = told({ ...about, leg: 'b', code: 'nodes_disagree', text: 'they differ' }, first);
  assert.deepEqual(words(both), [...(words(first) ?? []), 'leg b: nodes_disagree: they differ']);
  const other = told({ ...about, code: 'chain_stands', text: 'too old' }, both);
  assert.deepEqual(words(other), [
    'leg b: nodes_disagree: they differ',
    'leg a: chain_stands: too old',
  ]);
  assert.deepEqual(words(told({ ...about, code: null, text: 'well again' }, both)), [
    'leg b: nodes_disagree: they differ',
  ]);
  assert.deepEqual(told({ end: 'received' }, both), []);
});
