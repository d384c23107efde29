// One swap of one seed: two chains, two people with nodes of their own, a market, and what of it is
// true. Times are virtual (time.ts).

import type { Family } from '@parley/core/families.ts';
import { type Destination, type EscrowTerms, formOf } from '@parley/core/terms.ts';
import { funderOf, type LegName, otherLeg, type Party, type Role } from '@parley/core/trade.ts';
import type { CosignReply } from '@parley/sdk/generated.ts';
import type { Outcome } from '@parley/sdk/settle.ts';
import { type Nonces, readKept, type SwapRecord } from '@parley/sdk/stores/store.ts';
import type { OwnTrade, VerifiedSwap } from '@parley/sdk/trade.ts';
import type { SwapLeg } from '@parley/sdk/types.ts';
import { minedAbout, type SimChain, tipOf } from '../chain.ts';
import type { Chance } from '../chance.ts';
import { nowSeconds } from './time.ts';

export const lies = [
  'claimed',
  'refunded',
  'funded',
  'unfunded',
  'fork',
  'height',
  'future',
  'clock ahead',
  'clock behind',
] as const;
/**
 * `early`: well but for its time. `hides`: shows an escrow as it is, and no money in it. `vain`:
 * builds what no block takes, and takes it.
 */
export type Lie = (typeof lies)[number] | 'early' | 'hides' | 'vain';

export type Mode =
  | { readonly is: 'well' | 'gone' | 'hangs' }
  | { readonly is: 'slow'; readonly ms: number }
  | { readonly is: 'stuck'; readonly height: number }
  | {
      readonly is: 'syncing';
      readonly from: number;
      readonly sinceMs: number;
      readonly perMs: number;
    }
  | { readonly is: 'split'; readonly fork: SimChain }
  | { readonly is: 'lying'; readonly lie: Lie };

export type SimNode = {
  readonly name: string;
  readonly chain: SimChain;
  mode: Mode;
  /** Chance of a failure, and of an older machine, at each look. */
  fails: number;
  lags: number;
  /** Chance of one that has the newest block and knows nothing of the past. */
  forgets: number;
  /** All of its owner for this chain, itself too. */
  beside: readonly SimNode[];
  /** Well all the time: its display stands against the others' lies, and so it answers then. */
  isSteady: boolean;
  /** Until then it fails in a run that it has answered once. */
  failsUntilMs: number;
  owner: () => Person;
};

export type Legs<T> = Readonly<Record<LegName, T>>;
export const legNames = ['a', 'b'] as const;

/** `rival`: anything that its keys can sign, in league with the market where that lies. */
export type Kind = 'driver' | 'absent' | 'sleepy' | 'rival';

export type Kept = {
  readonly secrets: Map<string, string>;
  readonly nonces: Map<string, Nonces>;
  readonly swaps: Map<string, string>;
  readonly trades: Map<string, string>;
};

/** The outcome of one call of the driver, or of a person who gave up. */
export type End = Outcome['end'] | 'gave up';

export type Person = {
  readonly party: Party;
  readonly role: Role;
  readonly kind: Kind;
  readonly gives: LegName;
  readonly gets: LegName;
  readonly trade: OwnTrade;
  readonly nodes: Legs<readonly SimNode[]>;
  /** Pays its Bitcoin escrow from another wallet. */
  readonly byHand: boolean;
  kept: Kept;
  /** Records as they were written, for a store that is rolled back. */
  readonly former: Map<string, string>[];
  /** Seconds that its device's clock is ahead of true time. */
  ahead: number;
  /** Whether that clock is ever set. */
  isClockSet: boolean;
  /** Calls of store, nodes and market until its process dies; Infinity: it lives. */
  callsLeft: number;
  hasPaid: boolean;
  /** Virtual milliseconds from when the person gives the swap up; Infinity: never. */
  givesUpAtMs: number;
  /** The process that was told; null: none yet. */
  saidTo: object | null;
  /** Whether its release has left. */
  hasReleased: boolean;
  endedAtMs: number;
  /** Its device: it comes back by its phrase. */
  isLost: boolean;
  end: End | null;
};

export type Market = {
  readonly kind: 'honest' | 'lying' | 'flaky';
  /** Virtual milliseconds from when nobody answers. */
  diesAtMs: number;
  readonly counters: Record<LegName, number>;
  /** The address that the other side of the cheated person shows, by its number. */
  readonly moved: Record<LegName, number>;
  /** Legs for whose funding it was asked: an honest one moves them no more. */
  readonly fixed: Set<LegName>;
  /** Legs whose claim a device was about to make. */
  readonly announced: Set<LegName>;
  /** Its lie against the truth now. */
  lie: 'deadlines' | 'secret' | 'nothing' | null;
  /** By the payee of each leg, and its lie of them. */
  readonly words: Record<LegName, SwapLeg['release']>;
  wordLie: 'hides' | 'wish' | 'nonsense' | null;
  /** By the leg that both sides spend. */
  readonly exchanges: Record<LegName, Exchanges>;
};

export type Exchanges = CosignReply['exchange'];

export type World = {
  readonly seed: number;
  readonly chance: Chance;
  readonly swapId: string;
  readonly secret: string;
  readonly hashlock: string;
  readonly agreedAt: number;
  readonly times: VerifiedSwap['deadlines'];
  readonly chains: Legs<SimChain>;
  readonly people: Person[];
  readonly market: Market;
  /** All parties honest, and no fault. */
  readonly calm: boolean;
  readonly standing: Set<SimChain>;
  readonly counts: Map<string, number>;
  readonly story: string[];
  readonly violations: { readonly rule: string; readonly what: string }[];
  /** The number of changes for anybody: a person who sees nothing new polls less often. */
  news: number;
  /** Whether somebody was given the secret by its holder. */
  isTold: boolean;
  /** Nonces that have signed. */
  readonly used: Set<string>;
  /** Done once when a leg is first funded, and when a secret is first sent anywhere. */
  readonly after: Record<'a' | 'b' | 'told', (() => void)[]>;
  /** Beyond what the rules promise: a block at depth was taken back. */
  excuse: string | null;
  isHealed: boolean;
};

export function tell(world: World, what: string): void {
  const at = new Date(nowSeconds() * 1_000).toISOString().slice(5, 19).replace('T', ' ');
  world.story.push(`${at} ${what}`);
}

export function count(world: World, kind: string, times = 1): void {
  world.counts.set(kind, (world.counts.get(kind) ?? 0) + times);
}

export function violate(world: World, rule: string, what: string): void {
  world.violations.push({ rule, what });
  tell(world, `BROKEN ${rule}: ${what}`);
}

export function destinationOf(
  party: Party,
  leg: LegName,
  family: Family,
  index: number,
): Destination {
  const name = `${party} ${leg} ${index}`;
  if (family !== 'bitcoin') return { address: name, pubkey: null };
  return { address: `pays ${name}`, pubkey: name, ...asked };
}

/** Of the seed that is run: whether both sides ask for Taproot on Bitcoin. */
let asked: Pick<Destination, 'form'> = {};
export function asksFor(form: Pick<Destination, 'form'>): void {
  asked = form;
}

const amounts: Readonly<Record<LegName, bigint>> = { a: 600_000n, b: 1_000_000n };
export const amountOf = (leg: LegName) => amounts[leg];

/** As the market shows the leg now; `moved` 0: as it was agreed. */
export function termsOf(
  { chains, hashlock, times, market }: Pick<World, 'chains' | 'hashlock' | 'times' | 'market'>,
  leg: LegName,
  { counter, moved }: { readonly counter: number; readonly moved: number } = {
    counter: market.counters[leg],
    moved: market.moved[leg],
  },
): EscrowTerms {
  const { chain, family } = chains[leg];
  const funder = funderOf(leg);
  const payee = funder === 'maker' ? 'taker' : 'maker';
  const isLane = family === 'evm' || family === 'tron';
  const fundBefore = leg === 'b' ? times.initiatorFundBy : times.counterpartyFundBy;
  const number = `0${leg.repeat(23)}`;
  // Only the side that is not cheated has other addresses: the sign of `moved` says whose.
  const of = (party: Party) => (moved !== 0 && moved > 0 === (party === funder) ? moved : 0);
  const payout = destinationOf(payee, leg, family, Math.abs(of(payee)));
  const refund = destinationOf(funder, leg, family, Math.abs(of(funder)));
  return {
    chain,
    hashlock,
    token: null,
    amount: amounts[leg],
    timelock: times.refundAt[leg],
    payout,
    refund,
    ...formOf(payout, refund),
    ...(isLane ? { fundBefore, lane: { number, counter } } : {}),
  };
}

/** Every escrow of a leg that anybody ever planned. */
export const escrowsOf = ({ chains }: World, leg: LegName) => [...chains[leg].plans];

/** Deepest that a payment into an escrow is on the true chain. */
export function depthIn(chain: SimChain, escrow: string): number {
  const funding = minedAbout(chain, escrow).find(({ ok, tx }) => ok && tx.verb === 'fund');
  return funding === undefined ? 0 : tipOf(chain).height - funding.height + 1;
}

/** The transaction that took the money of an escrow on the true chain. */
export function spendOf(chain: SimChain, escrow: string): 'claim' | 'refund' | null {
  const spent = minedAbout(chain, escrow).find(({ ok, tx }) => ok && tx.verb !== 'fund');
  return spent === undefined ? null : (spent.tx.verb as 'claim' | 'refund');
}

export const otherOf = (world: World, person: Person) =>
  world.people.find((each) => each !== person) as Person;

export const givesOf = (party: Party): LegName => (party === 'maker' ? 'a' : 'b');
export const getsOf = (party: Party): LegName => otherLeg(givesOf(party));

export function recordIn(swaps: ReadonlyMap<string, string>, swapId: string): SwapRecord | null {
  const text = swaps.get(swapId);
  return text === undefined ? null : readKept<SwapRecord>(text);
}

export const recordOf = ({ kept }: Person, swapId: string) => recordIn(kept.swaps, swapId);
