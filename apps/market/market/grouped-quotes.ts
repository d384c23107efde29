// Quotes that commit together. While groups are being committed the next one gathers, so the more
// quotes there are, the more share a commit. Each caller is answered after the commit of its group.

import { groupBy } from '@parley/core/engines.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { findQuoting } from '../db/quotes.ts';
import { lockFreeRfqs } from '../db/rfqs.ts';
import type { Deps } from '../ports/deps.ts';
import { workOf } from '../ports/work.ts';
import { mostThreads } from './bounds.ts';
import { decideQuotes, type Quote, type Quoted, quote, storeQuotes } from './quotes.ts';
import { createThreadCounts, type ThreadCounts } from './thread-counts.ts';

/** Quotes in one transaction: some 10 ms of work, for which their RFQs stay locked. */
const mostInGroup = 128;
/** Transactions at once: while one waits for the database, the next is gathered and answered. */
const mostUnderway = 2;
/** Quotes that may wait; more than a second of work is refused. */
const mostWaiting = 10_000;

type QuotingDeps = Pick<Deps, 'settings' | 'adapters' | 'now' | 'randomBytes' | 'db'>;

type Waiting = {
  readonly quote: Quote;
  readonly resolve: (quoted: Quoted) => void;
  readonly reject: (error: unknown) => void;
};

/** Resolves when the quote is committed; refusals as `quote` throws them. */
type GroupedQuotes = (quote: Quote) => Promise<Quoted>;

export function createGroupedQuotes(deps: QuotingDeps): GroupedQuotes {
  let waiting: Waiting[] = [];
  const counts = createThreadCounts(deps.now, mostThreads);
  let underway = 0;
  let planned = false;
  /** RFQs of the groups under way: their further quotes wait here instead of in the database. */
  const busy = new Set<string>();

  function begin() {
    planned = false;
    while (underway < mostUnderway) {
      const { group, rest } = nextGroup(waiting, busy);
      if (group.length === 0) return;
      waiting = rest;
      underway += 1;
      const rfqIds = new Set(group.map((each) => each.quote.rfqId));
      for (const id of rfqIds) busy.add(id);
      void settle(deps, counts, group).then((alone) => {
        const lone = groupBy(alone, (each) => each.quote.rfqId);
        for (const id of rfqIds) if (!lone.has(id)) busy.delete(id);
        underway -= 1;
        plan();
        // An RFQ that somebody holds keeps its own later quotes waiting, and no others.
        for (const [id, quotes] of lone) void settleAlone(deps, quotes).then(() => free(id));
      });
    }
  }

  function free(rfqId: string) {
    busy.delete(rfqId);
    plan();
  }

  /** After this turn of the event loop, which may bring more. */
  function plan() {
    if (planned || underway >= mostUnderway) return;
    planned = true;
    setImmediate(begin);
  }

  return (wanted) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= mostWaiting) {
        const sentence = `${mostWaiting} quotes are waiting to be stored; try again in 5 seconds`;
        reject(new ParleyError('overloaded', sentence, { waiting: waiting.length }));
        return;
      }
      waiting.push({ quote: wanted, resolve, reject });
      plan();
    });
}

/** The first quotes on RFQs not busy; a maker's second one on an RFQ has its turn later. */
function nextGroup(
  waiting: readonly Waiting[],
  busy: ReadonlySet<string>,
): { group: Waiting[]; rest: Waiting[] } {
  const group: Waiting[] = [];
  const rest: Waiting[] = [];
  const pairs = new Set<string>();
  for (const [at, each] of waiting.entries()) {
    if (group.length === mostInGroup) return { group, rest: rest.concat(waiting.slice(at)) };
    const { rfqId, makerId } = each.quote;
    const pair = `${rfqId} ${makerId}`;
    const free = !pairs.has(pair) && !busy.has(rfqId);
    (free ? group : rest).push(each);
    pairs.add(pair);
  }
  return { group, rest };
}

/** Answers the group, but for those that it returns: they are still to be stored, each alone. */
async function settle(
  deps: QuotingDeps,
  counts: ThreadCounts,
  group: readonly Waiting[],
): Promise<Waiting[]> {
  try {
    const outcomes = await commit(deps, counts, group);
    for (const [position, each] of group.entries()) {
      const outcome = outcomes[position];
      if (outcome instanceof ParleyError) each.reject(outcome);
      else if (outcome !== undefined) each.resolve(outcome);
    }
    return group.filter((_, position) => outcomes[position] === undefined);
  } catch (error) {
    // One of them may be what failed: the other quotes must not fail with it.
    if (group.length > 1 && isRolledBack(error)) return [...group];
    for (const each of group) each.reject(error);
    return [];
  }
}

/**
 * Bad data, a constraint, a conflict, a lock that was not to be had: SQLSTATE (PostgreSQL, appendix
 * A). After others, as a lost connection, the group may be stored: a second time would undo what
 * came since.
 */
function isRolledBack(error: unknown): boolean {
  return /^(2[23]...|40001|40P01|55P03)$/.test(String((error as { code?: unknown }).code));
}

async function settleAlone(deps: QuotingDeps, quotes: readonly Waiting[]): Promise<void> {
  const each = ({ quote: wanted, resolve, reject }: Waiting) =>
    deps.db.transaction((tx) => quote(tx, deps, wanted)).then(resolve, reject);
  await Promise.all(quotes.map(each));
}

/** An outcome each; undefined where somebody else holds the RFQ. */
async function commit(
  deps: QuotingDeps,
  counts: ThreadCounts,
  group: readonly Waiting[],
): Promise<(Quoted | ParleyError | undefined)[]> {
  const quotes = group.map((each) => ({ ...each.quote, threads: counts.of(each.quote.rfqId) }));
  const { outcomes, quoters } = await deps.db.pipelined(async (tx) => {
    const quoting = await findQuoting(tx, quotes, mostThreads, lockFreeRfqs);
    const free = new Set(quoting.locked.map((each) => each.id));
    const decided = decideQuotes(deps, quotes, quoting);
    const mine = decided.map((each, at) => (free.has(quotes[at]!.rfqId) ? each : undefined));
    await storeQuotes(tx.atCommit, mine.filter(isQuoted));
    return { outcomes: mine, quoters: quoting.quoters };
  });
  const told = quotes.flatMap(({ rfqId, threads }, at) => {
    const outcome = outcomes[at];
    const quoter = quoters[at]!;
    if (outcome === undefined || quoter.known !== null) return [];
    return [
      { rfqId, counted: threads === null ? quoter.threads : null, isAdded: isQuoted(outcome) },
    ];
  });
  for (const [rfqId, each] of groupBy(told, (one) => one.rfqId)) {
    counts.added(rfqId, each.filter(({ isAdded }) => isAdded).length, each[0]!.counted);
  }
  workOf(deps.db).ring('webhooks');
  return outcomes;
}

function isQuoted(outcome: Quoted | ParleyError | undefined): outcome is Quoted {
  return outcome !== undefined && !(outcome instanceof ParleyError);
}
