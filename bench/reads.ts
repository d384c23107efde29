// Reads: a page of the book against bare node:http sending the same bytes, both by the processor
// time that they take, a single swap against its query by pg alone, and the memory of the server.

import { randomBytes } from 'node:crypto';
import { bars } from './bars.ts';
import { startChild } from './children.ts';
import { usually } from './miniature.ts';
import { alternating, atLeast, atMost, type Effort, type Row } from './report.ts';
import { loaded, orderOf, posted, type Stage } from './stage.ts';

const connections = 32;
const swaps = usually(50, 2);

export async function benchReads(stage: Stage, effort: Effort): Promise<Row[]> {
  return [await list(stage, effort), await single(stage, effort), await memory(stage)];
}

async function list(stage: Stage, { rounds, seconds }: Effort): Promise<Row> {
  const request = { method: 'GET', path: '/v1/rfqs', key: stage.takers[0]!.key };
  const answer = await fetch(`http://127.0.0.1:${stage.port}${request.path}`, {
    headers: { authorization: `Bearer ${request.key}` },
  });
  const body = await answer.text();
  if ((JSON.parse(body) as { rfqs?: unknown[] }).rfqs?.length !== 20)
    throw new Error(`not 20 rows: ${body.slice(0, 300)}`);
  const headers = Object.fromEntries(answer.headers);
  for (const each of ['date', 'connection', 'keep-alive']) delete headers[each];
  const bare = startChild<typeof import('./bare.ts')>('bare.ts');
  try {
    const port = await bare.ask('serve', headers, body);
    const asked = { requests: [request], connections, seconds };
    const answered = async (spent: () => Promise<number>, at: number) => {
      const before = await spent();
      const { sent } = await loaded(stage, { ...asked, port: at });
      return (sent * 1_000) / ((await spent()) - before);
    };
    const [value, limit] = await alternating(
      rounds,
      () => answered(() => stage.market.ask('processorMs'), stage.port),
      () => answered(() => bare.ask('processorMs'), port),
    );
    const rows = `20 rows (${Buffer.byteLength(body)} bytes) of ${stage.volume.open} open RFQs`;
    return atLeast(
      `reads: GET /v1/rfqs, ${rows}`,
      { value, unit: 'requests a second of processor time', limit, bar: bars.reads.book },
      `bare node:http sending the same bytes, ${connections} connections`,
    );
  } finally {
    await bare.stop();
  }
}

async function single(stage: Stage, { rounds, seconds }: Effort): Promise<Row> {
  const { swapIds, key } = await agreeSwaps(stage);
  const requests = swapIds.map((id) => ({ method: 'GET', path: `/v1/swaps/${id}`, key }));
  const peer = startChild<typeof import('./database.ts')>('database.ts');
  try {
    const work = { url: stage.url, concurrency: connections, seconds, swapIds };
    const [value, limit] = await alternating(
      rounds,
      async () => (await loaded(stage, { requests, connections, seconds })).perSecond,
      () => peer.ask('readSwaps', work),
    );
    return atLeast(
      'reads: GET /v1/swaps/{id}',
      { value, unit: 'requests/s', limit, bar: bars.reads.swap },
      `the same query by pg alone, ${connections} at once on 10 connections`,
    );
  } finally {
    await peer.stop();
  }
}

/** The same pages of the book, and the same swaps, on two books. */
export async function benchReadsOfLarge(
  large: Stage,
  usual: Stage,
  { rounds, seconds }: Effort,
): Promise<Row[]> {
  const pages = async ({ takers }: Stage) => {
    return [{ method: 'GET', path: '/v1/rfqs', key: takers[0]!.key }];
  };
  const single = async (stage: Stage) => {
    const { swapIds, key } = await agreeSwaps(stage);
    return swapIds.map((id) => ({ method: 'GET', path: `/v1/swaps/${id}`, key }));
  };
  const rows: Row[] = [];
  for (const [what, requestsTo] of [
    ['GET /v1/rfqs', pages],
    ['GET /v1/swaps/{id}', single],
  ] as const) {
    const ours = await requestsTo(large);
    const theirs = await requestsTo(usual);
    const rate = async (stage: Stage, requests: typeof ours) =>
      (await loaded(stage, { requests, connections, seconds })).perSecond;
    const [value, limit] = await alternating(
      rounds,
      () => rate(large, ours),
      () => rate(usual, theirs),
    );
    const { open, ended } = large.volume;
    const name = `reads: ${what} on ${open} open RFQs and ${ended} ended`;
    const figure = { value, unit: 'requests/s', limit, bar: bars.reads.large };
    rows.push(atLeast(name, figure, `the same on ${usual.volume.open} open RFQs`));
  }
  return rows;
}

async function memory(stage: Stage): Promise<Row> {
  const value = (await stage.market.ask('memory', 'now')) / 2 ** 20;
  const name = `reads: memory of the server after that, ${stage.volume.open} open RFQs`;
  return atMost(name, { value, unit: 'MiB', limit: bars.reads.memoryMiB, bar: 1 }, 'the limit');
}

/** Swaps of one taker, agreed over the API. */
async function agreeSwaps(stage: Stage): Promise<{ swapIds: string[]; key: string }> {
  const taker = await stage.account();
  const maker = await stage.account();
  const words = { quoteAmount: '65000000' };
  const swapIds: string[] = [];
  for (let each = 0; each < swaps; each += 1) {
    const { rfq } = await posted(stage.port, '/v1/rfqs', taker, orderOf(stage.assets));
    const { thread } = await posted(stage.port, `/v1/rfqs/${rfq!.id}/quotes`, maker, words);
    const accept = `/v1/threads/${thread!.id}/accept`;
    await posted(stage.port, accept, maker, words);
    const hashlock = randomBytes(32).toString('hex');
    const { swap } = await posted(stage.port, accept, taker, { ...words, hashlock });
    swapIds.push(swap!.id);
  }
  return { swapIds, key: taker.key };
}
