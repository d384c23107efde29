// Sending what was kept. Bytes are kept before they are sent, and at most one version is ever
// mined.

import type { Signed } from '@parley/chains/interface/material.ts';
import { saysFeeTooLow } from '@parley/chains/nodes/answers.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { has } from '@parley/core/families.ts';
import type { ParleyClient } from '../client.ts';
import { isRefusedByNode, messageOf, ParleyApiError } from '../errors.ts';
import type { Kept } from '../stores/store.ts';
import { type Context, sourceOf } from './context.ts';
import { isGivenAway } from './hands/nonces.ts';
import { asked, heedWords } from './market.ts';
import type { SetLeg } from './record.ts';

/** A transaction that nobody shows is sent again after this long, through one's own node. */
const resendAfterMs = 5_000;
/** The market relays beside one's own node: it is not worth much waiting. */
const relayLimitMs = 5_000;

export function due(context: Context, { family }: SetLeg, kept: Kept): boolean {
  const last = context.sentAtMs.get(kept.txid);
  const afterMs = Math.min(resendAfterMs, context.replaceAfterMs(family));
  return last === undefined || performance.now() - last > afterMs;
}

export function lookedAfter(context: Context, kept: Kept): void {
  context.sentAtMs.set(kept.txid, performance.now());
}

/** Counted from when it was kept: a restart is no reason to wait anew. */
export function overdue(
  context: Context,
  { family }: SetLeg,
  kept: Pick<Kept, 'txid' | 'keptAtMs'>,
): boolean {
  const now = performance.now();
  const { keptAtMs } = kept;
  // A clock that was set back must not make a wait longer than it is known to be.
  const before = keptAtMs === undefined ? 0 : Math.max(0, Date.now() - keptAtMs);
  const since = context.waitsSinceMs.get(kept.txid) ?? now - before;
  context.waitsSinceMs.set(kept.txid, since);
  return now - since > context.replaceAfterMs(family);
}

export function waitAnew(context: Context, kept: Kept): void {
  context.waitsSinceMs.set(kept.txid, performance.now());
}

/** First through the market, then by one's own node. Claims and refunds go by `sendToAll`. */
export async function send(context: Context, leg: SetLeg, kept: Kept): Promise<void> {
  const again = context.sentAtMs.has(kept.txid);
  const { chain, leg: name } = leg;
  if (context.client !== null && !again) {
    lookedAfter(context, kept);
    overdue(context, leg, kept);
    try {
      await asked(context, relay(context.client, chain, kept));
      return;
    } catch (error) {
      if (!(error instanceof ParleyApiError)) throw error;
      context.emit('market_refused', name, error.message);
      if (error.code === 'given_up') {
        // Another device may have released what would pay for it. Each try asks the market anew.
        context.sentAtMs.delete(kept.txid);
        await heedWords(context);
        throw error;
      }
    }
    await mustHaveNonce(context, leg, kept);
  }
  await sendAlone(context, leg, kept);
}

/** The market took its time: sent now, it could displace what was given its nonce meanwhile. */
async function mustHaveNonce(context: Context, leg: SetLeg, kept: Kept): Promise<void> {
  if (!has(leg, 'nonces')) return;
  if (!(await isGivenAway(context, leg, { slot: 'funding', kept }))) return;
  const sentence = `another transaction has the nonce of ${kept.txid}: it is not sent`;
  throw new ParleyError('refused_by_node', sentence, { txid: kept.txid });
}

const relay = (client: ParleyClient, chain: string, kept: Kept) => (how: { signal: AbortSignal }) =>
  client.broadcast(chain, kept.raw, how);

/** A claim shows the secret to whoever gets it: no answer of the market ends the sending. */
export async function sendToAll(context: Context, leg: SetLeg, kept: Kept): Promise<void> {
  const { client } = context;
  const own = sendAlone(context, leg, kept);
  const market =
    client === null ? null : asked(context, relay(client, leg.chain, kept), relayLimitMs);
  const [mine, theirs] = await Promise.allSettled([own, market]);
  if (theirs.status === 'rejected') {
    context.signal?.throwIfAborted();
    context.emit('market_refused', leg.leg, messageOf(theirs.reason));
  }
  if (mine.status === 'rejected') throw mine.reason;
}

export async function sendAlone(
  context: Context,
  leg: SetLeg,
  kept: Kept,
  limit?: AbortSignal,
): Promise<void> {
  lookedAfter(context, kept);
  overdue(context, leg, kept);
  const { adapter } = sourceOf(context, leg.chain);
  const read = await adapter.readSigned(kept.raw as Signed, limit ?? context.limit());
  await adapter.broadcast(read, limit ?? context.limit());
}

/** A refusal changes nothing by itself: the next pass asks what became of the nonce. */
export async function sendWaiting(
  context: Context,
  leg: SetLeg,
  kept: Kept,
  by: (context: Context, leg: SetLeg, kept: Kept) => Promise<void> = send,
): Promise<void> {
  try {
    await by(context, leg, kept);
  } catch (error) {
    if (!isRefusedByNode(error)) throw error;
    // No pool holds it: waiting longer at this fee is of no use.
    if (saysFeeTooLow(error.message)) context.waitsSinceMs.set(kept.txid, -Infinity);
    context.waits(leg, error.message, { txid: kept.txid });
  }
}
