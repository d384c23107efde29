// Starting dev networks in tests: a folder of its own, stopped and removed at the end.

import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Family } from '@parley/core/families.ts';
import { type Devnet, type DevnetOptions, startDevnet } from '../devnet.ts';

const eventuallyLimitMs = 40_000;

/** Addresses that nobody uses, so their balances are those that a test gave it. */
export const someoneOn = {
  bitcoin: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', // of the private key 1
  evm: '0x000000000000000000000000000000000000c0Fe',
  tron: 'TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC', // of the private key 1
  solana: 'DyRkUpQxYG2VnP2SkMdQs5BTsVPeKCpSHLxzByc2Sxvj',
} as const satisfies Record<Family, string>;

export type Recorded = { level: string; facts: object; message: string };

export function recorder() {
  const lines: Recorded[] = [];
  const at = (level: string) => (facts: object, message: string) => {
    lines.push({ level, facts, message });
  };
  return { lines, log: { info: at('info'), warn: at('warn'), error: at('error') } };
}

export type After = (task: () => Promise<void>) => void;

export type Lab = {
  readonly dir: string;
  start(options?: Partial<DevnetOptions>): Promise<Devnet>;
};

/** `after` is the test's (or the file's) own `after`. */
export async function lab(after: After): Promise<Lab> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-devnet-'));
  const started: Devnet[] = [];
  after(async () => {
    for (const devnet of started) await devnet.stop();
    await rm(dir, { recursive: true, force: true });
  });
  return {
    dir,
    start: async (options = {}) => {
      const devnet = await startDevnet({
        dir,
        log: recorder().log,
        // On a build server a missing bitcoind is a failure, elsewhere it is skipped aloud.
        bitcoin: process.env.CI === undefined ? 'auto' : true,
        moveClock: () => undefined,
        ...options,
      });
      started.push(devnet);
      return devnet;
    },
  };
}

export async function eventually<T>(what: string, probe: () => Promise<T>): Promise<T> {
  let problem: unknown;
  for (const until = Date.now() + eventuallyLimitMs; Date.now() < until; await sleep(50)) {
    try {
      return await probe();
    } catch (error) {
      problem = error;
    }
  }
  throw new Error(`not within ${eventuallyLimitMs} ms: ${what}`, { cause: problem });
}

type Asked = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** By hand: fetch would not send these headers. */
export function ask(url: URL | string, { method = 'GET', headers = {}, body }: Asked = {}) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      const status = response.statusCode ?? 0;
      text(response).then((all) => resolve({ status, text: all }), reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
