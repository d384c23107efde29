// The three verbs of one side. Each: gate, build, verify, sign, gate again, keep, send. What was
// kept is sent again and never made twice.

import { ParleyError } from '../../core/errors.ts';
import type { Sighting } from '../../core/facts.ts';
import { claimGate, fundGate, mustOpen, refundGate } from '../../core/gates.ts';
import type { LegName } from '../../core/trade.ts';
import { ParleyApiError, SettleError, VerificationError } from '../errors.ts';
import { sleep } from '../http.ts';
import { inPlaceOf, type Kept, keptNow, mustBeOnly, type SwapRecord } from '../stores/store.ts';
import type { Built } from '../types.ts';
import { verifyMaterial } from '../verify-material.ts';
import type { AccountWallet, BitcoinWallet, Wallet } from '../wallets/wallet.ts';
import {
  type Context,
  legOf,
  look,
  ownSides,
  type Seen,
  type SetLeg,
  sourceOf,
  walletOf,
  watchedOf,
} from './context.ts';
import { asked } from './market.ts';
import {
  due,
  lookedAfter,
  overdue,
  push,
  send,
  sendToAll,
  sendWaiting,
  waitAnew,
  withdraw,
} from './send.ts';
import { signingsOf, spend } from './spend.ts';

const approvalLimitMs = 120_000;

/** Funds the own leg. Needs the market: with it gone nothing new is begun. */
export async function fund(context: Context, record: SwapRecord): Promise<SwapRecord> {
  const { gives } = ownSides(record);
  const leg = legOf(record, gives);
  const wallet = walletOf(context, leg.chain);
  const { funding } = record;
  if (wallet.family === 'bitcoin') {
    return funding === null
      ? fundOnce(context, record)
      : fundAgain(context, record, funding, wallet);
  }
  if (funding !== null) {
    if (!due(context, leg, funding)) return record;
    const fate = await wallet.fate(funding, context.limit());
    if (fate.state === 'waiting') return push(context, record, 'funding', leg, wallet, fate);
    lookedAfter(context, funding);
    if (fate.state === 'succeeded') return record;
    // No version of it can be mined. If a reorganisation let one come back, the contract would
    // still make the escrow of these terms only once: the terms stay while a funding is kept.
    context.tell('waiting', gives, `the funding ${funding.txid} has ${fate.state}: funds anew`);
    forgetNonces(wallet);
  }
  // Approving and funding belong together, until the funding has used the allowance up.
  return wallet.alone(async () => {
    const next = await fundOnce(context, record);
    const sent = next.funding;
    if (sent !== null && sent !== funding) await untilMined(context, leg, wallet, sent);
    return next;
  });
}

async function fundOnce(context: Context, before: SwapRecord): Promise<SwapRecord> {
  const { gives } = ownSides(before);
  const leg = legOf(before, gives);
  await mustBeOnly(context.store, onlyOf(before));
  const record = await approved(context, before);
  const built = await askToFund(context, record, gives);
  if (built === null) return record;
  await mustAgree(context, record);
  await preflight(context, record);
  const { after, kept } = await signFunding(context, record, built);
  const { funding } = record;
  const signed = keptNow(funding === null ? kept : inPlaceOf(funding, kept));
  const next = await keepOrForget(context, leg, { ...after, funding: signed }, async () => {
    // Signing may have taken long: everything is looked at once more, right before sending.
    const fresh = await look(context, after);
    fundGate(fresh.state, gives, fresh.clocks);
    await mustBeOnly(context.store, onlyOf(after));
  });
  await send(context, leg, signed);
  context.tell(
    'funded',
    gives,
    `sent the funding of leg ${gives} to ${leg.escrow.address}`,
    signed.txid,
  );
  return next;
}

function onlyOf({ swap, trade }: SwapRecord) {
  return { swapId: swap.id, hashlock: swap.hashlock, threadId: trade.threadId };
}

async function askToFund(
  context: Context,
  record: SwapRecord,
  name: LegName,
): Promise<Built | null> {
  const { client } = context;
  if (client === null) {
    context.tell('waiting', name, 'the market is gone: nothing new is funded');
    return null;
  }
  try {
    const built = await asked(context, (how) => client.fund(context.swapId, name, how));
    const leg = legOf(record, name);
    const { view } = sourceOf(context, leg.chain);
    const { deadlines } = record.swap;
    const validUntil = leg.long ? deadlines.initiatorFundBy : deadlines.counterpartyFundBy;
    const limits = { validUntil, outputs: null, now: await context.now() };
    verifyMaterial(built, { verb: 'fund' }, leg.escrow.terms, view, limits);
    return built;
  } catch (error) {
    if (!(error instanceof ParleyApiError)) throw error;
    if (!error.unreachable && error.status !== 409) throw error;
    context.tell('market_refused', name, error.message);
    return null;
  }
}

/** Keeps what was signed if `gate` still lets it be sent; else its nonce must not be left out. */
async function keepOrForget(
  context: Context,
  leg: SetLeg,
  next: SwapRecord,
  gate: () => Promise<void>,
): Promise<SwapRecord> {
  try {
    await gate();
    await context.store.putSwap(next);
    return next;
  } catch (error) {
    forgetNonces(walletOf(context, leg.chain));
    throw error;
  }
}

/** Those given to transactions that nobody has. */
function forgetNonces(wallet: Wallet): void {
  if (wallet.family === 'evm') wallet.forget();
}

/** Both legs must be payable before either is worth funding. */
async function preflight(context: Context, record: SwapRecord): Promise<void> {
  const { gives, gets } = ownSides(record);
  for (const [name, about] of [
    [gets, 'payout'],
    [gives, 'payout'],
    [gives, 'funding'],
  ] as const) {
    const leg = legOf(record, name);
    // An approval is part of the funding: whether the token lets the contract take it is tried
    // when the funding itself is signed. On Solana there is none.
    const isApproved = leg.escrow.terms.token !== null && leg.family !== 'solana';
    if (about === 'funding' && isApproved) continue;
    const { adapter } = sourceOf(context, leg.chain);
    await adapter.preflight(leg.escrow.terms, about, context.limit());
  }
}

/** The signed funding, once every approval before it is mined. */
async function signFunding(
  context: Context,
  before: SwapRecord,
  built: Built,
): Promise<{ after: SwapRecord; kept: Kept }> {
  const { gives } = ownSides(before);
  const leg = legOf(before, gives);
  const wallet = walletOf(context, leg.chain);
  let after = before;
  if (wallet.family === 'bitcoin') {
    const kept = await wallet.signPayment(leg.escrow.address, leg.amount, context.limit());
    return { after, kept };
  }
  const signings = signingsOf(context, built, wallet);
  for (const sign of signings.slice(0, -1)) {
    const approval = await sign();
    after = await keepOrForget(
      context,
      leg,
      { ...after, approval: keptNow(approval) },
      async () => {},
    );
    await sendWaiting(context, leg, approval);
    after = await approved(context, after);
    context.tell('approved', gives, 'the contract may take exactly the amount', approval.txid);
  }
  const signFunds = signings.at(-1);
  if (signFunds === undefined) throw new VerificationError('sign', 'something', 'nothing');
  return { after, kept: await signFunds() };
}

/** Waits for the kept approval, whichever version of it is mined. */
async function approved(context: Context, before: SwapRecord): Promise<SwapRecord> {
  const until = performance.now() + approvalLimitMs;
  for (let record = before; ; ) {
    record = await pushApproval(context, record);
    if (!record.approval) return record;
    if (performance.now() > until) {
      const { txid } = record.approval;
      throw new ParleyError('funding_would_fail', `the approval ${txid} is not mined`, { txid });
    }
    await sleep(context.pollMs, context.signal);
  }
}

/**
 * Looks after a kept approval. Also when nothing is to be funded any more: until its nonce is used
 * every later transaction of the account waits behind it.
 */
export async function pushApproval(context: Context, record: SwapRecord): Promise<SwapRecord> {
  const leg = legOf(record, ownSides(record).gives);
  const wallet = walletOf(context, leg.chain);
  const { approval } = record;
  if (!approval || wallet.family === 'bitcoin') return record;
  const fate = await wallet.fate(approval, context.limit());
  if (fate.state === 'waiting') {
    if (!due(context, leg, approval)) return record;
    return push(context, record, 'approval', leg, wallet, fate);
  }
  const next = { ...record, approval: null };
  await context.store.putSwap(next);
  if (fate.state === 'succeeded') return next;
  const { txid } = approval;
  throw new ParleyError('funding_would_fail', `the approval ${txid} has ${fate.state}`, { txid });
}

/** For a while; a funding that takes longer is looked after by the next looks. */
async function untilMined(
  context: Context,
  leg: SetLeg,
  wallet: AccountWallet,
  kept: Kept,
): Promise<void> {
  const until = performance.now() + Math.min(approvalLimitMs, context.replaceAfterMs(leg.family));
  while (performance.now() < until) {
    const { state } = await wallet.fate(kept, context.limit());
    if (state !== 'waiting') return;
    await sleep(context.pollMs, context.signal);
  }
}

/** What Core says of a fee that its mempool does not take: waiting at this fee is of no use. */
const tooCheapForPool = /min(imum)? (relay )?fee|insufficient fee/i;

/** Sends the kept funding again while it may still be sent. Never makes another beside it. */
async function fundAgain(
  context: Context,
  record: SwapRecord,
  kept: Kept,
  wallet: BitcoinWallet,
): Promise<SwapRecord> {
  const leg = legOf(record, ownSides(record).gives);
  wallet.reserve(kept.raw);
  if (!due(context, leg, kept)) return record;
  try {
    await send(context, leg, kept);
    return record;
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'refused_by_node') throw error;
    if (tooCheapForPool.test(error.message)) {
      context.waitsSinceMs.set(kept.txid, -Infinity);
      context.tell('waiting', leg.leg, error.message, kept.txid);
      return record;
    }
    // A version of it may have been mined since the last look.
    const { state } = await look(context, record);
    if (state.legs[leg.leg].facts.funded !== null) return record;
    const sentence =
      `the node refuses the kept funding ${kept.txid}: ${error.message}. Its coins were probably ` +
      'spent elsewhere. Nothing is signed again, because both might be mined';
    throw new SettleError('funding_replaced', sentence, { cause: error });
  }
}

/** Claims the leg that pays this side. */
export async function claim(context: Context, record: SwapRecord, seen: Seen): Promise<SwapRecord> {
  const { gets } = ownSides(record);
  const secret = seen.state.secret ?? (await context.store.getSecret(record.swap.hashlock));
  if (secret === null) {
    const sentence = `the store has no secret for ${record.swap.hashlock}`;
    throw new SettleError('secret_lost', sentence);
  }
  mustOpen(seen.state, secret);
  claimGate(seen.state, gets, seen.clocks);
  const leg = legOf(record, gets);
  if (leg.family !== 'bitcoin' && seen.clocks[gets] >= leg.timelock) {
    // Sending it could only tell the secret.
    context.tell('waiting', gets, `leg ${gets} takes no claim since its timelock`);
    const wallet = walletOf(context, leg.chain);
    return wallet.family === 'evm' ? withdraw(context, record, 'claim', leg, wallet) : record;
  }
  if (record.claim !== null) return resend(context, record, 'claim', gets);
  if (seen.state.secret === null) await mayReveal(context, record, seen);
  const kept = await spend(context, record, gets, { verb: 'claim', secret });
  // Once sent it cannot be taken back, seen or not: from then on only haste helps.
  const revealing = { ...record, claim: keptNow(kept), publicSecret: secret };
  const next = await keepOrForget(context, leg, revealing, async () => {
    const fresh = await look(context, record);
    claimGate(fresh.state, gets, fresh.clocks);
    if (fresh.state.secret === null) await mayReveal(context, record, fresh);
  });
  context.tell('claimed', gets, `sends the claim of leg ${gets}`, kept.txid);
  return sendAnyway(context, next, 'claim', gets);
}

/**
 * What no gate knows: whether the leg would really pay, now. A token that was paused, or that
 * refuses the payout since the funding, must not cost the secret.
 */
async function mayReveal(context: Context, record: SwapRecord, seen: Seen): Promise<void> {
  const { gets } = ownSides(record);
  const { adapter } = sourceOf(context, legOf(record, gets).chain);
  await mustAgree(context, record);
  await adapter.preflight(legOf(record, gets).escrow.terms, 'payout', context.limit());
  // Trying took time.
  claimGate(seen.state, gets, { ...seen.clocks, wall: await context.now() });
}

/** Several nodes of one chain must show the same before money or a secret relies on it. */
async function mustAgree(context: Context, record: SwapRecord): Promise<void> {
  for (const name of ['a', 'b'] as const) {
    const { adapter } = sourceOf(context, legOf(record, name).chain);
    await adapter.mustAgree?.(watchedOf(record, name), context.limit());
  }
}

/** Takes back what the own leg holds. */
export async function refund(
  context: Context,
  record: SwapRecord,
  seen: Seen,
): Promise<SwapRecord> {
  const { gives } = ownSides(record);
  const leg = legOf(record, gives);
  refundGate(seen.state.legs[gives], leg.timelock, seen.clocks);
  if (record.refund !== null) return resend(context, record, 'refund', gives);
  const kept = await spend(context, record, gives, { verb: 'refund' });
  const next = await keepOrForget(
    context,
    leg,
    { ...record, refund: keptNow(kept) },
    async () => {},
  );
  context.tell('refunded', gives, `sends the refund of leg ${gives}`, kept.txid);
  return sendAnyway(context, next, 'refund', gives);
}

/**
 * A Bitcoin claim or refund of ours that no block takes is replaced by one that pays more (BIP
 * 125): the adapter bids higher as the deadline nears, within the customer's bounds.
 */
export async function replaceStuck(
  context: Context,
  record: SwapRecord,
  seen: Seen,
): Promise<SwapRecord> {
  const { gives, gets } = ownSides(record);
  const { claimed } = seen.state.legs[gets].facts;
  const { refunded } = seen.state.legs[gives].facts;
  const { publicSecret: secret } = record;
  if (secret !== null && isStuck(context, legOf(record, gets), record.claim, claimed)) {
    const kept = await spend(context, record, gets, { verb: 'claim', secret });
    return sendInstead(context, { ...record, claim: keptNow(kept) }, 'claim', gets);
  }
  if (isStuck(context, legOf(record, gives), record.refund, refunded)) {
    const kept = await spend(context, record, gives, { verb: 'refund' });
    return sendInstead(context, { ...record, refund: keptNow(kept) }, 'refund', gives);
  }
  return record;
}

/** Whether our own transaction, seen by our node, has waited for its first block long enough. */
function isStuck(
  context: Context,
  leg: SetLeg,
  kept: Kept | null,
  shown: Sighting | null,
): boolean {
  if (leg.family !== 'bitcoin' || kept === null || shown?.txid !== kept.txid) return false;
  if (shown.confirmations > 0 || !overdue(context, leg, kept)) return false;
  waitAnew(context, kept);
  return true;
}

async function sendInstead(
  context: Context,
  next: SwapRecord,
  verb: 'claim' | 'refund',
  name: LegName,
): Promise<SwapRecord> {
  await context.store.putSwap(next);
  const step = verb === 'claim' ? 'claimed' : 'refunded';
  const text = `sends the ${verb} of leg ${name} again, with a higher fee`;
  context.tell(step, name, text, next[verb]?.txid);
  return sendAnyway(context, next, verb, name);
}

/** Sends a kept claim or refund again; one that no node takes any more is made anew. */
async function resend(
  context: Context,
  record: SwapRecord,
  verb: 'claim' | 'refund',
  name: LegName,
): Promise<SwapRecord> {
  const kept = record[verb];
  const leg = legOf(record, name);
  if (kept === null || !due(context, leg, kept)) return record;
  const wallet = walletOf(context, leg.chain);
  if (wallet.family === 'bitcoin') return sendAnyway(context, record, verb, name);
  const fate = await wallet.fate(kept, context.limit());
  if (fate.state === 'waiting') return push(context, record, verb, leg, wallet, fate);
  lookedAfter(context, kept);
  if (fate.state === 'succeeded') return record;
  // Made anew while its step is open: a second claim or refund finds the escrow empty.
  forgetNonces(wallet);
  const next = { ...record, [verb]: null };
  await context.store.putSwap(next);
  return next;
}

async function sendAnyway(
  context: Context,
  record: SwapRecord,
  verb: 'claim' | 'refund',
  name: LegName,
): Promise<SwapRecord> {
  const kept = record[verb];
  if (kept === null) return record;
  const leg = legOf(record, name);
  if (leg.family !== 'bitcoin') {
    await sendWaiting(context, leg, kept, sendToAll);
    return record;
  }
  try {
    await sendToAll(context, leg, kept);
    return record;
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'refused_by_node') throw error;
    const next = { ...record, [verb]: null };
    await context.store.putSwap(next);
    return next;
  }
}
