// The maker feed against raw `ws` sending the same bytes: how soon the last of a thousand makers
// has an RFQ, how many frames a second ten thousand get, and what a socket takes of memory.

import { setTimeout as sleep } from 'node:timers/promises';
import { insertOutbox } from '@parley/market/db/outbox.ts';
import { encodeFrame, entryText } from '@parley/market/edge/feed/frames.ts';
import { bars } from './bars.ts';
import { type Child, startChild } from './children.ts';
import type { Arrived } from './feed-clients.ts';
import { usually } from './miniature.ts';
import { alternating, atLeast, atMost, type Effort, p99, type Row } from './report.ts';
import { orderOf, posted, type Stage } from './stage.ts';

const makers = { latency: usually(1_000, 3), throughput: usually(10_000, 5) };
/** RFQs of a round, and their distance. */
const orders = usually(100, 2);
const apartMs = usually(40, 1);
/** Frames of a burst to each socket. */
const burst = usually(60, 2);
const { lastMakerMs: latencyLimitMs, socketKiB: memoryLimitKiB } = bars.feed;
/** Sockets before the memory is first read. */
const warm = usually(50, 1);

type Clients = Child<typeof import('./feed-clients.ts')>;
type Sides = {
  readonly market: Child<typeof import('./market.ts')>;
  readonly port: number;
  readonly peer: Child<typeof import('./feed-peer.ts')>;
  /** The clients of the market, and of the peer. */
  readonly clients: readonly [Clients, Clients];
};

export async function benchFeed(stage: Stage, effort: Effort): Promise<Row[]> {
  // The book holds entries of the bench alone: a snapshot of thousands is not measured here.
  await stage.db.rows({
    name: 'bench_empty',
    text: `update rfqs set status = 'cancelled'`,
    values: [],
  });
  return [...(await latency(stage, effort)), ...(await throughput(stage, effort))];
}

async function withSides<T>(
  stage: Stage,
  count: number,
  work: (sides: Sides, bytesBefore: number) => Promise<T>,
): Promise<T> {
  const market: Sides['market'] = startChild('market.ts');
  const peer: Sides['peer'] = startChild('feed-peer.ts');
  const [ours, theirs]: Sides['clients'] = [
    startChild('feed-clients.ts'),
    startChild('feed-clients.ts'),
  ];
  try {
    const port = await market.ask('serve', stage.url);
    const { key } = await stage.account();
    const join = (count: number) =>
      ours.ask('join', port, count, JSON.stringify({ apiKey: key }), '"ready"');
    await join(warm);
    const before = await market.ask('memory', 'collected');
    await join(count - warm);
    await theirs.ask('join', await peer.ask('listen'), count, '', '\r\n\r\n');
    return await work({ market, port, peer, clients: [ours, theirs] }, before);
  } finally {
    for (const child of [market, peer, ours, theirs]) await child.stop();
  }
}

/** The 99th percentile, for RFQs posted one after another, from the commit to the last maker. */
async function latency(stage: Stage, { rounds }: Effort): Promise<Row[]> {
  return withSides(stage, makers.latency, async ({ market, port, peer, clients }) => {
    const [ours, theirs] = clients;
    const texts = Array.from({ length: orders }, (_, seq) => textLike(stage, seq));
    const lengths = texts.map((text) => encodeFrame(text).length);
    const [value, limit] = await alternating(
      rounds,
      async () => {
        await ours.ask('expect', lengths);
        await market.ask('commits');
        const taker = await stage.account();
        for (let each = 0; each < orders; each += 1) {
          await posted(port, '/v1/rfqs', taker, orderOf(stage.assets));
          await sleep(apartMs);
        }
        const { last } = await ours.ask('arrived');
        return p99Ms(last, await market.ask('commits'));
      },
      async () => {
        await theirs.ask('expect', lengths);
        const began = await peer.ask('send', texts, apartMs);
        const { last } = await theirs.ask('arrived');
        return p99Ms(last, began);
      },
    );
    const name = `feed: an RFQ's commit -> its frame at the last of ${makers.latency} makers, p99`;
    const against = 'raw ws broadcasting the same bytes, from its first send';
    return [
      atMost(name, { value, unit: 'ms', limit, bar: bars.feed.lastMaker }, against),
      atMost(name, { value, unit: 'ms', limit: latencyLimitMs, bar: 1 }, 'the limit'),
    ];
  });
}

/** A burst to all, from the first byte at a maker to the last. */
async function throughput(stage: Stage, { rounds }: Effort): Promise<Row[]> {
  return withSides(stage, makers.throughput, async (sides, before) => {
    const { market, peer, clients } = sides;
    const [ours, theirs] = clients;
    const after = await market.ask('memory', 'collected');
    const texts = Array.from({ length: burst }, (_, seq) => textLike(stage, seq));
    const lengths = texts.map((text) => encodeFrame(text).length);
    const perSecond = ({ first, last }: Arrived) =>
      (burst * makers.throughput * 1e6) / ((last.at(-1) as number) - (first[0] as number));
    const [value, limit] = await alternating(
      rounds,
      async () => {
        await ours.ask('expect', lengths);
        await commitBurst(stage);
        return perSecond(await ours.ask('arrived'));
      },
      async () => {
        await theirs.ask('expect', lengths);
        await peer.ask('send', texts, 0);
        return perSecond(await theirs.ask('arrived'));
      },
    );
    const sockets = makers.throughput;
    const memory = (after - before) / 1_024 / sockets;
    return [
      atLeast(
        `feed: frames to ${sockets} sockets, ${burst} RFQs of one transaction`,
        { value, unit: 'frames/s', limit, bar: bars.feed.frames },
        'raw ws broadcasting the same bytes',
      ),
      atMost(
        `feed: memory of the server, a socket of ${sockets}`,
        { value: memory, unit: 'KiB', limit: memoryLimitKiB, bar: 1 },
        'the limit',
      ),
    ];
  });
}

function p99Ms(last: readonly number[], began: readonly number[]): number {
  if (began.length !== last.length) throw new Error(`${began.length} RFQs, ${last.length} frames`);
  return p99(last.map((at, index) => (at - (began[index] as number)) / 1_000));
}

/** A frame of the length that the market's have. */
function textLike({ assets, takers }: Stage, seq: number): string {
  const at = new Date(0).toISOString();
  const id = '019f0000-0000-7000-8000-000000000000';
  const creatorId = takers[0]?.accountId ?? '';
  const { ttlSeconds: _, ...order } = orderOf(assets);
  const own = { status: 'open', visibility: 'public', askAmount: null, creatorId };
  const body = JSON.stringify({ id, ...order, ...own, createdAt: at, expiresAt: at });
  const place = { seq, number: seq };
  const told = { kind: 'created' as const, rfqId: id, creatorId, targetAddress: null, body };
  return entryText({ ...place, ...told }, 'plain') ?? '';
}

async function commitBurst(stage: Stage): Promise<void> {
  const { creatorId, rfqId } = { creatorId: stage.takers[0]?.accountId, rfqId: stage.rfqId(0) };
  const at = new Date();
  await insertOutbox(
    stage.db,
    Array.from({ length: burst }, (_, seq) => {
      const { rfq } = JSON.parse(textLike(stage, seq)) as { rfq: object };
      const payload = { rfqId, creatorId, targetAddress: null, body: JSON.stringify(rfq) };
      return { topic: 'feed.created', accountId: null, payload, at };
    }),
  );
}
