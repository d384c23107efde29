// The questions before any lock: how the makers of quotes stand, and of the quote assets' chains
// whether the prices could settle. A chain is asked about few of many quotes: the amounts of an
// asset that can settle are a range, so the least and the largest amount stand for all between
// them.

import { ParleyError } from '@parley/core/errors.ts';
import type { Asset } from '../db/assets.ts';
import type { Database } from '../db/database.ts';
import { findQuoteAssets } from '../db/quotes.ts';
import { findRfqs } from '../db/rfqs.ts';
import { sharedQuestion } from '../db/shared-question.ts';
import type { Deps } from '../ports/deps.ts';
import { assertOpen, checkAmount } from './assets.ts';
import type { Quote } from './quotes.ts';
import { unknownRfq } from './rfqs.ts';
import { recount } from './standing.ts';

/** Remembers which asset is the quote of an RFQ, which never changes: at most this many. */
const mostRemembered = 20_000;
/** Questions to a chain for the amounts of one asset in one request. */
const mostAsked = 8;

type Wanted = Pick<Quote, 'rfqId' | 'quoteAmount'>;
type QuotingDeps = Pick<Deps, 'adapters' | 'db' | 'now'>;
type Refusals = readonly (Error | null)[];

/** The reason why each quote could not settle, in order; null = it could. */
type PrepareQuotes = (
  makerId: string,
  quotes: readonly Wanted[],
  signal: AbortSignal,
) => Promise<Refusals>;

export function createPrepareQuotes(deps: QuotingDeps): PrepareQuotes {
  const assetOf = createQuoteAssets(deps.db);
  return async (makerId, quotes, signal) => {
    // An RFQ may want settled swaps of who quotes it, and threads show them.
    await recount(deps.db, [makerId], deps.now());
    const assets = await Promise.all(quotes.map(({ rfqId }) => assetOf(rfqId)));
    const found =
      quotes.length === 1
        ? [await refusalOf(deps, assets[0] ?? null, quotes[0]!, signal)]
        : await refusalsOf(deps, assets, quotes, signal);
    return found.every((error) => error === null) ? found : closedFirst(deps, quotes, found);
  };
}

/** A quote alone needs no tables of many, which are a tenth of the memory that it takes. */
async function refusalOf(
  deps: Pick<Deps, 'adapters'>,
  asset: Asset | null,
  { rfqId, quoteAmount: amount }: Wanted,
  signal: AbortSignal,
): Promise<Error | null> {
  if (asset === null) return unknownRfq(rfqId);
  return thrownBy(checkAmount(deps, { asset, amount }, signal));
}

const thrownBy = (work: Promise<unknown>): Promise<Error | null> =>
  work.then(
    () => null,
    (thrown: Error) => thrown,
  );

async function refusalsOf(
  deps: Pick<Deps, 'adapters'>,
  assets: readonly (Asset | null)[],
  quotes: readonly Wanted[],
  signal: AbortSignal,
): Promise<Refusals> {
  const byAsset = new Map<string, { asset: Asset; amounts: Set<bigint> }>();
  for (const [at, { quoteAmount }] of quotes.entries()) {
    const asset = assets[at];
    if (asset == null) continue;
    const known = byAsset.get(asset.id) ?? { asset, amounts: new Set() };
    byAsset.set(asset.id, known);
    known.amounts.add(quoteAmount);
  }
  const refused = new Map<string, ReadonlyMap<bigint, Error>>();
  await Promise.all(
    [...byAsset.values()].map(async ({ asset, amounts }) => {
      refused.set(asset.id, await refusedOf(deps, asset, [...amounts], signal));
    }),
  );
  return quotes.map(({ rfqId, quoteAmount }, at) => {
    const asset = assets[at];
    if (asset == null) return unknownRfq(rfqId);
    return refused.get(asset.id)?.get(quoteAmount) ?? null;
  });
}

/** The quote asset of an RFQ, null where there is no RFQ. First quotes that wait ask together. */
function createQuoteAssets(db: Database): (rfqId: string) => Promise<Asset | null> | Asset {
  /** Ids of assets by RFQ: many RFQs are of few assets. */
  const remembered = new Map<string, string>();
  const assets = new Map<string, Asset>();
  const find = sharedQuestion(async (rfqIds) => {
    const found = await findQuoteAssets(db, rfqIds);
    if (remembered.size + found.length > mostRemembered) {
      remembered.clear();
      assets.clear();
    }
    for (const { rfqId, asset } of found) {
      assets.set(asset.id, asset);
      remembered.set(rfqId, asset.id);
    }
    return new Map(found.map(({ rfqId, asset }) => [rfqId, asset]));
  });
  return (rfqId) => assets.get(remembered.get(rfqId) ?? '') ?? find(rfqId);
}

/** Which asset it is was remembered, not whether it is open: the first of the two counts. */
async function closedFirst(
  { db }: QuotingDeps,
  quotes: readonly Wanted[],
  found: Refusals,
): Promise<Refusals> {
  const ids = quotes.filter((_, at) => found[at] !== null).map(({ rfqId }) => rfqId);
  const rfqs = new Map((await findRfqs(db, ids)).map((each) => [each.id, each]));
  return found.map((error, at) => {
    const rfq = rfqs.get(quotes[at]!.rfqId);
    if (error === null || rfq === undefined) return error;
    try {
      assertOpen(rfq.base, rfq.quote);
      return error;
    } catch (closed) {
      return closed as Error;
    }
  });
}

/** Those of the amounts that could not settle, and why. */
export async function refusedOf(
  deps: Pick<Deps, 'adapters'>,
  asset: Asset,
  amounts: readonly bigint[],
  signal: AbortSignal,
): Promise<Map<bigint, Error>> {
  const left = amounts.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const refused = new Map<bigint, Error>();
  let leastPasses = false;
  for (let asked = 0; left.length > 0 && asked < mostAsked; asked += 1) {
    const amount = leastPasses ? left.at(-1)! : left[0]!;
    const error = await thrownBy(checkAmount(deps, { asset, amount }, signal));
    if (error === null && (leastPasses || left.length === 1)) return refused;
    if (error === null) leastPasses = true;
    else if (isOfAmount(error)) {
      refused.set(amount, error);
      if (leastPasses) left.pop();
      else left.shift();
    } else {
      for (const each of left) refused.set(each, error);
      return refused;
    }
  }
  // The least was asked about, and can settle.
  const notTold = notAsked(asset, refused.size);
  for (const each of leastPasses ? left.slice(1) : left) refused.set(each, notTold);
  return refused;
}

function isOfAmount(error: Error): boolean {
  if (!(error instanceof ParleyError)) return false;
  return error.code === 'amount_too_small' || error.code === 'bad_amount';
}

function notAsked({ chain }: Asset, refused: number): ParleyError {
  return new ParleyError(
    'bad_amount',
    `${chain} was not asked about this amount: ${refused} others of the same asset in this request ` +
      'were refused; send it again without them',
    { chain, refused },
  );
}
