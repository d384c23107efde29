// What one small exchange with a chain's node takes of the processor, against the same by `fetch`:
// most of what a server does while little is traded. The node is a process of its own.

import { exchangeWith } from '../chains/nodes/exchange.ts';
import { startChild } from './children.ts';
import { median, type Row, rowOf } from './report.ts';

const exchanges = 3_000;
/** At once: as many as the followers of some chains. */
const lanes = 3;
const limits = { timeMs: 8_000, bytes: 16_384 };
const request = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
} as const;

export async function benchExchange({ rounds }: { readonly rounds: number }): Promise<Row[]> {
  const node = startChild('./exchange-node.ts');
  try {
    const url = await node.ask<string>({});
    const took = { own: [] as number[], fetch: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      took.own.push(await microsecondsOf(() => own(url)));
      took.fetch.push(await microsecondsOf(() => byFetch(url)));
    }
    return [
      rowOf({
        bench: 'exchange',
        row: 'processor time of one exchange with a node',
        value: median(took.own),
        unit: 'µs',
        limit: median(took.fetch),
        bar: 0.7,
        is: 'atMost',
        against: `fetch with the same limits; ${exchanges} in each round, ${lanes} at once`,
      }),
    ];
  } finally {
    await node.stop();
  }
}

async function own(url: string): Promise<string> {
  const signal = new AbortController().signal;
  const { body } = await exchangeWith({ url, ...request }, limits, signal);
  return body.toString('utf8');
}

async function byFetch(url: string): Promise<string> {
  const { signal } = new AbortController();
  const response = await fetch(url, {
    ...request,
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(limits.timeMs)]),
  });
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > limits.bytes) throw new Error('too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

async function microsecondsOf(exchange: () => Promise<string>): Promise<number> {
  const before = process.cpuUsage();
  const lane = async () => {
    for (let done = 0; done < exchanges / lanes; done += 1) {
      if (!(await exchange()).includes('0x10')) throw new Error('another answer');
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / exchanges;
}
