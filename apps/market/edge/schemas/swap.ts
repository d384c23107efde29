// Shapes of swaps and their legs.

import { legStatuses } from '@parley/core/facts.ts';
import { families } from '@parley/core/families.ts';
import { actions } from '@parley/core/next.ts';
import { swapStatuses } from '@parley/core/status.ts';
import { legNames, parties, roles } from '@parley/core/trade.ts';
import * as s from './common.ts';
import { rules } from './rules.ts';

const party = s.oneOf(parties, 'who funds it');
const role = s.oneOf(roles, 'who is meant');
const legName = s.oneOf(legNames, '`a` is funded by the maker, `b` by the taker');
const sender = (what: string) =>
  s.nullable(s.oneOf(['party', 'keeper'], `who sent ${what}; keeper: the market, for a party`));
const units = s.text('base units of the asset', '100000', { pattern: '^(0|[1-9][0-9]{0,77})$' });
const address = (description: string) => s.nullable(s.text(description, s.examples.evm));
const form = (what: string) =>
  s.nullable(
    s.oneOf(['p2tr'], `Bitcoin: the side that ${what} asks for Taproot; once both do, it is`),
  );
const pubkey = (what: string) =>
  s.nullable(s.text(`Bitcoin: the key that ${what}`, s.examples.pubkey));

export const feeRate = s.decimal('sat per vbyte', 12.5, { minimum: 0 });
export const scheduledFields = {
  count: s.int('how many there are', 5),
  lowestFeeRate: s.as(feeRate, 'of the first of them, in sat per vbyte'),
  highestFeeRate: s.as(feeRate, 'of the last of them, in sat per vbyte', 150),
  sentTxid: s.nullable(s.txid, 'the last of them that was sent'),
};
const refunds = {
  refundTx: s.nullable(s.txid, 'transaction id of the refund'),
  refundedBy: sender('`refundTx`'),
  scheduledRefunds: s.nullable(
    s.group('Bitcoin, to the funder alone: signed refunds, sent when due', scheduledFields),
  ),
};
const scheduledClaims = s.nullable(
  s.group(
    'Bitcoin, to the payee alone: signed claims, sent once the secret is public',
    scheduledFields,
  ),
);

const lane = s.group('where contracts hold the escrows (EVM, TRON): a word of its owner', {
  contract: s.optional(s.text('which holds the word and the escrow', s.examples.contract)),
  number: s.text(
    "number of the word, 96 bits in hex; from 8… on it is the payee's",
    '00000000000000000000002a',
    {
      pattern: '^[0-9a-f]{24}$',
    },
  ),
  counter: s.int('how often it was taken', 7, { minimum: 1, maximum: 1_073_741_823 }),
});

const rentLeft = s.group("Solana: the rest of the funder's deposit, after a claim or release", {
  lamports: s.text('how much it left, in lamports', '655320'),
  from: s.nullable(s.unixSeconds('from when on `refund` gives it to the funder; null: at once')),
});

const release = s.group('the payee has given the swap up', {
  askedAt: s.unixSeconds('from when on nothing of the swap may be funded'),
  at: s.nullable(
    s.unixSeconds('when it released the leg; null: not yet, or by a transaction of its own'),
  ),
  signature: s.nullable(
    s.text('with it the funder refunds before the timelock', s.examples.evmSignature),
  ),
});

const legSchema = s.model('SwapLeg', 'One side of a swap: an escrow on one chain.', {
  leg: legName,
  chain: s.chainKey,
  family: s.oneOf(families, 'of its chain'),
  assetId: s.assetId,
  amount: s.as(s.amount, 'what is swapped, in base units of its asset'),
  funder: party,
  long: s.flag('the initiator funds the long leg, and first', true),
  status: s.oneOf(legStatuses, 'what its chain shows'),
  outcome: s.nullable(
    s.oneOf(
      ['unknown'],
      '`unknown`: its chain does not keep what became of it and no node of the market tells; ' +
        '`next` says which would. `status` is what was known before, never `unfunded`',
    ),
  ),
  timelock: s.unixSeconds('claims before, refunds from then on', 1_773_566_813),
  escrow: s.nullable(s.escrow, 'null until both addresses of the leg are known'),
  ownLane: s.flag('EVM, TRON: the payee lends a lane of its own', false),
  lane: s.nullable(lane),
  laneSignature: s.nullable(
    s.text("the payee's signature, for a lane of its own", s.examples.evmSignature),
  ),
  redeemScript: s.nullable(
    s.text(
      'Bitcoin: witness script, hex; of Taproot the output descriptor',
      `6382012088a820${s.examples.hashlock}88`,
    ),
  ),
  payoutAddress: address('where a claim pays'),
  refundAddress: address('where a refund pays'),
  payoutPubkey: pubkey('claims'),
  refundPubkey: pubkey('refunds'),
  payoutForm: form('claims'),
  refundForm: form('refunds'),
  fundTx: s.nullable(s.txid, 'transaction id of the funding'),
  claimTx: s.nullable(s.txid, 'transaction id of the claim'),
  claimedBy: sender('`claimTx`'),
  ...refunds,
  scheduledClaims,
  confirmations: s.int('of the last of these transactions', 14),
  requiredConfirmations: s.int('from which on it counts', 12),
  balance: s.as(units, 'base units in the escrow now, as last seen'),
  rentLeft: s.nullable(rentLeft),
  release: s.nullable(release),
  formerEscrows: s.list(
    'escrows this leg moved off; refundable with ?escrow=',
    s.group('A former escrow.', { escrow: s.escrow, balance: units, ...refunds }),
  ),
});

const warning = s.group('What stands in the way of a step.', {
  code: s.oneOf(
    ['not_activated', 'energy_poor', 'fee_poor', 'deposit', 'fund_stuck'],
    'a stable code for programs',
    'fee_poor',
  ),
  text: s.text('one plain sentence', 'the payer has 0 ETH, and sending it takes about 0.002 ETH'),
});

const step = s.model('Step', 'What one side can do now.', {
  by: role,
  action: s.oneOf(actions, 'what is to be done', 'fund'),
  leg: s.nullable(legName, 'on which leg; null = on neither'),
  before: s.nullable(s.unixSeconds('after it this is no longer open; null = no limit of ours')),
  why: s.text('one plain sentence', 'the initiator funds the long leg first'),
  warnings: s.optional(
    s.list(
      'TRON: not_activated, energy_poor; Solana, EVM: fee_poor: who could not pay for what has to ' +
        'be sent; Solana: deposit, the rent that a funding takes beside the amount; Bitcoin: ' +
        'fund_stuck, a funding that no block takes',
      warning,
    ),
  ),
});

const deadlines = s.model('Deadlines', 'The last moments of each step.', {
  initiatorFundBy: s.unixSeconds('the initiator has funded by then'),
  expiresAt: s.unixSeconds('the swap expires then if neither side has funded'),
  counterpartyFundBy: s.unixSeconds('the counterparty has funded by then', 1_773_487_613),
  revealBy: s.unixSeconds('the initiator has claimed by then, or must not any more', 1_773_494_813),
  refundAt: s.group('from when on each leg is refunded', {
    a: s.unixSeconds('leg a', 1_773_566_813),
    b: s.unixSeconds('leg b', 1_773_502_013),
  }),
});

export const swapSchema = s.model('Swap', 'A swap as one of its parties sees it.', {
  id: s.swapId,
  threadId: s.threadId,
  rfqId: s.rfqId,
  status: s.oneOf(swapStatuses, 'where it stands'),
  hashlock: s.as(s.hex32, 'SHA-256 of the secret, hex'),
  secret: s.nullable(s.as(s.hex32, 'the secret, once it is public', s.examples.secret)),
  role: s.as(role, 'which of the two you are'),
  initiatorUserId: s.as(s.accountId, 'UUID of the account that makes the secret'),
  makerId: s.as(s.accountId, 'UUID of the account that quoted'),
  takerId: s.as(s.accountId, 'UUID of the account that asked'),
  legs: s.group('what each side funds', { a: legSchema, b: legSchema }),
  deadlines,
  rules,
  next: s.list('what each side can do now', step),
  createdAt: s.instant('when both had accepted'),
  updatedAt: s.instant('when it last changed'),
});

export const swapReply = s.model('SwapReply', 'The swap as it is now.', { swap: swapSchema });

export const swapPage = s.page(
  'SwapPage',
  'A page of your swaps, newest first.',
  'swaps',
  swapSchema,
);

export const swapsQuery = s.pageQuery({
  status: s.optional(s.oneOf(swapStatuses, 'of this status')),
});

export const setAddress = s.form('SetAddress', 'Your address on one chain of the swap.', {
  chain: s.bounded('a chain key of the swap', 'bitcoin', 32),
  leg: s.optional(s.as(legName, 'the leg on that chain; another one is refused')),
  address: s.bounded(
    'where you receive or fund on it; on Bitcoin a compressed public key, 66 hex',
    s.examples.pubkey,
    200,
  ),
  keySignature: s.optional(
    s.bounded(
      'a key of a Taproot wallet: base64 ECDSA signature (BIP 137) by exactly that key over ' +
        '"<product> - use this key: <pubkey> for swap <id>"',
      `H${'8aXw3vT1'.repeat(10)}kQ2mZ0=`,
      200,
    ),
  ),
  form: s.optional(
    s.oneOf(['p2tr'], 'Bitcoin: you sign leaves of Taproot by BIP 340; P2WSH unless both sides do'),
  ),
  ownLane: s.optional(
    s.flag(
      'EVM, TRON, where you are paid: you lend a lane of your own, and sign for it (`open_lane`)',
      true,
    ),
  ),
});
