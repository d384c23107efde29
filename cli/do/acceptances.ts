// Acceptances of this account that the other side has yet to answer: a script that settles then has
// something to come back for.

import type { ParleyClient } from '../../sdk/client.ts';
import { messageOf } from '../../sdk/errors.ts';
import { pagesOf } from '../../sdk/pages.ts';
import type { Thread } from '../../sdk/types.ts';
import { type Cli, note } from '../io.ts';
import type { Session } from '../session.ts';
import { deadlineOf } from '../show.ts';

const pageSize = 100;
const mostPages = 10;
/** For all of it: claims wait for the first look. */
const listMs = 15_000;

type Standing = Pick<Thread, 'id' | 'acceptanceExpiresAt'>;

/** Those that stand now. A market that does not say ends nothing: that is told. */
async function standing(cli: Cli, { now }: Session, client: ParleyClient): Promise<Standing[]> {
  const signal = AbortSignal.any([cli.signal, AbortSignal.timeout(listMs)]);
  const all: Standing[] = [];
  for (const role of ['maker', 'taker'] as const) {
    const query = { role, status: 'open', limit: pageSize } as const;
    const pages = pagesOf(mostPages, (from) => client.quotes({ ...query, ...from }, { signal }));
    for await (const { threads } of pages) {
      const own = threads.filter((each) => {
        const { acceptanceExpiresAt: until } = each;
        return each[`${role}Accepted`] && until != null && Date.parse(until) / 1_000 > now();
      });
      all.push(...own);
    }
  }
  return all;
}

/**
 * Begins before swaps are listed: what becomes a swap after that list is not driven, and is told of
 * at the end. Resolves to whether this profile has to come back.
 */
export async function watchAcceptances(cli: Cli, session: Session, client: ParleyClient | null) {
  const asked = async <T>(work: (of: ParleyClient) => Promise<T>, otherwise: T): Promise<T> => {
    if (client === null) return otherwise;
    try {
      return await work(client);
    } catch (error) {
      cli.signal.throwIfAborted();
      note(cli, `the market does not list what you have accepted: ${messageOf(error)}`);
      return otherwise;
    }
  };
  const before = await asked((of) => standing(cli, session, of), []);
  return {
    /** `driven`: threads whose swaps were driven. */
    areLeft: (driven: ReadonlySet<string>): Promise<boolean> =>
      asked(async (of) => {
        const now = await standing(cli, session, of);
        for (const { id, acceptanceExpiresAt: until } of now) {
          const ends = deadlineOf(Date.parse(until ?? '') / 1_000, session.now());
          note(cli, `thread ${id}: you accepted, and the other side has yet to, until ${ends}`);
        }
        const gone = before.filter(
          ({ id }) => !driven.has(id) && !now.some((each) => each.id === id),
        );
        let isLeft = now.length > 0;
        for (const { id } of gone) {
          const { swapId } = await of.thread(id);
          if (swapId === null) continue;
          note(cli, `swap ${swapId} was agreed meanwhile: run "parley settle" again`);
          isLeft = true;
        }
        return isLeft;
      }, false),
  };
}
