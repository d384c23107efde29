// Durable quotes, each answered after its commit: one by one, in batches and in frames, against
// pgbench inserting one like row a transaction at the same concurrency into the same PostgreSQL;
// and on a large book against the same on a small one.

import { bars } from './bars.ts';
import { startChild } from './children.ts';
import type { Loaded, Request } from './load.ts';
import { openPgbench } from './pgbench.ts';
import { alternating, atLeast, type Effort, inRounds, median, type Row } from './report.ts';
import { type Account, loaded, rfqIdHead, type Stage } from './stage.ts';

const connections = 64;
/** Quotes of a batch. */
const together = 20;
/** Frames that a socket has under way. */
const framesAtOnce = 8;
const mostPerSecond = 40_000;
const quoteAmount = '65000000';

export async function benchQuotes(stage: Stage, { rounds, seconds }: Effort): Promise<Row[]> {
  const quoting = openQuoting(stage, seconds);
  const ways = [
    { name: 'POST /v1/rfqs/{id}/quotes', bar: bars.quotes.one, run: quoting.one },
    {
      name: `POST /v1/quotes, ${together} a request,`,
      bar: bars.quotes.batches,
      run: quoting.batches,
    },
    { name: 'a frame of /v1/ws each', bar: bars.quotes.frames, run: quoting.frames },
  ];
  const book = { rfqIdHead, rfqs: stage.volume.open };
  const peer = await openPgbench(stage, book, stage.takers[0]!.accountId);
  const round = async () => {
    const limit = await peer.inserts(connections, seconds);
    const values: number[] = [];
    for (const { run } of ways) values.push(await run());
    return { limit, values };
  };
  try {
    await round();
    const all = await inRounds(rounds, round);
    const limit = median(all.map((each) => each.limit));
    return ways.map(({ name, bar }, at) =>
      atLeast(
        `quotes: ${name} ${on(stage)}, each a new thread with its event, committed first`,
        { value: median(all.map(({ values }) => values[at]!)), unit: 'quotes/s', limit, bar },
        `pgbench inserting one like row a transaction, ${connections} at once`,
      ),
    );
  } finally {
    await quoting.stop();
    await peer.stop();
  }
}

/** The same quotes on two books. */
export async function benchQuotesOfLarge(
  large: Stage,
  usual: Stage,
  { rounds, seconds }: Effort,
): Promise<Row[]> {
  const ours = openQuoting(large, seconds);
  const theirs = openQuoting(usual, seconds);
  const rows: Row[] = [];
  try {
    for (const [how, way] of [
      ['one by one', 'one'],
      [`${together} a request`, 'batches'],
      ['in frames', 'frames'],
    ] as const) {
      const [value, limit] = await alternating(rounds, ours[way], theirs[way]);
      const figure = { value, unit: 'quotes/s', limit, bar: bars.quotes.large };
      rows.push(atLeast(`quotes: the same ${how} ${on(large)}`, figure, `the same ${on(usual)}`));
    }
    return rows;
  } finally {
    await ours.stop();
    await theirs.stop();
  }
}

const on = ({ volume: { open, ended } }: Stage) => `on ${open} open RFQs and ${ended} ended`;

type Sent = Pick<Loaded, 'perSecond' | 'sent'>;

/** A round of each way gives quotes a second: every maker on every RFQ, a pair once. */
function openQuoting(stage: Stage, seconds: number) {
  const { open } = stage.volume;
  const most = Math.ceil(seconds * mostPerSecond);
  const framing = startChild<typeof import('./quote-frames.ts')>('quote-frames.ts');
  const makers: Account[] = [];
  /** Pairs, counted by maker and then by RFQ. */
  let used = 0;
  const makersFor = async (pairs: number) => {
    while (makers.length * open < used + pairs) makers.push(await stage.account());
  };
  const quotesFrom = (first: number, count: number) =>
    Array.from({ length: count }, (_, at) => stage.rfqId((first + at) % open));
  const keyOf = (pair: number) => makers[Math.floor(pair / open)]!.key;

  /** Throws unless each quote that was sent is a new row. */
  const stored = async (quotesOfEach: number, send: () => Promise<Sent>): Promise<number> => {
    const before = await threadsIn(stage);
    const { perSecond, sent } = await send();
    const made = (await threadsIn(stage)) - before;
    const quotes = sent * quotesOfEach;
    if (made !== quotes) throw new Error(`${quotes} quotes made ${made} threads`);
    return perSecond * quotesOfEach;
  };

  const asRequests = async (
    quotesOfEach: number,
    status: number,
    requestFrom: (pair: number) => Request,
  ): Promise<number> => {
    await makersFor(most);
    const requests = Array.from({ length: Math.floor(most / quotesOfEach) }, (_, at) =>
      requestFrom(used + at * quotesOfEach),
    );
    return stored(quotesOfEach, async () => {
      const answer = await loaded(stage, { requests, connections, seconds, status });
      used += answer.sent * quotesOfEach;
      return answer;
    });
  };

  return {
    one: () =>
      asRequests(1, 201, (pair) => ({
        method: 'POST',
        path: `/v1/rfqs/${stage.rfqId(pair % open)}/quotes`,
        key: keyOf(pair),
        body: JSON.stringify({ quoteAmount }),
      })),
    batches: () => {
      // No batch is of two makers.
      used = Math.ceil(used / together) * together;
      return asRequests(together, 200, (pair) => ({
        method: 'POST',
        path: '/v1/quotes',
        key: keyOf(pair),
        body: JSON.stringify({
          quotes: quotesFrom(pair, together).map((rfqId) => ({ rfqId, quoteAmount })),
        }),
      }));
    },
    frames: async () => {
      // Sockets of one maker share out its RFQs.
      const share = Math.min(open, Math.ceil(most / connections));
      const socketsOfMaker = Math.floor(open / share);
      const first = Math.ceil(used / open);
      used = first * open;
      const count = Math.ceil(connections / socketsOfMaker);
      await makersFor(count * open);
      used += count * open;
      const sockets = Array.from({ length: connections }, (_, at) => ({
        key: makers[first + Math.floor(at / socketsOfMaker)]!.key,
        quotes: quotesFrom((at % socketsOfMaker) * share, share).map((rfqId) =>
          JSON.stringify({ quote: { rfqId, quoteAmount } }),
        ),
      }));
      const { port } = stage;
      return stored(1, () =>
        framing.ask('quote', { port, seconds, atOnce: framesAtOnce, sockets }),
      );
    },
    stop: () => framing.stop(),
  };
}

async function threadsIn({ db }: Stage): Promise<number> {
  const [row] = await db.rows<{ count: number }>({
    name: 'bench_threads_count',
    text: 'select count(*)::int as count from threads',
    values: [],
  });
  return row!.count;
}
