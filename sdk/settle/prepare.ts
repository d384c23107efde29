// Before any money moves: names the customer's addresses, checks the market's swap against the
// customer's trade, and keeps on disk all that claiming and refunding alone will take.

import { addressesOfPubkey, keySignatureText } from '../../chains/bitcoin/keys.ts';
import { legStatus } from '../../core/facts.ts';
import type { Destination } from '../../core/terms.ts';
import type { LegName } from '../../core/trade.ts';
import { sighted } from '../agree.ts';
import type { ParleyClient } from '../client.ts';
import { ParleyApiError, SettleError, VerificationError } from '../errors.ts';
import { sleep } from '../http.ts';
import { mayBeFunded, mustBeOnly, type SwapRecord } from '../stores/store.ts';
import { type ChainView, givenLeg, type OwnTrade, ownLegs } from '../trade.ts';
import type { Swap } from '../types.ts';
import { type VerifiedSwap, verifySwap } from '../verify.ts';
import { verifyAgain } from '../verify-kept.ts';
import { type Context, ownSides, type Seen, viewsOf, walletOf } from './context.ts';
import { asked } from './market.ts';

/** The kept record, or a new one as soon as the swap is complete; null when it came to nothing. */
export async function prepare(context: Context): Promise<SwapRecord | null> {
  const kept = await context.store.getSwap(context.swapId);
  if (kept !== null) return kept;
  const { trade: own, client, swapId } = context;
  if (own === undefined || client === null) {
    const sentence = `swap ${swapId} is not in the store: a first run needs the trade and the market`;
    throw new SettleError('unknown_record', sentence);
  }
  for (;;) {
    const answered = await untilAnswered(context, client);
    const at = { swapId, now: await context.now() };
    const trade = await sighted(context.store, own, answered, viewsOf(context), at);
    const swap = await named(context, trade, answered);
    const verified = verifySwap(swap, trade, viewsOf(context), at);
    const { hashlock } = verified;
    await mustBeOnly(context.store, { swapId, hashlock, threadId: trade.threadId });
    if (complete(verified)) {
      const record: SwapRecord = {
        trade,
        swap: verified,
        funding: null,
        claim: null,
        refund: null,
        publicSecret: null,
      };
      await context.store.putSwap(record);
      context.tell('verified', null, 'escrows, deadlines and roles follow from your own trade');
      return record;
    }
    if ((await context.now()) > verified.deadlines.initiatorFundBy) return null;
    context.tell('waiting', null, 'the other side has yet to name its addresses');
    await sleep(context.marketPollMs, context.signal);
  }
}

function complete(swap: VerifiedSwap): boolean {
  return swap.legs.a.escrow !== null && swap.legs.b.escrow !== null;
}

/** Nothing has moved yet, so a market that is away is waited for. */
async function untilAnswered(context: Context, client: ParleyClient): Promise<Swap> {
  for (;;) {
    try {
      return await client.swap(context.swapId, signalOf(context));
    } catch (error) {
      if (!(error instanceof ParleyApiError) || !error.unreachable) throw error;
      context.tell('waiting', null, error.message);
      await sleep(context.marketPollMs, context.signal);
    }
  }
}

function signalOf(context: Context): { signal?: AbortSignal } {
  return context.signal === undefined ? {} : { signal: context.signal };
}

/** Tells the market the customer's addresses where it has none or others. */
async function named(context: Context, trade: OwnTrade, first: Swap): Promise<Swap> {
  const { client } = context;
  if (client === null) return first;
  const gives = givenLeg(trade.party);
  const own = ownLegs(trade, viewsOf(context));
  let swap = first;
  for (const name of ['a', 'b'] as const) {
    const kind = name === gives ? 'refund' : 'payout';
    const wanted = name === gives ? trade.refundTo : trade.payTo;
    const said = swap.legs[name];
    const same =
      said[`${kind}Address`] === wanted.address &&
      (said[`${kind}Pubkey`] ?? null) === wanted.pubkey;
    if (same) continue;
    const { view } = own[name];
    const input = { chain: view.chain, address: wanted.pubkey ?? wanted.address };
    const proven = { ...input, ...(await keyProof(context, client, wanted, view)) };
    swap = await client.setAddress(context.swapId, proven, signalOf(context));
    context.tell('address_set', name, `${kind} address of leg ${name}: ${wanted.address}`);
  }
  return swap;
}

/** The market takes the key of a Taproot address only with a signature by that very key. */
async function keyProof(
  context: Context,
  client: ParleyClient,
  { address, pubkey }: Destination,
  view: ChainView,
): Promise<{ keySignature?: string }> {
  if (view.family !== 'bitcoin' || pubkey === null) return {};
  if (address !== addressesOfPubkey(pubkey, view.network).p2tr) return {};
  const wallet = walletOf(context, view.chain);
  if (wallet.family !== 'bitcoin' || wallet.signKey === undefined) {
    const sentence = `${address} is a Taproot address: its wallet needs signKey`;
    throw new SettleError('no_wallet', sentence);
  }
  const text = keySignatureText(client.productName, pubkey, context.swapId);
  return { keySignature: await wallet.signKey(text) };
}

/**
 * Until a leg is funded the other side may still correct its own key, and the escrow moves with
 * it; so does an own one whose lane the chain would not take. Takes such a move over; funded legs
 * stay as they are, and so does everything else that was verified once. Both legs rest on one
 * hashlock and on one set of deadlines: a leg of another agreement time, or hashlock, beside a leg
 * already funded could be refunded after it, or claimed without opening it.
 */
export async function refresh(
  context: Context,
  record: SwapRecord,
  seen: Seen,
): Promise<SwapRecord> {
  const { client } = context;
  const open = (name: LegName) =>
    legStatus(seen.state.legs[name].facts) === 'unfunded' &&
    (name !== ownSides(record).gives || !mayBeFunded(record));
  if (client === null || (!open('a') && !open('b'))) return record;
  let swap: Swap;
  let verified: VerifiedSwap;
  try {
    swap = await asked(context, (how) => client.swap(context.swapId, how));
    verified = verifyAgain(swap, record, viewsOf(context));
  } catch (error) {
    return undisturbed(context, record, error);
  }
  const moved = (name: LegName) =>
    open(name) &&
    verified.legs[name].escrow !== null &&
    verified.legs[name].escrow.address !== record.swap.legs[name].escrow?.address;
  if (!moved('a') && !moved('b')) return record;
  const legs = {
    a: moved('a') ? verified.legs.a : record.swap.legs.a,
    b: moved('b') ? verified.legs.b : record.swap.legs.b,
  };
  const next = { ...record, swap: { ...record.swap, legs } };
  await context.store.putSwap(next);
  context.tell('verified', null, 'a leg moved to another escrow: checked again');
  return next;
}

/** A market that is away is waited for; with money in an escrow its lies are too. */
function undisturbed(context: Context, record: SwapRecord, error: unknown): SwapRecord {
  if (error instanceof ParleyApiError && (error.unreachable || mayBeFunded(record))) {
    context.tell('market_refused', null, error.message);
    return record;
  }
  if (error instanceof VerificationError && mayBeFunded(record)) {
    context.tell('market_lied', null, error.message);
    return record;
  }
  throw error;
}
