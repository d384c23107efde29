// Assets by the names that people type, `CHAIN:SYMBOL`. A symbol is looked up in the profile alone:
// anybody may list a token that is called like another one.

import { type Family, factsOf, has } from '@parley/core/families.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import { formatAmount, parseAmount } from '@parley/sdk/people.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { Failure, misused, needsYou } from './failures.ts';
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

/** The pair of a request that is to be made: no person is asked about a pair that no market
 * takes. */
export function ownPair(
  session: Pick<Session, 'chain'>,
  base: string,
  quote: string,
): readonly [OwnAsset, OwnAsset] {
  const pair = [ownAsset(session, base), ownAsset(session, quote)] as const;
  const [{ name, chain }, other] = pair;
  if (chain !== other.chain) return pair;
  const sentence = `${name} and ${other.name} are both on ${chain}: a swap is between two chains`;
  throw new Failure('usage', 'same_chain', sentence);
}

/** With the id that the market has for it. Throws where it lists another one, or none. */
export async function pinnedAsset(client: ParleyClient, own: OwnAsset): Promise<PinnedAsset> {
  const { pin } = await import('@parley/sdk/pin.ts');
  return pin(client, { chain: own.chain, token: own.token, decimals: own.decimals });
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
