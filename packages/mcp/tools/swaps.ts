// Tools that read swaps: the next step of each side, and whether escrows are as agreed.

import { nextSteps } from '@parley/core/next.ts';
import type { LegName } from '@parley/core/trade.ts';
import { roles } from '@parley/core/trade.ts';
import { codeOf, messageOf } from '@parley/sdk/errors.ts';
import { isoTime } from '@parley/sdk/people.ts';
import type { Poll } from '@parley/sdk/settle/chains.ts';
import { doubtsOf, seenOf } from '@parley/sdk/settle/record.ts';
import { mustAgree } from '@parley/sdk/settle/sign.ts';
import type { VerifiedLeg } from '@parley/sdk/trade.ts';
import type { Swap } from '@parley/sdk/types.ts';
import { z } from 'zod';
import { amountOf, type Desk } from '../desk.ts';
import { cursorIn, foreign, orNull, word } from '../foreign.ts';
import * as shape from '../schemas.ts';
import { readTool } from '../tool.ts';
import { type Call, waited } from '../waiting.ts';
import { type Opened, withSwap } from './opened.ts';
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
    limit: shape.limit,
    cursor: shape.cursor,
  }),
  output: z.object({ swaps: z.array(shape.swapMade), nextCursor: shape.nextCursor }),
  run: async (desk, { status, limit, cursor }) => {
    const found = await desk.client.swaps({
      ...(status === undefined ? {} : { status: status as Swap['status'] }),
      limit,
      cursor,
    });
    const all = await Promise.all(found.swaps.map((each) => swapMade(desk, each)));
    return { swaps: all, nextCursor: orNull(cursorIn, found.nextCursor) };
  },
});

const drivenMs = 500;
const askedMs = 5_000;

/** Until the driver has ended or stands still; without one, until it has ended or its steps change. */
async function moved(desk: Desk, swapId: string, seconds: number, call: Call): Promise<void> {
  const wait = { call, timer: desk.timer, seconds };
  const { driver } = desk.held ?? { driver: null };
  if (driver !== null && driver.of(swapId) !== null) {
    await waited({
      ...wait,
      everyMs: drivenMs,
      look: async () => driver.of(swapId),
      isOver: (driven) => driven?.state !== 'running',
      words: (driven) => `swap ${swapId}: ${driven?.step}`,
    });
    return;
  }
  let first: string | null = null;
  await waited({
    ...wait,
    everyMs: askedMs,
    look: () => desk.client.swap(swapId, { signal: call.signal }),
    isOver: ({ status, next }) => {
      const stands = JSON.stringify([status, next]);
      first ??= stands;
      return next.length === 0 || stands !== first;
    },
    words: ({ status }) => `swap ${swapId}: ${word(status)}`,
  });
}

const swap = readTool({
  name: 'swap',
  title: 'One swap',
  about:
    'Its legs, deadlines, next steps of both sides, and what this server does for it. With ' +
    'waitSeconds: once it has ended or stands still; without keys, once a step changes.',
  input: z.object({ swapId: shape.id, waitSeconds: shape.waitSeconds }),
  output: z.object({ swap: shape.swapOut }),
  waits: ({ waitSeconds = 0 }) => waitSeconds,
  run: async (desk, { swapId, waitSeconds = 0 }, call) => {
    if (waitSeconds > 0) await moved(desk, swapId, waitSeconds, call);
    return { swap: await swapView(desk, await desk.client.swap(swapId)) };
  },
});

const seenOut = z.object({
  leg: z.string(),
  chain: z.string(),
  amount: shape.amountOut,
  escrow: z.string().nullable(),
  refundFrom: z.string(),
  funded: z.boolean().nullable().describe('null: an escrow is missing, or your nodes are silent'),
  deep: z.boolean().nullable().describe('as deep as your own policy wants'),
  claimed: z.boolean().nullable(),
  refunded: z.boolean().nullable(),
  balance: shape.amountOut.nullable(),
  doubts: z.array(z.string()).describe('what is wrong with its nodes'),
  /** Why no node answered. */
  silent: shape.foreignOut.nullable(),
});

const verify = readTool({
  name: 'verify',
  title: 'Verify a swap by your own nodes',
  about:
    'Computes escrows and times from the own trade, compares them with what the market says and ' +
    'has said, and asks all own nodes. What differs is an error.',
  input: z.object({ swapId: shape.id }),
  output: z.object({
    swapId: z.string(),
    verified: z.literal(true),
    role: z.enum(roles),
    agreedAt: z.string(),
    legs: z.array(seenOut),
    next: z.array(shape.stepOut).describe('by own nodes'),
  }),
  run: (desk, { swapId }) =>
    withSwap(desk, swapId, { isUrgent: false }, async ({ trade, swap: verified, seen }) => {
      const names = await desk.names();
      const gates = seen === null ? new Map<LegName, string>() : await shutGates(seen);
      const legs = (['a', 'b'] as const).map((name) => {
        const leg = verified.legs[name];
        const asset = leg.assetId === trade.base.id ? trade.base : trade.quote;
        const own = { name: names.of(asset.id).name, decimals: asset.decimals };
        return legView(leg, own, seen?.polled ?? null, gates.get(name));
      });
      const { role, agreedAt } = verified;
      const next = seen === null ? [] : nextBy(seen);
      return { swapId, verified: true as const, role, agreedAt: isoTime(agreedAt), legs, next };
    }),
});

function legView(
  { leg: name, chain, amount, escrow, timelock }: VerifiedLeg,
  own: Parameters<typeof amountOf>[1],
  polled: Poll | null,
  gate?: string,
): z.infer<typeof seenOut> {
  const shut = gate === undefined ? [] : [gate];
  const about = {
    leg: name,
    chain: word(chain),
    amount: amountOf(amount, own),
    escrow: escrow?.address ?? null,
    refundFrom: isoTime(timelock),
  };
  const shown = polled?.legs.get(name);
  if (shown === undefined) {
    const error = polled?.errors.get(name);
    const nothing = { funded: null, deep: null, claimed: null, refunded: null, balance: null };
    const silent = error === undefined ? null : foreign(messageOf(error));
    return { ...about, ...nothing, doubts: shut, silent };
  }
  const { funded, claimed, refunded, balance } = shown.leg.facts;
  const told = shown.evidence?.doubts.map(({ sentence }) => sentence) ?? [];
  return {
    ...about,
    funded: funded !== null,
    deep: funded?.deep ?? false,
    claimed: claimed !== null,
    refunded: refunded !== null,
    balance: amountOf(balance, own),
    doubts: [...new Set([...told, ...doubtsOf(shown)]), ...shut],
    silent: null,
  };
}

/** The refusals of a funding or reveal now, by leg: its nodes differ. */
async function shutGates({ context }: NonNullable<Opened['seen']>): Promise<Map<LegName, string>> {
  const shut = new Map<LegName, string>();
  const tries = (['a', 'b'] as const).map(async (name) => {
    try {
      await mustAgree(context, [name]);
    } catch (error) {
      // The poll reports all other failures.
      if (codeOf(error) === 'sources_disagree') shut.set(name, messageOf(error));
    }
  });
  await Promise.all(tries);
  return shut;
}

/** By the rules and the own nodes: a market could name a step that gives the secret away. */
function nextBy({ context, polled }: NonNullable<Opened['seen']>): z.infer<typeof shape.stepOut>[] {
  const { record } = context;
  const a = polled.legs.get('a');
  const b = polled.legs.get('b');
  if (a === undefined || b === undefined) return [];
  const { state, clocks, doubt } = seenOf(record, { a, b }, polled.wall);
  if (doubt !== undefined && state.secret === null) return [];
  return stepsView({ next: nextSteps(state, clocks), role: record.swap.role });
}

export const swapTools = [swaps, swap, verify];
