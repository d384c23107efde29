// Lists that everybody sees are read from a replica where there is one (DATABASE_READ_URL). It must
// have all that was committed a few seconds ago. Where it has not, does not answer or refuses, the
// primary is asked. Builds, acceptances and refusals never depend on a read from here.

import { within } from '@parley/host/within.ts';
import type { Database, Statement, Tx } from '../db/database.ts';
import { type LogPosition, replayedLog, writtenLog } from '../db/replica.ts';
import type { Deps } from './deps.ts';
import { type Service, service } from './service.ts';

/** The commits that are so old are in every list. */
export const mostBehindMs = 5_000;
/** Between two looks at how far both are. */
const lookMs = 500;
/** A reader waits no longer for it: one whose host went silent refuses nothing. */
const patienceMs = 1_000;
/** Positions of the primary that are remembered: enough for `mostBehindMs`. */
const mostMarks = 20;

type Mark = LogPosition & { readonly at: number };

export type Reads = Tx & Pick<Service, 'start' | 'stop'> & { look(): Promise<void> };

type Needs = Pick<Deps, 'db' | 'log' | 'metrics' | 'randomBytes'>;

/** `clock`: milliseconds, monotonic. */
export function createReads(
  deps: Needs,
  replica: Pick<Database, 'rows'>,
  clock: () => number = () => performance.now(),
): Reads {
  const { db, log, metrics } = deps;
  let marks: Mark[] = [];
  /** When the replica had all that the primary had; null: that is not known. */
  let hadAllAt: number | null = null;
  let wasUsed = true;

  const behindMs = () => (hadAllAt === null ? Number.POSITIVE_INFINITY : clock() - hadAllAt);
  const isFresh = () => behindMs() <= mostBehindMs;
  const tell = (why: string) => {
    metrics.replicaBehind.set(behindMs() / 1_000);
    const isUsed = isFresh();
    if (isUsed === wasUsed) return;
    wasUsed = isUsed;
    if (isUsed) log.info('the replica is read from again');
    else log.warn({ reason: why }, 'the replica is not read from');
  };

  const look = async () => {
    const at = clock();
    const written = await writtenLog(db);
    marks = [{ ...written, at }, ...marks].slice(0, mostMarks);
    try {
      const replayed = await replayedLog(replica);
      const { lineage, bytes } = replayed;
      const mark = marks.find((each) => each.lineage === lineage && each.bytes <= bytes);
      const isSame = replayed.isReplica && written.lineage === lineage;
      hadAllAt = isSame ? (mark?.at ?? hadAllAt) : null;
      tell(isSame ? 'it is too far behind' : 'it is no replica of this database');
    } catch (error) {
      tell((error as Error).message);
    }
  };

  return {
    ...service(deps, {
      name: 'replica',
      everyMs: lookMs,
      failureMs: { least: lookMs, most: lookMs * 4 },
      pass: async () => {
        await look();
        return undefined;
      },
    }),
    look,
    rows: async <Row>(statement: Statement) => {
      if (!isFresh()) return db.rows<Row>(statement);
      try {
        const found = await within(patienceMs, replica.rows<Row>(statement), null);
        if (found !== null) return found;
      } catch (error) {
        // One that is gone, or that ended the statement for the sake of its log.
        log.debug({ err: error }, 'the replica did not answer');
      }
      hadAllAt = null;
      return db.rows<Row>(statement);
    },
  };
}

/** Where lists that everybody sees are read. */
export function readsOf({ reads, db }: Pick<Deps, 'reads' | 'db'>): Tx {
  return reads ?? db;
}
