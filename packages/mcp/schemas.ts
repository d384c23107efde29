// Shapes of what tools take and give. Amounts stand in whole coins and in base units, instants as
// RFC 3339, words of others in objects of their own.

import { pageLimit, validForSeconds as validFor } from '@parley/core/limits.ts';
import { parties, roles } from '@parley/core/trade.ts';
import { z } from 'zod';
import { digestShape } from './plans.ts';
import { mostWaitSeconds } from './waiting.ts';

export const assetName = z
  .string()
  .regex(/^[\w.-]{1,60}(?::[\w.-]{1,100})?$/)
  .describe('ASSET');
export const amountIn = z
  .string()
  .regex(/^\d{1,60}(?:\.\d{1,60})?$/)
  .describe('whole coins, such as "0.01"');
export const id = z.string().regex(/^[0-9a-zA-Z-]{1,64}$/);
export const digest = z
  .string()
  .regex(digestShape)
  .optional()
  .describe('of the plan of the first call: does it');
export const validForSeconds = z
  .int()
  .min(validFor.least)
  .max(validFor.most)
  .optional()
  .describe('how long the price holds');
export const waitSeconds = z.int().min(1).max(mostWaitSeconds).optional();
export const limit = z
  .int()
  .min(pageLimit.least)
  .max(pageLimit.most)
  .optional()
  .describe(`default ${pageLimit.otherwise}`);
export const cursor = z.string().max(500).optional().describe('nextCursor of the last page');
export const side = z.enum(['sell', 'buy']).describe('of the taker, about base');

// The schemas do not repeat what the instructions of the server say once: a client reads them all.
export const foreignOut = z.object({ untrusted: z.string() });
export const amountOut = z.object({
  asset: z.string(),
  units: z.string(),
  amount: z.string().nullable(),
});
const word = z.string();
const instant = z.string();
export const nextCursor = z.string().nullable();

export const assetOut = z.object({
  asset: z.string(),
  chain: z.string(),
  contract: z.string().nullable(),
  symbol: foreignOut,
  decimals: z.number(),
  open: z.boolean(),
  curated: z.boolean(),
  pinned: z.boolean().describe('in the profile: only such assets are traded here'),
});
export const standingOut = z
  .object({
    agreed: z.number(),
    settled: z.number(),
    abandoned: z.number(),
    refunded: z.number(),
    medianFundSeconds: z.number().nullable(),
  })
  .nullable()
  .describe('how the account kept its agreements; null: not said');
export const rfqOut = z.object({
  rfqId: z.string(),
  status: word,
  side,
  base: amountOut,
  quoteAsset: z.string(),
  asks: amountOut.nullable().describe('what the taker would accept; null: any price'),
  pinned: z.boolean().describe('both assets are in the profile'),
  mine: z.boolean(),
  visibility: word,
  minSettled: z.number().nullable(),
  endsAt: instant,
  creator: standingOut,
});
export const threadOut = z.object({
  threadId: z.string(),
  rfqId: z.string(),
  side,
  base: amountOut,
  pinned: z.boolean(),
  role: z.enum(parties),
  status: word,
  price: amountOut.describe('for all of the base amount'),
  proposedBy: z.enum(['you', 'them']),
  youAccepted: z.boolean(),
  theyAccepted: z.boolean(),
  acceptanceEndsAt: instant.nullable(),
  priceEndsAt: instant.nullable(),
  fundsFirst: z.enum(['you', 'them']),
  swapId: z.string().nullable(),
  otherSide: standingOut,
});
export const stepOut = z.object({
  by: z.enum(['you', 'them']),
  action: word,
  leg: z.string().nullable(),
  before: instant.nullable().describe('after it the step is no longer open'),
  why: foreignOut,
});
const legOut = z.object({
  leg: z.string(),
  chain: z.string(),
  amount: amountOut,
  fundedBy: z.enum(['you', 'them']),
  status: word,
  escrow: z.string().nullable(),
  refundFrom: instant.describe('the timelock: claims before, refunds from then on'),
  confirmations: z.number(),
  requiredConfirmations: z.number(),
  fundTx: z.string().nullable(),
  claimTx: z.string().nullable(),
  refundTx: z.string().nullable(),
});
export const drivenOut = z
  .object({
    state: z.enum(['running', 'ended', 'stopped']),
    step: z.string(),
    txid: z.string().nullable(),
    said: foreignOut,
    at: instant,
  })
  .nullable()
  .describe('what this server does for it; null: nothing');
export const swapOut = z.object({
  swapId: z.string(),
  threadId: z.string(),
  status: word,
  role: z.enum(roles),
  legs: z.array(legOut),
  deadlines: z.object({ initiatorFundBy: instant, counterpartyFundBy: instant, revealBy: instant }),
  next: z.array(stepOut).describe('what each side can do now, by the market'),
  driven: drivenOut,
  doubts: z.array(foreignOut).describe('what is wrong with the nodes of a leg'),
  verified: z
    .boolean()
    .describe('escrows and times follow from the own trade; see the tool verify'),
});

/** The part of a swap that a trade tool shows: the tool `swap` has the rest. */
export const swapMade = z.object({
  swapId: z.string(),
  status: word,
  gives: amountOut,
  gets: amountOut,
  next: z.array(stepOut),
  driven: drivenOut,
});

export const planOut = z.object({
  words: z.array(z.string()).describe('what would be done, for the person'),
  sends: z.record(z.string(), z.unknown()).describe('exactly what would be sent'),
  most: z.record(z.string(), z.string()).describe('fees in base units, by chain'),
  digest: z.string(),
  validUntil: instant,
});

/** The output of a trade tool: a plan, and after the second call what was done. */
export function outcome<T extends z.ZodType>(done: T) {
  return z.object({
    is: z.enum(['plan', 'done']),
    plan: planOut.nullable(),
    done: done.nullable(),
    again: z.boolean().describe('an earlier call did it, and this one nothing'),
  });
}
