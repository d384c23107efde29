// Shapes of swaps and their legs.

import Type from 'typebox';
import { families } from '../../../core/families.ts';
import { swapStatuses } from '../../../core/status.ts';
import {
  amount,
  dateTime,
  hex32,
  input,
  named,
  nextCursor,
  nullable,
  oneOf,
  pageQuery,
  unixSeconds,
  uuid,
} from './common.ts';
import { rules } from './rules.ts';

const text = Type.String();
const textOrNull = nullable(text);
const party = oneOf(['maker', 'taker']);
const role = oneOf(['initiator', 'counterparty']);
const legName = oneOf(['a', 'b']);
/** `keeper`: the market's gas key, for a party that had not. */
const sender = oneOf(['party', 'keeper']);
const units = Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$', description: 'base units' });

const feeRate = Type.Number({ description: 'sat per vbyte' });
export const scheduledFields = {
  count: Type.Integer(),
  lowestFeeRate: feeRate,
  highestFeeRate: feeRate,
  sentTxid: Type.Union([text, Type.Null()], { description: 'the last of them that was sent' }),
};

const refundedBy = Type.Union([sender, Type.Null()], { description: 'who sent `refundTx`' });
const scheduledRefunds = Type.Union([Type.Object(scheduledFields), Type.Null()], {
  description: 'Bitcoin, to the funder alone: signed refunds kept to be sent when due',
});
const formerEscrow = Type.Object({
  escrow: text,
  balance: units,
  refundTx: textOrNull,
  refundedBy,
  scheduledRefunds,
});

const lane = Type.Object({
  contract: Type.Optional({ ...text, description: 'which holds the word and the escrow' }),
  number: Type.String({ pattern: '^[0-9a-f]{24}$', description: '96 bits' }),
  counter: Type.Integer({ minimum: 1, maximum: 1_073_741_823 }),
});

export const legSchema = named(
  'Leg',
  Type.Object({
    leg: legName,
    chain: text,
    family: oneOf(families),
    assetId: uuid,
    amount,
    funder: party,
    long: Type.Boolean({ description: 'the initiator funds the long leg, and first' }),
    status: oneOf(['unfunded', 'seen', 'funded', 'claimed', 'refunded']),
    outcome: Type.Union([Type.Literal('unknown'), Type.Null()], {
      description:
        '`unknown`: its chain does not keep what became of it and no node of the market tells; ' +
        '`next` says which would. `status` is what was known before, never `unfunded`',
    }),
    timelock: Type.Integer({ description: 'Unix seconds: claims before, refunds from then on' }),
    escrow: Type.Union([text, Type.Null()], {
      description: 'null until both addresses of the leg are known',
    }),
    lane: Type.Union([lane, Type.Null()], {
      description: 'where contracts hold the escrows (EVM, TRON): the word of the funder it takes',
    }),
    redeemScript: Type.Union([text, Type.Null()], { description: 'Bitcoin: witness script, hex' }),
    payoutAddress: textOrNull,
    refundAddress: textOrNull,
    payoutPubkey: Type.Union([text, Type.Null()], { description: 'Bitcoin' }),
    refundPubkey: Type.Union([text, Type.Null()], { description: 'Bitcoin' }),
    fundTx: textOrNull,
    claimTx: textOrNull,
    refundTx: textOrNull,
    claimedBy: Type.Union([sender, Type.Null()], { description: 'who sent `claimTx`' }),
    refundedBy,
    confirmations: Type.Integer({ description: 'of the last of these transactions' }),
    requiredConfirmations: Type.Integer(),
    balance: { ...units, description: 'base units in the escrow now, as last seen' },
    rentLeft: Type.Union(
      [
        Type.Object({
          lamports: Type.String(),
          from: Type.Union([unixSeconds, Type.Null()], {
            description: 'from when on `refund` gives it to the funder; null: at once',
          }),
        }),
        Type.Null(),
      ],
      { description: 'Solana: what a claim left of the deposit of the funder' },
    ),
    formerEscrows: Type.Array(formerEscrow, {
      description: 'escrows this leg moved off; refundable with ?escrow=',
    }),
    scheduledRefunds,
  }),
);

const stuckFunding = Type.Object({
  txid: text,
  feeRateSatPerVbyte: Type.Number(),
  wantedFeeRateSatPerVbyte: Type.Number({ description: 'wanted now' }),
  childVsize: Type.Integer(),
  childFeeSats: Type.String({ description: 'of a child of that size, for the whole package' }),
  changeOutputs: Type.Array(Type.Integer(), { description: 'outputs that may be your change' }),
});

const step = named(
  'Step',
  Type.Object({
    by: role,
    action: oneOf(['set_address', 'fund', 'claim', 'refund', 'wait']),
    leg: Type.Union([legName, Type.Null()]),
    before: Type.Union([unixSeconds, Type.Null()], {
      description: 'Unix seconds after which this is no longer open; null = no limit of ours',
    }),
    why: text,
    warnings: Type.Optional(
      Type.Array(Type.Object({ code: text, text, stuck: Type.Optional(stuckFunding) }), {
        description:
          'TRON: not_activated, energy_poor; Solana, EVM: fee_poor: who could not pay for what has to be sent; Solana: deposit, what a funding takes beside the amount; Bitcoin: fund_stuck, a funding that no block takes',
      }),
    ),
  }),
);

export const swapSchema = named(
  'Swap',
  Type.Object({
    id: uuid,
    threadId: uuid,
    rfqId: uuid,
    status: oneOf(swapStatuses),
    hashlock: hex32,
    secret: Type.Union([hex32, Type.Null()], { description: 'once it is public' }),
    role: { ...role, description: 'yours' },
    initiatorUserId: uuid,
    makerId: uuid,
    takerId: uuid,
    legs: Type.Object({ a: legSchema, b: legSchema }),
    deadlines: named(
      'Deadlines',
      Type.Object({
        initiatorFundBy: unixSeconds,
        expiresAt: unixSeconds,
        counterpartyFundBy: unixSeconds,
        revealBy: unixSeconds,
        refundAt: Type.Object({ a: unixSeconds, b: unixSeconds }),
      }),
    ),
    rules: Type.Union([rules, Type.Null()], {
      description: 'what it was agreed under, for good; null: agreed before they were kept',
    }),
    next: Type.Array(step, { description: 'what each side can do now' }),
    createdAt: dateTime,
    updatedAt: dateTime,
  }),
);

export const swapReply = named('SwapReply', Type.Object({ swap: swapSchema }));

export const swapPage = named(
  'SwapPage',
  Type.Object({ swaps: Type.Array(swapSchema), nextCursor }),
);

export const swapsQuery = pageQuery({ status: Type.Optional(oneOf(swapStatuses)) });

export const setAddress = named(
  'SetAddress',
  input({
    chain: Type.String({ minLength: 1, maxLength: 32, description: 'a chain key of the swap' }),
    address: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'where you receive or fund on it; on Bitcoin a compressed public key, 66 hex',
    }),
    keySignature: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'a key of a Taproot wallet: base64 ECDSA signature (BIP 137) by exactly that key over ' +
          '"<product> - use this key: <pubkey> for swap <id>"',
      }),
    ),
  }),
);
