// Tests only: vectors of swaps as a market shows them. Each has what it comes to by a customer's
// own trade and policies, and what must be refused in it.

import { evmChains } from '@parley/chains/evm/policy.ts';
import { solanaEscrow } from '@parley/chains/solana/plan.ts';
import { solanaChains } from '@parley/chains/solana/policy.ts';
import { solanaAddressOfSeed } from '@parley/chains/solana/proof.ts';
import { tronEscrow } from '@parley/chains/tron/plan.ts';
import { tronChains, tronDevPolicy } from '@parley/chains/tron/policy.ts';
import { tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import { brokenInequalities, deadlines, type LegTiming, longLeg } from '@parley/core/deadlines.ts';
import { fundBy } from '@parley/core/gates.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { type LegName, otherLeg, type Party } from '@parley/core/trade.ts';
import type { ChainView, OwnTrade, PinnedAsset } from '../../trade.ts';
import type { Swap } from '../../types.ts';
import { verifySwap } from '../../verify.ts';
import {
  bitcoinView,
  evmView,
  honestSwap,
  isHarmless,
  legShown,
  now,
  pinned,
  pinnedTo,
  secret,
  swapId,
  swapShown,
  tradeOf,
} from '../honest.ts';
import { solanaView, someone, tronView } from '../materials.ts';
import { viewShown } from './escrows.ts';
import { type Change, changed, fieldChanges, refusalOf, replace, textOf } from './format.ts';

type Kind = {
  readonly name: string;
  readonly party: Party;
  readonly swap: Swap;
  readonly trade: OwnTrade;
  readonly views: readonly ChainView[];
  readonly keyless: readonly LegName[];
};

const tronAt = (byte: number) => ({ address: tronAddressOfKey(someone(byte)), pubkey: null });
const solanaAt = (byte: number) => ({ address: solanaAddressOfSeed(someone(byte)), pubkey: null });
const dollar = { decimals: 6, highValueFrom: null };
const id = '0193f0a0-0000-7000-8000-000000000c0';
const trc: PinnedAsset = { ...dollar, id: `${id}1`, chain: 'tron-dev', token: tronAt(3).address };
const spl: PinnedAsset = {
  ...dollar,
  id: `${id}2`,
  chain: 'solana-dev',
  token: solanaAt(3).address,
};

/** The last use of a lane: one more is refused. */
const mostUses = 2 ** 30 - 1;

/** The maker gives a token on TRON for one on Solana, whose leg is long. */
function onTronAndSolana(party: Party): Kind {
  const amounts = { a: 600_000_000n, b: 500_000_000n };
  const timing = ({ policy }: ChainView): LegTiming => ({ policy, depth: policy.normal });
  const times = deadlines(now - 2, { a: timing(tronView), b: timing(solanaView) }, 'b');
  const lastOf = (leg: LegName) => fundBy({ deadlines: times }, { long: leg === 'b' });
  const hashlock = hashlockOf(secret);
  const terms: Record<LegName, EscrowTerms> = {
    a: {
      chain: 'tron-dev',
      hashlock,
      payout: tronAt(2),
      refund: tronAt(1),
      token: trc.token,
      amount: amounts.a,
      timelock: times.refundAt.a,
      fundBefore: lastOf('a'),
      lane: { number: '7'.padStart(24, '0'), counter: mostUses },
    },
    b: {
      chain: 'solana-dev',
      hashlock,
      payout: solanaAt(1),
      refund: solanaAt(2),
      token: spl.token,
      amount: amounts.b,
      timelock: times.refundAt.b,
    },
  };
  const trade: OwnTrade = {
    ...tradeOf(party),
    base: spl,
    baseAmount: amounts.b,
    quote: trc,
    quoteAmount: amounts.a,
    refundTo: party === 'taker' ? terms.b.refund : terms.a.refund,
    payTo: party === 'taker' ? terms.a.payout : terms.b.payout,
  };
  const a = legShown('a', terms.a, tronEscrow(terms.a, tronView.deployment), {
    assetId: trc.id,
    depth: tronDevPolicy.normal.confirmations,
  });
  const b = legShown('b', terms.b, solanaEscrow(terms.b, solanaView.deployment), {
    assetId: spl.id,
    depth: solanaView.policy.normal.confirmations,
  });
  const swap = swapShown(trade, secret, now, {
    id: swapId,
    legs: { a, b },
    deadlines: times,
    next: [],
  });
  const views = [tronView, solanaView];
  return { name: `TRON and Solana, the ${party}`, party, swap, trade, views, keyless: ['a', 'b'] };
}

function onEvmAndBitcoin(party: Party): Kind {
  const { rules: _, next: __, ...swap } = honestSwap(party) as Swap & { rules: unknown };
  const views = [evmView, bitcoinView];
  const trade = tradeOf(party);
  const shown = { ...swap, next: [] } as unknown as Swap;
  return {
    name: `EVM and Bitcoin, the ${party}`,
    party,
    swap: shown,
    trade,
    views,
    keyless: ['a'],
  };
}

export const withPolicy = (view: ChainView) => ({ ...viewShown(view), policy: view.policy });

function shownOf({ swap, trade, views }: Kind) {
  const at = { swapId, now };
  return JSON.parse(textOf({ at, trade, views: views.map(withPolicy), swap })) as {
    at: typeof at;
    trade: Record<string, unknown>;
    views: object[];
    swap: Swap;
  };
}

function check(shown: ReturnType<typeof shownOf>, { views }: Kind) {
  const asset = (each: unknown) => {
    const { highValueFrom, ...rest } = each as { highValueFrom: string | null };
    return { ...rest, highValueFrom: highValueFrom === null ? null : BigInt(highValueFrom) };
  };
  const { base, quote, baseAmount, quoteAmount } = shown.trade;
  const trade = {
    ...shown.trade,
    base: asset(base),
    quote: asset(quote),
    baseAmount: BigInt(String(baseAmount)),
    quoteAmount: BigInt(String(quoteAmount)),
  } as unknown as OwnTrade;
  const own = views.length > 0 ? pinnedTo(...views) : pinned;
  return verifySwap(shown.swap, trade, own, shown.at);
}

type Lie = { readonly why: string; readonly change: readonly Change[] };

/** Facts beyond the fields of the swap: the agreement, and its time. */
function otherTrades({ trade, party, swap }: Kind): Lie[] {
  const of = (field: string, value: unknown): Lie => {
    return { why: `another trade: ${field}`, change: [replace(`/trade/${field}`, value)] };
  };
  const other = { address: 'nowhere', pubkey: null };
  const { acceptedAt } = trade;
  const isInitiator = party === 'taker';
  return [
    of('party', party === 'maker' ? 'taker' : 'maker'),
    of('baseAmount', `${trade.baseAmount + 1n}`),
    of('quoteAmount', `${trade.quoteAmount + 1n}`),
    of('direction', 'buy_base'),
    of('refundTo', other),
    of('payTo', other),
    of('acceptedAt', acceptedAt + 124),
    of('acceptedAt', acceptedAt - 900),
    {
      why: 'after its price ended',
      change: [{ op: 'add', path: '/trade/priceEndsAt', value: now - 123 }],
    },
    of('makerId', trade.takerId),
    of('threadId', trade.rfqId),
    of('quote', { ...trade.quote, id: trade.base.id, chain: trade.base.chain }),
    // Among these policies only Bitcoin's differ by value.
    ...(trade.base.chain === bitcoinView.chain
      ? [of('base', { ...trade.base, highValueFrom: '1' })]
      : []),
    ...(isInitiator ? [of('hashlock', null)] : []),
    of('hashlock', 'ab'.repeat(32)),
    { why: 'before it was agreed', change: [replace('/at/now', now - 123)] },
    { why: 'another swap', change: [replace('/at/swapId', swap.threadId)] },
  ];
}

function vectorOf(kind: Kind, isAltered: boolean) {
  const shown = shownOf(kind);
  const { legs, deadlines: times, ...verified } = check(shown, kind);
  const lies = isAltered ? otherTrades(kind) : [];
  const changes = isAltered ? fieldChanges(shown.swap, '/swap') : [];
  for (const { path, how, change } of changes) {
    if (!isHarmless(path, how, kind.keyless))
      lies.push({ why: `${path}: ${how}`, change: [change] });
  }
  const refused = lies.map(({ why, change }) => {
    const lying = changed(shown, change);
    return { why, ...refusalOf(`${kind.name}: ${why}`, () => check(lying, kind)), change };
  });
  return { name: kind.name, ...shown, verified: { ...verified, deadlines: times, legs }, refused };
}

export function swapVectors() {
  return {
    swaps: (['taker', 'maker'] as const).flatMap((party) => [
      vectorOf(onEvmAndBitcoin(party), party === 'taker'),
      vectorOf(onTronAndSolana(party), party === 'maker'),
    ]),
  };
}

export const policies: Readonly<Record<string, ChainPolicy>> = {
  ethereum: evmChains.ethereum.policy,
  optimism: evmChains.optimism.policy,
  arbitrum: evmChains.arbitrum.policy,
  'evm-dev': evmChains['evm-dev'].policy,
  tron: tronChains.tron.policy,
  solana: solanaChains.solana.policy,
  bitcoin: bitcoinView.policy,
};

/** Times of each pair of chains, and which leg is long. */
export function deadlineVectors() {
  const names = Object.keys(policies);
  const timing = (name: string, depth: 'normal' | 'high'): LegTiming => {
    const policy = policies[name] as ChainPolicy;
    return { policy, depth: policy[depth] };
  };
  const pairs = names.flatMap((a) =>
    names.flatMap((b) =>
      (['normal', 'high'] as const).map((depth) => {
        const legs = { a: timing(a, depth), b: timing(b, depth) };
        const long = longLeg(legs);
        const broken = brokenInequalities(legs[otherLeg(long)], legs[long]);
        return { a, b, depth, long, deadlines: deadlines(now, legs, long), broken };
      }),
    ),
  );
  return { agreedAt: now, policies, pairs };
}
