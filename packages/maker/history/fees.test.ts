// Fees of ended swaps: which transactions were a swap's own, and shares that add up.

import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Kept, SwapRecord } from '@parley/sdk/stores/store.ts';
import type { Deal } from '../journal.ts';
import { dealOf } from '../testing/stage.ts';
import { createFees, type FeesInput, sentOf, shareOf } from './fees.ts';

const kept = (txid: string, more: Partial<Kept> = {}): Kept => ({ txid, raw: txid, ...more });

/** A maker's: it gives leg a on evm, and gets leg b on bitcoin. */
function record(more: object): SwapRecord {
  const leg = (chain: string, address: string) => ({ chain, family: chain, escrow: { address } });
  return {
    trade: { party: 'maker' },
    swap: { id: 's1', legs: { a: leg('evm', 'A'), b: leg('bitcoin', 'B') } },
    seen: { A: { funded: { txid: 'f0' }, refunded: { txid: 'm' } }, B: { claimed: { txid: 'c' } } },
    marks: { B: { claimed: { hash: 'block' } } },
    funding: null,
    claim: null,
    refund: null,
    ...more,
  } as unknown as SwapRecord;
}

test('a swap has sent what its record keeps, in the version that a block has, and its batches', () => {
  const whole = record({
    approved: kept('p'),
    funding: kept('f1', { former: ['f0'], batch: ['s0', 's1'] }),
    claim: kept('c'),
  });
  const batch = { chain: 'evm', txid: 'm', swapIds: ['s1', 's2', 's3'] };
  assert.deepEqual(
    sentOf(whole, [batch, { ...batch, txid: 'gone' }, { ...batch, swapIds: ['s2'] }]).map(
      (each) => [each.chain, each.versions, each.isMined, each.block, each.swapIds],
    ),
    [
      ['evm', ['p'], false, undefined, ['s1']],
      ['evm', ['f0'], true, undefined, ['s0', 's1']],
      ['bitcoin', ['c'], true, 'block', ['s1']],
      ['evm', ['m'], true, undefined, ['s1', 's2', 's3']],
      ['evm', ['gone'], false, undefined, ['s1', 's2', 's3']],
    ],
  );
  const sent = (more: object) => {
    return sentOf(record(more), []).map(({ chain, versions, isMined }) => [
      chain,
      versions,
      isMined,
    ]);
  };
  assert.deepEqual(sent({}), [['bitcoin', ['c'], true]], 'the market sent what was signed before');
  const seen = { A: { refunded: { txid: 'theirs' } } };
  const refund = kept('own');
  assert.deepEqual(sent({ seen, refund }), [['evm', ['own'], false]], 'somebody else refunded it');
});

test('shares of one fee add up to it', () => {
  const ids = ['a', 'b', 'c'];
  const shares = ids.map((id) => shareOf(11n, ids, id));
  assert.deepEqual(shares, [5n, 3n, 3n]);
});

test('fees are asked until all are known, and a batch outlives the process', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'parley-maker-fees-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const at = { seconds: 1_029 };
  const deals = new Map<string, Deal>();
  deals.set('t1', { ...dealOf('t1', 's1'), end: 'received', endedAt: 1_000 });
  const known = new Map<string, bigint>([['m', 10n]]);
  const asked: string[] = [];
  const faults: string[] = [];
  const input = {
    dir,
    chains: [
      { chain: 'evm', family: 'evm' },
      { chain: 'bitcoin', family: 'bitcoin' },
    ],
    store: { getSwap: async () => record({ funding: kept('f0'), claim: kept('c') }) },
    journal: { deals, keep: async (deal: Deal) => void deals.set(deal.threadId, deal) },
    log: { debug: () => {}, info: () => {}, error: (event: string) => faults.push(event) },
    now: () => at.seconds * 1_000,
    signal: new AbortController().signal,
    paid: async ({ txid }: { txid: string }) => {
      asked.push(txid);
      return known.get(txid) ?? null;
    },
  } as unknown as FeesInput;
  const first = await createFees(input);
  const batch = { chain: 'evm', txid: 'm', swapIds: ['s0', 's1'] };
  await first.batched(batch);
  // A killed process had noted it, and the next one signed it again.
  await first.batched(batch);
  await first.look();
  assert.deepEqual(asked, [], 'a reorganisation may still take it back');
  at.seconds = 1_031;
  known.set('f0', 7n);
  await first.look();
  assert.equal(deals.get('t1')?.fees, undefined, 'the claim is in a block, and no node has it yet');
  known.set('c', 5n);
  await (await createFees(input)).look();
  assert.deepEqual(deals.get('t1')?.fees, [
    { chain: 'evm', txid: 'f0', decimals: 18, units: 7n },
    { chain: 'bitcoin', txid: 'c', decimals: 8, units: 5n },
    { chain: 'evm', txid: 'm', decimals: 18, units: 5n },
  ]);
  const onDisk = () => readFile(join(dir, 'history', 'batches.jsonl'), 'utf8');
  assert.match(await onDisk(), /"txid":"m"/);
  // A line that is no batch, and half of one.
  await appendFile(join(dir, 'history', 'batches.jsonl'), '5\n{"chain":"evm"}\n{"swapI');
  await createFees(input);
  assert.equal(await onDisk(), '', 'all fees of its swaps are known, or never asked');
  await rm(join(dir, 'history', 'batches.jsonl'));
  await mkdir(join(dir, 'history', 'batches.jsonl'));
  await createFees(input);
  assert.deepEqual(faults, ['batches_unread'], 'a maker starts all the same');
});
