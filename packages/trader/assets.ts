// Assets by the names that people type, `CHAIN:SYMBOL`. A symbol is looked up in the profile alone:
// anybody may list a token that is called like another one.

import { type Family, factsOf, has } from '@parley/core/families.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import { formatAmount, parseAmount } from '@parley/sdk/people.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { Failure, misused, needsYou } from './failures.ts';
import { coinSymbolOf } from './known.ts';
import type { ProfileChain } from './profile.ts';
import type { Session } from './session.ts';

/** As this customer holds it to be. */
export type OwnAsset = {
  /** As it is typed. */
  readonly name: string;
  readonly chain: string;
  readonly token: string | null;
  readonly decimals: number;
};

/** One form for everybody: a script reads it where a person does. */
const locale = 'en';
const pageSize = 100;
/** The limit of a list that names the assets shown; the others are shown by their id. */
const mostPages = 50;

export function splitName(name: string): { readonly chain: string; readonly rest: string | null } {
  const [chain = '', ...rest] = name.split(':');
  if (chain !== '' && rest.length <= 1 && rest[0] !== '') return { chain, rest: rest[0] ?? null };
  throw misused(`"${name}" is no asset: bitcoin, ethereum:USDC or ethereum:0x… are`);
}

/** Addresses of EVM are the same in small letters. */
const sameToken = (family: Family, a: string, b: string) =>
  has(family, 'foldsCase') ? a.toLowerCase() === b.toLowerCase() : a === b;

const coinOf = (chain: string, { family }: ProfileChain): OwnAsset => {
  return { name: chain, chain, token: null, decimals: factsOf[family].coin.decimals };
};

/** By its contract; null: the profile does not pin it. */
function tokenOf(chain: string, of: ProfileChain, contract: string): OwnAsset | null {
  for (const [symbol, { address: token, decimals }] of Object.entries(of.tokens)) {
    if (!sameToken(of.family, token, contract)) continue;
    return { name: `${chain}:${symbol}`, chain, token, decimals };
  }
  return null;
}

/** By the profile alone. Throws Failure `not_pinned`, `unknown_chain`. */
export function ownAsset(session: Pick<Session, 'chain'>, name: string): OwnAsset {
  const { chain, rest } = splitName(name);
  const of = session.chain(chain);
  if (rest === null) return coinOf(chain, of);
  const symbol = Object.hasOwn(of.tokens, rest) ? of.tokens[rest] : undefined;
  const found = tokenOf(chain, of, symbol?.address ?? rest);
  if (found !== null) return found;
  const how = `compare its contract with "parley pin ${name}"`;
  const sentence = `"${name}" is not in the profile: ${how}`;
  throw needsYou('not_pinned', sentence);
}

/** The coin or token of one chain of the profile that goes by a symbol, in any case. */
function calledOn({ profile }: Pick<Session, 'profile'>, chain: string, symbol: string) {
  const of = profile.chains[chain];
  if (of === undefined) return [];
  const isCalled = (other: string) => other.toLowerCase() === symbol.toLowerCase();
  const tokens = Object.keys(of.tokens);
  const exact = tokens.filter((each) => each === symbol);
  const called = exact.length > 0 ? exact : tokens.filter(isCalled);
  const coin = isCalled(coinSymbolOf(of) ?? '') ? [chain] : [];
  return [...coin, ...called.map((each) => `${chain}:${each}`)];
}

/** A sentence names no more assets than this. */
const mostNamed = 12;

function assetsOn({ profile }: Pick<Session, 'profile'>, chain: string): string[] {
  const tokens = Object.keys(profile.chains[chain]?.tokens ?? {});
  return [chain, ...tokens.map((symbol) => `${chain}:${symbol}`)];
}

/**
 * As `ownAsset`, and by `SYMBOL@CHAIN`, or a symbol alone that one chain of the profile has. Throws
 * Failure `not_pinned`, and `ambiguous_asset` with the names there are.
 */
export function namedAsset(session: Pick<Session, 'chain' | 'profile'>, name: string): OwnAsset {
  const { chains } = session.profile;
  const [symbol = '', on, ...more] = name.split('@');
  const isPlain = name.includes(':') || Object.hasOwn(chains, name);
  if (isPlain || symbol === '' || on === '' || more.length > 0) return ownAsset(session, name);
  if (on !== undefined) session.chain(on);
  const among = on === undefined ? Object.keys(chains) : [on];
  const found = among.flatMap((chain) => calledOn(session, chain, symbol));
  const [only, ...others] = found;
  if (only === undefined) {
    const own = among.flatMap((chain) => assetsOn(session, chain)).slice(0, mostNamed);
    const pin = `a token is taken in by "parley pin ${on ?? 'CHAIN'}:${symbol}"`;
    const sentence = `the profile has no asset "${name}": it has ${own.join(', ')}; ${pin}`;
    throw needsYou('not_pinned', sentence);
  }
  if (others.length === 0) return ownAsset(session, only);
  const sentence = `"${name}" may be any of ${found.join(', ')}: say which, by one of these names`;
  throw new Failure('usage', 'ambiguous_asset', sentence);
}

/** The pair of a request that is to be made: no person is asked about a pair that no market
 * takes. */
export function ownPair(
  session: Pick<Session, 'chain'>,
  base: string,
  quote: string,
): readonly [OwnAsset, OwnAsset] {
  return mustBeOfTwo([ownAsset(session, base), ownAsset(session, quote)]);
}

/** Throws Failure `same_chain`. */
export function mustBeOfTwo(pair: readonly [OwnAsset, OwnAsset]): readonly [OwnAsset, OwnAsset] {
  const [{ name, chain }, other] = pair;
  if (chain !== other.chain) return pair;
  const sentence = `${name} and ${other.name} are both on ${chain}: a swap is between two chains`;
  throw new Failure('usage', 'same_chain', sentence);
}

/**
 * With the id that the market has for it. Throws Failure `not_listed`, and VerificationError where
 * the market has other decimals.
 */
export async function pinnedAsset(client: ParleyClient, own: OwnAsset): Promise<PinnedAsset> {
  const { pin } = await import('@parley/sdk/pin.ts');
  const { chain, token, decimals } = own;
  try {
    return await pin(client, { chain, token, decimals });
  } catch (error) {
    // Every other refusal of `pin` has a class of its own.
    if (!(error instanceof Error) || error.constructor !== Error) throw error;
    throw needsYou('not_listed', error.message);
  }
}

/** The name that the profile has now for an asset that a trade pinned. */
export function nameOfPinned({ profile }: Pick<Session, 'profile'>, asset: PinnedAsset): OwnAsset {
  const { chain, token, decimals } = asset;
  const of = profile.chains[chain];
  const found = token === null || of === undefined ? null : tokenOf(chain, of, token);
  const name = token === null ? chain : (found?.name ?? `${chain}:${token}`);
  return { name, chain, token, decimals };
}

export type Catalogue = {
  /** The asset of the profile where it is pinned there; else as the market lists it. */
  of(assetId: string): OwnAsset;
  idOf(name: string): string;
};

type Lister = Pick<ParleyClient, 'assets'>;

export async function allAssets(client: Lister, chain?: string): Promise<readonly Asset[]> {
  const all: Asset[] = [];
  const query = { limit: pageSize, ...(chain === undefined ? {} : { chain }) };
  const pages = pagesOf(mostPages, (from) => client.assets({ ...query, ...from }));
  for await (const { assets } of pages) all.push(...assets);
  return all;
}

/** As the profile pins it, whatever the market says of it; null: it does not. */
function pinnedAs({ profile }: Pick<Session, 'profile'>, asset: Asset): OwnAsset | null {
  const { chain, address } = asset;
  const of = Object.hasOwn(profile.chains, chain) ? profile.chains[chain] : undefined;
  if (of === undefined) return null;
  return address === null ? coinOf(chain, of) : tokenOf(chain, of, address);
}

/** A name that the profile does not pin has a `?`: anybody may have called it so. */
export function shownName(session: Pick<Session, 'profile'>, asset: Asset): string {
  const { chain, address, symbol } = asset;
  const pinned = pinnedAs(session, asset);
  return pinned?.name ?? (address === null ? chain : `${chain}:${symbol}?`);
}

export async function catalogueOf(session: Session, client: Lister): Promise<Catalogue> {
  const listed = await allAssets(client);
  const byId = new Map(listed.map((each) => [each.id, each]));
  return {
    of: (assetId) => {
      const asset = byId.get(assetId);
      if (asset === undefined) return { name: assetId, chain: '', token: null, decimals: 0 };
      const { chain, address: token, decimals } = asset;
      const name = shownName(session, asset);
      return pinnedAs(session, asset) ?? { name, chain, token, decimals };
    },
    idOf: (name) => {
      const { chain, token } = ownAsset(session, name);
      const { family } = session.chain(chain);
      const found = listed.find(
        (each) =>
          each.chain === chain &&
          (token === null || each.address === null
            ? each.address === token
            : sameToken(family, each.address, token)),
      );
      if (found !== undefined) return found.id;
      throw needsYou('not_listed', `the market lists no ${name}: "parley market assets" shows all`);
    },
  };
}

/** Base units of what was typed. Throws Failure `usage`. */
export function typedAmount(text: string, { decimals }: Pick<OwnAsset, 'decimals'>): bigint {
  const amount = parseAmount(text, decimals, { locale });
  if (amount > 0n) return amount;
  throw misused('an amount must be more than 0');
}

export function shownAmount(units: bigint | string, own: Pick<OwnAsset, 'decimals' | 'name'>) {
  return `${formatAmount(BigInt(units), own.decimals, { locale })} ${own.name}`;
}
