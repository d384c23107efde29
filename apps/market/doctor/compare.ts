// One swap as it is stored, against what its terms and its chains say of it. Everything is computed
// anew: escrows from the terms, status and steps from the facts, deadlines from its rules. Pure.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { type Deadlines, deadlines } from '@parley/core/deadlines.ts';
import { type EscrowFacts, isUnknown, unknownOutcome } from '@parley/core/facts.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { opens } from '@parley/core/hashlock.ts';
import { nextSteps } from '@parley/core/next.ts';
import { rulesOf, sameRules } from '@parley/core/rules.ts';
import type { Clocks } from '@parley/core/swap.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import { type EscrowRow, factsOf, termsOf } from '../db/escrows.ts';
import type { Swap } from '../db/swaps.ts';
import { termsOfLeg } from '../settle/escrows.ts';
import { changeBetween } from '../settle/events.ts';
import { outcome } from '../settle/outcome.ts';
import { rulesOfChain } from '../settle/preview.ts';
import { toldOf } from '../settle/reconcile.ts';
import { danger, differs, type Finding, unseen } from './findings.ts';

type SwapRead = {
  readonly swap: Swap;
  /** Every escrow it ever had. */
  readonly rows: readonly EscrowRow[];
  /** The facts that the chains show, by `keyOf`; absent where nobody could say. */
  readonly read: ReadonlyMap<string, EscrowFacts>;
  readonly adapters: ReadonlyMap<ChainKey, ChainAdapter>;
  readonly clocks: Clocks;
};

/** How much later than due a swap may be read. */
const dueGraceSeconds = 600;

const follow =
  'see that a market runs on this database and its log for this swap; a restart reads it anew';
const altered = 'halt both chains, compare with a backup: no program of this market writes that';

export function keyOf(row: { readonly chain: ChainKey; readonly address: string }): string {
  return `${row.chain} ${row.address}`;
}

export function whereOf(swapId: string, row: Pick<EscrowRow, 'leg' | 'address'>): string {
  return `swap ${swapId} leg ${row.leg} escrow ${row.address}`;
}

export function compareSwap(all: SwapRead): Finding[] {
  if (all.swap.done) return compareEnded(all);
  return [
    ...compareLeg(all, 'a'),
    ...compareLeg(all, 'b'),
    ...all.rows.flatMap((row) => compareEscrow(all, row)),
    ...compareSecret(all),
    ...compareTimes(all),
    ...compareState(all),
  ];
}

/** The current escrow, from the leg's own terms. */
function compareLeg({ swap, rows, adapters }: SwapRead, leg: LegName): Finding[] {
  const { chain, escrow } = swap.state.legs[leg];
  const where = `swap ${swap.id} leg ${leg}`;
  // Without its row its lane is not known either, so what its terms come to is no finding.
  if (escrow !== null && !rows.some((row) => row.leg === leg && row.address === escrow)) {
    const says = `its escrow ${escrow} is not among the escrows that are followed`;
    return [danger('escrow_not_followed', where, says, altered, { escrow })];
  }
  return comparePlan(adapters.get(chain), termsOfLeg(swap, leg), escrow, where);
}

function comparePlan(
  adapter: ChainAdapter | undefined,
  terms: EscrowTerms | null,
  stored: string | null,
  where: string,
): Finding[] {
  if (adapter === undefined) return [];
  let computed: string | null = null;
  try {
    computed = terms && adapter.plan(terms).address;
  } catch {
    // The chain does not take such terms.
  }
  if (computed === stored) return [];
  const says = `its terms give the escrow ${computed ?? 'none'}, stored is ${stored ?? 'none'}`;
  return [danger('escrow_not_of_terms', where, says, altered, { stored, computed })];
}

/** One escrow, former ones too: its address, its terms, its facts. */
function compareEscrow({ swap, adapters, read }: SwapRead, row: EscrowRow): Finding[] {
  const where = whereOf(swap.id, row);
  const leg = swap.state.legs[row.leg];
  const terms = termsOf(row.terms);
  const found = comparePlan(adapters.get(row.chain), terms, row.address, where);
  const wanted = { ...leg, hashlock: swap.state.hashlock };
  for (const which of ['hashlock', 'timelock', 'amount', 'chain'] as const) {
    if (terms[which] === wanted[which]) continue;
    const says = `its ${which} is ${terms[which]}, that of the leg ${wanted[which]}`;
    found.push(danger('terms_differ', where, says, altered, { which }));
  }
  if (row.done) {
    const says = 'it is not followed any more, and its swap has not ended';
    found.push(danger('escrow_not_followed', where, says, follow, { escrow: row.address }));
  }
  const stored = factsOf(row.facts);
  const shown = read.get(keyOf(row)) ?? stored;
  // A secret that was seen may have left a mempool since: that is no difference.
  const isNew = shown.secret !== null && stored.secret === null;
  if (isNew || worded(shown) !== worded(stored)) {
    const secret = isNew ? ', with its secret' : '';
    const says = `the chain shows ${worded(shown)}${secret}; stored is ${worded(stored)}`;
    found.push(differs('facts_behind', where, says, follow));
  }
  if (isUnknown(shown)) {
    const todo = 'add such a node to the sources of this chain: the market then reads it by itself';
    const facts = { escrow: row.address };
    found.push(unseen('outcome_unknown', where, unknownOutcome(leg), todo, facts));
  }
  return found;
}

/**
 * The facts in words, as far as stored ones are kept up to date: confirmations beyond those that
 * are wanted are left out.
 */
function worded(facts: EscrowFacts): string {
  const sightings = (['funded', 'claimed', 'refunded'] as const).flatMap((each) => {
    const seen = facts[each];
    if (seen === null) return [];
    const depth = seen.deep ? 'final' : seen.confirmations > 0 ? 'in a block' : 'waiting';
    return [`${each} by ${seen.txid} (${depth})`];
  });
  const rest = [facts.empty ? 'empty' : 'not empty', `outcome ${facts.outcome ?? 'known'}`];
  return [...sightings, `balance ${facts.balance}`, ...rest].join(', ');
}

function compareSecret({ swap, rows, read }: SwapRead): Finding[] {
  const { secret, hashlock } = swap.state;
  const where = `swap ${swap.id}`;
  if (secret !== null) {
    if (opens(secret, hashlock)) return [];
    const says = `the stored secret does not open its hashlock ${hashlock}`;
    return [danger('secret_wrong', where, says, altered, { hashlock })];
  }
  const row = rows.find((each) => {
    const known = [read.get(keyOf(each))?.secret, each.facts.secret];
    return known.some((one) => one != null && opens(one, hashlock));
  });
  if (row === undefined) return [];
  const says = `its secret is public in escrow ${row.address}, and not stored: no event went out`;
  return [danger('secret_not_stored', where, says, follow, { escrow: row.address })];
}

/**
 * Deadlines as the rules of its agreement give them (decision 0013). Where those are not
 * today's, or not known, nobody can compute them anew: their order is all that is left.
 */
function compareTimes({ swap, adapters }: SwapRead): Finding[] {
  const { legs } = swap.state;
  const a = adapters.get(legs.a.chain);
  const b = adapters.get(legs.b.chain);
  if (a === undefined || b === undefined) return [];
  const where = `swap ${swap.id}`;
  const wrong = (words: readonly string[]) =>
    words.length === 0 ? [] : [danger('deadlines_differ', where, words.join('; '), altered)];
  const today = rulesOf({ a: rulesOfChain(a), b: rulesOfChain(b) });
  // Another instance of the contract moves no time.
  const isOfToday = sameRules({ ...swap.rules, contract: today.contract }, today);
  if (!isOfToday) return wrong(outOfOrder(swap));
  const depthsOf = (leg: LegName, { policy }: ChainAdapter) =>
    [policy.normal, policy.high]
      .filter(({ confirmations }) => confirmations === legs[leg].requiredConfirmations)
      .map((depth) => ({ policy, depth }));
  const depths = { a: depthsOf('a', a), b: depthsOf('b', b) };
  for (const leg of ['a', 'b'] as const) {
    if (depths[leg].length > 0) continue;
    const says = `it waits for ${legs[leg].requiredConfirmations} confirmations, which its rules lack`;
    return [danger('depth_differs', `${where} leg ${leg}`, says, altered)];
  }
  // Two depths of one policy may have as many confirmations.
  const schedules = depths.a.flatMap((one) => depths.b.map((other) => ({ a: one, b: other })));
  const differences = schedules.map((timings) =>
    timesThatDiffer(swap, deadlines(swap.agreedAt, timings, swap.long)),
  );
  const [least = []] = differences.toSorted((one, other) => one.length - other.length);
  return wrong(least);
}

function timesThatDiffer({ state }: Swap, computed: Deadlines): string[] {
  const flat = ({ refundAt, ...rest }: Deadlines) =>
    Object.entries({ ...rest, refundAtA: refundAt.a, refundAtB: refundAt.b });
  const stored = new Map(flat(state.deadlines));
  return flat(computed)
    .filter(([name, at]) => stored.get(name) !== at)
    .map(([name, at]) => `${name} is ${stored.get(name)}, computed ${at}`);
}

/** Each side acts before the next one, whatever a policy's numbers are, and refunds come last. */
function outOfOrder({ agreedAt, long, state }: Swap): string[] {
  const { initiatorFundBy, counterpartyFundBy, revealBy, refundAt } = state.deadlines;
  const inOrder = Object.entries({
    'its agreement': agreedAt,
    initiatorFundBy,
    counterpartyFundBy,
    revealBy,
    'the short timelock': refundAt[long === 'a' ? 'b' : 'a'],
    'the long timelock': refundAt[long],
  });
  return inOrder.slice(1).flatMap(([name, at], index) => {
    const [before = '', earlier = 0] = inOrder[index] ?? [];
    return at > earlier ? [] : [`${name} (${at}) is not after ${before} (${earlier})`];
  });
}

/** The state that reconcile would store now, where every escrow could be read. */
function compareState({ swap, rows, read, clocks }: SwapRead): Finding[] {
  const escrows = rows.flatMap((row) => {
    const facts = read.get(keyOf(row));
    return facts === undefined ? [] : [{ leg: row.leg, address: row.address, facts }];
  });
  if (escrows.length < rows.length) return [];
  const { wall } = clocks;
  const { state, status, dueAt: due } = swap;
  const after = outcome(state, { escrows, full: true, wall });
  const found: Finding[] = [];
  const add = (what: string, says: string, facts?: Finding['facts']) =>
    found.push(differs(what, `swap ${swap.id}`, says, follow, facts));
  if (after.status !== status) {
    const change = changeBetween({ state, status, told: toldOf(swap, rows) }, after);
    const events = change.events.map(({ topic }) => topic).join(', ');
    const missing = events === '' ? '' : `, and ${events} not emitted`;
    const says = `its status is ${after.status}, stored ${status}${missing}`;
    add('status_behind', says, { stored: status, computed: after.status, events });
  }
  if (after.done) add('not_ended', 'it has ended, and is still followed');
  if (after.dueAt !== null && due === null) {
    add('overdue', `time changes it at ${after.dueAt}, and nothing is stored that says so`);
  } else if (after.dueAt !== null && due !== null && wall - due > dueGraceSeconds) {
    add('overdue', `it was due ${wall - due} s ago and was not read`, { due });
  }
  const steps = (of: Swap['state'], at: Clocks) =>
    nextSteps(of, at)
      .map(({ by, action, leg }) => `${by} ${action}${leg === null ? '' : ` ${leg}`}`)
      .sort()
      .join(', ');
  const is = steps(after.state, clocks);
  const was = steps(state, { wall, ...swap.chainClocks });
  if (is !== was) add('steps_differ', `next is ${is}; it shows ${was}`);
  return found;
}

/** A swap that has ended has only empty escrows. */
function compareEnded({ swap, rows, read }: SwapRead): Finding[] {
  return rows.flatMap((row) => {
    const facts = read.get(keyOf(row));
    const where = whereOf(swap.id, row);
    if (facts === undefined || (facts.balance === 0n && facts.empty)) {
      if (row.done) return [];
      return [differs('not_ended', where, 'its swap has ended, and it is still followed', follow)];
    }
    const says = `${facts.balance} are in it although its swap has ended`;
    const todo =
      'tell its funder, who may refund it with ?escrow= or by the SDK; the market follows it no more';
    return [danger('payment_after_end', where, says, todo, { balance: String(facts.balance) })];
  });
}
