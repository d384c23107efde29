// The form of the swap box, and the request for quotes that comes of it. The side typed last is
// exact; quotes decide the amount of the other one, and an asking price for it is optional.

import type { Family } from '@parley/core/families.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import { asTyped } from '@parley/core/typed.ts';
import type { Asset, CreateRfq } from '@parley/sdk/types.ts';
import { boxHash, isMoney } from '../../market/pairs.ts';
import { assetName, chainName, estimateText, typedAmount } from '../../parts/words.ts';
import { formatAmount } from '../../texts/people.ts';
import { recalled, remember } from '../../texts/remembered.ts';
import { text } from '../../texts/texts.ts';

export type Side = 'give' | 'get';

/** The makers that may quote: all, those with the link, or the holder of the address. */
export type Audience = 'public' | 'link' | 'address';

/** Amounts as typed; assets by id, '' where none is chosen. */
export type Draft = {
  readonly give: string;
  readonly get: string;
  readonly exact: Side;
  /** The exact side's. */
  readonly amount: string;
  /** The other side's: the least that is wanted, or the most that is paid; '': quotes decide. */
  readonly ask: string;
  readonly ttl: string;
  readonly audience: Audience;
  readonly address: string;
  /** Settled swaps that who quotes must have; '0': none. */
  readonly minSettled: string;
};

export const lifetimes = ['600', '3600', '21600', '86400', '604800'] as const;
export const standings = ['0', '1', '5', '20', '50'] as const;

export const emptyDraft: Draft = {
  give: '',
  get: '',
  exact: 'give',
  amount: '',
  ask: '',
  ttl: '3600',
  audience: 'public',
  address: '',
  minSettled: '0',
};

export function otherSide(side: Side): Side {
  return side === 'give' ? 'get' : 'give';
}

/** An asking price was one for the other side's amount: it goes where the sides change. */
export function withAmount(draft: Draft, exact: Side, amount: string): Draft {
  return { ...draft, exact, amount, ask: draft.exact === exact ? draft.ask : '' };
}

/**
 * The asset of the other side, chosen here, turns the swap round. For another one on its chain the
 * former asset of this side goes there: no two sides are ever on one chain.
 */
export function withAsset(draft: Draft, side: Side, { id, chain }: Asset, other?: Asset): Draft {
  if (id === draft[side]) return draft;
  if (id === other?.id) return flipped(draft);
  const turns = other?.chain === chain ? { [otherSide(side)]: draft[side] } : {};
  return { ...draft, ...turns, [side]: id, ask: '' };
}

/** The other way round: the given asset is got, with its amount. */
export function flipped(draft: Draft): Draft {
  return { ...draft, give: draft.get, get: draft.give, exact: otherSide(draft.exact) };
}

/**
 * A new form trades the first of `traded` (pairs with makers, the best known first) whose
 * assets are verified and open, else bitcoin for a dollar token, else any two on two chains.
 */
export function withPair(
  draft: Draft,
  assets: readonly Asset[],
  traded: readonly { readonly baseAssetId: string; readonly quoteAssetId: string }[],
): Draft {
  if (draft.give !== '' || draft.get !== '') return draft;
  const good = assets.filter(({ enabled, verified }) => enabled && verified);
  const known = (id: string) => good.find((each) => each.id === id);
  for (const { baseAssetId, quoteAssetId } of traded) {
    const pair = [known(baseAssetId), known(quoteAssetId)];
    const give = pair.find((each) => each !== undefined && !isMoney(each));
    const get = pair.find((each) => each !== undefined && each !== give);
    if (give && get && give.chain !== get.chain) return { ...draft, give: give.id, get: get.id };
  }
  const give = good.find(({ symbol }) => symbol === 'BTC') ?? good[0];
  const others = good.filter(({ chain }) => chain !== give?.chain);
  const get = others.find(isMoney) ?? others[0];
  return { ...draft, give: give?.id ?? '', get: get?.id ?? '' };
}

/** Base units of each side's asset between which an escrow can be; null: not known. */
export type Bounds = {
  readonly least: Readonly<Record<Side, BaseUnits | null>>;
  readonly most: Readonly<Record<Side, BaseUnits | null>>;
};

export const noBounds: Bounds = {
  least: { give: null, get: null },
  most: { give: null, get: null },
};

type Mosts = Readonly<Partial<Record<Family, BaseUnits>>>;

const solanaMost = 2n ** 64n - 1n;
const mostTokens: Mosts = { solana: solanaMost };
const mostCoins: Mosts = {
  // All coins that there will ever be, in satoshis.
  bitcoin: 21_000_000n * 10n ** 8n,
  solana: solanaMost,
  tron: 2n ** 63n - 1n,
};

/** The most that an escrow of this family can hold; null: more than any amount that is typed. */
export function mostOf(family: Family | undefined, { address }: Pick<Asset, 'address'>) {
  const most = address === null ? mostCoins : mostTokens;
  return family === undefined ? null : (most[family] ?? null);
}

/** The request for quotes; `base` is the asset whose amount is exact. */
export type Wanted = {
  readonly give: Asset;
  readonly get: Asset;
  readonly base: Asset;
  readonly quote: Asset;
  readonly baseAmount: BaseUnits;
  readonly askAmount: BaseUnits | null;
  readonly body: CreateRfq;
};

/** The field that has to be changed. */
export type Place = 'give_asset' | 'get_asset' | 'amount' | 'ask' | 'address';

/** `why`: a sentence that says what is missing or wrong first. */
export type Understood =
  | { readonly ok: true; readonly wanted: Wanted }
  | { readonly ok: false; readonly why: string; readonly at: Place };

const no = (at: Place, why: string): Understood => ({ ok: false, why, at });
const longestAddress = 128;

export function understood(
  draft: Draft,
  assets: readonly Asset[],
  { least, most }: Bounds = noBounds,
  locale?: string,
): Understood {
  const give = assets.find(({ id }) => id === draft.give);
  const get = assets.find(({ id }) => id === draft.get);
  if (give === undefined) return no('give_asset', text('swap_box.choose_give'));
  if (get === undefined) return no('get_asset', text('swap_box.choose_get'));
  if (give.chain === get.chain) {
    return no('get_asset', text('swap_box.same_chain', { chain: chainName(give.chain) }));
  }
  for (const [at, { enabled, symbol }] of [
    ['give_asset', give],
    ['get_asset', get],
  ] as const) {
    if (!enabled) return no(at, text('swap_box.closed', { symbol }));
  }
  const { exact } = draft;
  const [base, quote] = exact === 'give' ? [give, get] : [get, give];
  const typed = typedAmount(draft.amount, base, locale);
  if (typed.fault !== null) return no('amount', typed.fault);
  if (typed.units === null) return no('amount', text('swap_box.type_amount'));
  const bounds = (side: Side) => ({ least: least[side], most: most[side] });
  const outside = faultOf(typed.units, base, bounds(exact));
  if (outside !== null) return no('amount', outside);
  const ask = typedAmount(draft.ask, quote, locale);
  if (ask.fault !== null) return no('ask', ask.fault);
  const asksOutside =
    ask.units === null ? null : faultOf(ask.units, quote, bounds(otherSide(exact)));
  if (asksOutside !== null) return no('ask', asksOutside);
  const address = asTyped(draft.address).trim();
  if (draft.audience === 'address') {
    if (address === '') return no('address', text('swap_box.type_address'));
    if (address.length > longestAddress) {
      const values = { length: address.length, most: longestAddress };
      return no('address', text('swap_box.long_address', values));
    }
  }
  const body: CreateRfq = {
    direction: exact === 'give' ? 'sell_base' : 'buy_base',
    baseAssetId: base.id,
    baseAmount: typed.units.toString(),
    quoteAssetId: quote.id,
    ttlSeconds: Number(draft.ttl),
    visibility: draft.audience === 'public' ? 'public' : 'private',
    ...(ask.units === null ? {} : { askAmount: ask.units.toString() }),
    ...(draft.audience === 'address' ? { targetAddress: address } : {}),
    ...(draft.minSettled === '0' ? {} : { minSettled: Number(draft.minSettled) }),
  };
  const amounts = { baseAmount: typed.units, askAmount: ask.units };
  return { ok: true, wanted: { give, get, base, quote, ...amounts, body } };
}

type OneBounds = { readonly least: BaseUnits | null; readonly most: BaseUnits | null };

/** Why no escrow can be of this amount. */
function faultOf(units: BaseUnits, asset: Asset, { least, most }: OneBounds): string | null {
  if (units === 0n) return text('swap_box.zero');
  if (least !== null && units < least) {
    return text('swap_box.least', { amount: estimateText(least, asset) });
  }
  if (most !== null && units > most) {
    return text('swap_box.most', { amount: estimateText(most, asset), asset: assetName(asset) });
  }
  return null;
}

/** The draft with this amount as its asking price, exact to the last digit. */
export function withAsk(
  draft: Draft,
  { decimals }: Pick<Asset, 'decimals'>,
  units: BaseUnits,
  locale?: string,
): Draft {
  return { ...draft, ask: formatAmount(units, decimals, { locale }) };
}

/** Behind `#`, which a browser sends to no server. */
export function linkOf({
  give,
  get,
  base,
  baseAmount,
  askAmount,
}: Omit<Wanted, 'quote' | 'body'>): string {
  const of: Side = base === give ? 'give' : 'get';
  return `/#${boxHash(give, get, { of, units: baseAmount })}&ask=${askAmount ?? ''}`;
}

/** As many digits as an amount of any chain has. */
const linkedAmount = /^\d{1,78}$/;

/**
 * The form as a link fills it, which may be forged: coins and amounts, which the form shows. The
 * other fields are as in an empty form. null: the link names no two known assets.
 */
export function linkedDraft(hash: string, assets: readonly Asset[], locale?: string): Draft | null {
  const fields = new URLSearchParams(hash);
  const give = assets.find(({ id }) => id === fields.get('give'));
  const get = assets.find(({ id }) => id === fields.get('get'));
  if (give === undefined || get === undefined) return null;
  const exact: Side = fields.get('exact') === 'get' ? 'get' : 'give';
  const [base, quote] = exact === 'give' ? [give, get] : [get, give];
  const typed = (name: string, { decimals }: Asset) => {
    const units = fields.get(name) ?? '';
    return linkedAmount.test(units) ? formatAmount(BigInt(units), decimals, { locale }) : '';
  };
  const amounts = { amount: typed('amount', base), ask: typed('ask', quote) };
  return { ...emptyDraft, give: give.id, get: get.id, exact, ...amounts };
}

const kept = 'parley.draft';

/** The form as it was left in this tab, for example before the sign-in. */
export function keptDraft(): Draft {
  return { ...emptyDraft, ...JSON.parse(recalled('sessionStorage', kept) ?? '{}') };
}

export function keepDraft(draft: Draft): void {
  remember('sessionStorage', kept, JSON.stringify(draft));
}
