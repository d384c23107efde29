// The maker program as a process of its own on a dev network, as `npm run maker -- dev` runs it,
// takers that trade with it, and what it holds in the end against what it agreed to.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Family, families } from '@parley/core/families.ts';
import {
  type Doings,
  feesOf,
  type Holding,
  holdingOf,
  ledgers,
  noDoings,
} from '@parley/dev/demo/ledger.ts';
import type { Person } from '@parley/dev/demo/people.ts';
import { type CoinName, coinNames, type Place } from '@parley/dev/demo/place.ts';
import { openChains } from '@parley/maker/chains.ts';
import { parseConfig } from '@parley/maker/config/config.ts';
import { accept } from '@parley/sdk/agree.ts';
import { type Outcome, settle } from '@parley/sdk/settle.ts';
import { fileStore } from '@parley/sdk/stores/file.ts';
import { type Kept, versionsOf } from '@parley/sdk/stores/store.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';
import type { Thread } from '@parley/sdk/types.ts';
import { waitUntil } from './waiting.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const devScript = join(root, 'scripts', 'maker.ts');

/** A line of its log. */
export type Line = Readonly<Record<string, string | number | boolean | null>>;

export type MakerProcess = {
  /** The first line, said already or to come, that fits. Rejects where it ends before. */
  heard(fits: (line: Line) => boolean): Promise<Line>;
  /** Whether one was said already. */
  has(fits: (line: Line) => boolean): boolean;
  /** kill -9. */
  kill(): Promise<void>;
  /** SIGTERM; its exit status. */
  stop(): Promise<number | null>;
};

/** All that every process of one maker has said; `text` says when, by the machine's clock. */
export type MakerLog = { readonly lines: Line[]; text: string };

export const newLog = (): MakerLog => ({ lines: [], text: '' });

export function startMaker(
  args: readonly string[],
  log: MakerLog,
  env: Readonly<Record<string, string>>,
  script = devScript,
): MakerProcess {
  const child = spawn(process.execPath, [script, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const own: Line[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const each of waiting) each();
  };
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
    log.text += chunk;
  });
  createInterface(child.stdout).on('line', (text) => {
    log.text += `${new Date().toISOString()} ${text}\n`;
    const line = JSON.parse(text) as Line;
    own.push(line);
    log.lines.push(line);
    wake();
  });
  let isOver = false;
  const ended = once(child, 'close').then(([code]: (number | null)[]) => {
    isOver = true;
    wake();
    return code ?? null;
  });
  return {
    has: (fits) => own.some(fits),
    heard: async (fits) => {
      for (;;) {
        const found = own.find(fits);
        if (found !== undefined) return found;
        if (isOver) throw new Error(`the maker ended: ${errors}${log.text.slice(-3_000)}`);
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.add(resolve);
        await promise;
        waiting.delete(resolve);
      }
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

export type Wish = { readonly gives: CoinName; readonly gets: CoinName; readonly amount: bigint };

export type Taken = {
  readonly wish: Wish;
  readonly threadId: string;
  readonly quoteAmount: bigint;
  /** To the end, once the maker has accepted too. */
  settles(): Promise<Outcome>;
};

/** Machines are shared. */
const patience = { everyMs: 200, mostMs: 180_000 };

/** Of its first quote. */
export const quoteOf = ({ client }: Pick<Person, 'client'>, rfqId: string): Promise<Thread> =>
  waitUntil(async () => (await client.threadsOfRfq(rfqId)).threads[0], patience);

/** Asks, takes the first quote, and accepts it. */
export async function take(
  taker: Person,
  assets: Readonly<Record<CoinName, PinnedAsset>>,
  wish: Wish,
  now: () => number,
): Promise<Taken> {
  const { client, userId, store, chains } = taker;
  const base = assets[wish.gives];
  const quote = assets[wish.gets];
  const rfq = await client.createRfq({
    direction: 'sell_base',
    baseAssetId: base.id,
    quoteAssetId: quote.id,
    baseAmount: wish.amount.toString(),
    ttlSeconds: 600,
  });
  const { id: threadId, quoteAmount: quoted } = await quoteOf(taker, rfq.id);
  const quoteAmount = BigInt(quoted);
  const { trade } = await accept({
    client,
    userId,
    store,
    chains,
    now,
    rfqId: rfq.id,
    threadId,
    base,
    baseAmount: wish.amount,
    quote,
    quoteAmount,
    party: 'taker',
    direction: 'sell_base',
  });
  const agreed = async () => (await client.thread(threadId)).swapId;
  return {
    wish,
    threadId,
    quoteAmount,
    settles: async () => {
      const swapId = await waitUntil(agreed, patience);
      const poll = { pollMs: 400, marketPollMs: 1_000 };
      return settle({ swapId, trade, client, chains, store, now, ...poll });
    },
  };
}

/** The wallets of a maker's folder, as the ledger of the demo asks for a person's. */
export async function walletsIn(folder: string): Promise<Person> {
  const file = join(folder, 'maker.toml');
  const { chains: configs } = parseConfig(await readFile(file, 'utf8'), file);
  const chains = await openChains(configs, () => Math.floor(Date.now() / 1_000));
  const byFamily = Object.values(chains).map(({ wallet }) => [wallet.family, wallet] as const);
  for (const { source } of Object.values(chains)) await source.adapter.close();
  return { name: 'the maker', ...Object.fromEntries(byFamily) } as unknown as Person;
}

/**
 * The inventory that it must hold: its earlier one, the agreed amounts, and the fees of what its
 * store says it sent.
 */
export async function inventoryIs(
  maker: Person,
  place: Place,
  before: Holding,
  taken: readonly Taken[],
  folder: string,
): Promise<void> {
  const due = { ...before };
  for (const { wish, quoteAmount } of taken) {
    due[wish.gives] += wish.amount;
    due[wish.gets] -= quoteAmount;
  }
  const doings = await doingsIn(folder, place);
  assert.deepEqual(await holdingOf(maker, place), await dueAfterFees(maker, place, due, doings));
}

/** The amount due, less the fees of what it did. */
async function dueAfterFees(
  maker: Person,
  place: Place,
  before: Holding,
  doings: Doings,
): Promise<Holding> {
  const due = { ...before };
  const fees = await feesOf(maker, place, doings);
  for (const family of families) {
    const native = coinNames.find(
      (name) => place.coins[name].family === family && place.coins[name].token === null,
    );
    assert.ok(native);
    due[native] -= fees[family];
  }
  return due;
}

/** Every transaction that its records name and a block has, and claims that it signed beforehand. */
async function doingsIn(folder: string, place: Place): Promise<Doings> {
  const doings = noDoings();
  const store = await fileStore(join(folder, 'store'));
  for (const swapId of await store.swapIds()) {
    const record = await store.getSwap(swapId);
    assert.ok(record);
    const { a, b } = record.swap.legs;
    const { funding, refund, cancel, approval, approved, claim } = record;
    const sent: [Family, Kept | null | undefined][] = [
      ...[funding, refund, cancel, approval, approved].map((kept): [Family, typeof kept] => [
        a.family,
        kept,
      ]),
      [b.family, claim],
    ];
    for (const [family, kept] of sent) {
      for (const txid of kept ? versionsOf(kept) : []) {
        const isThere = await ledgers[family].fee(place[family].rpcUrl, txid).then(
          () => true,
          () => false,
        );
        if (isThere) doings.sent[family].add(txid);
      }
    }
    // A claim that was left with the market, which sent it.
    const { claimed = null } = record.seen?.[b.escrow?.address ?? ''] ?? {};
    if (record.left?.claim && claimed !== null) doings.sent[b.family].add(claimed.txid);
    if (a.family === 'solana' && a.escrow !== null) doings.escrows.add(a.escrow.address);
  }
  return doings;
}
