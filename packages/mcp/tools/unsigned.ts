// Tools of a server without keys: addresses, and transactions for a wallet elsewhere to sign. Each
// is verified by the own trade before it is given out. A secret is in none of them before it is
// public on a chain.

import { has } from '@parley/core/families.ts';
import { fundBy, refundGate } from '@parley/core/gates.ts';
import { keepToFund } from '@parley/sdk/agree.ts';
import { codeOf } from '@parley/sdk/errors.ts';
import { isoTime } from '@parley/sdk/people.ts';
import { pollWhole, snapshot } from '@parley/sdk/settle/chains.ts';
import { mayReveal } from '@parley/sdk/settle/claims.ts';
import { type Context, ownLeg, payingLeg, sourceOf } from '@parley/sdk/settle/context.ts';
import { paymentsByEach } from '@parley/sdk/settle/extra.ts';
import { preflight } from '@parley/sdk/settle/fund.ts';
import { aloneOf, legOf, ownSides } from '@parley/sdk/settle/record.ts';
import { fundingGate, mustAgree, unsignedSpend } from '@parley/sdk/settle/sign.ts';
import { openingOf } from '@parley/sdk/settle/ways.ts';
import { givenLeg } from '@parley/sdk/trade.ts';
import type { Built } from '@parley/sdk/types.ts';
import { mustFollowToday, mustTakeNew } from '@parley/sdk/verify.ts';
import { verifyMaterial } from '@parley/sdk/verify-material.ts';
import { payableBy } from '@parley/sdk/words.ts';
import { Failure } from '@parley/trader/failures.ts';
import { z } from 'zod';
import { amountOf, type Desk, inWords } from '../desk.ts';
import { word } from '../foreign.ts';
import { type Facts, Refusal } from '../refusal.ts';
import * as shape from '../schemas.ts';
import { readTool, type Tool, tradeTool } from '../tool.ts';
import { type Opened, withSwap } from './opened.ts';
import { swapMade } from './views.ts';

const addressDone = shape.swapMade;
const forNow = { isUrgent: false } as const;

const setAddress = tradeTool({
  name: 'set_address',
  title: 'Name your address for a leg',
  about:
    'Tells the market where you are paid or fund from, as you accepted; on Bitcoin the key. First a ' +
    'plan, then its digest.',
  input: z.object({
    swapId: shape.id,
    which: z.enum(['payTo', 'refundTo']),
    keySignature: z
      .string()
      .regex(/^[0-9a-f]{128,144}$/)
      .optional()
      .describe('of a Taproot key'),
    digest: shape.digest,
  }),
  done: addressDone,
  output: shape.outcome(addressDone),
  destructive: false,
  prepare: async (desk, { swapId, which, keySignature }) => {
    const { trade, swap } = await withSwap<Opened>(desk, swapId, forNow, async (opened) => opened);
    const gives = givenLeg(trade.party);
    const leg = which === 'refundTo' ? gives : gives === 'a' ? 'b' : 'a';
    const { chain } = swap.legs[leg];
    const { address, pubkey, form } = trade[which];
    const body = {
      chain,
      address: pubkey ?? address,
      ...(form && { form }),
      ...(keySignature && { keySignature }),
    };
    const what = which === 'payTo' ? 'you are paid' : 'you fund from, and a refund goes';
    return {
      words: [`leg ${leg} on ${chain}: ${what} at ${address}`],
      order: { swapId, leg, which, ...body },
      act: async (idempotencyKey) =>
        swapMade(desk, await desk.client.setAddress(swapId, body, { idempotencyKey })),
    };
  },
});

const builder = readTool({
  name: 'unsigned_transaction',
  title: 'What your wallet has to sign',
  about:
    'The unsigned funding, claim or refund of your side, by the rules and all own nodes: your ' +
    'wallet signs and sends it. A claim is given once the secret is public. Before that, its ' +
    'refusal says whether the secret may be shown now, by a claim made where it is kept.',
  input: z.object({ swapId: shape.id, verb: z.enum(['fund', 'claim', 'refund']) }),
  output: z.object({
    verb: z.string(),
    leg: z.string(),
    chain: z.string(),
    amount: shape.amountOut,
    words: z.array(z.string()),
    sendBefore: z.string().nullable(),
    material: z
      .record(z.string(), z.unknown())
      .describe('of docs/signing.md, what was verified: no alternatives'),
  }),
  run: (desk, { swapId, verb }) =>
    withSwap(desk, swapId, { isUrgent: verb !== 'fund' }, async (opened) => {
      const { trade, seen } = opened;
      if (seen === null) {
        const sentence = 'an escrow is not set yet: both sides name their addresses first';
        throw new Failure('needs_you', 'no_escrow', sentence);
      }
      const { context } = seen;
      const lacking = verb === 'fund' ? await lackingOf(context) : [];
      const built = await builtBy(desk, verb, seen);
      const leg = verb === 'claim' ? payingLeg(context) : ownLeg(context);
      const asset = leg.assetId === trade.base.id ? trade.base : trade.quote;
      const own = { name: (await desk.names()).of(asset.id).name, decimals: asset.decimals };
      const amount = amountOf(leg.amount, own);
      const sendBefore = built.validUntil ?? untilOf(context, verb);
      const { address, terms } = leg.escrow;
      const hint = verb === 'fund' ? payableBy(terms) : '';
      return {
        verb,
        leg: leg.leg,
        chain: leg.chain,
        amount,
        words: [`${verb} ${inWords(amount)}: escrow ${address}${hint}`, ...lacking],
        sendBefore: sendBefore === null ? null : isoTime(sendBefore),
        material: verifiedOf(built),
      };
    }),
});

const everywhere = ['chain', 'family', 'sign', 'escrow', 'validUntil'];
const verifiedFields: Readonly<Record<Built['sign'], readonly string[]>> = {
  'evm-tx': ['chainId', 'from', 'txs'],
  'btc-payment': ['payTo', 'amountSats', 'uri'],
  'btc-sighash': [
    'psbtBase64',
    'sighashHexes',
    'sighashHex',
    'scheme',
    'feeSats',
    'feeRateSatPerVbyte',
  ],
  'solana-tx': ['transaction', 'transactionBase64', 'lastValidBlockHeight'],
  'tron-txid': ['from', 'transactions', 'txID'],
};

/**
 * The fields that `verifyMaterial` reads, and no more: a wallet would sign the permit of
 * `alternatives`, and a model would read what a market adds.
 */
export function verifiedOf(built: Built): Readonly<Record<string, unknown>> {
  const names = [...everywhere, ...verifiedFields[built.sign]];
  return Object.fromEntries(Object.entries(built).filter(([name]) => names.includes(name)));
}

/** A market's builder reserves a place in a contract: no coin moves, yet it is no mere look. */
const unsigned: Tool = {
  ...builder,
  annotations: { ...builder.annotations, readOnlyHint: false },
};

type Verb = 'fund' | 'claim' | 'refund';
type Seen = NonNullable<Opened['seen']>;

function untilOf({ record }: Context, verb: Verb): number | null {
  const { gives, gets } = ownSides(record);
  if (verb === 'fund') return fundBy(record.swap, legOf(record, gives));
  return verb === 'claim' ? legOf(record, gets).timelock : null;
}

async function builtBy(desk: Desk, verb: Verb, seen: Seen): Promise<Built> {
  switch (verb) {
    case 'fund':
      return funding(desk, seen.context);
    case 'claim':
      return claim(seen.context);
    case 'refund':
      return refund(seen);
  }
}

/** Passes what the driver passes, in its words, and is kept before it is given. */
async function funding(desk: Desk, context: Context): Promise<Built> {
  const { record, chains, swapId } = context;
  const leg = ownLeg(context);
  const { view } = sourceOf(context, leg.chain);
  mustFollowToday(record, chains, await context.now());
  const still = await fundingGate(context);
  await mustBeUnpaid(context);
  await mustAgree(context);
  // On EVM and TRON a token is approved first, so its funding cannot be tried yet.
  await preflight(context, has(leg, 'approvals'));
  const built = await desk.client.fund(swapId, leg.leg);
  const limits = { validUntil: untilOf(context, 'fund'), outputs: null, now: await context.now() };
  const opening = await openingOf(context, desk.client, leg);
  verifyMaterial(built, { verb: 'fund', ...opening }, leg.escrow.terms, view, limits);
  mustTakeNew(leg, view);
  await keepToFund(desk.watched, record.trade, record.swap);
  await still();
  return built;
}

/**
 * A Bitcoin escrow takes every payment, so what was given once may be on its way. Elsewhere the
 * contract takes one. Throws Refusal `already_funded`, `handed_out`.
 */
async function mustBeUnpaid(context: Context): Promise<void> {
  const { leg, escrow } = ownLeg(context);
  const lists = await paymentsByEach(context);
  if (lists === null) return;
  const [payments = []] = lists.toSorted((one, other) => other.length - one.length);
  const facts = { leg, escrow: escrow.address, payments: payments.length };
  if (payments.length > 0) {
    const sum = payments.reduce((all, { amount }) => all + amount, 0n);
    const sentence = `${payments.length} payments of ${sum} sats are in the escrow or on their way to it`;
    throw new Refusal('needs_you', 'already_funded', `${sentence}: pay nothing more`, facts);
  }
  if (context.record.byHand !== true) return;
  const sentence =
    'the payment was given before, and may be on its way: a person looks for it first';
  throw new Refusal('needs_you', 'handed_out', sentence, facts);
}

/** The sender of the claim is not known here: its gas is told, and refuses nothing. */
async function lackingOf(context: Context): Promise<string[]> {
  const { chain, escrow } = payingLeg(context);
  const { adapter } = sourceOf(context, chain);
  const { payout } = escrow.terms;
  const shortage = await adapter.claimShortage?.(escrow.terms, payout.address, context.limit());
  return shortage ? [`lacking   ${shortage.sentence}`] : [];
}

async function claim(context: Context): Promise<Built> {
  const { publicSecret: secret } = context.record;
  if (secret === null) throw await unrevealed(context);
  return unsignedSpend(context, payingLeg(context), { verb: 'claim', secret });
}

/** Whether it may be shown now is asked as before the driver shows it. */
async function unrevealed(context: Context): Promise<Refusal> {
  const { role, deadlines } = context.record.swap;
  const { leg } = payingLeg(context);
  const why = 'the secret is not public yet: its holder claims first, in the place that keeps it';
  const refusal = (then: string, facts: Facts) =>
    new Refusal('needs_you', 'secret_not_public', `${why}${then}`, { leg, ...facts });
  if (role === 'counterparty') return refusal('', { mayReveal: false });
  try {
    await mayReveal(context, await snapshot(context), 'market');
  } catch (error) {
    const code = codeOf(error) ?? 'fault';
    return refusal(`. Do not claim with it now (${word(code)})`, { mayReveal: false, code });
  }
  const until = isoTime(deadlines.revealBy);
  return refusal(`: by your nodes you may, until ${until}`, { mayReveal: true, until });
}

async function refund({ context, polled: first }: Seen): Promise<Built> {
  const leg = ownLeg(context);
  const isRead = first.legs.has(leg.leg) || first.errors.has(leg.leg);
  const polled = isRead ? first : await pollWhole(context, [leg.leg]);
  const seen = polled.legs.get(leg.leg);
  if (seen === undefined) throw polled.errors.get(leg.leg);
  const { state, clocks } = aloneOf(context.record, seen, polled.wall);
  refundGate(state.legs[leg.leg], leg.timelock, clocks);
  return unsignedSpend(context, leg, { verb: 'refund' });
}

export const keylessTools: readonly Tool[] = [setAddress, unsigned];
