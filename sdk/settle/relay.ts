// The own claim, sent by the market with its own gas, where the customer asked for that. It needs
// nobody's trust for the money, whose way is fixed. But from the question on the market knows the
// secret, so it counts as public, and a claim that the own chain does not show is sent alone.

import type { EscrowFacts } from '../../core/facts.ts';
import type { Hex32 } from '../../core/hashlock.ts';
import type { SwapRecord } from '../stores/store.ts';
import { putTelling, type Telling } from './before-sending.ts';
import { type Context, legOf, ownSides, relays } from './context.ts';
import { asked } from './market.ts';

/** How long a relayed claim may be unseen before the own one is sent. */
const unseenMs = 30_000;

/** `waits`: it is the market's turn. Else the own claim is due; the record may have changed. */
export async function relayClaim(
  context: Context,
  record: SwapRecord,
  { claimed }: EscrowFacts,
  told: { readonly secret: Hex32; readonly telling?: Telling },
): Promise<{ readonly record: SwapRecord; readonly waits: boolean }> {
  const { gets } = ownSides(record);
  const leg = legOf(record, gets);
  if (!relays(context, leg)) return { record, waits: false };
  const { relay } = record;
  // No answer to the first question is no refusal: asked again, it is the same claim.
  const isOpen = relay !== undefined && relay.txid === null && !isWithin(unseenMs, relay.askedAtMs);
  if (relay === undefined || isOpen) return ask(context, record, told);
  const patienceMs = Math.min(unseenMs, context.replaceAfterMs(leg.family));
  const limitMs = claimed !== null ? context.replaceAfterMs(leg.family) : patienceMs;
  const waits = relay.txid !== null && isWithin(limitMs, relay.askedAtMs);
  if (waits) context.tell('waiting', gets, 'the market sends the claim', relay.txid ?? undefined);
  return { record, waits };
}

/** A clock that was set back makes no wait longer. */
function isWithin(limitMs: number, askedAtMs: number): boolean {
  return Math.abs(Date.now() - askedAtMs) < limitMs;
}

async function ask(
  context: Context,
  record: SwapRecord,
  { secret, telling }: { readonly secret: Hex32; readonly telling?: Telling },
): Promise<{ record: SwapRecord; waits: boolean }> {
  const { gets } = ownSides(record);
  const askedAtMs = Date.now();
  // Kept before it is told: who has it may show it.
  const told = { ...record, publicSecret: secret, relay: { askedAtMs, txid: null } };
  if (telling === undefined) await context.store.putSwap(told);
  else await putTelling(context, told, telling);
  try {
    const { txid } = await asked(context, (how) => {
      if (context.client === null) throw new Error('there is no market to ask');
      return context.client.relayClaim(record.swap.id, gets, secret, how);
    });
    const next = { ...told, relay: { askedAtMs, txid } };
    await context.store.putSwap(next);
    context.tell('claimed', gets, `the market sends the claim of leg ${gets}`, txid);
    return { record: next, waits: true };
  } catch (error) {
    context.signal?.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    context.tell('market_refused', gets, `${why}; sends the claim alone`);
    return { record: told, waits: false };
  }
}
