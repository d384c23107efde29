// The processor time of one small exchange with a chain's node, against the same by `fetch`. A
// server does little else while little is traded. The node is a process of its own.

import { textOf } from '../chains/nodes/exchange.ts';
import { exchangeWith } from '../chains/nodes/transport-node.ts';
import { startChild } from './children.ts';
import { alternating, atMost, type Effort, type Row } from './report.ts';

const exchanges = 3_000;
/** At once: as many as the followers of some chains. */
const lanes = 3;
const limits = { timeMs: 8_000, bytes: 16_384 };
const headers = { 'content-type': 'application/json' };
const request = {
  method: 'POST',
  headers,
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
} as const;
const { signal } = new AbortController();

export async function benchExchange({ rounds }: Pick<Effort, 'rounds'>): Promise<Row[]> {
  const node = startChild<typeof import('./bare.ts')>('bare.ts');
  try {
    const body = '{"jsonrpc":"2.0","id":1,"result":"0x10"}';
    const port = await node.ask('serve', headers, body);
    const url = `http://127.0.0.1:${port}/`;
    const own = async () => (await exchangeWith({ url, ...request }, limits, signal)).body;
    const [value, limit] = await alternating(
      rounds,
      () => microsecondsOf(own),
      () => microsecondsOf(() => byFetch(url)),
    );
    return [
      atMost(
        'exchange: processor time of one exchange with a node',
        { value, unit: 'µs', limit, bar: 0.7 },
        `fetch with the same limits; ${exchanges} in each round, ${lanes} at once`,
      ),
    ];
  } finally {
    await node.stop();
  }
}

async function byFetch(url: string): Promise<Uint8Array> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limits.timeMs)]);
  const response = await fetch(url, { ...request, redirect: 'error', signal: limit });
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > limits.bytes) throw new Error('too long');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function microsecondsOf(exchange: () => Promise<Uint8Array>): Promise<number> {
  const before = process.cpuUsage();
  const lane = async () => {
    for (let done = 0; done < exchanges / lanes; done += 1) {
      if (!textOf({ body: await exchange() }).includes('0x10')) throw new Error('another answer');
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / exchanges;
}
