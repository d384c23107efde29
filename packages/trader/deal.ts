// A price before it is accepted: each side's payment, its time, and the shortages of wallets.
// Everything is computed from the own trade; the market's word is compared with it.

import { factsOf, has } from '@parley/core/families.ts';
import type { PartyChain } from '@parley/sdk/chains.ts';
import { VerificationError } from '@parley/sdk/errors.ts';
import { gasOf } from '@parley/sdk/gas.ts';
import { givenLeg, type OwnTrade } from '@parley/sdk/trade.ts';
import type { Thread } from '@parley/sdk/types.ts';
import { type Catalogue, type OwnAsset, ownAsset, pinnedAsset, shownAmount } from './assets.ts';
import { coinSourceOf, coinsAt, type OwnWallet } from './chains.ts';
import { mustHaveDecimals } from './coins.ts';
import { type Examined, fitted } from './fitting.ts';
import { roundedAmount } from './rounded.ts';
import type { Session, SignedIn, Unlocked } from './session.ts';
import { deadlineOf } from './show.ts';
import type { Sides } from './sides.ts';

const nodeMs = 15_000;

/** As the customer pins both assets. Throws Failure `not_pinned`. */
export function ownAssets(session: Session, names: Catalogue, { rfq }: Pick<Thread, 'rfq'>) {
  const of = (assetId: string): OwnAsset => {
    const { chain, token, name } = names.of(assetId);
    // Only contract and chain of the market's name for it are taken.
    return ownAsset(session, token === null ? chain || name : `${chain}:${token}`);
  };
  return { base: of(rfq.baseAssetId), quote: of(rfq.quoteAssetId) };
}

/** Base units as a market says them. Throws VerificationError where they are none. */
export function unitsIn(field: string, said: string): bigint {
  if (/^[1-9]\d{0,77}$/.test(said)) return BigInt(said);
  throw new VerificationError(field, 'base units', String(said).slice(0, 80));
}

/** A thread as it was looked at, and the own trade that it is held against. */
export type Looked = {
  readonly thread: Thread;
  /** Base units of the quote asset. */
  readonly price: bigint;
  readonly assets: ReturnType<typeof ownAssets>;
  readonly terms: Pick<OwnTrade, 'party' | 'direction' | 'baseAmount'>;
  /** Where one is paid and refunded; default the own wallets. */
  readonly destinationOn?: (chain: string) => Destination;
};
export type Destination = OwnTrade['payTo'];

/** Throws VerificationError, and Failure `not_pinned`. */
export function lookedAt(
  session: Session,
  userId: string,
  names: Catalogue,
  thread: Thread,
): Looked {
  const { makerId, quoteAmount, rfq } = thread;
  const terms = {
    party: makerId === userId ? 'maker' : 'taker',
    direction: rfq.direction,
    baseAmount: unitsIn('rfq.baseAmount', rfq.baseAmount),
  } as const;
  const price = unitsIn('thread.quoteAmount', quoteAmount);
  return { thread, price, assets: ownAssets(session, names, thread), terms };
}

export async function walletsOn({ wallet }: Pick<Unlocked, 'wallet'>, { gives, gets }: Sides) {
  return { gives: await wallet(gives.own.chain), gets: await wallet(gets.own.chain) };
}

/**
 * The market learns nothing of this. Throws what does not fit, and where a node is silent. `own` is
 * null where wallets are elsewhere.
 */
export async function examined(
  session: Session,
  { client, account }: SignedIn,
  own: Pick<Unlocked, 'wallet'> | null,
  { thread, price, assets, terms, destinationOn }: Looked,
): Promise<Examined> {
  const chains: Record<string, PartyChain> = {};
  for (const asset of [assets.base, assets.quote]) {
    const { chain } = asset;
    const source = await session.source(chain);
    await source.adapter.heads(AbortSignal.timeout(nodeMs));
    await mustHaveDecimals(source, asset, AbortSignal.timeout(nodeMs));
    chains[chain] = own === null ? { source } : { source, wallet: await own.wallet(chain) };
  }
  const { rfqId, quoteExpiresAt } = thread;
  const priceEndsAt = quoteExpiresAt == null ? null : Date.parse(quoteExpiresAt) / 1_000;
  const base = await pinnedAsset(client, assets.base);
  const quote = await pinnedAsset(client, assets.quote);
  return fitted({
    client,
    userId: account.userId,
    rfqId,
    threadId: thread.id,
    ...terms,
    quoteAmount: price,
    priceEndsAt,
    base,
    quote,
    chains,
    now: session.now,
    ...(destinationOn === undefined ? {} : { destinationOn }),
  });
}

type Own = { readonly gives: OwnWallet; readonly gets: OwnWallet };

/** The plan, with amounts, addresses and deadlines. */
export function planOf(
  { trade, role, deadlines }: Omit<Examined, 'dealing'>,
  { gives, gets }: Sides,
  wallets: Own,
  now: number,
): string[] {
  const isFirst = role === 'initiator';
  const fundBy = isFirst ? deadlines.initiatorFundBy : deadlines.counterpartyFundBy;
  const own = givenLeg(trade.party);
  const isLeft = !isFirst && has(wallets.gets, 'coins');
  const left = [
    '          signed claims of it are left with the market, which sends them once the secret is',
    '          public: you may be away from your funding on',
  ];
  const order = isFirst ? 'first: you hold the secret' : 'second, once the other leg is final';
  return [
    `you give  ${roundedAmount(gives.amount, gives.own, 'up')}${contractOf(gives.own)}`,
    `          from ${coinsAt(wallets.gives)}, and a refund comes back there`,
    `you get   ${roundedAmount(gets.amount, gets.own, 'down')}${contractOf(gets.own)}`,
    `          at ${coinsAt(wallets.gets)}`,
    `you fund  ${order}, by ${deadlineOf(fundBy, now)}`,
    `          if the other side stops, you take it back from ${deadlineOf(deadlines.refundAt[own], now)}`,
    ...(isLeft ? left : []),
  ];
}

function contractOf({ token }: OwnAsset): string {
  return token === null ? '' : ` (${token})`;
}

export type Shortage = {
  readonly text: string;
  /** The side that is given cannot be paid in. Else others can send what lacks fees. */
  readonly stops: boolean;
};

/** The amounts that the wallets lack now; the swap waits for it until its deadlines. */
export async function lackings(session: Session, sides: Sides, wallets: Own): Promise<string[]> {
  return (await shortages(session, sides, wallets)).map(({ text }) => text);
}

/** `promised`: base units of the given asset that other swaps take first. A silent node is none. */
export async function shortages(
  session: Session,
  { gives, gets }: Sides,
  wallets: Addressed,
  promised = 0n,
): Promise<Shortage[]> {
  const all: Shortage[] = [];
  for (const side of ['gives', 'gets'] as const) {
    const { own, amount } = side === 'gives' ? gives : gets;
    const source = await session.source(own.chain);
    const { address } = wallets[side];
    const isOfGiven = side === 'gives';
    const asked = { side, asset: { token: own.token }, amount, address };
    const look = await gasOf(source, asked, AbortSignal.timeout(nodeMs)).catch(() => null);
    const before = isOfGiven ? promised : 0n;
    const at = coinsAt(wallets[side]);
    const short = (has: bigint, coin: Named, words: string, stops = isOfGiven) =>
      all.push({
        text: `${at} has ${roundedAmount(has, coin, 'down', { exactly: false })}, ${words}`,
        stops,
      });
    if (look === null) {
      const has = isOfGiven ? await coinsHeld(session, own, at) : null;
      if (has !== null && has < amount + before) short(has, own, lessThan(before, own));
      continue;
    }
    const coin = {
      name: own.chain,
      decimals: factsOf[session.chain(own.chain).family].coin.decimals,
    };
    const needs = look.fund + look.refund + look.claim + (own.token === null ? before : 0n);
    if (look.has < needs) {
      const may = roundedAmount(needs, coin, 'up', { exactly: false });
      short(look.has, coin, `and its side may take ${may}`, isOfGiven && !look.isSignable);
    }
    if (look.holds !== null && look.holds < amount + before) {
      short(look.holds, own, lessThan(before, own));
    }
  }
  return all;
}

type Named = Pick<OwnAsset, 'decimals' | 'name'>;
type Addressed = Readonly<Record<'gives' | 'gets', Parameters<typeof coinsAt>[0]>>;

function lessThan(promised: bigint, own: OwnAsset): string {
  const others = promised === 0n ? '' : ` beside ${shownAmount(promised, own)} of other swaps`;
  return `less than it gives${others}`;
}

/** The sum of a wallet's coins on Bitcoin, whose fees come out of the amount; null: not known. */
async function coinsHeld(session: Session, { chain }: OwnAsset, address: string) {
  const of = session.chain(chain);
  if (!has(of, 'coins')) return null;
  try {
    const coins = await (await coinSourceOf(chain, of)).coins(address, AbortSignal.timeout(nodeMs));
    return coins.reduce((sum, { amountSats }) => sum + amountSats, 0n);
  } catch {
    return null;
  }
}
