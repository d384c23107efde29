// Limits refuse with the numbers, on both sides of each, and what was counted survives the process
// that counted it.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { fileStore } from '@parley/sdk/stores/file.ts';
import type { ProfileChain } from '@parley/trader/profile.ts';
import { counting, openLedger, type Spend } from './ledger.ts';
import { readLimits } from './limits.ts';
import { Refusal } from './refusal.ts';

const usd = '0x00000000000000000000000000000000000000d0';
const chains: Readonly<Record<string, ProfileChain>> = {
  btc: { family: 'bitcoin', bitcoin: 'regtest', nodes: [], tokens: {} },
  eth: {
    family: 'evm',
    chainId: 31_337,
    nodes: [],
    tokens: { USD: { address: usd, decimals: 6 } },
  },
};
const session = {
  chain: (name: string) => chains[name] ?? assert.fail(`no chain ${name}`),
};
const written = {
  assets: { btc: { perSwap: '0.01', perDay: '0.025' } },
  pairs: [['eth:USD', 'btc']],
  swapsPerDay: 3,
};
async function parse(change: object = {}) {
  const file = join(dir, 'written.json');
  await writeFile(file, JSON.stringify({ ...written, ...change }), { mode: 0o600 });
  return readLimits(file, session);
}

let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-mcp-limits-'));
});
after(() => rm(dir, { recursive: true }));

const spend = (threadId: string, units: bigint, gives = 'btc', gets = 'eth:USD'): Spend => ({
  threadId,
  units,
  gives,
  gets,
});
const refused = (code: string, facts: object) => (error: unknown) => {
  assert.ok(error instanceof Refusal, String(error));
  assert.deepEqual([error.code, error.facts], [code, facts]);
  return true;
};

test('a file of limits that is not whole, or says something else, is refused by its field', async () => {
  for (const [change, sentence] of [
    [{ assets: undefined }, /assets must be/],
    [{ assets: { btc: { perSwap: '0.01' } } }, /assets\.btc\.perDay must be an amount/],
    [{ assets: { btc: { perSwap: '0.02', perDay: '0.01' } } }, /perDay must be perSwap at least/],
    [{ assets: { 'eth:NONE': { perSwap: '1', perDay: '1' } } }, /"eth:NONE" must be an asset/],
    [{ pairs: [] }, /pairs must be 1 to 1000/],
    [{ pairs: [['btc']] }, /pairs\[0\] must be \[ASSET, ASSET\]/],
    [{ swapsPerDay: 0 }, /swapsPerDay must be a whole number from 1/],
    [{ perday: 1 }, /perday must be one of assets, pairs, swapsPerDay/],
  ] as const) {
    await assert.rejects(parse(change), sentence);
  }
  const file = join(dir, 'open.json');
  await writeFile(file, JSON.stringify(written), { mode: 0o644 });
  await assert.rejects(readLimits(file, session), /has mode 0644, and others may read it/);
});

test('each limit lets through what fits, and refuses one unit more with the numbers', async () => {
  let now = 1_000_000;
  const file = join(dir, 'given.json');
  const ledger = openLedger(file, await parse(), await fileStore(join(dir, 'store')), () => now);
  const most = 1_000_000n;
  const day = 2_500_000n;
  const over = { asset: 'btc', units: '1000001', perSwap: `${most}` };
  await assert.rejects(ledger.count(spend('a', most + 1n)), refused('over_swap_limit', over));
  const other = { gives: 'btc', gets: 'eth' };
  const elsewhere = ledger.count(spend('a', 1n, 'btc', 'eth'));
  await assert.rejects(elsewhere, refused('pair_not_allowed', other));
  const untold = { gives: 'eth:USD', gets: 'btc' };
  const back = ledger.count(spend('a', 1n, 'eth:USD', 'btc'));
  await assert.rejects(back, refused('pair_not_allowed', untold));
  await ledger.count(spend('a', most));
  // The same deal counts once, at its last amount.
  await ledger.count(spend('a', most));
  await ledger.count(spend('b', most));
  const left = { asset: 'btc', units: '500001', given: '2000000', perDay: `${day}` };
  await assert.rejects(ledger.count(spend('c', 500_001n)), refused('over_day_limit', left));
  const counted = await ledger.count(spend('c', 400_000n));
  const many = { swaps: 3, swapsPerDay: 3 };
  await assert.rejects(ledger.check(spend('d', 1n)), refused('over_day_count', many));
  await counted.giveBack();
  // One that counted before counts again as it did.
  await (await ledger.count(spend('b', 1n))).giveBack();
  await ledger.check(spend('d', 500_000n));
  await assert.rejects(ledger.check(spend('d', 500_001n)), refused('over_day_limit', left));
  // The refused one of two acts on one deal leaves the count of the other.
  const refusedLater = await ledger.count(spend('c', 400_000n));
  await ledger.count(spend('c', 400_000n));
  await refusedLater.giveBack();
  assert.equal((await ledger.left())[0]?.left, 100_000n);
  // The other's count stands, without what the deal had counted before.
  await ledger.count(spend('c', 100_000n));
  const first = await ledger.count(spend('c', 200_000n));
  await ledger.count(spend('c', 300_000n));
  await first.giveBack();
  assert.equal((await ledger.left())[0]?.left, 200_000n);
  now += 86_400;
  assert.deepEqual(await ledger.left(), [{ asset: 'btc', perSwap: most, left: day }]);
});

test('another process counts on what was given, two at once do not both fit, and damage spends nothing', async () => {
  const file = join(dir, 'shared.json');
  const store = await fileStore(join(dir, 'shared'));
  const limits = await parse();
  const open = () => openLedger(file, limits, store, () => 5_000);
  await open().count(spend('a', 1_000_000n));
  assert.equal((await open().left())[0]?.left, 1_500_000n);
  const both = await Promise.allSettled(['b', 'c'].map((id) => open().count(spend(id, 800_000n))));
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  await writeFile(file, (await readFile(file, 'utf8')).slice(0, -4), { mode: 0o600 });
  await assert.rejects(open().check(spend('d', 1n)), /is damaged: this server spends nothing/);
});

test('an act gives back what it counted where the market refused it, and after no other end', async () => {
  const back: string[] = [];
  const ledger = { count: async () => ({ giveBack: async () => void back.push('back') }) };
  const ends = async (error: Error | null) => {
    const act = async () => {
      if (error !== null) throw error;
      return 'done';
    };
    const counted = counting(ledger, spend('a', 1n), act);
    if (error === null) assert.equal(await counted, 'done');
    else await assert.rejects(counted, error);
    return back.splice(0).length;
  };
  const said = (status: number, code: string) =>
    new ParleyApiError({ status, code, message: 'no' });
  assert.equal(await ends(said(409, 'terms_moved')), 1);
  // It may have been done all the same.
  const open = [said(0, 'no_answer'), said(503, 'overloaded'), said(409, 'still_running')];
  for (const error of [null, ...open, new Error('a fault')]) assert.equal(await ends(error), 0);
});
