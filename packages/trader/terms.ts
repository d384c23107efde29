// The terms that this profile asked for or quoted, as they were then. A script that accepts names a
// price alone: under the same price a market could show another amount or another pair.

import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { VerificationError } from '@parley/sdk/errors.ts';
import { idShape } from '@parley/sdk/stores/entries.ts';
import type { OwnTrade } from '@parley/sdk/trade.ts';
import { type OwnAsset, ownAsset, typedAmount } from './assets.ts';
import { needsYou } from './failures.ts';
import { type Cli, jsonOf } from './io.ts';
import { namedFiles } from './named-files.ts';
import type { Session } from './session.ts';

/** An RFQ and its prices stand seven days at most. One more for clocks that differ. */
const keptMs = 8 * 86_400_000;

export type Terms = Pick<OwnTrade, 'party' | 'direction' | 'baseAmount'> &
  Readonly<Record<'base' | 'quote', Pick<OwnAsset, 'chain' | 'token'>>>;

type Placed = Pick<Session, 'places'>;

function termsIn({ places }: Placed, rfqId: string) {
  if (idShape.test(rfqId)) return namedFiles(join(places.data, 'terms'));
  throw new VerificationError('rfq.id', 'letters, digits and dashes', rfqId.slice(0, 80));
}

function textOf({ party, direction, baseAmount, base, quote }: Terms): string {
  const of = ({ chain, token }: Terms['base']) => ({ chain, token });
  return jsonOf({ party, direction, baseAmount, base: of(base), quote: of(quote) });
}

export async function keepTerms(session: Placed, rfqId: string, terms: Terms): Promise<void> {
  const files = termsIn(session, rfqId);
  await files.write(rfqId, textOf(terms));
  await prune(files.folder, Date.now() - keptMs);
}

/** The market's clock does not matter: by the machine's, which wrote the files. */
async function prune(folder: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    // Another process may have been here.
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < beforeMs) await rm(file, { force: true });
  }
}

/** Throws VerificationError where the RFQ is another than it was. `null`: no terms are kept. */
export async function compareTerms(session: Placed, rfqId: string, terms: Terms) {
  const kept = await termsIn(session, rfqId).read(rfqId);
  if (kept === null || kept === textOf(terms)) return kept;
  throw new VerificationError('rfq', kept, textOf(terms));
}

/** Before an acceptance. Throws Failure `terms_unknown` where nobody looks at what it comes to. */
export async function mustBeTerms(
  { yes }: Pick<Cli, 'yes'>,
  session: Placed,
  rfqId: string,
  terms: Terms,
): Promise<void> {
  const kept = await compareTerms(session, rfqId, terms);
  if (kept !== null || !yes) return;
  const sentence = 'this profile has neither asked for this nor quoted it, so --yes agrees to no';
  throw needsYou('terms_unknown', `${sentence} amount but the price: accept it without --yes`);
}

/** The fields by which a person or script names a request. */
export const namedBy = ['side', 'amount', 'base', 'quote'] as const;
type NamedBy = (typeof namedBy)[number];
export type Named = { readonly [name in NamedBy]?: string | undefined };

/** The first field that was named as something else; null: there is none. */
export function otherThan(
  session: Pick<Session, 'chain'>,
  said: Named,
  { direction, baseAmount, base, quote }: Pick<Terms, 'direction' | 'baseAmount'> & Sided,
): NamedBy | null {
  const isSame = {
    side: (side: string) => (side === 'sell') === (direction === 'sell_base'),
    amount: (amount: string) => typedAmount(amount, base) === baseAmount,
    base: (name: string) => ownAsset(session, name).name === base.name,
    quote: (name: string) => ownAsset(session, name).name === quote.name,
  };
  const isOther = (name: NamedBy) => said[name] !== undefined && !isSame[name](said[name]);
  return namedBy.find(isOther) ?? null;
}

type Sided = Readonly<Record<'base' | 'quote', OwnAsset>>;
