// Each watcher is held to the market's own list.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AssetPair } from '@parley/sdk/book.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { Rfq } from '@parley/sdk/types.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import type { Person } from './crowd.ts';
import type { Watcher } from './watcher.ts';

export type Watched = {
  readonly account: Person;
  readonly proxy: FaultProxy;
  readonly watcher: Watcher;
  readonly pairs: readonly AssetPair[] | undefined;
  /** Since when nothing holds it up; an infinity while something does. */
  freeSince: number;
  /** How many things hold it up now. */
  troubles: number;
  /** Since when each look at it was `live`. */
  liveSince: number | null;
};

const restMs = 300_000;
/** A dead connection is found after 25 s, a missed end of an RFQ then; and machines are shared. */
const lateMs = 60_000;
const lookEveryMs = 2_000;
const mostRssBytes = 400 * 1024 * 1024;

async function listed(client: ParleyClient, list: { addressed?: boolean } = {}): Promise<Rfq[]> {
  const all: Rfq[] = [];
  const ask = (from: object) => client.rfqs({ limit: 100, ...list, ...from });
  for await (const { rfqs } of pagesOf(1_000, ask)) all.push(...rfqs);
  return all;
}

const isOf = (pairs: readonly AssetPair[] | undefined, rfq: Rfq) =>
  pairs === undefined ||
  pairs.some(
    (pair) =>
      pair.includes(rfq.baseAssetId) &&
      pair.includes(rfq.quoteAssetId) &&
      rfq.baseAssetId !== rfq.quoteAssetId,
  );

/** The market's list for this watcher. */
async function bookOf({ account, pairs }: Watched): Promise<string[]> {
  const { client, userId } = account;
  const all = [...(await listed(client)), ...(await listed(client, { addressed: true }))];
  const others = all.filter((rfq) => rfq.creatorId !== userId && isOf(pairs, rfq));
  return others.map(({ id }) => id).sort();
}

/** Returns when each book is what the market lists; how many RFQs the largest one has. */
export async function restOf(watched: readonly Watched[]): Promise<number> {
  let most = 0;
  for (const each of watched) {
    const end = performance.now() + restMs;
    for (;;) {
      const expected = await bookOf(each);
      const { state, ids, leftOut } = await each.watcher.look();
      const shown = [...ids].sort();
      most = Math.max(most, shown.length);
      if (state === 'live' && JSON.stringify(shown) === JSON.stringify(expected)) break;
      if (performance.now() < end) {
        await sleep(100);
        continue;
      }
      assert.equal(state, 'live', each.watcher.name);
      assert.equal(leftOut, 0);
      assert.deepEqual(shown, expected, each.watcher.name);
    }
  }
  return most;
}

/** Looks every two seconds at what is listed and at what is shown, until it is stopped. */
export function observe(neutral: Person, watched: readonly Watched[]) {
  /** When a public RFQ was first and, without a break, always listed; and first not any more. */
  const since = new Map<string, Rfq & { readonly at: number }>();
  const gone = new Map<string, number>();
  let isOver = false;
  let fault: unknown = null;
  let looks = 0;
  let latestMs = 0;
  let mostRss = 0;

  const list = async () => {
    const all = await listed(neutral.client);
    // The last page may be much younger than the first question.
    const at = performance.now();
    const ids = new Set(all.map(({ id }) => id));
    for (const id of since.keys()) {
      if (ids.has(id)) continue;
      since.delete(id);
      gone.set(id, at);
    }
    for (const rfq of all) if (!since.has(rfq.id)) since.set(rfq.id, { ...rfq, at });
  };

  const look = async (each: Watched) => {
    const { watcher, account, pairs } = each;
    const { state, ids, rssBytes } = await watcher.look();
    looks += 1;
    mostRss = Math.max(mostRss, rssBytes);
    assert.ok(rssBytes < mostRssBytes, `${watcher.name} has ${rssBytes} bytes`);
    const now = performance.now();
    each.liveSince = state === 'live' ? (each.liveSince ?? now) : null;
    if (each.liveSince === null) return;
    const longest = Math.min(now - each.freeSince, now - each.liveSince);
    for (const id of ids) {
      const late = Math.min(longest, now - (gone.get(id) ?? now));
      latestMs = Math.max(latestMs, late);
      assert.ok(late < lateMs, `${watcher.name} shows ${id}, gone for ${late} ms`);
    }
    const shown = new Set(ids);
    for (const rfq of since.values()) {
      if (rfq.creatorId === account.userId || !isOf(pairs, rfq) || shown.has(rfq.id)) continue;
      const late = Math.min(longest, now - rfq.at);
      latestMs = Math.max(latestMs, late);
      const facts = `of ${rfq.createdAt} at ${new Date().toISOString()}, ${longest} ms live`;
      assert.ok(late < lateMs, `${watcher.name} lacks ${rfq.id}, there for ${late} ms: ${facts}`);
    }
  };

  const running = (async () => {
    while (!isOver) {
      try {
        await list();
        for (const each of watched) if (Number.isFinite(each.freeSince)) await look(each);
      } catch (error) {
        // The market is being started again.
        if (error instanceof ParleyApiError) since.clear();
        else fault ??= error;
      }
      await sleep(lookEveryMs);
    }
  })();
  const check = () => {
    if (fault !== null) throw fault;
  };
  return {
    check,
    stop: async () => {
      isOver = true;
      await running;
      check();
    },
    summary: () =>
      `${looks} looks between, the latest change after ${Math.round(latestMs)} ms; ${Math.ceil(mostRss / 2 ** 20)} MiB at most`,
  };
}
