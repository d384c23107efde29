// Whether a maker quotes or accepts: guard, sizes, caps and inventory, each refusal a code and a
// sentence with its numbers. Pure: all it knows comes as arguments.

import { formatUnits } from '@parley/core/amounts.ts';
import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import {
  balanceGoodMs,
  type Commitment,
  type Costs,
  type Side,
  type Stock,
  shortageOf,
  type Takes,
  takesOf,
} from './inventory.ts';
import type { Counting } from './position.ts';
import { marginBps, type Price, type Terms } from './price.ts';
import { type Lean, leanOf, type SpreadRule, spreadOf } from './spread.ts';

export type AssetRule = {
  readonly name: string;
  readonly chain: string;
  readonly token: string | null;
  readonly decimals: number;
  /** Most that open quotes and open swaps may give; null: no cap. */
  readonly mostOpen: BaseUnits | null;
  /** Most that is agreed to be given within 24 hours; null: no cap. */
  readonly mostADay: BaseUnits | null;
  /** null: the price does not follow what is held. */
  readonly lean: Lean | null;
  /** A sale leaves at least so much; null: no bound. */
  readonly sellDownTo: BaseUnits | null;
  /** A purchase makes it so much at most; null: no bound. */
  readonly buyUpTo: BaseUnits | null;
};

export type PairRule = SpreadRule & {
  readonly name: string;
  readonly base: AssetRule;
  readonly quote: AssetRule;
  /** Base units of the base asset. */
  readonly least: BaseUnits;
  readonly most: BaseUnits;
  /** How much of the spread the price may eat between quote and acceptance. */
  readonly slipBps: bigint;
  /** Which assets the maker gives. */
  readonly gives: readonly Terms['gives'][];
};

/**
 * `open`; `paused`: the maker quotes nothing; `killed`: the maker neither quotes nor accepts;
 * `clock`: as killed, while the machine's clock is wrong.
 */
export type Mode = 'open' | 'paused' | 'killed' | 'clock';
export type Step = 'quote' | 'proposal' | 'acceptance';

export type RefusalCode =
  | 'paused'
  | 'killed'
  | 'clock'
  | 'side'
  | 'size'
  | 'no_price'
  | 'guard'
  | 'exposure'
  | 'day'
  | 'stop_selling'
  | 'stop_buying'
  | 'inventory'
  | 'unread'
  | 'most_swaps'
  | 'most_quotes'
  | 'taker_quotes'
  | 'taker_swaps'
  | 'taker_unknown'
  | 'expires';
export type Refusal = { readonly code: RefusalCode; readonly sentence: string };

const refusal = (code: RefusalCode, sentence: string): Refusal => ({ code, sentence });
const shown = (units: BaseUnits, { decimals, name }: AssetRule) =>
  `${formatUnits(units, decimals)} ${name}`;

export function modeRefusal(mode: Mode, step: Step): Refusal | null {
  if (mode === 'killed')
    return refusal('killed', 'the kill switch is on: this maker agrees to nothing new');
  if (mode === 'clock') {
    const sentence =
      'the clock of this machine or of the market is wrong: a swap agreed by it is not funded';
    return refusal('clock', sentence);
  }
  if (mode === 'open' || step === 'acceptance') return null;
  return refusal('paused', 'quoting is paused');
}

/** Sides and sizes. */
export function termsRefusal(pair: PairRule, { gives, base }: Terms): Refusal | null {
  if (!pair.gives.includes(gives)) {
    return refusal('side', `the maker does not give ${pair[gives].name} for this pair`);
  }
  if (base >= pair.least && base <= pair.most) return null;
  const least = shown(pair.least, pair.base);
  const most = shown(pair.most, pair.base);
  const sentence = `${shown(base, pair.base)} is not within ${least} and ${most}`;
  return refusal('size', sentence);
}

/** How much less than the spread is enough: a quote that stands must not be refused at once. */
const slipAt: Readonly<Record<Step, (slipBps: bigint) => bigint>> = {
  quote: () => 0n,
  proposal: (slip) => slip / 2n,
  acceptance: (slip) => slip,
};

/** By price and tilt of now: a price that moved since, a wrong unit, a taker's proposal. */
export function guardRefusal(
  pair: PairRule,
  terms: Terms,
  { price, tilt }: { readonly price: Price; readonly tilt: bigint },
  step: Step,
): Refusal | null {
  const margin = marginBps(terms, price, pair);
  const least = spreadOf(pair, terms, tilt) - slipAt[step](pair.slipBps);
  if (margin >= least) return null;
  const amounts = `${shown(terms.base, pair.base)} for ${shown(terms.quote, pair.quote)}`;
  const sentence = `${amounts} leaves ${margin} basis points at the price of now, ${least} at least`;
  return refusal('guard', sentence);
}

/** null: the fees of a chain are not known. */
export type CostsOf = (asset: AssetRule) => Costs | null;

/** The amounts that the swap may take of each holding; null where a chain's fees are not known. */
export function takesOfTerms(
  pair: Pick<PairRule, 'base' | 'quote'>,
  terms: Terms,
  costsOf: CostsOf,
): Takes | null {
  const side = (which: Terms['gives']): Side | null => {
    const costs = costsOf(pair[which]);
    const { chain, token } = pair[which];
    return costs && { chain, token, amount: terms[which], costs };
  };
  const gives = side(terms.gives);
  const gets = side(terms.gives === 'base' ? 'quote' : 'base');
  return gives && gets && takesOf(gives, gets);
}

export type Exposure = {
  readonly commitments: readonly Commitment[];
  /** The amounts of swaps agreed within 24 hours that did not come to nothing, by asset. */
  readonly givenToday: ReadonlyMap<string, BaseUnits>;
};

export function capsRefusal(
  asset: AssetRule,
  amount: BaseUnits,
  { commitments, givenToday }: Exposure,
): Refusal | null {
  const own = commitments.filter((each) => each.asset === asset.name);
  const sum = (all: readonly Commitment[]) => all.reduce((total, each) => total + each.amount, 0n);
  const open = sum(own);
  if (asset.mostOpen !== null && open + amount > asset.mostOpen) {
    const sentence =
      `${shown(amount, asset)} beside ${shown(open, asset)} in open quotes and swaps is more ` +
      `than ${shown(asset.mostOpen, asset)}`;
    return refusal('exposure', sentence);
  }
  // Swaps are in the day's sum already.
  const day = (givenToday.get(asset.name) ?? 0n) + sum(own.filter(({ kind }) => kind === 'quote'));
  if (asset.mostADay === null || day + amount <= asset.mostADay) return null;
  const sentence =
    `${shown(amount, asset)} beside ${shown(day, asset)} of the last 24 hours is more than ` +
    `${shown(asset.mostADay, asset)} a day`;
  return refusal('day', sentence);
}

/**
 * Base units of an asset (position.ts). `sold`, `bought`: with the open quotes that give it, or get
 * it. null: no balance was read that is new enough.
 */
export type HeldOf = (asset: AssetRule, counting: Counting) => BaseUnits | null;

/** How the maker values the pair's base beyond its source (spread.ts); null: a balance is missing. */
export function tiltOf(pair: Pick<PairRule, 'base' | 'quote'>, heldOf: HeldOf): bigint | null {
  const leans = [pair.quote, pair.base].map((asset) => {
    if (asset.lean === null) return 0n;
    const held = heldOf(asset, 'agreed');
    return held === null ? null : leanOf(held, asset.lean);
  });
  const [quote = null, base = null] = leans;
  return quote === null || base === null ? null : quote - base;
}

const unread = (assets: string) =>
  refusal('unread', `no balance of ${assets} was read within ${balanceGoodMs / 1_000} s`);

/** The bounds of both sides. */
export function boundsRefusal(
  pair: Pick<PairRule, 'base' | 'quote'>,
  terms: Terms,
  heldOf: HeldOf,
): Refusal | null {
  const sold = pair[terms.gives];
  const getting = terms.gives === 'base' ? 'quote' : 'base';
  const bought = pair[getting];
  if (sold.sellDownTo !== null) {
    const held = heldOf(sold, 'sold');
    if (held === null) return unread(sold.name);
    const left = held - terms[terms.gives];
    if (left < sold.sellDownTo) {
      const bound = shown(sold.sellDownTo, sold);
      return refusal('stop_selling', `${shown(left, sold)} would be left, ${bound} at least`);
    }
  }
  if (bought.buyUpTo === null) return null;
  const held = heldOf(bought, 'bought');
  if (held === null) return unread(bought.name);
  const then = held + terms[getting];
  if (then <= bought.buyUpTo) return null;
  const sentence = `${shown(then, bought)} would be held, ${shown(bought.buyUpTo, bought)} at most`;
  return refusal('stop_buying', sentence);
}

/** null: all that the swap may take is there. */
export function stockRefusal(stock: Stock, takes: Takes, nowMs: Millis): Refusal | null {
  const short = shortageOf(stock, takes.before, nowMs);
  if (short === null) return null;
  const { holding, need, has, reserve, taken } = short;
  if (has === null) return unread(holding);
  const sentence =
    `${need} base units of ${holding} are needed: ${has} are there, ${reserve} are the reserve ` +
    `and ${taken} are promised`;
  return refusal('inventory', sentence);
}

export type Known = Stock &
  Exposure & {
    readonly mode: Mode;
    readonly nowMs: Millis;
    /** Null where the source says nothing, or nothing new enough. */
    readonly price: Price | null;
    readonly costsOf: CostsOf;
    readonly heldOf: HeldOf;
  };

export type Verdict =
  | { readonly refused: Refusal }
  | { readonly refused: null; readonly takes: Takes };

function priceRefusal(pair: PairRule, terms: Terms, step: Step, known: Known): Refusal | null {
  const { price } = known;
  if (price === null) return refusal('no_price', `no price of ${pair.name} that is new enough`);
  const tilt = tiltOf(pair, known.heldOf);
  if (tilt === null) return unread(pair.name);
  return guardRefusal(pair, terms, { price, tilt }, step);
}

/** All rules, the cheapest first. The own quote on the same RFQ is no part of `commitments`. */
export function verdictOn(pair: PairRule, terms: Terms, step: Step, known: Known): Verdict {
  const refused =
    modeRefusal(known.mode, step) ??
    termsRefusal(pair, terms) ??
    priceRefusal(pair, terms, step, known) ??
    capsRefusal(pair[terms.gives], terms[terms.gives], known) ??
    boundsRefusal(pair, terms, known.heldOf);
  if (refused !== null) return { refused };
  const takes = takesOfTerms(pair, terms, known.costsOf);
  if (takes === null) {
    const chains = `${pair.base.chain} or ${pair.quote.chain}`;
    return { refused: refusal('unread', `the fees of ${chains} are not known`) };
  }
  const short = stockRefusal(known, takes, known.nowMs);
  return short === null ? { refused: null, takes } : { refused: short };
}
