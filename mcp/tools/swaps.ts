// Tools that read swaps: what each side can do now, and whether escrows are what was agreed.

import { z } from 'zod';
import { Failure } from '../../cli/failures.ts';
import type { LegName } from '../../core/trade.ts';
import { sighted } from '../../sdk/agree.ts';
import { messageOf, VerificationError } from '../../sdk/errors.ts';
import { isoTime } from '../../sdk/people.ts';
import { lookAtLeg } from '../../sdk/settle/look.ts';
import { doubtsOf, type LegSeen } from '../../sdk/settle/record.ts';
import { mayBeFunded, newsOf, type SwapRecord } from '../../sdk/stores/store.ts';
import { givenLeg, type OwnTrade, type VerifiedLeg, type VerifiedSwap } from '../../sdk/trade.ts';
import type { Swap } from '../../sdk/types.ts';
import { verifyAgain, verifySwap } from '../../sdk/verify.ts';
import { amountOf, type Desk } from '../desk.ts';
import { cursorIn, foreign, orNull, word } from '../foreign.ts';
import * as shape from '../schemas.ts';
import { readTool } from '../tool.ts';
import { stepsView, swapMade, swapView } from './views.ts';

const swaps = readTool({
  name: 'swaps',
  title: 'Your swaps',
  about: 'Swaps of the account with deadlines and what each side can do now, newest first.',
  input: z.object({
    status: z
      .string()
      .regex(/^[a-z_]{1,40}$/)
      .optional(),
    ...{ limit: shape.limit, cursor: shape.cursor },
  }),
  output: z.object({ swaps: z.array(shape.swapMade), nextCursor: shape.nextCursor }),
  run: async (desk, { status, limit, cursor }) => {
    const found = await desk.client.swaps({
      ...(status === undefined ? {} : { status: status as Swap['status'] }),
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const all = await Promise.all(found.swaps.map((each) => swapMade(desk, each)));
    return { swaps: all, nextCursor: orNull(cursorIn, found.nextCursor) };
  },
});

/** A wait that a client does not give up before. */
const mostWaitSeconds = 45;

const swap = readTool({
  name: 'swap',
  title: 'One swap',
  about:
    'Its legs, deadlines, next steps of both sides, and what this server does for it. With ' +
    'waitSeconds it answers once the driver has ended or stands still, or after that time.',
  input: z.object({
    swapId: shape.id,
    waitSeconds: z.int().min(1).max(mostWaitSeconds).optional(),
  }),
  output: z.object({ swap: shape.swapOut }),
  run: async (desk, { swapId, waitSeconds = 0 }) => {
    if (waitSeconds > 0) await desk.held?.driver.settled(swapId, waitSeconds * 1_000);
    return { swap: await swapView(desk, await desk.client.swap(swapId)) };
  },
});

export type Known = { readonly trade: OwnTrade; readonly swap: Swap };

/** The own trade of a swap, kept when it was accepted. Throws Failure `unknown_trade`. */
export async function knownTrade(desk: Desk, swapId: string): Promise<Known> {
  const found = await desk.client.swap(swapId);
  const record = await desk.held?.own.store.getSwap(swapId);
  const trade =
    record?.trade ??
    (await desk.held?.own.store.getTrade(found.threadId)) ??
    (await desk.watched.getTrade(found.threadId));
  if (trade != null) return { trade, swap: found };
  const sentence =
    `swap ${swapId} was not accepted here, so there is nothing of one's own to verify it by` +
    (desk.held === null ? ': a server with --keys knows what the profile accepted' : '');
  throw new Failure('needs_you', 'unknown_trade', sentence);
}

export async function chainsOf({ session }: Desk, { base, quote }: OwnTrade) {
  const chains: Record<string, { source: Awaited<ReturnType<Desk['session']['source']>> }> = {};
  for (const { chain } of [base, quote]) chains[chain] = { source: await session.source(chain) };
  return chains;
}

/**
 * Without keys: before anything of a swap goes on, it was first seen while the acceptance stood. A
 * market could keep it back to see where the price goes. Throws SettleError `acceptance_lapsed`.
 */
export async function mustBeInTime(desk: Desk, { trade, swap: found }: Known): Promise<void> {
  const at = { swapId: found.id, now: desk.session.now() };
  await sighted(desk.watched, trade, found, await chainsOf(desk, trade), at);
}

/** What is kept of a swap here: with keys by the driver, without by what was handed out. */
async function recordOf({ held, watched }: Desk, swapId: string): Promise<SwapRecord | null> {
  return (await held?.own.store.getSwap(swapId)) ?? (await watched.getSwap(swapId));
}

/**
 * By the own trade, pins and policies, and by what was verified of it before. Throws
 * VerificationError, also where an escrow is another one once money may be in it.
 */
export async function verifiedBy(desk: Desk, { trade, swap: found }: Known): Promise<VerifiedSwap> {
  const chains = await chainsOf(desk, trade);
  const record = await recordOf(desk, found.id);
  if (record === null) {
    return verifySwap(found, trade, chains, { swapId: found.id, now: desk.session.now() });
  }
  const verified = verifyAgain(found, record, chains);
  for (const name of ['a', 'b'] as const) {
    const kept = record.swap.legs[name].escrow?.address ?? null;
    const said = verified.legs[name].escrow?.address ?? null;
    if (kept === said || kept === null || !isFixed(record, name)) continue;
    throw new VerificationError(`legs.${name}.escrow`, kept, said ?? 'none');
  }
  return verified;
}

/** As `mayMove` of the driver: an initiator follows the other side's lane until it was funded. */
function isFixed(record: SwapRecord, name: LegName): boolean {
  const { address = '' } = record.swap.legs[name].escrow ?? {};
  const wasFunded = (record.seen?.[address]?.funded?.confirmations ?? 0) > 0;
  const isOther = name !== givenLeg(record.trade.party);
  const follows = isOther && record.swap.role === 'initiator';
  return wasFunded || (mayBeFunded(record) && !follows);
}

/** Of a swap that nothing was signed of here. */
export const unsent = { funding: null, claim: null, refund: null, publicSecret: null };

/** One leg by all own nodes, held against what was seen before, and kept. */
export async function legNow(
  desk: Desk,
  { trade }: Known,
  swap: VerifiedSwap,
  name: LegName,
): Promise<LegSeen> {
  const kept = await recordOf(desk, swap.id);
  const record: SwapRecord = { ...unsent, ...kept, trade, swap };
  const how = { chains: await chainsOf(desk, trade), now: () => desk.session.now() };
  const seen = await lookAtLeg(record, name, how);
  const news = seen.evidence?.agreed === false ? null : newsOf(record, [seen]);
  const isOwn = desk.held === null && kept !== null;
  if (news !== null && isOwn) await desk.watched.putSwap({ ...kept, ...news });
  return seen;
}

const seenOut = z.object({
  leg: z.string(),
  chain: z.string(),
  amount: shape.amountOut,
  escrow: z.string().nullable(),
  refundFrom: z.string(),
  funded: z
    .boolean()
    .nullable()
    .describe('by your own nodes; null: no escrow yet, or they are silent'),
  deep: z.boolean().nullable().describe('the funding is as deep as your own policy wants'),
  claimed: z.boolean().nullable(),
  refunded: z.boolean().nullable(),
  balance: shape.amountOut.nullable(),
  silent: shape.foreignOut.nullable().describe('why a node did not answer'),
  doubts: z
    .array(z.string())
    .describe('why nothing may begin or end by it: your nodes differ, stand still, or deny it'),
});

const verify = readTool({
  name: 'verify',
  title: 'Verify a swap by your own nodes',
  about:
    'Computes both escrows and all times from the own trade, compares them with what the market ' +
    'says, and reads the escrows at the nodes of the profile. What differs ends it with an error.',
  input: z.object({ swapId: shape.id }),
  output: z.object({
    swapId: z.string(),
    verified: z.literal(true),
    role: z.enum(['initiator', 'counterparty']),
    agreedAt: z.string(),
    legs: z.array(seenOut),
    next: z.array(shape.stepOut),
  }),
  run: async (desk, { swapId }) => {
    const known = await knownTrade(desk, swapId);
    const verified = await verifiedBy(desk, known);
    const legs = await Promise.all(
      (['a', 'b'] as const).map((name) => seen(desk, known, verified, verified.legs[name])),
    );
    const { role, agreedAt } = verified;
    const next = stepsView(known.swap);
    return { swapId, verified: true as const, role, agreedAt: isoTime(agreedAt), legs, next };
  },
});

async function seen(
  desk: Desk,
  known: Known,
  verified: VerifiedSwap,
  leg: VerifiedLeg,
): Promise<z.infer<typeof seenOut>> {
  const { trade } = known;
  const names = await desk.names();
  const asset = leg.assetId === trade.base.id ? trade.base : trade.quote;
  const own = { name: names.of(asset.id).name, decimals: asset.decimals };
  const { escrow, chain, timelock } = leg;
  const about = {
    ...{ leg: leg.leg, chain: word(chain), amount: amountOf(leg.amount, own) },
    ...{ escrow: escrow?.address ?? null, refundFrom: isoTime(timelock) },
  };
  const nothing = { funded: null, deep: null, claimed: null, refunded: null, balance: null };
  const silence = { ...nothing, doubts: [] };
  if (escrow === null) return { ...about, ...silence, silent: null };
  try {
    const shown = await legNow(desk, known, verified, leg.leg);
    const { facts } = shown.leg;
    return {
      ...about,
      ...{ funded: facts.funded !== null, deep: facts.funded?.deep ?? false },
      ...{ claimed: facts.claimed !== null, refunded: facts.refunded !== null },
      ...{ balance: amountOf(facts.balance, own), silent: null, doubts: doubtsOf(shown) },
    };
  } catch (error) {
    return { ...about, ...silence, silent: foreign(messageOf(error)) };
  }
}

export const swapTools = [swaps, swap, verify];
