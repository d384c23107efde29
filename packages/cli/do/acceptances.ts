// Acceptances of this account that the other side has yet to answer: a script that settles then has
// something to come back for.

import type { ParleyClient } from '@parley/sdk/client.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { Thread } from '@parley/sdk/types.ts';
import { type Cli, note } from '@parley/trader/io.ts';
import type { Session } from '@parley/trader/session.ts';
import { deadlineOf } from '@parley/trader/show.ts';

/** Acceptances of a side that `parley settle` reads. */
const pageSize = 100;
const mostPages = 10;
/** For all of it: claims wait for the first look. */
const listMs = 15_000;

type Standing = Pick<Thread, 'id' | 'acceptanceExpiresAt'>;

function stands({ acceptanceExpiresAt: until }: Standing, now: number): boolean {
  return until != null && Date.parse(until) / 1_000 > now;
}

/** Those that stand now. */
async function standing(cli: Cli, { now }: Session, client: ParleyClient): Promise<Standing[]> {
  const signal = AbortSignal.any([cli.signal, AbortSignal.timeout(listMs)]);
  const all: Standing[] = [];
  for (const role of ['maker', 'taker'] as const) {
    const query = { role, status: 'open', limit: pageSize } as const;
    const pages = pagesOf(mostPages, (from) => client.quotes({ ...query, ...from }, { signal }));
    for await (const { threads } of pages) {
      all.push(...threads.filter((each) => each[`${role}Accepted`] && stands(each, now())));
    }
  }
  return all;
}

/**
 * Begins before swaps are listed: a thread that becomes a swap after that list is not driven, and
 * is reported at the end. Resolves to whether this profile has to come back.
 */
export async function watchAcceptances(cli: Cli, session: Session, client: ParleyClient | null) {
  /** A market that does not say ends nothing: that is told, and null. */
  const asked = async <T>(work: (of: ParleyClient) => Promise<T>): Promise<T | null> => {
    if (client === null) return null;
    try {
      return await work(client);
    } catch (error) {
      cli.signal.throwIfAborted();
      note(cli, `the market does not list what you have accepted: ${messageOf(error)}`);
      return null;
    }
  };
  const list = (of: ParleyClient) => standing(cli, session, of);
  const before = (await asked(list)) ?? [];
  return {
    /** `driven`: threads whose swaps were driven. */
    areLeft: async (driven: ReadonlySet<string>): Promise<boolean> => {
      const listed = await asked(list);
      const others = before.filter(({ id }) => !driven.has(id));
      // Each stands until its time, unless the market says otherwise.
      const now = listed ?? others.filter((each) => stands(each, session.now()));
      for (const { id, acceptanceExpiresAt: until } of now) {
        const ends = deadlineOf(Date.parse(until ?? '') / 1_000, session.now());
        note(cli, `thread ${id}: you accepted, and the other side has yet to, until ${ends}`);
      }
      let isLeft = now.length > 0;
      for (const { id } of listed === null ? [] : others) {
        if (now.some((each) => each.id === id)) continue;
        const thread = await asked((of) => of.thread(id));
        // It may be a swap by now: the next run lists it.
        if (thread === null) isLeft = true;
        if (thread === null || thread.swapId === null) continue;
        note(cli, `swap ${thread.swapId} was agreed meanwhile: run "parley settle" again`);
        isLeft = true;
      }
      return isLeft;
    },
  };
}
