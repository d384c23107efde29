// Before money moves: names addresses, checks the market's swap, and keeps all that claiming and
// refunding alone will take.

import { addressesOfPubkey, keySignatureText } from '@parley/chains/bitcoin/keys.ts';
import { parseBitcoinAddress } from '@parley/chains/bitcoin/networks.ts';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { has } from '@parley/core/families.ts';
import type { Millis } from '@parley/core/nominal.ts';
import type { Destination } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import { sighted } from '../agree.ts';
import type { ParleyClient } from '../client.ts';
import { ParleyApiError, SettleError, VerificationError } from '../errors.ts';
import { mayBeFunded, mustBeOfThread, mustBeOnly } from '../stores/store.ts';
import { type ChainView, givenLeg, type OwnTrade, ownLegs, type VerifiedSwap } from '../trade.ts';
import type { Swap } from '../types.ts';
import { verifyAgain, verifyAgreement, verifySwap } from '../verify.ts';
import { type Context, walletOf } from './context.ts';
import { mayMove } from './machine.ts';
import { asked, noteReleases, takeOwnWord } from './market.ts';
import { lenderOf } from './own-lane.ts';
import type { Seen } from './record.ts';

/**
 * Resolves once there is a record of the complete swap; to false when it came to nothing. Throws
 * `bad_address`, `wrong_network` of a wallet's payout.
 */
export async function prepare(context: Context): Promise<boolean> {
  mustPayHere(context);
  const { trade: own, client, swapId, store } = context;
  const kept = await store.getSwap(swapId);
  if (kept !== null) {
    if (own !== undefined) mustBeOfThread(kept, own);
    return true;
  }
  if (own === undefined || client === null) {
    const sentence = `swap ${swapId} is not in the store: a first run needs the trade and the market`;
    throw new SettleError('unknown_record', sentence);
  }
  for (;;) {
    const answered = await untilAnswered(context, client);
    const at = { swapId, now: await context.now() };
    const trade = await sighted(store, own, answered, context.chains, at);
    const shown = await named(context, trade, answered);
    const swap = verifySwap(shown, trade, context.chains, at);
    await mustBeOnly(store, { trade, swap });
    const isAwaited = at.now < swap.agreedAt + formsUntilSeconds && lacksForm(shown, trade);
    if (complete(swap) && !isAwaited) {
      const none = { funding: null, claim: null, refund: null, publicSecret: null };
      await store.putSwap({ trade, swap, ...none });
      context.emit('verified', null, 'escrows, deadlines and roles follow from your own trade');
      return true;
    }
    if ((await context.now()) > swap.deadlines.initiatorFundBy) return false;
    const what = complete(swap) ? 'ask for Taproot' : 'name its addresses';
    context.emit('waiting', null, `the other side has yet to ${what}`);
    await sleep(context.marketPollMs, context.signal);
  }
}

/** A payout of another network must not be found when a claim is due. */
function mustPayHere({ chains }: Context): void {
  for (const { source, wallet } of Object.values(chains)) {
    const { view } = source;
    if (!has(wallet, 'coins') || !has(view, 'coins')) continue;
    if (wallet.payout !== undefined) parseBitcoinAddress(wallet.payout, view.network);
  }
}

function complete(swap: VerifiedSwap): boolean {
  return swap.legs.a.escrow !== null && swap.legs.b.escrow !== null;
}

/** No money has moved yet, so a market that is away is waited for. */
async function untilAnswered(context: Context, client: ParleyClient): Promise<Swap> {
  for (;;) {
    try {
      return await client.swap(context.swapId, signalOf(context));
    } catch (error) {
      if (!(error instanceof ParleyApiError) || !error.unreachable) throw error;
      context.emit('market_refused', null, error.message, null, error.code);
      await sleep(context.marketPollMs, context.signal);
    }
  }
}

function signalOf(context: Context): { signal?: AbortSignal } {
  return context.signal === undefined ? {} : { signal: context.signal };
}

/** So long after the agreement the side that funds waits for the other one to ask for Taproot. */
const formsUntilSeconds = 30;
/** So long the payee asks on the leg that is funded first: later a person may be paying it by hand. */
const formsSeconds = 20;

/** Whether the other side would make the leg that this side funds one of Taproot. */
function lacksForm({ legs }: Swap, { party, refundTo }: OwnTrade): boolean {
  const { refundForm, payoutForm } = legs[givenLeg(party)];
  return refundTo.form === refundForm && payoutForm === null;
}

/** Tells the market the customer's addresses where it has none or others. */
async function named(context: Context, trade: OwnTrade, first: Swap): Promise<Swap> {
  const { client } = context;
  if (client === null) return first;
  const gives = givenLeg(trade.party);
  const own = ownLegs(trade, context.chains);
  let swap = first;
  for (const name of ['a', 'b'] as const) {
    const kind = name === gives ? 'refund' : 'payout';
    const wanted = name === gives ? trade.refundTo : trade.payTo;
    const said = swap.legs[name];
    const isSame =
      said[`${kind}Address`] === wanted.address &&
      (said[`${kind}Pubkey`] ?? null) === wanted.pubkey;
    const isOfForm = (said[`${kind}Form`] ?? undefined) === wanted.form;
    const leftMs = isSame && !isOfForm ? await leftToAsk(context, trade, swap, name) : null;
    const isDone = isSame && (isOfForm || leftMs === 0);
    const { view } = own[name];
    const { wallet } = context.chains[view.chain] ?? {};
    const ownLane = name !== gives && lenderOf(view.chain, wallet, wanted) !== null;
    if (isDone && (!ownLane || said.ownLane)) continue;
    const { form } = wanted;
    if (form && has(wallet, 'coins') && wallet.signLeaves === undefined) {
      const sentence = `leg ${name} is to be of Taproot: its wallet needs signLeaves`;
      throw new SettleError('no_wallet', sentence);
    }
    const address = wanted.pubkey ?? wanted.address;
    const how = { ...(form && { form }), ...(ownLane && { ownLane }) };
    const input = { chain: view.chain, address, ...how };
    const proven = { ...input, ...(await keyProof(context, client, wanted, view)) };
    const ask = (how: { signal?: AbortSignal }) => client.setAddress(context.swapId, proven, how);
    try {
      // Tried again later, it could move the leg after all.
      swap = await (leftMs ? asked(context, ask, leftMs) : ask(signalOf(context)));
    } catch (error) {
      // Neither a form that comes too late nor a lane of its own is a reason to stop.
      const isApi = error instanceof ParleyApiError;
      const isLate = isApi && (error.code === 'addresses_fixed' || (leftMs && error.unreachable));
      if (!isSame || !isApi || !(isDone || isLate)) throw error;
      context.emit('market_refused', name, error.message, null, error.code);
      continue;
    }
    context.emit('address_set', name, `${kind} address of leg ${name}: ${wanted.address}`);
  }
  return swap;
}

/**
 * How long the form may still be asked for: later that could move a leg that the other side is about
 * to fund. null: as long as one likes.
 */
async function leftToAsk(
  { chains, swapId, now }: Context,
  trade: OwnTrade,
  swap: Swap,
  leg: LegName,
): Promise<Millis | null> {
  if (swap.role === 'initiator' || leg === givenLeg(trade.party)) return null;
  const at = { swapId, now: await now() };
  const until = verifyAgreement(swap, trade, chains, at).agreedAt + formsSeconds;
  const leftMs = Math.max(0, until - at.now) * 1_000;
  // Before the first one asks, nothing moves.
  return leftMs === 0 && swap.legs[leg].refundForm !== 'p2tr' ? null : leftMs;
}

/** The market takes the key of a Taproot address only with a signature by that very key. */
async function keyProof(
  context: Context,
  client: ParleyClient,
  { address, pubkey }: Destination,
  view: ChainView,
): Promise<{ keySignature?: string }> {
  if (!has(view, 'coins') || pubkey === null) return {};
  if (address !== addressesOfPubkey(pubkey, view.network).p2tr) return {};
  const wallet = walletOf(context, view.chain);
  if (!has(wallet, 'coins') || wallet.signKey === undefined) {
    const sentence = `${address} is a Taproot address: its wallet needs signKey`;
    throw new SettleError('no_wallet', sentence);
  }
  const text = keySignatureText(client.productName, pubkey, context.swapId);
  return { keySignature: await wallet.signKey(text) };
}

/** As many as the market lets a leg move off. */
const mostFormer = 19;

/**
 * The other side may correct its key until a leg is funded, and an own lane may be taken. Both legs
 * keep one hashlock and one set of deadlines. Resolves to whether a leg has moved.
 */
export async function takeMoves(context: Context, seen: Seen): Promise<boolean> {
  const { client, record } = context;
  context.asking.lastAtMs = performance.now();
  if (client === null) return false;
  let verified: VerifiedSwap;
  try {
    const swap = await asked(context, (how) => client.swap(context.swapId, how));
    noteReleases(context, swap);
    // Before anything is funded in this pass.
    await takeOwnWord(context);
    verified = verifyAgain(swap, record, context.chains);
  } catch (error) {
    mustPass(context, error);
    return false;
  }
  return follow(context, seen, verified);
}

/** Keeps the escrows of legs that moved, where they may. Resolves to whether one has. */
export async function follow(
  context: Context,
  seen: Seen,
  verified: VerifiedSwap,
): Promise<boolean> {
  const { record } = context;
  const moved = (['a', 'b'] as const).filter((name) => {
    const { escrow } = verified.legs[name];
    const isOther = escrow !== null && escrow.address !== record.swap.legs[name].escrow?.address;
    return isOther && mayMove(record, seen, name);
  });
  if (moved.length === 0) return false;
  const legs = { ...record.swap.legs };
  const former = { ...record.former };
  for (const name of moved) {
    const next = verified.legs[name];
    const left = [legs[name].escrow, ...(former[name] ?? [])].filter((each) => each !== null);
    // It may come back to one that it was in.
    const others = left.filter(({ address }) => address !== next.escrow?.address);
    former[name] = others.slice(0, mostFormer);
    legs[name] = next;
  }
  await context.keep({ swap: { ...record.swap, legs }, former });
  context.emit('verified', null, 'a leg moved to another escrow: checked again');
  return true;
}

/** A market that is away is waited for; with money in an escrow its lies are too. */
function mustPass({ record, emit }: Context, error: unknown): void {
  const isFunded = mayBeFunded(record);
  if (error instanceof ParleyApiError && (error.unreachable || isFunded)) {
    emit('market_refused', null, error.message, null, error.code);
  } else if (error instanceof VerificationError && isFunded) {
    emit('market_lied', null, error.message);
  } else throw error;
}
