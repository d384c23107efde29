// An asset with ten thousand open orders closes and reopens, as the operators' command does it, by
// another process than the market: how long that takes, how soon the last maker has the last frame,
// and what it does to orders on another pair.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Asset } from '../server/db/assets.ts';
import { findRfq } from '../server/db/rfqs.ts';
import { encodeFrame, entryText } from '../server/edge/feed/frames.ts';
import { seedAssets } from '../server/market/assets.ts';
import { type Changed, closeAsset, reopenAsset } from '../server/market/listing.ts';
import { rfqView } from '../server/market/views.ts';
import { microseconds, startChild } from './children.ts';
import { atMost, type Effort, median, type Row } from './report.ts';
import { type Account, orderOf, posted, type Stage, usualVolume } from './stage.ts';

const makers = 100;
const apartMs = 5;
const limitSeconds = 2;
/** The slowest order on another pair. */
const limitMs = 250;
const dollar = { chain: 'evm-dev', symbol: 'USD', address: `0x${'d0'.repeat(20)}`, decimals: 6 };

type Round = { readonly seconds: number; readonly toldSeconds: number; readonly slowestMs: number };

export async function benchListing(stage: Stage, { rounds }: Effort): Promise<Row[]> {
  const { db, deps } = stage;
  const [btc, usd, other] = (await seedAssets(db, deps, [
    { chain: 'bitcoin', symbol: 'BTC', address: null, decimals: 8 },
    dollar,
    { chain: 'evm-dev', symbol: 'ETH', address: null, decimals: 18 },
  ])) as [Asset, Asset, Asset];
  const clients = startChild<typeof import('./feed-clients.ts')>('feed-clients.ts');
  try {
    // Nobody is told of its own: orders of the same account on another pair are not counted.
    const account = await stage.account();
    const first = JSON.stringify({ apiKey: account.key });
    await clients.ask('join', stage.port, makers, first, '"ready"');
    const change = { assetId: usd.id, by: 'operator' as const };
    const close = () =>
      db.transaction((tx) =>
        closeAsset(tx, { ...change, at: new Date(deps.now()), reasons: ['bench'] }),
      );
    const reopen = () =>
      db.transaction((tx) => reopenAsset(tx, { ...change, at: new Date(deps.now()) }));
    const measured = async (kind: 'created' | 'cancelled', work: () => Promise<Changed>) => {
      await clients.ask('expect', await lengthsOf(stage, kind));
      const told = async (began: number) => {
        const { last } = await clients.ask('arrived');
        return ((last.at(-1) as number) - began) / 1e6;
      };
      return oneRound(stage, account, [btc, other], work, told);
    };
    const closings: Round[] = [];
    const reopenings: Round[] = [];
    for (let round = 0; round < rounds; round += 1) {
      closings.push(await measured('cancelled', close));
      reopenings.push(await measured('created', reopen));
    }
    return [...rowsOf('close', closings), ...rowsOf('reopen', reopenings)];
  } finally {
    await clients.stop();
  }
}

/** Orders on another pair go on meanwhile, one after another. */
async function oneRound(
  stage: Stage,
  account: Account,
  pair: readonly [Asset, Asset],
  work: () => Promise<Changed>,
  told: (began: number) => Promise<number>,
): Promise<Round> {
  let over = false;
  const posting = (async () => {
    let slowest = 0;
    while (!over) {
      const began = performance.now();
      await posted(stage.port, '/v1/rfqs', account, orderOf(pair));
      slowest = Math.max(slowest, performance.now() - began);
      await sleep(apartMs);
    }
    return slowest;
  })();
  const began = microseconds();
  const { orders } = await work();
  const seconds = (microseconds() - began) / 1e6;
  if (orders !== usualVolume.open) throw new Error(`${orders} orders, not ${usualVolume.open}`);
  const toldSeconds = await told(began);
  over = true;
  const slowestMs = await posting;
  await stage.db.rows({
    name: 'bench_end',
    text: `update rfqs set status = 'cancelled' where creator_id = $1`,
    values: [account.accountId],
  });
  return { seconds, toldSeconds, slowestMs };
}

/** Frames of the book's orders all have one length. */
async function lengthsOf({ db, deps, rfqId }: Stage, kind: 'created' | 'cancelled') {
  const rfq = await findRfq(db, rfqId(0));
  const body = JSON.stringify(rfqView(rfq!, deps.now(), true));
  const own = { kind, rfqId: rfq!.id, creatorId: '', targetAddress: null, body };
  const entry = { seq: 0, number: 0, ...own };
  const { length } = encodeFrame(entryText(entry, 'plain') ?? '');
  return Array.from({ length: usualVolume.open }, () => length);
}

function rowsOf(what: 'close' | 'reopen', rounds: readonly Round[]): Row[] {
  const row = (name: string, values: number[], unit: string, limit: number, slowest: string) =>
    atMost(
      `listing: ${name}`,
      { value: median(values), unit, limit, bar: 1 },
      `the limit; ${slowest}`,
    );
  const worst = (values: readonly number[]) => `slowest ${Math.max(...values).toFixed(2)} s`;
  const [seconds, told, slowest] = (['seconds', 'toldSeconds', 'slowestMs'] as const).map((key) =>
    rounds.map((each) => each[key]),
  ) as [number[], number[], number[]];
  const all = `slowest of all ${Math.max(...slowest).toFixed(0)} ms`;
  const last = `${what}: from its begin to the last frame at the last of ${makers} makers`;
  const book = `${what} an asset with ${usualVolume.open} open orders`;
  const order = 'POST /v1/rfqs';
  return [
    row(book, seconds, 's', limitSeconds, worst(seconds)),
    row(last, told, 's', limitSeconds, worst(told)),
    row(`slowest ${order} on another pair during the ${what}`, slowest, 'ms', limitMs, all),
  ];
}
