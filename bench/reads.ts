// Reads: a page of the book against bare node:http sending the same bytes, a single swap against
// its query by pg alone, and the memory of the server that did it.

import { type Child, startChild } from './children.ts';
import type { Worked } from './database.ts';
import type { Loaded, Request } from './load.ts';
import { median, type Row, rowOf } from './report.ts';
import type { Stage } from './stage.ts';

export type Effort = { readonly rounds: number; readonly seconds: number };

const connections = 32;
const swaps = 50;
const memoryLimitMiB = 300;

export async function benchReads(stage: Stage, effort: Effort): Promise<Row[]> {
  return [await list(stage, effort), await single(stage, effort), await memory(stage)];
}

async function list(stage: Stage, { rounds, seconds }: Effort): Promise<Row> {
  const request = { method: 'GET', path: '/v1/rfqs', key: stage.takers[0]!.key };
  const answer = await fetch(`http://127.0.0.1:${stage.port}${request.path}`, {
    headers: { authorization: `Bearer ${request.key}` },
  });
  const body = await answer.text();
  if ((JSON.parse(body) as { rfqs: unknown[] }).rfqs.length !== 20) throw new Error('not 20 rows');
  const headers = Object.fromEntries(answer.headers);
  for (const each of ['date', 'connection', 'keep-alive']) delete headers[each];
  const bare = startChild('bare.ts');
  try {
    const { port } = await bare.ask<{ port: number }>({ headers, body });
    const run = (to: number) => loaded(stage.loader, to, [request], seconds);
    const [value, limit] = await alternating(
      rounds,
      () => run(stage.port),
      () => run(port),
    );
    return rowOf({
      bench: 'reads',
      row: `GET /v1/rfqs, 20 rows (${Buffer.byteLength(body)} bytes) of ${stage.volume.open} open RFQs`,
      value,
      unit: 'requests/s',
      limit,
      bar: 0.6,
      is: 'atLeast',
      against: `bare node:http sending the same bytes, ${connections} connections`,
    });
  } finally {
    await bare.stop();
  }
}

async function single(stage: Stage, { rounds, seconds }: Effort): Promise<Row> {
  const { swapIds, key } = await agreeSwaps(stage);
  const requests = swapIds.map((id) => ({ method: 'GET', path: `/v1/swaps/${id}`, key }));
  const peer = startChild('database.ts');
  try {
    const [value, limit] = await alternating(
      rounds,
      () => loaded(stage.loader, stage.port, requests, seconds),
      async () => {
        const work = { url: stage.url, concurrency: connections, seconds, swapIds };
        return (await peer.ask<Worked>(work)).perSecond;
      },
    );
    return rowOf({
      bench: 'reads',
      row: 'GET /v1/swaps/{id}',
      value,
      unit: 'requests/s',
      limit,
      bar: 0.5,
      is: 'atLeast',
      against: `the same query by pg alone, ${connections} at once on 10 connections`,
    });
  } finally {
    await peer.stop();
  }
}

async function memory(stage: Stage): Promise<Row> {
  const { rss } = await stage.market.ask<{ rss: number }>({ memory: true });
  return rowOf({
    bench: 'reads',
    row: `memory of the server after that, ${stage.volume.open} open RFQs`,
    value: rss / 2 ** 20,
    unit: 'MiB',
    limit: memoryLimitMiB,
    bar: 1,
    is: 'atMost',
    against: 'the limit',
  });
}

/** Swaps of one taker, agreed over the API. */
async function agreeSwaps(stage: Stage): Promise<{ swapIds: string[]; key: string }> {
  const taker = await stage.account();
  const maker = await stage.account();
  const post = async (path: string, { key }: { key: string }, body: object) => {
    const answer = await fetch(`http://127.0.0.1:${stage.port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, { id: string }>;
  };
  const swapIds: string[] = [];
  for (let each = 0; each < swaps; each += 1) {
    const { rfq } = await post('/v1/rfqs', taker, {
      direction: 'sell_base',
      baseAssetId: stage.assets[0]!.id,
      baseAmount: '100000',
      quoteAssetId: stage.assets[1]!.id,
      ttlSeconds: 3_600,
    });
    const words = { quoteAmount: '65000000' };
    const { thread } = await post(`/v1/rfqs/${rfq!.id}/quotes`, maker, words);
    await post(`/v1/threads/${thread!.id}/accept`, maker, words);
    const hashlock = (each + 1).toString(16).padStart(64, '0');
    const agreed = await post(`/v1/threads/${thread!.id}/accept`, taker, { ...words, hashlock });
    swapIds.push(agreed.swap!.id);
  }
  return { swapIds, key: taker.key };
}

/** Answers a second; throws when any was not 200. */
async function loaded(
  loader: Child,
  port: number,
  requests: readonly Request[],
  seconds: number,
): Promise<number> {
  const asked = { port, connections, seconds, requests, from: 0 };
  const { perSecond, statuses } = await loader.ask<Loaded>(asked);
  if (Object.keys(statuses).some((each) => each !== '200')) {
    throw new Error(`answers by status: ${JSON.stringify(statuses)}`);
  }
  return perSecond;
}

/** Medians of both, measured in turns after one turn each to warm up. */
export async function alternating(
  rounds: number,
  ours: () => Promise<number>,
  peer: () => Promise<number>,
): Promise<[number, number]> {
  const values: number[] = [];
  const limits: number[] = [];
  await peer();
  await ours();
  for (let round = 0; round < rounds; round += 1) {
    limits.push(await peer());
    values.push(await ours());
  }
  return [median(values), median(limits)];
}
