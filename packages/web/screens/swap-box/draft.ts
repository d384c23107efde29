// The form of the swap box, and the request for quotes that comes of it. The side typed first is
// exact; quotes decide the amount of the other one, and it is optional.

import type { BaseUnits } from '@parley/core/nominal.ts';
import { asTyped } from '@parley/core/typed.ts';
import type { Asset, CreateRfq } from '@parley/sdk/types.ts';
import { type Price, quoteAt } from '../../market/prices.ts';
import { chainName, typedAmount } from '../../parts/words.ts';
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
  readonly giveAmount: string;
  readonly getAmount: string;
  readonly exact: Side;
  readonly ttl: string;
  readonly audience: Audience;
  readonly address: string;
  /** Settled swaps that who quotes must have; '0': none. */
  readonly minSettled: string;
};

export const lifetimes = ['600', '3600', '21600', '86400', '604800'] as const;
export const standings = ['0', '1', '5', '20', '50'] as const;

const emptyDraft: Draft = {
  give: '',
  get: '',
  giveAmount: '',
  getAmount: '',
  exact: 'give',
  ttl: '3600',
  audience: 'public',
  address: '',
  minSettled: '0',
};

function otherSide(side: Side): Side {
  return side === 'give' ? 'get' : 'give';
}

const amountOf = { give: 'giveAmount', get: 'getAmount' } as const;

/** The side whose amount stands alone is the exact one. */
export function withAmount(draft: Draft, side: Side, typed: string): Draft {
  const next = { ...draft, [amountOf[side]]: typed };
  const filled = (each: Side) => next[amountOf[each]].trim() !== '';
  const other = otherSide(side);
  if (filled(side) && !filled(other)) return { ...next, exact: side };
  if (!filled(side) && filled(other)) return { ...next, exact: other };
  return next;
}

/** The other way round: the given asset is got, with its amount. */
export function flipped(draft: Draft): Draft {
  return {
    ...draft,
    give: draft.get,
    get: draft.give,
    giveAmount: draft.getAmount,
    getAmount: draft.giveAmount,
    exact: otherSide(draft.exact),
  };
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

/** `why`: a sentence that says what is missing or wrong first. */
export type Understood =
  | { readonly ok: true; readonly wanted: Wanted }
  | { readonly ok: false; readonly why: string };

const no = (why: string): Understood => ({ ok: false, why });
const longestAddress = 128;

export function understood(draft: Draft, assets: readonly Asset[], locale?: string): Understood {
  const give = assets.find(({ id }) => id === draft.give);
  const get = assets.find(({ id }) => id === draft.get);
  if (give === undefined) return no(text('swap_box.choose_give'));
  if (get === undefined) return no(text('swap_box.choose_get'));
  if (give.chain === get.chain) {
    return no(text('swap_box.same_chain', { chain: chainName(give.chain) }));
  }
  const closed = [give, get].find(({ enabled }) => !enabled);
  if (closed !== undefined) return no(text('swap_box.closed', { symbol: closed.symbol }));
  const [base, quote] = draft.exact === 'give' ? [give, get] : [get, give];
  const exact = typedAmount(draft[amountOf[draft.exact]], base, locale);
  const ask = typedAmount(draft[amountOf[otherSide(draft.exact)]], quote, locale);
  const fault = exact.fault ?? ask.fault;
  if (fault !== null) return no(fault);
  if (exact.units === null) return no(text('swap_box.type_amount'));
  if (exact.units === 0n || ask.units === 0n) return no(text('swap_box.zero'));
  const address = asTyped(draft.address).trim();
  if (draft.audience === 'address') {
    if (address === '') return no(text('swap_box.type_address'));
    if (address.length > longestAddress) {
      const values = { length: address.length, most: longestAddress };
      return no(text('swap_box.long_address', values));
    }
  }
  const body: CreateRfq = {
    direction: draft.exact === 'give' ? 'sell_base' : 'buy_base',
    baseAssetId: base.id,
    baseAmount: exact.units.toString(),
    quoteAssetId: quote.id,
    ttlSeconds: Number(draft.ttl),
    visibility: draft.audience === 'public' ? 'public' : 'private',
    ...(ask.units === null ? {} : { askAmount: ask.units.toString() }),
    ...(draft.audience === 'address' ? { targetAddress: address } : {}),
    ...(draft.minSettled === '0' ? {} : { minSettled: Number(draft.minSettled) }),
  };
  const amounts = { baseAmount: exact.units, askAmount: ask.units };
  return { ok: true, wanted: { give, get, base, quote, ...amounts, body } };
}

/** The amount of the other side at a price; rounded down where it is got, up where it is given. */
export function estimateOf({ baseAmount, body }: Wanted, price: Price): BaseUnits {
  return quoteAt(price, baseAmount, body.direction === 'sell_base');
}

/** The draft with this amount as its asking price, exact to the last digit. */
export function withAsk(
  draft: Draft,
  { quote }: Pick<Wanted, 'quote'>,
  units: BaseUnits,
  locale?: string,
): Draft {
  const shown = formatAmount(units, quote.decimals, { locale });
  return { ...draft, [amountOf[otherSide(draft.exact)]]: shown };
}

/** Behind `#`, which a browser sends to no server. */
export function linkOf({ give, get, base, baseAmount, askAmount }: Wanted): string {
  const fields = {
    give: give.id,
    get: get.id,
    exact: base === give ? 'give' : 'get',
    amount: `${baseAmount}`,
    ask: `${askAmount ?? ''}`,
  };
  return `/#${new URLSearchParams(fields)}`;
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
  const amounts = {
    [amountOf[exact]]: typed('amount', base),
    [amountOf[otherSide(exact)]]: typed('ask', quote),
  };
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
