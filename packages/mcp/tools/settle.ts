// Tools of a server with keys: a swap is driven to its end in the background by the SDK, or given
// up. A swap that was begun goes on after a crash by itself.

import { isoTime } from '@parley/sdk/people.ts';
import { mayBeFunded } from '@parley/sdk/stores/store.ts';
import { givenLeg, type OwnTrade } from '@parley/sdk/trade.ts';
import { nameOfPinned } from '@parley/trader/assets.ts';
import { coinsAt } from '@parley/trader/chains.ts';
import { Failure } from '@parley/trader/failures.ts';
import { chainsIn, sidesOf } from '@parley/trader/sides.ts';
import {
  endUnfunded,
  fundingWords,
  giveUp,
  giveUpAlone,
  giveUpWords,
  refundWords,
} from '@parley/trader/swaps.ts';
import { z } from 'zod';
import { amountOf, type Desk, type Held } from '../desk.ts';
import type { Spend } from '../ledger.ts';
import * as shape from '../schemas.ts';
import { tradeTool } from '../tool.ts';
import { feesOf, feesWords } from './fees.ts';
import { type Opened, withSwap } from './opened.ts';
import { drivenView, stepsView, swapMade } from './views.ts';

const settleDone = shape.swapMade;
const refundDone = z.object({
  swapId: z.string(),
  driven: shape.drivenOut,
  next: z.array(shape.stepOut),
});
/** The first steps are usually seen within it. */
const firstLookMs = 3_000;

/** A market that is away names none: the tool does not wait for it. */
async function nextOf({ client }: Desk, swapId: string) {
  const found = await client.swap(swapId).catch(() => null);
  return found === null ? [] : stepsView(found);
}

function heldBy({ held }: Desk): Held {
  if (held !== null) return held;
  throw new Failure('needs_you', 'no_keys', 'this server was started without --keys');
}

function sidesIn(desk: Desk, trade: OwnTrade) {
  const named = (side: 'base' | 'quote') => nameOfPinned(desk.session, trade[side]);
  return sidesOf(trade, { base: named('base'), quote: named('quote') });
}

const viewed = (desk: Desk, swapId: string) =>
  withSwap<Opened>(desk, swapId, { isUrgent: false }, async (opened) => opened);

export const settle = tradeTool({
  name: 'settle',
  title: 'Drive a swap to its end',
  about:
    'Funds in turn, claims, or refunds when the other side stops: by the keys of this server, in ' +
    'the background, until it has ended. "swap" shows how it goes. First a plan, then its ' +
    'digest. Call it soon after both accepted.',
  input: z.object({ swapId: shape.id, digest: shape.digest }),
  done: settleDone,
  output: shape.outcome(settleDone),
  destructive: true,
  prepare: async (desk, { swapId }) => {
    const { own, ledger, driver } = heldBy(desk);
    const record = await own.store.getSwap(swapId);
    // A kept swap is settled, whatever the market says of it now.
    const { trade, swap: verified } = record ?? (await viewed(desk, swapId));
    const sides = sidesIn(desk, trade);
    const { gives, gets } = sides;
    const spend: Spend = {
      threadId: trade.threadId,
      gives: gives.own.name,
      gets: gets.own.name,
      units: gives.amount,
    };
    // An escrow that may hold coins is claimed and refunded, whatever the limits say.
    const mayFund = record === null || !mayBeFunded(record);
    if (mayFund) await ledger.check(spend);
    const most = await feesOf(desk.session, sides);
    // On Bitcoin the trade names the key of the script, and coins go to the wallet.
    const coins = async (side: 'gives' | 'gets') =>
      coinsAt(await own.wallet(chainsIn(trade)[side]));
    return {
      words: [
        ...(await fundingWords(desk.session, own, { swapId, trade, record })),
        ...feesWords(desk.session, most),
        'it funds in turn, claims by itself, and refunds from the timelock on if the other side stops',
        'on Bitcoin it leaves signed claims and refunds with the market, which can pay you alone',
      ],
      order: {
        swapId,
        threadId: trade.threadId,
        hashlock: verified.hashlock,
        role: verified.role,
        gives: amountOf(gives.amount, gives.own),
        gets: amountOf(gets.amount, gets.own),
        refundTo: await coins('gives'),
        payTo: await coins('gets'),
        refundFrom: isoTime(verified.deadlines.refundAt[givenLeg(trade.party)]),
      },
      most,
      act: async () => {
        if (mayFund) await ledger.count(spend);
        await driver.drive(swapId);
        await driver.settled(swapId, firstLookMs);
        return swapMade(desk, await desk.client.swap(swapId));
      },
    };
  },
});

export const refund = tradeTool({
  name: 'refund',
  title: 'Give a swap up',
  about:
    'For good: funds nothing more, and takes your coins back from the timelock on. First a plan, ' +
    'then its digest.',
  input: z.object({
    swapId: shape.id,
    release: z.boolean().optional().describe('sends both coins back sooner, if both agree'),
    digest: shape.digest,
  }),
  done: refundDone,
  output: shape.outcome(refundDone),
  destructive: true,
  prepare: async (desk, { swapId, release = false }) => {
    const { own, driver } = heldBy(desk);
    const record = await own.store.getSwap(swapId);
    // A swap that is kept needs nothing of the market.
    const trade = record?.trade ?? (await viewed(desk, swapId)).trade;
    const { gives } = chainsIn(trade);
    return {
      words: [
        `give up swap ${swapId}, which gives on ${gives}`,
        ...(release ? giveUpWords : refundWords)(desk.session, record),
      ],
      order: {
        swapId,
        threadId: trade.threadId,
        refundTo: coinsAt(await own.wallet(gives)),
        release,
      },
      act: async () => {
        await (release ? giveUp : giveUpAlone)(desk.session, swapId);
        await driver.stop(swapId);
        // It may have got its record while it was stopped.
        if (!release && (await own.store.getSwap(swapId)) === null) {
          await endUnfunded(desk.session, swapId);
          return { swapId, driven: null, next: await nextOf(desk, swapId) };
        }
        await driver.drive(swapId);
        await driver.settled(swapId, firstLookMs);
        const driven = drivenView(driver.of(swapId));
        return { swapId, driven, next: await nextOf(desk, swapId) };
      },
    };
  },
});
