// The limits of what a server with keys may spend: a file that a person writes. Without one no key
// is opened.

import { messageOf } from '@parley/sdk/errors.ts';
import { type OwnAsset, ownAsset, typedAmount } from '@parley/trader/assets.ts';
import { Failure } from '@parley/trader/failures.ts';
import { mustBePrivate, readUpTo } from '@parley/trader/places.ts';
import type { Session } from '@parley/trader/session.ts';

type AssetLimit = {
  readonly own: OwnAsset;
  /** Base units that one swap may give. */
  readonly perSwap: bigint;
  /** Base units that swaps accepted within 24 hours may give together. */
  readonly perDay: bigint;
};

export type Limits = {
  /** By the asset's name as the profile has it. An asset that is not here is never given. */
  readonly assets: ReadonlyMap<string, AssetLimit>;
  /** Both names of each, sorted: direction does not matter. */
  readonly pairs: ReadonlySet<string>;
  readonly swapsPerDay: number;
};

/** The file of limits. The server does not start with a larger one. */
const mostLimitsBytes = 65_536;
const mostSwapsPerDay = 10_000;
const usualSwapsPerDay = 20;
const mostPairs = 1_000;

export const pairKey = (one: string, other: string) => [one, other].sort().join(' ');

type Written = {
  readonly assets?: unknown;
  readonly pairs?: unknown;
  readonly swapsPerDay?: unknown;
};

/** Throws Failure `bad_limits` with the field and what it must be. */
export async function readLimits(file: string, session: Pick<Session, 'chain'>): Promise<Limits> {
  const text = await readUpTo(file, mostLimitsBytes);
  if (text === null) throw new Failure('local', 'no_limits', `there is no file ${file}`);
  await mustBePrivate(file);
  return parseLimits(text, session, file);
}

function parseLimits(text: string, session: Pick<Session, 'chain'>, file: string): Limits {
  const bad = (field: string, wanted: string, cause?: unknown) =>
    new Failure('local', 'bad_limits', `${file}: ${field} must be ${wanted}`, { cause });
  let written: Written | null;
  try {
    written = JSON.parse(text) as Written | null;
  } catch (cause) {
    throw bad('it', 'JSON', cause);
  }
  const known = ['assets', 'pairs', 'swapsPerDay'];
  const strange = Object.keys(written ?? {}).find((name) => !known.includes(name));
  if (strange !== undefined) throw bad(strange, `one of ${known.join(', ')}`);
  const { assets, pairs, swapsPerDay = usualSwapsPerDay } = written ?? {};
  if (typeof assets !== 'object' || assets === null || Array.isArray(assets)) {
    throw bad('assets', '{ "bitcoin": { "perSwap": "0.01", "perDay": "0.05" } }');
  }
  const all = new Map<string, AssetLimit>();
  for (const [name, limit] of Object.entries(assets)) {
    const own = assetIn(session, name, bad);
    all.set(own.name, limitOf(own, limit, `assets.${name}`, bad));
  }
  if (!Array.isArray(pairs) || pairs.length === 0 || pairs.length > mostPairs) {
    throw bad('pairs', `1 to ${mostPairs} of [ASSET, ASSET]`);
  }
  const allowed = pairs.map((pair: unknown, at) => {
    const isPair =
      Array.isArray(pair) && pair.length === 2 && pair.every((each) => typeof each === 'string');
    if (!isPair) throw bad(`pairs[${at}]`, '[ASSET, ASSET]');
    const [one, other] = (pair as string[]).map((name) => assetIn(session, name, bad).name);
    return pairKey(one ?? '', other ?? '');
  });
  const isCount = Number.isInteger(swapsPerDay) && Number(swapsPerDay) >= 1;
  if (!isCount || Number(swapsPerDay) > mostSwapsPerDay) {
    throw bad('swapsPerDay', `a whole number from 1 to ${mostSwapsPerDay}`);
  }
  return { assets: all, pairs: new Set(allowed), swapsPerDay: Number(swapsPerDay) };
}

type Bad = (field: string, wanted: string, cause?: unknown) => Failure;

function assetIn(session: Pick<Session, 'chain'>, name: string, bad: Bad): OwnAsset {
  try {
    return ownAsset(session, name);
  } catch (cause) {
    throw bad(`"${name}"`, `an asset of the profile (${messageOf(cause)})`, cause);
  }
}

function limitOf(own: OwnAsset, limit: unknown, at: string, bad: Bad): AssetLimit {
  const of = (name: 'perSwap' | 'perDay') => {
    const text = (limit as Record<string, unknown> | null)?.[name];
    if (typeof text !== 'string') throw bad(`${at}.${name}`, 'an amount such as "0.01"');
    try {
      return typedAmount(text, own);
    } catch (cause) {
      throw bad(`${at}.${name}`, `an amount of ${own.name} (${messageOf(cause)})`, cause);
    }
  };
  const perSwap = of('perSwap');
  const perDay = of('perDay');
  if (perDay >= perSwap) return { own, perSwap, perDay };
  throw bad(`${at}.perDay`, 'perSwap at least');
}
