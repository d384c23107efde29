// Tools of a server without keys: addresses, and transactions for a wallet elsewhere to sign. Each
// is verified by the own trade before it is given out. A secret is in none of them before it is
// public on a chain.

import { z } from 'zod';
import { Failure, misused } from '../../cli/failures.ts';
import { ParleyError } from '../../core/errors.ts';
import { fundGate } from '../../core/gates.ts';
import type { LegName } from '../../core/trade.ts';
import { keepToFund } from '../../sdk/agree.ts';
import { isoTime } from '../../sdk/people.ts';
import { seenOf, watchedOf } from '../../sdk/settle/record.ts';
import type { SwapRecord } from '../../sdk/stores/store.ts';
import { givenLeg, type VerifiedLeg, type VerifiedSwap } from '../../sdk/trade.ts';
import type { Built } from '../../sdk/types.ts';
import { mustFollowToday, mustTakeNew } from '../../sdk/verify.ts';
import { type Asked, verifyMaterial } from '../../sdk/verify-material.ts';
import { amountOf, type Desk, inWords } from '../desk.ts';
import * as shape from '../schemas.ts';
import { readTool, type Tool, tradeTool } from '../tool.ts';
import {
  chainsOf,
  type Known,
  knownTrade,
  legNow,
  mustBeInTime,
  unsent,
  verifiedBy,
} from './swaps.ts';
import { swapMade } from './views.ts';

const addressDone = shape.swapMade;
const nodeMs = 15_000;

const setAddress = tradeTool({
  name: 'set_address',
  title: 'Name your address for a leg',
  about:
    'Tells the market where you are paid, or where you fund from: the addresses that you accepted ' +
    'with. On Bitcoin it is the key. First call: a plan; second call with its digest.',
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
    const known = await knownTrade(desk, swapId);
    await mustBeInTime(desk, known);
    const { trade, swap: found } = known;
    const gives = givenLeg(trade.party);
    const leg = which === 'refundTo' ? gives : gives === 'a' ? 'b' : 'a';
    const { chain } = found.legs[leg];
    const { address, pubkey } = trade[which];
    const body = { chain, address: pubkey ?? address, ...(keySignature && { keySignature }) };
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
    'The unsigned funding, claim or refund of your side of a swap, verified by the own trade: to ' +
    'be signed and sent by your own wallet. A claim is given only once the secret is public: the ' +
    'first one, which reveals it, is made where the secret is.',
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
  run: async (desk, { swapId, verb }) => {
    const known = await knownTrade(desk, swapId);
    const verified = await verifiedBy(desk, known);
    const gives = givenLeg(known.trade.party);
    const name = verb === 'claim' ? (gives === 'a' ? 'b' : 'a') : gives;
    const leg = verified.legs[name];
    const asked = askedOf(known, verb);
    if (verb === 'fund') {
      await mustBeInTime(desk, known);
      await mustBeTurn(desk, known, verified);
    }
    const built = await builtBy(desk, swapId, name, asked);
    const { escrow } = leg;
    if (escrow === null) {
      throw new Failure(
        'needs_you',
        'no_escrow',
        `leg ${name} has no escrow yet: both sides name addresses first`,
      );
    }
    const { view } = await desk.session.source(leg.chain);
    const { deadlines, role } = verified;
    const fundBy = role === 'initiator' ? deadlines.initiatorFundBy : deadlines.counterpartyFundBy;
    const validUntil = verb === 'fund' ? fundBy : verb === 'claim' ? leg.timelock : null;
    const outputs = await outputsOf(desk, leg, verb);
    verifyMaterial(built, asked, escrow.terms, view, {
      validUntil,
      outputs,
      now: desk.session.now(),
    });
    const before = await desk.watched.getSwap(swapId);
    if (verb === 'fund') await keepToFund(desk.watched, known.trade, verified);
    const isAgain = verb === 'fund' && before?.byHand === true;
    const asset = leg.assetId === known.trade.base.id ? known.trade.base : known.trade.quote;
    const own = { name: (await desk.names()).of(asset.id).name, decimals: asset.decimals };
    const amount = amountOf(leg.amount, own);
    const sendBefore = built.validUntil ?? validUntil;
    return {
      ...{ verb, leg: name, chain: leg.chain, amount },
      words: [
        `${verb} ${inWords(amount)}: escrow ${escrow.address}`,
        ...(isAgain ? ['it was given out before: sign and send it once'] : []),
      ],
      sendBefore: sendBefore === null ? null : isoTime(sendBefore),
      material: verifiedOf(built),
    };
  },
});

const everywhere = ['chain', 'family', 'sign', 'escrow', 'validUntil'];
const verifiedFields: Readonly<Record<Built['sign'], readonly string[]>> = {
  'evm-tx': ['chainId', 'from', 'txs'],
  'btc-payment': ['payTo', 'amountSats', 'uri'],
  'btc-sighash': ['psbtBase64', 'sighashHexes', 'sighashHex', 'feeSats', 'feeRateSatPerVbyte'],
  'solana-tx': ['transaction', 'transactionBase64', 'lastValidBlockHeight'],
  'tron-txid': ['from', 'transactions', 'txID'],
};

/**
 * What `verifyMaterial` looks at, and no more: a wallet would sign the permit of `alternatives`,
 * and a model would read what a market adds.
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

/**
 * What the driver asks before it funds, by all own nodes: depth of the other leg, time, and that
 * nothing is in the escrow yet. Throws Failure with the code of the gate, `sources_disagree`,
 * `outdated`.
 */
async function mustBeTurn(desk: Desk, known: Known, verified: VerifiedSwap): Promise<void> {
  const { trade } = known;
  const name = givenLeg(trade.party);
  const leg = verified.legs[name];
  if (verified.legs.a.escrow === null || verified.legs.b.escrow === null) {
    const sentence = 'both sides name their addresses first: an escrow is missing';
    throw new Failure('needs_you', 'no_escrow', sentence);
  }
  const kept = await desk.watched.getSwap(verified.id);
  const record: SwapRecord = { ...unsent, ...kept, trade, swap: verified };
  const { view } = await desk.session.source(leg.chain);
  mustTakeNew(leg, view);
  mustFollowToday(record, await chainsOf(desk, trade), desk.session.now());
  const look = (each: LegName) => legNow(desk, known, verified, each);
  const [a, b] = await Promise.all([look('a'), look('b')]);
  const { state, clocks, doubt } = seenOf(record, { a, b }, desk.session.now());
  if (doubt !== undefined) throw new Failure('needs_you', 'sources_disagree', doubt);
  try {
    fundGate(state, name, clocks);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    throw new Failure('needs_you', error.code, `nothing is given: ${error.message}`);
  }
  for (const each of ['a', 'b'] as const) {
    const { adapter } = await desk.session.source(verified.legs[each].chain);
    await adapter.mustAgree?.(watchedOf(record, each), AbortSignal.timeout(nodeMs));
  }
}

function askedOf({ swap }: Known, verb: 'fund' | 'claim' | 'refund'): Asked {
  if (verb !== 'claim') return { verb };
  if (swap.secret !== null) return { verb, secret: swap.secret };
  throw misused('the secret is not public yet: whoever holds it claims first, where it is kept');
}

async function builtBy(desk: Desk, swapId: string, name: 'a' | 'b', asked: Asked): Promise<Built> {
  switch (asked.verb) {
    case 'fund':
      return desk.client.fund(swapId, name);
    case 'claim':
      return desk.client.claim(swapId, name, asked.secret);
    case 'refund':
      return desk.client.refund(swapId, name);
  }
}

/** Bitcoin claims and refunds spend coins that the own node shows. */
async function outputsOf(desk: Desk, leg: VerifiedLeg, verb: string) {
  if (leg.family !== 'bitcoin' || verb === 'fund' || leg.escrow === null) return null;
  const { adapter } = await desk.session.source(leg.chain);
  const { address, terms } = leg.escrow;
  const { requiredConfirmations } = leg;
  const watched = { address, terms, requiredConfirmations, since: 0 };
  const found = (await adapter.payments?.(watched, AbortSignal.timeout(nodeMs))) ?? [];
  return found.map(({ txid, vout, amount }) => ({ txid, vout, amount }));
}

export const keylessTools: readonly Tool[] = [setAddress, unsigned];
