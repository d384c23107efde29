// Tests only: vectors of the two rules that a driver goes by, for drawn cases. Which answers of a
// chain's nodes count, and which steps and gates the shown state of a swap opens.

import type { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen, type Sighting } from '@parley/core/facts.ts';
import type { Family } from '@parley/core/families.ts';
import { claimGate, fundGate, refundGate, releaseGate } from '@parley/core/gates.ts';
import { nextSteps } from '@parley/core/next.ts';
import { swapStatus } from '@parley/core/status.ts';
import type { Clocks, Leg, Release, SwapState } from '@parley/core/swap.ts';
import { policies } from '@parley/core/testing.ts';
import { funderOf, type LegName } from '@parley/core/trade.ts';
import { type Answer, type Bounds, judge } from '../../evidence/judge.ts';
import { secret } from '../honest.ts';

const cases = 40;
const now = 1_800_000_000;

/** Numerical Recipes' generator: the same cases on each run, and nothing of theirs is secret. */
function drawing(seed: number) {
  let state = seed;
  return <T>(items: readonly T[]): T => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return items[Math.floor((state / 2 ** 32) * items.length)] as T;
  };
}
type Pick = ReturnType<typeof drawing>;

const sightings: readonly (Sighting | null)[] = [
  null,
  { txid: 'aa', confirmations: 0, deep: false },
  { txid: 'aa', confirmations: 2, deep: false },
  { txid: 'aa', confirmations: 9, deep: true },
];

/** A leg that stands at depth: the drawn ones seldom do on both sides. */
const open: EscrowFacts = {
  ...nothingSeen,
  funded: { txid: 'aa', confirmations: 9, deep: true },
  balance: 1_000n,
  empty: false,
};

function factsFrom(pick: Pick): EscrowFacts {
  const funded = pick([null, ...sightings]);
  const spent = funded === null ? null : pick([null, null, ...sightings]);
  const isClaim = pick([true, false]);
  const balance = funded !== null && spent === null ? 1_000n : pick([0n, 0n, 0n, 5n]);
  const shown = pick([false, false, true]) && spent !== null && isClaim ? secret : null;
  const claimed = isClaim ? spent : null;
  const facts = { funded, claimed, refunded: isClaim ? null : spent, secret: shown };
  return { ...nothingSeen, ...facts, balance, empty: balance === 0n };
}

const shownFacts = (facts: EscrowFacts) => ({ ...facts, balance: facts.balance.toString() });

function judgedOf(seed: number) {
  const pick = drawing(seed);
  const [family, policy] = pick([
    ['bitcoin', policies.bitcoin],
    ['evm', policies.ethereum],
  ] as const);
  const base = factsFrom(pick);
  const answers = Array.from({ length: pick([1, 2, 2, 3]) }, (_, node): Answer => {
    const clock = now + pick([0, 0, -12, -600, -601, 121, -20_000, -90_000, 86_400]);
    const height = 100 + pick([0, 0, -1, -11, -40, 1_000_000]);
    const facts = pick([base, base, factsFrom(pick)]);
    // A head has its hash in other languages.
    const heads = { height, hash: '', clock };
    return { node, heads, facts, isRefused: pick([false, false, false, true]) };
  }) as unknown as readonly [Answer, ...Answer[]];
  const required = policy.normal.confirmations;
  const seconds = family === 'bitcoin' ? 600 : 12;
  const about = { chain: 'a', nodes: answers.length, family, policy };
  const bounds: Bounds = { ...about, requiredConfirmations: required, blockSeconds: seconds };
  const isPatient = pick([true, false]);
  const { facts, doubts, ...judged } = judge(answers, bounds, { wall: now, isPatient });
  const given = answers.map((each) => ({ ...each, facts: shownFacts(each.facts) }));
  const told = doubts.map(({ code, sentence, node = null }) => ({ code, sentence, node }));
  const result = { ...judged, facts: shownFacts(facts), doubts: told };
  return { bounds, wall: now, isPatient, answers: given, judged: result };
}

type Drawn = { readonly long: boolean; readonly timelock: number; readonly isOpen: boolean };

function legFrom(pick: Pick, leg: LegName, { long, timelock, isOpen }: Drawn): Leg {
  const family: Family = pick(long ? (['bitcoin', 'evm'] as const) : (['evm', 'solana'] as const));
  const word: Release = { askedAt: now, at: pick([now, null]), signature: pick([null, '0x01']) };
  return {
    leg,
    chain: `chain-${leg}`,
    family,
    assetId: leg,
    amount: 1_000n,
    funder: funderOf(leg),
    long,
    timelock,
    requiredConfirmations: 9,
    payoutAddress: 'payout',
    refundAddress: 'refund',
    payoutPubkey: null,
    refundPubkey: null,
    escrow: `escrow-${leg}`,
    facts: isOpen ? open : factsFrom(pick),
    strayed: pick([false, false, false, false, false, true]),
    handed: pick(['nothing', 'unknown', 'sent'] as const),
    release: pick([null, null, null, word]),
  };
}

const codeOf = (gate: () => void): string | null => {
  try {
    gate();
    return null;
  } catch (error) {
    return (error as ParleyError).code;
  }
};

function stepsOf(seed: number) {
  const pick = drawing(seed);
  const times = {
    initiatorFundBy: now,
    expiresAt: now + 900,
    counterpartyFundBy: now + 3_000,
    revealBy: now + 7_000,
    refundAt: { a: now + 14_000, b: now + 40_000 },
  };
  // Every second one may be revealed, or nearly so.
  const isOpen = seed % 2 === 0;
  const a = legFrom(pick, 'a', { long: false, timelock: times.refundAt.a, isOpen });
  const b = legFrom(pick, 'b', { long: true, timelock: times.refundAt.b, isOpen });
  const shown = a.facts.secret ?? b.facts.secret ?? (isOpen ? null : pick([null, null, secret]));
  const about = { hashlock: '00'.repeat(32), deadlines: times, lapsed: false };
  const state: SwapState = { ...about, legs: { a, b }, secret: shown };
  const early = [-10, 0, 1, 2_900, 6_900, 7_001];
  const at = () => now + pick(isOpen ? early : [...early, 13_999, 14_000, 40_000, 40_001]);
  const wall = at();
  const clocks: Clocks = { wall, a: pick([wall, at()]), b: pick([wall, at()]) };
  const steps = nextSteps(state, clocks)
    .filter(({ action }) => action !== 'set_address' && action !== 'open_lane')
    .map(({ by, action, leg, before }) => ({ by, action, leg, before }));
  const gates = (['a', 'b'] as const).map((leg) => ({
    leg,
    fund: codeOf(() => fundGate(state, leg, clocks)),
    claim: codeOf(() => claimGate(state, leg, clocks)),
    refund: codeOf(() => refundGate(state.legs[leg], state.legs[leg].timelock, clocks)),
    release: codeOf(() => releaseGate(state, leg, clocks)),
  }));
  const legs = [a, b].map(({ amount, facts, ...leg }) => {
    return { ...leg, amount: amount.toString(), facts: shownFacts(facts) };
  });
  const given = { deadlines: times, secret: shown, legs, clocks };
  return { ...given, status: swapStatus(state, wall), steps, gates };
}

const all = Array.from({ length: cases }, (_, at) => at + 1);

export function evidenceVectors() {
  return { judged: all.map(judgedOf), states: all.map((each) => stepsOf(each + cases)) };
}
