// One swap as it is stored, against what its terms and its chains say of it. Everything is computed
// anew: escrows from the terms, status and steps from the facts, depths and deadlines from the
// rules that it was agreed under. Asks nobody.

import type { ChainAdapter } from '../../chains/adapter.ts';
import { type Deadlines, deadlines } from '../../core/deadlines.ts';
import { type EscrowFacts, isUnknown, unknownOutcome } from '../../core/facts.ts';
import type { ChainKey } from '../../core/families.ts';
import { opens } from '../../core/hashlock.ts';
import { nextSteps } from '../../core/next.ts';
import { type ChainPolicy, type Depth, depthFor } from '../../core/policy.ts';
import { rulesOf, sameRules } from '../../core/rules.ts';
import type { Clocks } from '../../core/swap.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { LegName } from '../../core/trade.ts';
import { type EscrowRow, factsOf, termsOf } from '../db/escrows.ts';
import type { Swap } from '../db/swaps.ts';
import { termsOfLeg } from '../settle/escrows.ts';
import { changeBetween } from '../settle/events.ts';
import { outcome } from '../settle/outcome.ts';
import { toldOf } from '../settle/reconcile.ts';
import { rulesOfChain } from '../settle/preview.ts';
import { danger, differs, type Finding, notice, unseen } from './findings.ts';

export type SwapLook = {
  readonly swap: Swap;
  /** Every escrow it ever had. */
  readonly rows: readonly EscrowRow[];
  /** What the chains show, by `keyOf`; absent where nobody could say. */
  readonly read: ReadonlyMap<string, EscrowFacts>;
  readonly adapters: ReadonlyMap<ChainKey, ChainAdapter>;
  /** From which amount on each leg's asset wants the deeper depth, today. */
  readonly highFrom: Readonly<Record<LegName, bigint | null>>;
  readonly clocks: Clocks;
};

/** A step that ends sooner than this is told of: what a party is given to react. */
const nearSeconds = 1_800;
/** How much later than due a swap may be looked at. */
const dueGraceSeconds = 600;

const follow =
  'see that a market runs on this database and its log for this swap; a restart reads it anew';
const altered = 'halt both chains, compare with a backup: no program of this market writes that';

export function keyOf(row: { readonly chain: ChainKey; readonly address: string }): string {
  return `${row.chain} ${row.address}`;
}

export function compareSwap(look: SwapLook): Finding[] {
  const plan = planner();
  return [
    ...comparePlan(look, 'a', plan),
    ...comparePlan(look, 'b', plan),
    ...look.rows.flatMap((row) => compareEscrow(look, row, plan)),
    ...compareSecret(look),
    ...compareTimes(look),
    ...compareState(look),
  ];
}

function of(swap: Swap, leg?: LegName): string {
  return leg === undefined ? `swap ${swap.id}` : `swap ${swap.id} leg ${leg}`;
}

/** The current escrow, from the leg's own terms. */
function comparePlan(
  { swap, rows, adapters }: SwapLook,
  name: LegName,
  plan: typeof plannedOf,
): Finding[] {
  const { chain, escrow } = swap.state.legs[name];
  const terms = termsOfLeg(swap, name);
  const adapter = adapters.get(chain);
  if (adapter === undefined) return [];
  // Without its row its lane is not known either, so what its terms come to is no finding.
  if (escrow !== null && !rows.some((row) => row.leg === name && row.address === escrow)) {
    const says = `its escrow ${escrow} is not among the escrows that are followed`;
    return [danger('escrow_not_followed', of(swap, name), says, altered, { escrow })];
  }
  const planned = terms === null ? null : plan(adapter, terms);
  if (planned === escrow) return [];
  const facts = { stored: escrow, computed: planned };
  const says = `its terms give the escrow ${planned ?? 'none'}, stored is ${escrow ?? 'none'}`;
  return [danger('escrow_not_of_terms', of(swap, name), says, altered, facts)];
}

/** A leg and its escrow mostly have the same terms, and plans take most of a comparison's time. */
function planner(): typeof plannedOf {
  const known = new Map<string, string | null>();
  return (adapter, terms) => {
    const { chain, hashlock, payout, refund, token, amount, timelock, fundBefore, lane } = terms;
    const to = [payout.address, payout.pubkey, refund.address, refund.pubkey];
    const place = [fundBefore, lane?.contract, lane?.number, lane?.counter];
    const all = [adapter.chain, chain, hashlock, ...to, token, String(amount), timelock, ...place];
    const key = JSON.stringify(all);
    const planned = known.get(key);
    if (planned !== undefined) return planned;
    const made = plannedOf(adapter, terms);
    known.set(key, made);
    return made;
  };
}

/** Null where the chain does not take such terms. */
function plannedOf(adapter: ChainAdapter, terms: EscrowTerms): string | null {
  try {
    return adapter.plan(terms).address;
  } catch {
    return null;
  }
}

/** One escrow, former ones too: its address, its terms, its facts. */
function compareEscrow(look: SwapLook, row: EscrowRow, plan: typeof plannedOf): Finding[] {
  const { swap, adapters, read } = look;
  const { address, chain, leg: name } = row;
  const where = `${of(swap, name)} escrow ${address}`;
  const leg = swap.state.legs[name];
  const adapter = adapters.get(chain);
  const found: Finding[] = [];
  const terms = termsOf(row.terms);
  const planned = adapter === undefined ? address : plan(adapter, terms);
  if (planned !== address) {
    const says = `the terms stored with it give the escrow ${planned ?? 'none'}`;
    found.push(danger('escrow_not_of_terms', where, says, altered, { computed: planned }));
  }
  const own = [terms.hashlock, terms.timelock, terms.amount, chain];
  const wanted = [swap.state.hashlock, leg.timelock, leg.amount, leg.chain];
  const at = own.findIndex((each, index) => each !== wanted[index]);
  if (at >= 0) {
    const which = ['hashlock', 'timelock', 'amount', 'chain'][at];
    const says = `its ${which} is ${own[at]}, that of the leg ${wanted[at]}`;
    const facts = { which: which ?? '', escrow: String(own[at]), leg: String(wanted[at]) };
    found.push(danger('terms_differ', where, says, altered, facts));
  }
  if (row.done && !swap.done) {
    const says = 'it is not followed any more, and its swap has not ended';
    found.push(danger('escrow_not_followed', where, says, follow, { escrow: address }));
  }
  const shown = read.get(keyOf(row));
  const differences = shown === undefined ? [] : factsThatDiffer(factsOf(row.facts), shown);
  if (differences.length > 0) {
    const says = `stored is not what the chain shows: ${differences.join('; ')}`;
    const facts = { differences: differences.join('; ') };
    found.push(differs('facts_behind', where, says, follow, facts));
  }
  if (isUnknown(shown ?? factsOf(row.facts))) {
    const says = unknownOutcome(leg);
    const todo = 'add such a node to the sources of this chain: the market then reads it by itself';
    found.push(unseen('outcome_unknown', where, says, todo, { escrow: address }));
  }
  return found;
}

/** In words, what each says. How deep beyond what is wanted is not kept up to date. */
function factsThatDiffer(stored: EscrowFacts, shown: EscrowFacts): string[] {
  const words = (sighting: EscrowFacts['funded']) => {
    if (sighting === null) return 'none';
    const depth = sighting.deep ? 'deep' : sighting.confirmations > 0 ? 'in a block' : 'waiting';
    return `${sighting.txid} (${depth})`;
  };
  const pairs = (['funded', 'claimed', 'refunded'] as const).map((each) => {
    return [each, words(stored[each]), words(shown[each])] as const;
  });
  const rest = (['balance', 'empty', 'outcome'] as const).map((each) => {
    return [each, String(stored[each] ?? 'known'), String(shown[each] ?? 'known')] as const;
  });
  const differences = [...pairs, ...rest]
    .filter(([, was, is]) => was !== is)
    .map(([each, was, is]) => `${each} is ${is}, stored ${was}`);
  // Once seen it may have left a mempool since: that is no difference.
  const isNew = shown.secret !== null && stored.secret === null;
  return isNew ? [...differences, 'a secret is shown, stored none'] : differences;
}

function compareSecret({ swap, rows, read }: SwapLook): Finding[] {
  const { secret, hashlock } = swap.state;
  if (secret !== null && !opens(secret, hashlock)) {
    const says = `the stored secret does not open its hashlock ${hashlock}`;
    return [danger('secret_wrong', of(swap), says, altered, { hashlock })];
  }
  if (secret !== null) return [];
  const shown = rows.filter((row) => {
    const known = [read.get(keyOf(row))?.secret, row.facts.secret];
    return known.some((each) => each != null && opens(each, hashlock));
  });
  const [first] = shown;
  if (first === undefined) return [];
  const says = `its secret is public in escrow ${first.address}, and not stored: nobody was told`;
  return [danger('secret_not_stored', of(swap), says, follow, { escrow: first.address })];
}

/**
 * Depths and deadlines as the rules of its agreement give them (docs/decisions/0013). Where those
 * are not today's, or not known, nobody can compute them anew: their order is all that is left.
 */
function compareTimes(look: SwapLook): Finding[] {
  const { swap, adapters } = look;
  const [a, b] = [adapters.get(swap.state.legs.a.chain), adapters.get(swap.state.legs.b.chain)];
  if (a === undefined || b === undefined) return [];
  const today = rulesOf({ a: rulesOfChain(a), b: rulesOfChain(b) });
  // Another instance of the contract moves no time.
  const isOfToday = sameRules(swap.rules && { ...swap.rules, contract: today.contract }, today);
  if (!isOfToday) return compareOrder(swap);
  const depths = { a: depthsOf(look, 'a', a.policy), b: depthsOf(look, 'b', b.policy) };
  const found = [...depths.a.found, ...depths.b.found];
  // Two depths of one policy may have as many confirmations.
  const schedules = depths.a.of.flatMap((one) =>
    depths.b.of.map((other) => {
      const timings = {
        a: { policy: a.policy, depth: one },
        b: { policy: b.policy, depth: other },
      };
      return timesThatDiffer(swap, deadlines(swap.agreedAt, timings, swap.long));
    }),
  );
  const [differences = [], ...others] = schedules;
  if (differences.length > 0 && others.every((each) => each.length > 0)) {
    found.push(danger('deadlines_differ', of(swap), differences.join('; '), altered, {}));
  }
  return found;
}

/** Those that the leg may have been agreed with, and what is wrong with the stored one. */
function depthsOf(
  { swap, highFrom }: SwapLook,
  name: LegName,
  policy: ChainPolicy,
): { readonly of: readonly Depth[]; readonly found: Finding[] } {
  const { amount, requiredConfirmations: stored } = swap.state.legs[name];
  const today = depthFor(policy, amount, highFrom[name]);
  const like = [policy.normal, policy.high].filter((each) => each.confirmations === stored);
  if (stored === today.confirmations) return { of: like, found: [] };
  const says = `it waits for ${stored} confirmations, its amount wants ${today.confirmations} today`;
  const facts = { stored, today: today.confirmations };
  if (like.length === 0) {
    const others = `${policy.normal.confirmations} and ${policy.high.confirmations}`;
    const known = `${says}: its rules know ${others} alone`;
    return { of: [today], found: [danger('depth_differs', of(swap, name), known, altered, facts)] };
  }
  const todo = 'correct where highValueFrom of the asset moved since it was agreed';
  const tell = stored < today.confirmations ? differs : notice;
  return { of: like, found: [tell('depth_differs', of(swap, name), says, todo, facts)] };
}

function timesThatDiffer({ state }: Swap, computed: Deadlines): string[] {
  const flat = ({ refundAt, ...rest }: Deadlines) =>
    Object.entries({ ...rest, refundAtA: refundAt.a, refundAtB: refundAt.b });
  const stored = new Map(flat(state.deadlines));
  return flat(computed)
    .filter(([name, at]) => stored.get(name) !== at)
    .map(([name, at]) => `${name} is ${stored.get(name)}, computed ${at}`);
}

/** Whatever a policy's numbers are, each side acts before the next one, and refunds come last. */
function compareOrder(swap: Swap): Finding[] {
  const { agreedAt, long, state } = swap;
  const { initiatorFundBy, counterpartyFundBy, revealBy, refundAt } = state.deadlines;
  const short = long === 'a' ? 'b' : 'a';
  const inOrder = [
    ['its agreement', agreedAt],
    ['initiatorFundBy', initiatorFundBy],
    ['counterpartyFundBy', counterpartyFundBy],
    ['revealBy', revealBy],
    ['the short timelock', refundAt[short]],
    ['the long timelock', refundAt[long]],
  ] as const;
  const wrong = inOrder.flatMap(([name, at], index) => {
    const [before, earlier] = inOrder[index - 1] ?? ['', Number.NEGATIVE_INFINITY];
    return at > earlier ? [] : [`${name} (${at}) is not after ${before} (${earlier})`];
  });
  if (wrong.length === 0) return [];
  return [danger('deadlines_differ', of(swap), wrong.join('; '), altered, {})];
}

/** Status, steps and what is owed, where every escrow could be read. */
function compareState(look: SwapLook): Finding[] {
  const { swap, rows, read, clocks } = look;
  if (!rows.every((row) => read.has(keyOf(row)))) return [];
  const escrows = rows.map((row) => {
    return { leg: row.leg, address: row.address, facts: read.get(keyOf(row)) as EscrowFacts };
  });
  const after = outcome(swap.state, { escrows, full: true, wall: clocks.wall });
  const found: Finding[] = [];
  if (after.status !== swap.status) {
    const { state, status } = swap;
    const change = changeBetween({ state, status, told: toldOf(swap, rows) }, after);
    const events = change.events.map(({ topic }) => topic).join(', ');
    const said = events === '' ? '' : `, and ${events} not told`;
    const says = `its status is ${after.status}, stored ${swap.status}${said}`;
    const facts = { stored: swap.status, computed: after.status, events };
    found.push(differs('status_behind', of(swap), says, follow, facts));
  }
  if (after.done !== swap.done) {
    const says = after.done ? 'it has ended, and is still followed' : 'it is not followed any more';
    const tell = after.done ? differs : danger;
    found.push(tell(after.done ? 'not_ended' : 'ended_early', of(swap), says, follow, {}));
  }
  const due = swap.dueAt;
  const late = due === null ? 0 : clocks.wall - due;
  if (after.dueAt !== null && !swap.done && (due === null || late > dueGraceSeconds)) {
    const says =
      due === null
        ? `time changes it at ${after.dueAt}, and nothing is stored that says so`
        : `it was due ${late} s ago and was not looked at`;
    found.push(differs('overdue', of(swap), says, follow, { due, computed: after.dueAt }));
  }
  return [...found, ...compareSteps(look, after.state)];
}

function compareSteps({ swap, clocks }: SwapLook, state: Swap['state']): Finding[] {
  const wall = clocks.wall;
  const stored = new Set(nextSteps(swap.state, { wall, ...swap.chainClocks }).map(named));
  const steps = nextSteps(state, clocks);
  const found: Finding[] = [];
  const missing = steps.map(named).filter((each) => !stored.has(each));
  const wrong = [...stored].filter((each) => !steps.map(named).includes(each));
  if (missing.length + wrong.length > 0) {
    const says = `next is ${steps.map(named).join(', ')}; it shows ${[...stored].join(', ')}`;
    found.push(differs('steps_differ', of(swap), says, follow, {}));
  }
  for (const { by, action, leg, before } of steps) {
    if (action === 'wait' || before === null) continue;
    const left = before - wall;
    if (left < 0 || left > nearSeconds) continue;
    const what = leg === null ? action : `${action} leg ${leg}`;
    const says = `the ${by} is still to ${what}: ${left} s left`;
    const todo = 'tell that party, if it can be reached';
    found.push(notice('deadline_near', of(swap), says, todo, { by, action, left }));
  }
  return found;
}

function named({ by, action, leg }: { by: string; action: string; leg: LegName | null }): string {
  return `${by} ${action}${leg === null ? '' : ` ${leg}`}`;
}
