// Each swap needs the cost of its own claim, which no balance shows: counted here over all
// settlements and stores.

import { ParleyError } from '@parley/core/errors.ts';
import { type Family, has } from '@parley/core/families.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import { mayBeFunded, type SwapRecord } from '../stores/store.ts';
import { locked } from '../waiting.ts';
import { byEachNode, clockOf } from './chains.ts';
import { type Context, sourceOf } from './context.ts';
import type { Owes } from './machine.ts';
import { willRelay } from './market.ts';
import { accountKey, legOf, ownSides, type SetLeg } from './record.ts';

/** By account, then by swap: this process's own, whichever store they are kept in. */
type Book = Map<string, Map<string, EscrowTerms>>;
const claimsOwed: Book = new Map();
const fundingsSent: Book = new Map();

function note(book: Book, key: string, swapId: string, terms: EscrowTerms | null): void {
  const page = book.get(key) ?? new Map<string, EscrowTerms>();
  if (terms === null) page.delete(swapId);
  else page.set(swapId, terms);
  if (page.size === 0) book.delete(key);
  else book.set(key, page);
}

/** The signer pays; on EVM that need not be the party that is paid. */
export function payerOf({ chains }: Context, { chain }: SetLeg, party: string): string {
  const wallet = chains[chain]?.wallet;
  return has(wallet, 'openSender') ? wallet.address : party;
}

export function claimPayerOf(context: Context, record = context.record): string {
  const leg = legOf(record, ownSides(record).gets);
  return payerOf(context, leg, leg.escrow.terms.payout.address);
}

function debtOf(context: Context, name: LegName) {
  const { record } = context;
  const leg = legOf(record, name);
  const { terms } = leg.escrow;
  const isGiven = name === ownSides(record).gives;
  const payer = payerOf(context, leg, isGiven ? terms.refund.address : terms.payout.address);
  return { leg, terms, isGiven, payer, key: accountKey(leg.chain, leg.family, payer) };
}

function noteOwn(context: Context, { claim, funding }: Owes): void {
  const { gives, gets } = ownSides(context.record);
  const { swapId } = context;
  const given = debtOf(context, gives);
  const paying = debtOf(context, gets);
  note(claimsOwed, paying.key, swapId, claim ? paying.terms : null);
  note(fundingsSent, given.key, swapId, funding ? given.terms : null);
}

/**
 * One counts at a time, and the next counts what it is about to owe. `isSent`: this side pays for
 * the funding.
 */
export async function owing(
  context: Context,
  { isSent }: { readonly isSent: boolean },
  work: () => Promise<void>,
): Promise<void> {
  const { gives, gets } = ownSides(context.record);
  const keys = [gives, gets].map((name) => debtOf(context, name).key).sort();
  const count = async () => {
    for (const name of isSent ? [gets, gives] : [gets]) await mustCover(context, name);
    noteOwn(context, { claim: true, funding: isSent });
  };
  const counting = keys.reduce<() => Promise<void>>(
    (inner, key) => () => locked(`counting ${key}`, inner),
    count,
  );
  await counting();
  try {
    await work();
  } catch (error) {
    // A kept transaction may be sent, and is owed.
    if (!mayBeFunded(context.record)) noteOwn(context, { claim: false, funding: false });
    throw error;
  }
}

/** A claim that the market is to send keeps nothing from being funded: the shortage is emitted. */
async function mustCover(context: Context, name: LegName): Promise<void> {
  const { leg, terms, isGiven, payer, key } = debtOf(context, name);
  const { adapter } = sourceOf(context, leg.chain);
  if (adapter.fundsShortage === undefined) return;
  const owed = await owedBeside(context, leg, key);
  const claims = isGiven ? [...owed.claims.values()] : [terms, ...owed.claims.values()];
  if (claims.length === 0) return;
  const fundings = isGiven ? [terms, ...owed.fundings.values()] : [...owed.fundings.values()];
  const all = await byEachNode(context, leg.chain, async (each, limit) =>
    each.fundsShortage?.({ claims, fundings }, payer, limit),
  );
  const shortage = all.find((each) => each);
  if (!shortage) return;
  const { sentence, code } = shortage;
  const others = [...owed.claims.keys()];
  const whose = others.length === 0 ? '' : `; it owes the claims of ${listed(others)}`;
  if (!isGiven && (await willRelay(context, leg))) {
    const alone = `if the market does not send the claim of leg ${name}, no other party can`;
    const text = `funded all the same, to be relayed: ${sentence}${whose}; ${alone}`;
    context.waits(leg, text, { once: true });
    return;
  }
  const facts = { leg: leg.leg, address: payer, lack: code, owed: others.length };
  throw new ParleyError('claim_unpayable', `${sentence}${whose}`, facts);
}

const mostListed = 3;

function listed(swapIds: readonly string[]): string {
  const more = swapIds.length - mostListed;
  const shown = swapIds.slice(0, mostListed).join(', ');
  return `swap ${shown}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The account's debts for other swaps. No claim is taken after its timelock. */
async function owedBeside(context: Context, { chain, family }: SetLeg, key: string) {
  const clock = await clockOf(context, chain);
  const { swapId: own, store } = context;
  const claims = others(claimsOwed, key, own, clock);
  for (const swapId of await store.swapIds()) {
    const other = swapId === own ? null : await store.getSwap(swapId);
    if (other === null) continue;
    const terms = claimOf(context, other, { key, family });
    if (terms !== null && clock < terms.timelock) claims.set(swapId, terms);
  }
  return { claims, fundings: others(fundingsSent, key, own, clock) };
}

function others(book: Book, key: string, own: string, clock: number): Map<string, EscrowTerms> {
  for (const [swapId, { timelock }] of book.get(key) ?? []) {
    if (clock >= timelock) note(book, key, swapId, null);
  }
  const found = new Map(book.get(key));
  found.delete(own);
  return found;
}

function claimOf(
  context: Context,
  record: SwapRecord,
  account: { readonly key: string; readonly family: Family },
): EscrowTerms | null {
  const { owedBy = mayBeFunded(record) ? claimPayerOf(context, record) : null } = record;
  const { chain, escrow } = legOf(record, ownSides(record).gets);
  const isOwed = owedBy !== null && accountKey(chain, account.family, owedBy) === account.key;
  return isOwed ? escrow.terms : null;
}

/** Notes and keeps whether this swap's claim is still to be paid for. */
export async function keepOwed(context: Context, owes: Owes): Promise<void> {
  const { record } = context;
  noteOwn(context, owes);
  const owedBy = owes.claim ? claimPayerOf(context) : null;
  const isKept = (record.owedBy ?? null) === owedBy && (!mayBeFunded(record) || 'owedBy' in record);
  if (!isKept) await context.keep({ owedBy });
}
