// The price source of a soak: it moves by a per cent within two minutes, and is wrong, late or gone
// again and again.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Whole dollars. */
export const middles = { btc: 64_000, eth: 2_560, trx: 0.32, sol: 160 } as const;
export type Source = keyof typeof middles;
export const sources = Object.keys(middles) as Source[];

/** `jump`: by less than the bounds of the source, and not for long enough to be believed. */
export const faultKinds = ['nonsense', 'tenfold', 'jump', 'error', 'silent'] as const;
type PriceFault = (typeof faultKinds)[number];

const swing = 0.01;
const periodMs = 120_000;

/** What it is worth, whatever is said of it. */
export function priceAt(source: Source, nowMs: number): number {
  const phase = sources.indexOf(source);
  return middles[source] * (1 + swing * Math.sin((2 * Math.PI * nowMs) / periodMs + phase));
}

export type PriceServer = {
  readonly url: string;
  /** null: what it says is right. */
  become(source: Source, fault: PriceFault | null): void;
  close(): Promise<void>;
};

function said(source: Source, fault: PriceFault | undefined): string {
  const price = priceAt(source, Date.now());
  if (fault === 'nonsense') return '{"price":"-1"}';
  const factor = fault === 'tenfold' ? 10 : fault === 'jump' ? 1.3 : 1;
  return JSON.stringify({ price: (price * factor).toFixed(8) });
}

export async function startPrices(): Promise<PriceServer> {
  const faults = new Map<Source, PriceFault>();
  const server = createServer((request, answer) => {
    const source = sources.find((each) => request.url === `/${each}`);
    if (source === undefined) return void answer.writeHead(404).end();
    const fault = faults.get(source);
    if (fault === 'silent') return;
    answer.writeHead(fault === 'error' ? 500 : 200).end(said(source, fault));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    become: (source, fault) => {
      if (fault === null) faults.delete(source);
      else faults.set(source, fault);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
