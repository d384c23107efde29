// Having the market send the own claim: the reason to ask it, the time to wait, and the shortage if
// neither side sends it.

import type { Shortage } from '@parley/chains/interface/gas.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowFacts } from '@parley/core/facts.ts';
import { has } from '@parley/core/families.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import { messageOf } from '../errors.ts';
import { type Context, payingLeg, sourceOf } from './context.ts';
import { asked, isRelaying, sendsClaims } from './market.ts';
import { claimPayerOf } from './owed.ts';
import type { Seen } from './record.ts';
import { putTelling, type Still } from './sign.ts';

/** How long a relayed claim may be unseen before the own one is sent. */
const unseenMs = 30_000;
/**
 * A market wants at most 270 s before `revealBy` (apps/watchtower/bounds.ts). A side that cannot
 * claim alone sends no secret that would be refused.
 */
export const leadSeconds = 300;

/** The wallet's shortage for its claim, where that decides the sender. Else null. */
async function lacking(context: Context): Promise<Shortage | null> {
  const leg = payingLeg(context);
  if (context.relay !== 'without_gas' || !has(leg, 'gasKeys')) return null;
  const { adapter } = sourceOf(context, leg.chain);
  const { terms } = leg.escrow;
  return (await adapter.claimShortage?.(terms, claimPayerOf(context), context.limit())) ?? null;
}

/** The shortage for a claim with a public secret: a node that does not tell stops none. */
export async function shortage(context: Context): Promise<Shortage | null> {
  try {
    return await lacking(context);
  } catch {
    context.signal?.throwIfAborted();
    return null;
  }
}

export function unpayable(context: Context, short: Shortage, why = ''): ParleyError {
  const { leg } = payingLeg(context);
  const { address, code, need, has } = short;
  const sentence = `${short.sentence}${why}`;
  return new ParleyError('claim_unpayable', sentence, { leg, address, lack: code, need, has });
}

/**
 * The sender of the claim that shows the secret. Throws `claim_unpayable` if neither can send it.
 */
export async function revealer(context: Context, { clocks }: Seen): Promise<'self' | 'market'> {
  const leg = payingLeg(context);
  if (!isRelaying(context, leg)) return 'self';
  if (context.relay === true) return 'market';
  const short = await lacking(context);
  if (short === null) return 'self';
  if (!(await sendsClaims(context, leg.chain))) {
    throw unpayable(context, short, `; the market does not say that it sends claims there`);
  }
  const left = context.record.swap.deadlines.revealBy - Math.max(clocks.wall, await context.now());
  if (left >= leadSeconds) return 'market';
  const why = `; ${left} s are left to show the secret, and the market wants up to ${leadSeconds}`;
  throw unpayable(context, short, why);
}

/** Whether a claim with a public secret goes by the market, or went there before. */
export function asksMarket(context: Context, short: Shortage | null): boolean {
  if (!isRelaying(context, payingLeg(context))) return false;
  return context.relay === true || short !== null || context.record.relay !== undefined;
}

/**
 * From the question on the market knows the secret: it counts as public. Resolves to whether the
 * market's claim is waited for.
 */
export async function relayClaim(
  context: Context,
  { claimed }: EscrowFacts,
  secret: Secret,
  still?: Still,
): Promise<boolean> {
  const leg = payingLeg(context);
  const { relay } = context.record;
  if (relay === undefined) return askToClaim(context, secret, still);
  const { txid, askedAtMs, againAtMs = askedAtMs } = relay;
  const isAlone = context.relay === true;
  // No answer to the first question is no refusal: asked again, it is the same claim.
  if (txid === null) return isWithin(unseenMs, askedAtMs) ? false : askToClaim(context, secret);
  const mostMs = context.replaceAfterMs(leg.family);
  const limitMs = claimed !== null ? mostMs : Math.min(unseenMs, mostMs);
  if (isWithin(limitMs, askedAtMs)) {
    context.waits(leg, 'the market sends the claim', { txid });
    return true;
  }
  // A side that cannot send it asks on: an attempt that was given up is begun again.
  const isDue = !isAlone && claimed === null && !isWithin(unseenMs, againAtMs);
  if (isDue) await askToClaim(context, secret);
  return false;
}

/** A clock that was set back makes no wait longer. */
function isWithin(limitMs: number, askedAtMs: number): boolean {
  return Math.abs(Date.now() - askedAtMs) < limitMs;
}

async function askToClaim(context: Context, secret: Secret, still?: Still): Promise<boolean> {
  const { leg } = payingLeg(context);
  const { relay: before } = context.record;
  const now = Date.now();
  // Kept before it is told: the market may show it once it has it.
  const relay = before?.txid ? { ...before, againAtMs: now } : { askedAtMs: now, txid: null };
  const change = { publicSecret: secret, relay };
  await (still === undefined ? context.keep(change) : putTelling(context, change, still));
  try {
    const { txid } = await asked(context, (how) => {
      if (context.client === null) throw new Error('there is no market to ask');
      return context.client.relayClaim(context.swapId, leg, secret, how);
    });
    // Another one is waited for no longer than the first: a market could name one after the other.
    if (before?.txid) {
      await context.keep({ relay: { askedAtMs: before.askedAtMs, againAtMs: now, txid } });
      return false;
    }
    await context.keep({ relay: { askedAtMs: now, txid } });
    context.emit('claimed', leg, `the market sends the claim of leg ${leg}`, txid);
    return true;
  } catch (error) {
    context.signal?.throwIfAborted();
    const refused = messageOf(error).replaceAll(secret, '…');
    await context.keep({ relay: { ...relay, refused } });
    const then = context.relay === true ? 'sends the claim alone' : 'it is asked again';
    context.emit('market_refused', leg, `${refused}; ${then}`);
    return false;
  }
}
