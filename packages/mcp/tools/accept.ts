// The tool that binds: examined by the own trade, pins and nodes, held against the limits, and
// counted before the market hears of it.

import { roles } from '@parley/core/trade.ts';
import { accept as acceptThread, comesTo, type Examined, sighted } from '@parley/sdk/agree.ts';
import { isoTime, parseIsoTime } from '@parley/sdk/people.ts';
import { type OwnTrade, standsUntil } from '@parley/sdk/trade.ts';
import type { Thread } from '@parley/sdk/types.ts';
import { verifyAgreement } from '@parley/sdk/verify.ts';
import { type OwnAsset, typedAmount } from '@parley/trader/assets.ts';
import { coinsAt } from '@parley/trader/chains.ts';
import {
  examined,
  type Looked,
  lackings,
  lookedAt,
  planOf,
  walletsOn,
} from '@parley/trader/deal.ts';
import { misused, needsYou } from '@parley/trader/failures.ts';
import type { Examined as Found } from '@parley/trader/fitting.ts';
import { roundedAmount } from '@parley/trader/rounded.ts';
import type { Session } from '@parley/trader/session.ts';
import { type Sides, sidesOf } from '@parley/trader/sides.ts';
import { compareTerms, namedBy, otherThan, type Terms } from '@parley/trader/terms.ts';
import { z } from 'zod';
import { amountOf, type Desk, type Held, inWords } from '../desk.ts';
import { counting, type Spend } from '../ledger.ts';
import type { Plan } from '../plans.ts';
import { Refusal } from '../refusal.ts';
import * as shape from '../schemas.ts';
import { type Prepared, tradeTool } from '../tool.ts';
import { type Addresses, destinationsOf } from './destinations.ts';
import { feesOf, feesWords } from './fees.ts';
import { chainsOf } from './opened.ts';

const acceptDone = z.object({
  threadId: z.string(),
  swapId: z.string().nullable().describe('null: the other side has yet to accept'),
  role: z.enum(roles),
  deadlines: z.object({
    initiatorFundBy: z.string(),
    counterpartyFundBy: z.string(),
    refundFrom: z.string(),
  }),
  lacking: z
    .array(z.string())
    .nullable()
    .describe('what the wallets do not have; null: not looked at, an earlier call accepted'),
  next: z.string(),
});

/** The fields of the request that are named beside the price. */
const named = {
  side: shape.side.optional().describe('this and the next three: where terms_unknown wants them'),
  amount: shape.amountIn.optional().describe('of the base asset'),
  base: shape.assetName.optional().describe('ASSET'),
  quote: shape.assetName.optional().describe('ASSET'),
};

/** The arguments of a party whose wallets are elsewhere. */
export const elsewhere = {
  payTo: z
    .string()
    .max(120)
    .optional()
    .describe('without keys: where you are paid; on Bitcoin a compressed key, 66 hex'),
  refundTo: z
    .string()
    .max(120)
    .optional()
    .describe('without keys: what you fund from, and where a refund goes'),
  form: z.literal('p2tr').optional().describe('without keys: your wallet signs BIP 340'),
  hashlock: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .describe('without keys, if you fund first: sha256 of your own secret'),
};

const input = z.object({
  threadId: shape.id,
  price: shape.amountIn.describe('the price of the thread, for all of it'),
  ...named,
  ...elsewhere,
  digest: shape.digest,
});
type Args = z.infer<typeof input>;

export const accept = tradeTool({
  name: 'accept',
  title: 'Accept a price: it binds you',
  about:
    'Accepts the price of a thread. When both sides have accepted, the swap exists and each must ' +
    'fund in its turn. First a plan with amounts, addresses, deadlines and costs, all verified by ' +
    'the own nodes, then its digest.',
  input,
  done: acceptDone,
  output: shape.outcome(acceptDone),
  destructive: true,
  prepare: async (desk, args) => {
    const looked = await lookAt(desk, args);
    return desk.held === null
      ? withoutKeys(desk, args, looked)
      : withKeys(desk, desk.held, args, looked);
  },
  became,
});

const checked =
  'checked by profile and nodes: terms, contracts, decimals, locks, times, and who funds first';

async function lookAt(desk: Desk, args: Args): Promise<Looked> {
  const { threadId, price: typed } = args;
  const thread = await desk.client.thread(threadId);
  const names = await desk.names();
  const looked = lookedAt(desk.session, desk.userId, names.whole, thread);
  const { price, assets, terms } = looked;
  if (thread.status === 'closed') {
    throw new Refusal('needs_you', 'thread_closed', `thread ${threadId} is closed`, { threadId });
  }
  const stands = amountOf(price, assets.quote);
  if (typedAmount(typed, assets.quote) !== price) {
    const sentence = `the price is ${inWords(stands)}, and not ${typed}`;
    throw new Refusal('needs_you', 'price_moved', sentence, { price: stands.amount, given: typed });
  }
  await mustBeTerms(desk.session, thread.rfq.id, { ...terms, ...assets }, args);
  const ends = thread.quoteExpiresAt;
  const isOver = ends != null && parseIsoTime(ends) < desk.session.now();
  // A thread that was accepted in time is accepted.
  if (isOver && !thread[`${terms.party}Accepted`]) {
    throw new Refusal('needs_you', 'price_ended', `the price ended at ${ends}`, { ends });
  }
  return looked;
}

/** Where price and request end, whichever is sooner. */
function endsAt({ quoteExpiresAt, rfq }: Thread): number {
  const ends = [rfq.expiresAt, ...(quoteExpiresAt == null ? [] : [quoteExpiresAt])];
  return Math.min(...ends.map(parseIsoTime));
}

async function withKeys(
  desk: Desk,
  { own, ledger }: Held,
  args: Args,
  looked: Looked,
): Promise<Prepared> {
  if ((args.payTo ?? args.refundTo ?? args.form ?? args.hashlock) !== undefined) {
    throw misused(
      'payTo, refundTo, form and hashlock are of a server without keys: the keystore has them',
    );
  }
  const { session, signed } = desk;
  const found = await examined(session, signed, own, looked);
  const sides = sidesOf(found.trade, looked.assets);
  const { gives, gets } = sides;
  const spend: Spend = {
    threadId: args.threadId,
    gives: gives.own.name,
    gets: gets.own.name,
    units: gives.amount,
  };
  await ledger.check(spend);
  const wallets = await walletsOn(own, sides);
  const lacking = await lackings(session, sides, wallets);
  const most = await feesOf(session, sides);
  return {
    words: [
      ...planOf(found, sides, wallets, session.now()),
      ...feesWords(session, most),
      checked,
      ...lacking.map((line) => `lacking   ${line}`),
    ],
    order: orderOf(found, looked, { from: coinsAt(wallets.gives), to: coinsAt(wallets.gets) }),
    most,
    until: endsAt(looked.thread),
    act: (idempotencyKey) =>
      counting(ledger, spend, async () => {
        const done = await acceptThread({ ...found.dealing, store: own.store }, { idempotencyKey });
        return doneOf(found, args.threadId, done.swapId, lacking);
      }),
  };
}

async function withoutKeys(desk: Desk, args: Args, looked: Looked): Promise<Prepared> {
  const { threadId, payTo, refundTo, form, hashlock } = args;
  if (payTo === undefined || refundTo === undefined) {
    throw misused('without keys "accept" wants payTo and refundTo, addresses of your own wallets');
  }
  const { session, signed } = desk;
  const addresses: Addresses = { payTo, refundTo, ...(form && { form }) };
  const destinationOn = await destinationsOf(desk, looked.thread, looked.assets, addresses);
  const found = await examined(session, signed, null, { ...looked, destinationOn });
  if (found.role === 'initiator' && hashlock === undefined) {
    const sentence =
      'you fund first, so you hold the secret: give its hashlock, sha256 of 32 random bytes';
    throw needsYou('hashlock_missing', sentence);
  }
  const mine = found.role === 'initiator' ? (hashlock ?? null) : null;
  if (mine !== null) await desk.hashlocks.check(mine, threadId);
  const sides = sidesOf(found.trade, looked.assets);
  const most = await feesOf(session, sides);
  return {
    words: [
      ...wordsOf(found, sides),
      `you are paid at ${payTo}; a refund goes to ${refundTo}`,
      'this server holds no key: your own wallet signs what "unsigned_transaction" gives',
      ...feesWords(session, most),
      checked,
    ],
    order: {
      ...orderOf(found, looked, { from: refundTo, to: payTo }),
      form: form ?? null,
      hashlock: hashlock ?? null,
    },
    most,
    until: endsAt(looked.thread),
    act: async (idempotencyKey) => {
      if (mine !== null) await desk.hashlocks.take(mine, threadId);
      // The tool offers the hashlock that is kept there, and makes no secret.
      await desk.watched.putTrade({ ...found.trade, hashlock: mine } as OwnTrade);
      const done = await acceptThread(
        { ...found.dealing, store: desk.watched },
        { idempotencyKey },
      );
      return doneOf(found, threadId, done.swapId, []);
    },
  };
}

function wordsOf({ role, deadlines, trade }: Found, { gives, gets }: Sides): string[] {
  const isFirst = role === 'initiator';
  const by = isFirst ? deadlines.initiatorFundBy : deadlines.counterpartyFundBy;
  const leg = trade.party === 'maker' ? 'a' : 'b';
  return [
    `you give ${roundedAmount(gives.amount, gives.own, 'up')}`,
    `you get ${roundedAmount(gets.amount, gets.own, 'down')}`,
    `you fund ${isFirst ? 'first' : 'second'}, by ${isoTime(by)}`,
    `if the other side stops, you take it back from ${isoTime(deadlines.refundAt[leg])}`,
  ];
}

function orderOf(
  { role, trade }: Found,
  { thread, price, assets }: Looked,
  { from, to }: { readonly from: string; readonly to: string },
) {
  const { gives, gets } = sidesOf(trade, assets);
  return {
    threadId: thread.id,
    rfqId: thread.rfqId,
    quoteAmount: price.toString(),
    role,
    direction: trade.direction,
    baseAmount: trade.baseAmount.toString(),
    gives: { ...amountOf(gives.amount, gives.own), contract: gives.own.token, from },
    gets: { ...amountOf(gets.amount, gets.own), contract: gets.own.token, to },
    lockedSeconds: { a: thread.legs.a.timelockSeconds, b: thread.legs.b.timelockSeconds },
    priceEndsAt: thread.quoteExpiresAt ?? null,
  };
}

/**
 * After a crash or a silent market: the proof that the acceptance was taken. The own trade was kept
 * before the market heard of it, so all is computed from that. null: no proof.
 */
async function became(desk: Desk, { threadId }: Args, { order }: Plan) {
  const store = desk.held?.own.store ?? desk.watched;
  const trade = await store.getTrade(threadId);
  const price = String(order.quoteAmount);
  if (trade === null || trade.quoteAmount.toString() !== price) return null;
  const thread = await desk.client.thread(threadId);
  if (thread.quoteAmount !== price) return null;
  const chains = await chainsOf(desk, trade);
  const now = desk.session.now();
  const { swapId } = thread;
  if (swapId === null) {
    const isTaken = thread[`${trade.party}Accepted`] && now < standsUntil(trade);
    return isTaken ? doneOf(comesTo(trade, chains, now), threadId, null, null) : null;
  }
  const swap = await desk.client.swap(swapId);
  const at = { swapId, now };
  await sighted(store, trade, swap, chains, at);
  const { agreedAt } = verifyAgreement(swap, trade, chains, at);
  return doneOf(comesTo(trade, chains, agreedAt), threadId, swapId, null);
}

function doneOf(
  { role, deadlines, trade }: Examined,
  threadId: string,
  swapId: string | null,
  lacking: readonly string[] | null,
) {
  const leg = trade.party === 'maker' ? ('a' as const) : ('b' as const);
  return {
    threadId,
    swapId,
    role,
    deadlines: {
      initiatorFundBy: isoTime(deadlines.initiatorFundBy),
      counterpartyFundBy: isoTime(deadlines.counterpartyFundBy),
      refundFrom: isoTime(deadlines.refundAt[leg]),
    },
    lacking: lacking === null ? null : [...lacking],
    next:
      swapId === null
        ? 'wait until the other side accepts ("thread" shows the swap), then "settle"'
        : 'call "settle" now: deadlines run',
  };
}

type Named = {
  readonly [name in keyof typeof named]?: z.infer<(typeof named)[name]> | undefined;
};
type Of = Terms & Readonly<Record<'base' | 'quote', OwnAsset>>;

/**
 * Throws VerificationError where the request is another than it was, Refusal `terms_unknown` where
 * the caller has not named it, `other_terms` where it differs from the named one.
 */
async function mustBeTerms(session: Session, rfqId: string, terms: Of, said: Named): Promise<void> {
  const kept = await compareTerms(session, rfqId, terms);
  const { direction, baseAmount, base, quote } = terms;
  const side = direction === 'sell_base' ? 'sell' : 'buy';
  const { amount } = amountOf(baseAmount, base);
  const facts = { side, amount, base: base.name, quote: quote.name };
  const what = `the taker ${side}s ${inWords(amountOf(baseAmount, base))} for ${quote.name}`;
  const missing = namedBy.filter((name) => said[name] === undefined);
  if (kept === null && missing.length > 0) {
    const why = 'this profile has neither asked for the request nor quoted it';
    const sentence = `${why}: name ${missing.join(', ')} of it too. ${what}`;
    throw new Refusal('needs_you', 'terms_unknown', sentence, facts);
  }
  const other = otherThan(session, said, terms);
  if (other === null) return;
  const sentence = `${what}, which is not ${other} ${said[other]}: this server accepted nothing`;
  throw new Refusal('needs_you', 'other_terms', sentence, facts);
}
