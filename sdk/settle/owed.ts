// What the customer's wallets owe. Each swap that is funded, or about to be, needs the cost of its
// own claim from one wallet, and no balance shows that: it is counted here before another swap is
// funded, over every settlement of this process and every swap of the store.

import { ParleyError } from '../../core/errors.ts';
import type { Family } from '../../core/families.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { LegName } from '../../core/trade.ts';
import { mayBeFunded, type SwapRecord } from '../stores/store.ts';
import {
  type Context,
  legOf,
  ownSides,
  relays,
  type Seen,
  type SetLeg,
  sourceOf,
  tellOnce,
} from './context.ts';
import { accountKey, inTurn } from './turns.ts';

/** By account, then by swap: this process's own, whichever store they are kept in. */
type Book = Map<string, Map<string, EscrowTerms>>;
/** Claims still to come. */
const claimsOwed: Book = new Map();
/** Fundings that no balance shows yet. */
const fundingsSent: Book = new Map();

function note(book: Book, key: string, swapId: string, terms: EscrowTerms | null): void {
  const page = book.get(key) ?? new Map<string, EscrowTerms>();
  if (terms === null) page.delete(swapId);
  else page.set(swapId, terms);
  if (page.size === 0) book.delete(key);
  else book.set(key, page);
}

/** Whoever signs pays; on EVM that need not be the party that is paid. */
export function payerOf(context: Context, { chain }: SetLeg, party: string): string {
  const wallet = context.wallets.get(chain);
  return wallet?.family === 'evm' ? wallet.address : party;
}

/** Who pays for the own claim. */
export function claimPayerOf(context: Context, record: SwapRecord): string {
  const leg = legOf(record, ownSides(record).gets);
  return payerOf(context, leg, leg.escrow.terms.payout.address);
}

function accountOf(context: Context, record: SwapRecord, name: LegName): string {
  const leg = legOf(record, name);
  const { payout, refund } = leg.escrow.terms;
  const party = name === ownSides(record).gives ? refund.address : payout.address;
  return accountKey(leg.chain, leg.family, payerOf(context, leg, party));
}

function noteOwn(
  context: Context,
  record: SwapRecord,
  { claim, funding }: { readonly claim: boolean; readonly funding: boolean },
): void {
  const { gives, gets } = ownSides(record);
  const { id } = record.swap;
  const termsOf = (name: LegName) => legOf(record, name).escrow.terms;
  note(claimsOwed, accountOf(context, record, gets), id, claim ? termsOf(gets) : null);
  note(fundingsSent, accountOf(context, record, gives), id, funding ? termsOf(gives) : null);
}

/**
 * Runs the funding of a swap if its wallets can pay for its claim too, beside all that they owe.
 * One counts at a time, and what it is about to owe is counted by the next. `isSent`: whether this
 * side sends the funding, and pays for it.
 */
export async function owing(
  context: Context,
  record: SwapRecord,
  { isSent }: { readonly isSent: boolean },
  work: () => Promise<SwapRecord>,
): Promise<SwapRecord> {
  const { gives, gets } = ownSides(record);
  const keys = [gives, gets].map((name) => accountOf(context, record, name)).sort();
  const count = async () => {
    for (const name of isSent ? [gets, gives] : [gets]) await mustCover(context, record, name);
    noteOwn(context, record, { claim: true, funding: isSent });
  };
  const counting = keys.reduce<() => Promise<void>>(
    (inner, key) => () => inTurn(`counting ${key}`, inner),
    count,
  );
  await counting();
  try {
    return await work();
  } catch (error) {
    const kept = await context.store.getSwap(record.swap.id).catch(() => record);
    // What was kept may be sent, and is owed.
    if (kept === null || !mayBeFunded(kept))
      noteOwn(context, record, { claim: false, funding: false });
    throw error;
  }
}

/**
 * Throws `claim_unpayable` while the wallet could not pay for every claim that it would owe. One
 * that the market is to send keeps nothing from being funded: what is missing for it is told.
 */
async function mustCover(context: Context, record: SwapRecord, name: LegName): Promise<void> {
  const leg = legOf(record, name);
  const { adapter } = sourceOf(context, leg.chain);
  if (adapter.purseShortage === undefined) return;
  const { terms } = leg.escrow;
  const isGiven = name === ownSides(record).gives;
  const owed = await owedBeside(context, record, name);
  const claims = isGiven ? [...owed.claims.values()] : [terms, ...owed.claims.values()];
  if (claims.length === 0) return;
  const fundings = isGiven ? [terms, ...owed.fundings.values()] : [...owed.fundings.values()];
  const payer = payerOf(context, leg, isGiven ? terms.refund.address : terms.payout.address);
  const shortage = await adapter.purseShortage({ claims, fundings }, payer, context.limit());
  if (shortage === null) return;
  const { sentence, code } = shortage;
  const others = [...owed.claims.keys()];
  const whose = others.length === 0 ? '' : `; it owes the claims of ${listed(others)}`;
  if (!isGiven && relays(context, leg)) {
    const alone = `if the market does not send the claim of leg ${name}, nobody can`;
    tellOnce(context, leg, `funded all the same, to be relayed: ${sentence}${whose}; ${alone}`);
    return;
  }
  const facts = { leg: leg.leg, address: payer, lack: code, owed: others.length };
  throw new ParleyError('claim_unpayable', `${sentence}${whose}`, facts);
}

function listed(swapIds: readonly string[]): string {
  const more = swapIds.length - mostListed;
  const shown = swapIds.slice(0, mostListed).join(', ');
  return `swap ${shown}${more > 0 ? ` and ${more} more` : ''}`;
}

const mostListed = 3;

type Beside = {
  readonly claims: ReadonlyMap<string, EscrowTerms>;
  readonly fundings: ReadonlyMap<string, EscrowTerms>;
};

/** What the wallet of this leg owes for other swaps. No claim is taken after its timelock. */
async function owedBeside(context: Context, record: SwapRecord, name: LegName): Promise<Beside> {
  const { chain, family } = legOf(record, name);
  const { clock } = await sourceOf(context, chain).adapter.heads(context.limit());
  const key = accountOf(context, record, name);
  const own = record.swap.id;
  const claims = others(claimsOwed, key, own, clock);
  for (const swapId of await context.store.swapIds()) {
    const other = swapId === own ? null : await context.store.getSwap(swapId);
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

/** The terms of the claim that a kept swap owes, if this account does. */
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

/** Notes and keeps whether this swap's claim is still to be paid for, by what the chains show. */
export async function tendOwed(
  context: Context,
  record: SwapRecord,
  { state, clocks }: Seen,
  isOver: boolean,
): Promise<SwapRecord> {
  const { gives, gets } = ownSides(record);
  const [own, other] = [state.legs[gives].facts, state.legs[gets]];
  const isFunding = record.funding !== null && (own.funded?.confirmations ?? 0) === 0;
  const isFunded = mayBeFunded(record) || own.funded !== null;
  const isPast = other.family !== 'bitcoin' && clocks[gets] >= other.timelock;
  const owes = isFunded && !isOver && !isPast && !other.facts.claimed?.deep;
  noteOwn(context, record, { claim: owes, funding: isFunding && !isOver });
  const owedBy = owes ? claimPayerOf(context, record) : null;
  if ((record.owedBy ?? null) === owedBy && (!mayBeFunded(record) || 'owedBy' in record)) {
    return record;
  }
  const next = { ...record, owedBy };
  await context.store.putSwap(next);
  return next;
}
