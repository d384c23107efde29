// Shapes of what is signed: unsigned material out, signed transactions in.

import { defaultFeeBounds, mostBumps } from '@parley/chains/bitcoin/fees.ts';
import { longestScheduledHex } from '@parley/chains/bitcoin/signed-spends.ts';
import { mostInputs } from '@parley/chains/bitcoin/spending.ts';
import type { Family } from '@parley/core/families.ts';
import { legNames } from '@parley/core/trade.ts';
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import * as s from './common.ts';
import { feeRate, scheduledFields, swapSchema } from './swap.ts';

const validUntil = s.unixSeconds('do not send it after this');
const integers = { pattern: '^(0|[1-9][0-9]*)$' };
const lamports = (description: string, sample: string) =>
  s.text(`lamports: ${description}`, sample, integers);
const sats = (description: string) => s.text(`satoshis: ${description}`, '100000', integers);
const literal = <const T extends string>(value: T, description: string) =>
  Type.Literal(value, { description });
const yes = (description: string) => Type.Literal(true, { description });
/** As `additionalProperties`, which generators of clients know better than patterns of names. */
const byName = <S extends TSchema>(description: string, examples: unknown[], values: S) =>
  Type.Unsafe<Record<string, Static<S>>>({
    type: 'object',
    additionalProperties: values,
    description,
    examples,
  });
const hex = (description: string) => s.text(description, '0x7a1c2f');

/** The fields of every material; `sign`: how it is signed. */
function materialOf<P extends TProperties>(
  name: string,
  family: string,
  sign: string,
  description: string,
  fields: P,
) {
  return s.model(name, description, {
    chain: s.chainKey,
    family: literal(family, 'of its chain'),
    sign: literal(sign, 'how it is signed'),
    escrow: s.escrow,
    validUntil,
    ...fields,
  });
}

const typedData = s.model('TypedData', 'EIP-712, without the type of the domain.', {
  domain: s.group('what the signature is for', {
    name: s.text('name of the contract, as its domain has it', 'USD Coin'),
    version: s.optional(s.text('version of the contract, as its domain has it', '2')),
    chainId: s.optional(s.text('chain id of EIP-155, decimal', '1')),
    verifyingContract: s.text('address of the token contract', s.examples.usdc),
    salt: s.optional(s.text('32 bytes, hex with 0x', `0x${s.examples.hashlock}`)),
  }),
  types: byName(
    'the fields of each type',
    [{ Permit: [{ name: 'value', type: 'uint256' }] }],
    s.list(
      'the fields of one type',
      s.group('one field of the type', {
        name: s.text('name of the field', 'value'),
        type: s.text('Solidity type of the field', 'uint256'),
      }),
    ),
  ),
  primaryType: s.text('which of `types` is signed', 'Permit'),
  message: byName(
    'the fields of `primaryType` by name; integers as decimal strings',
    [{ value: '100000' }],
    s.text('the value of one field', '100000'),
  ),
});

const signedCall = s.model('SignedCall', 'A call that the signature completes.', {
  to: s.text('the contract', s.examples.contract),
  value: literal('0x0', 'wei, hex with 0x: a token is funded without coins'),
  dataBeforeSignature: hex('hex with 0x; v, r and s of the signature follow, 32 bytes each'),
});

const alternatives = s.list(
  'fund of a token: what may be signed instead of `txs`, one of all. An authorization is null ' +
    'until asked for with `sign=authorization`; from then on the leg does not move',
  Type.Union(
    [
      s.model('PermitFunding', 'One signature and one transaction.', {
        way: literal('permit', 'EIP-2612: a permit, and one transaction'),
        from: s.text('signs the typed data, then sends the one transaction', s.examples.evm),
        typedData,
        call: signedCall,
      }),
      s.model('AuthorizedFunding', 'One signature; anyone may send it.', {
        way: literal('authorization', 'EIP-3009: a transfer by authorization'),
        // A field that is null alone is one that generators of clients cannot type.
        from: s.nullable(
          s.text('null: anyone may send it; the refund address signs', s.examples.evm),
        ),
        typedData: s.nullable(typedData),
        call: s.nullable(signedCall),
        relay: s.flag('whether the market sends it, given the signature', true),
      }),
    ],
    { description: 'one way to fund: by its `way`' },
  ),
);

const evmCall = s.group('A transaction, without nonce, gas and fees: the wallet sets them.', {
  to: s.text('the contract', s.examples.contract),
  data: hex('hex with 0x'),
  value: s.text('wei, hex with 0x', '0x0'),
});
const evmTx = materialOf('EvmMaterial', 'evm', 'evm-tx', 'EVM: transactions to sign.', {
  chainId: s.int('chain id of EIP-155, which the signature names', 1),
  from: s.optional(s.text('fund: sign from this address', s.examples.evm)),
  txs: s.list('sign and send each, in order', evmCall),
  alternatives: s.optional(alternatives),
});

const btcPayment = materialOf('BtcPayment', 'bitcoin', 'btc-payment', 'Bitcoin: a payment.', {
  payTo: s.text('pay ONE output of exactly amountSats to it', s.examples.bitcoin),
  amountSats: sats('what to pay'),
  uri: s.text(
    'the same as a BIP 21 URI, for wallets',
    `bitcoin:${s.examples.bitcoin}?amount=0.001`,
  ),
});

const sighash = (description: string) => s.text(description, s.examples.hashlock);
const rate = (description: string) => s.as(feeRate, `sat per vbyte: ${description}`);
const btcSighash = materialOf('BtcSighash', 'bitcoin', 'btc-sighash', 'Bitcoin: a PSBT to sign.', {
  psbtBase64: s.text('the unsigned transaction as a PSBT, base64', 'cHNidP8BAFICAAAAAQ=='),
  sighashHexes: s.list('one an input, of the whole transaction', sighash('32 bytes, hex')),
  scheme: s.optional(
    s.oneOf(['schnorr'], 'sign by BIP 340, of Taproot; else by ECDSA, SIGHASH_ALL'),
  ),
  sighashHex: s.optional(sighash('alias, where there is one input: the one of `sighashHexes`')),
  preimageHex: s.optional(s.text('alias, of a claim: its secret', s.examples.secret)),
  feeSats: sats('what it pays'),
  feeRateSatPerVbyte: rate('feeSats as a rate'),
  ladder: s.list(
    'what to pay if it is not mined by then: build it again; the first is now',
    s.group('A fee, and when.', {
      at: s.unixSeconds('from when on to pay it'),
      feeRateSatPerVbyte: rate('then'),
      feeSats: sats('the fee in all, from then on'),
    }),
  ),
});

const tronValue = s.group('the call of the contract', {
  data: s.text('calldata of the contract, hex without 0x', '7a1c2f'),
  owner_address: s.text('who signs, hex', '41a614f803b6fd780986a42c78ec9c7f77e6ded13c'),
  contract_address: s.text('the contract, hex', '415c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f'),
  call_value: s.optional(s.int('sun that go with the call', 1_000_000)),
});
const tronContract = s.group('What it does.', {
  parameter: s.group('of the contract', {
    value: tronValue,
    type_url: s.text(
      'type of the protobuf message',
      'type.googleapis.com/protocol.TriggerSmartContract',
    ),
  }),
  type: literal('TriggerSmartContract', 'type of the contract, as java-tron names it'),
});
const tronTransaction = s.group(
  "java-tron's JSON of an unsigned transaction, addresses in 41-hex",
  {
    visible: Type.Literal(false, { description: 'addresses are in hex' }),
    txID: s.as(s.txid, 'SHA-256 of raw_data_hex: what is signed'),
    raw_data: s.group('what raw_data_hex holds', {
      contract: s.list('exactly one', tronContract),
      ref_block_bytes: s.text('TAPOS: 2 bytes of the height of a recent block, hex', '5e4b'),
      ref_block_hash: s.text('TAPOS: 8 bytes of the id of that block, hex', '47c9dc89341b300d'),
      expiration: s.int('no later block takes it: Unix milliseconds', 1_773_480_473_000),
      fee_limit: s.int('the most that its energy may cost, in sun', 30_000_000),
      timestamp: s.int('when it was built: Unix milliseconds', 1_773_480_413_000),
    }),
    raw_data_hex: s.text('what is signed, in hex', '0a025e4b220847c9dc89341b300d'),
  },
);
const tronTx = materialOf('TronMaterial', 'tron', 'tron-txid', 'TRON: transactions to sign.', {
  from: s.text('base58: sign as this address', s.examples.tron),
  transactions: s.list('sign in order; send each when the one before succeeded', tronTransaction),
  txID: s.optional(s.as(s.txid, 'alias, where there is one transaction: its `txID`')),
});

const costs = s.group("fund: what it takes from the funder's SOL beside what moves", {
  depositLamports: lamports("rent of the escrow's accounts", '2171520'),
  returnedLamports: lamports('of it, to the funder when it is settled', '1516200'),
  keptLamports: lamports('of it, after a claim: from the timelock on, by a refund', '655320'),
  feeLamports: lamports('the fee', '5000'),
});
const solanaBytes = (description: string) => s.text(description, 'AQAAAAAAAAAAAAAAAAAAAA==');
const solanaTx = materialOf('SolanaMaterial', 'solana', 'solana-tx', 'Solana: one to sign.', {
  transaction: solanaBytes('base64, with room for its one signature'),
  transactionBase64: solanaBytes('alias: the same as `transaction`'),
  lastValidBlockHeight: s.int('no later block takes it', 287_401_223),
  costs: s.optional(costs),
});

const ofFamily = {
  evm: [evmTx],
  bitcoin: [btcPayment, btcSighash],
  tron: [tronTx],
  solana: [solanaTx],
} satisfies Record<Family, readonly TSchema[]>;
const materials = Object.values(ofFamily).flat();
const relayed = s.model('RelayedClaim', 'The market sends it.', {
  relayed: yes('the market sends it'),
  txid: s.as(s.txid, 'of its newest transaction; a stuck one is replaced'),
});
export const material = s.named('Material', Type.Union([...materials], described('to sign')));
const orRelayed = Type.Union([...materials, relayed], described('to sign, or that it is sent'));
export const claimReply = s.named('ClaimReply', orRelayed);
export const fundReply = s.named('FundReply', orRelayed);

function described(what: string) {
  return { description: `What is ${what}: by its family.` };
}

export const claimBody = s.form('Claim', 'The secret, and who sends the claim.', {
  secret: s.as(s.hex32Input, 'the secret: 32 bytes, hex', s.examples.secret),
  relay: s.optional(
    s.flag(
      'the market sends the claim and pays its gas, where it has a gas key (not Bitcoin); ' +
        'refused where landing it cannot be guaranteed',
      false,
    ),
  ),
});

const { floorSatPerVbyte, capSatPerVbyte } = defaultFeeBounds;
const bounds = `from ${floorSatPerVbyte} to ${capSatPerVbyte}`;
// A rate that is out of bounds is `bad_fee_rate`, by these as by the narrower ones of the moment.
const askedRate = s.optional(
  s.told(
    Type.Number({
      // Said where it is no number at all.
      'x-wanted': `sat per vbyte, ${bounds}`,
      description:
        `Bitcoin: sat per vbyte instead of the estimate, ${bounds} and within the narrower bounds ` +
        'of now; else `bad_fee_rate`, with the bounds. On other chains, and of a funding, which ' +
        'your wallet pays for, it is refused out of the same numbers and is else of no effect',
      examples: [12.5],
    }),
    { minimum: floorSatPerVbyte, maximum: capSatPerVbyte },
  ),
);
const formerEscrow = s.optional(
  s.bounded('one that this leg moved off after its address changed', s.exampleIn(s.escrow), 200),
);

export const buildQuery = Type.Object({ feeRate: askedRate });
export const refundQuery = Type.Object({ feeRate: askedRate, escrow: formerEscrow });
export const fundQuery = Type.Object({
  feeRate: askedRate,
  allowance: s.optional(
    s.oneOf(
      ['exact', 'standing'],
      'EVM: what an approval or a permit lets the escrow contract take: the amount (default), or ' +
        'any number of later fundings too',
    ),
  ),
  sign: s.optional(
    s.oneOf(
      ['authorization'],
      'EVM: gives the text of an authorization too, where the token takes one. From then on the ' +
        'leg does not move until the text can open nothing any more',
    ),
  ),
});

export const fundBody = s.form('Fund', 'For the market to send a funding; else empty.', {
  relay: s.optional(
    s.flag(
      'EVM, of a token: the market sends the funding that you signed and pays its gas, where ' +
        'it does so (`relay` of the alternative) and within its caps',
      true,
    ),
  ),
  signature: s.optional(
    s.text(
      "of the authorization, by the refund address's key: 65 bytes in hex with 0x",
      s.examples.evmSignature,
      // A signature of a key in hex; a longer one is none.
      { maxLength: 1_024 },
    ),
  ),
  escrow: s.optional(s.bounded('what was signed for', s.exampleIn(s.escrow), 200)),
});

const signedHex = (description: string, maxLength: number) =>
  s.bounded(description, '0200000000010142', maxLength);

export const releaseBody = s.form(
  'Release',
  'Your signature. An empty one asks for the text or transaction to sign.',
  {
    signature: s.optional(
      s.text(
        'EVM, TRON: of `material`, 65 bytes in hex with 0x, or of a contract wallet',
        s.examples.evmSignature,
        {
          // The words of a contract wallet with several owners.
          maxLength: 8_192,
        },
      ),
    ),
  },
);

const releaseText = (family: 'evm' | 'tron', name: string) =>
  materialOf(name, family, 'typed-data', 'A text to sign.', { typedData });

export const laneBody = s.form(
  'OpenLane',
  'Your signature for your lane. An empty one asks for the text to sign.',
  {
    signature: s.optional(
      s.text('of `material`, by the payout address: 65 bytes in hex', s.examples.evmSignature, {
        maxLength: 1_024,
      }),
    ),
    escrow: s.optional(s.bounded('what was signed for', s.exampleIn(s.escrow), 200)),
  },
);

export const laneReply = s.model('LaneReply', 'The swap, and what opens the lane.', {
  swap: swapSchema,
  material: s.nullable(
    s.named(
      'LaneMaterial',
      Type.Union([releaseText('evm', 'EvmLaneText'), releaseText('tron', 'TronLaneText')], {
        description: 'A text to sign.',
      }),
    ),
    'null: it is signed',
  ),
});

export const releaseReply = s.model('ReleaseReply', 'The swap, and what releases its leg.', {
  swap: swapSchema,
  material: s.nullable(
    s.named(
      'ReleaseMaterial',
      Type.Union(
        [releaseText('evm', 'EvmReleaseText'), releaseText('tron', 'TronReleaseText'), solanaTx],
        { description: 'What is to sign: a text, or a transaction to send.' },
      ),
    ),
    'null: it is signed, or the leg may not be released now',
  ),
});

const nonce = s.text(
  'a public nonce of BIP 327: 66 bytes in hex',
  `02${'79be'.repeat(16)}`.repeat(2),
  {
    pattern: '^[0-9a-f]{132}$',
  },
);
const partialSignature = s.text('a partial signature: 32 bytes in hex', s.examples.hashlock, {
  pattern: '^[0-9a-f]{64}$',
});
const ofEach = { minItems: 1, maxItems: mostInputs };
const nonces = s.list('one an output, in their order', nonce, ofEach);
const signatures = s.list('one an output, in their order', partialSignature, ofEach);
const cosignFields = {
  escrow: s.bounded('which it spends: the one of the leg now', s.exampleIn(s.escrow), 200),
  verb: s.oneOf(['claim', 'refund'], 'claim: to the payee; refund: to the funder'),
  outputs: s.list(
    'the payments that it takes',
    s.input(
      {
        txid: s.as(s.hex32, 'transaction id of the payment'),
        vout: s.int('which output of it', 0, { minimum: 0, maximum: 4_294_967_295 }),
        amount: sats('how much it is'),
      },
      'One of the escrow.',
    ),
    ofEach,
  ),
  feeSats: sats('what it pays'),
  paysTo: s.bounded('where the rest goes: any address of the network', s.examples.bitcoin, 128),
  nonces,
};
const exchange = s.nullable(
  s.model('CosignExchange', 'A spend of both sides, and how far it is.', {
    id: s.as(s.hex32, 'SHA-256 of the request'),
    ...cosignFields,
    at: s.instant('when it was asked for'),
    answer: s.nullable(
      s.group('the other side has signed', {
        nonces,
        signatures,
        at: s.instant('when it did'),
      }),
    ),
  }),
);

export const cosignBody = s.form('Cosign', 'A request or an answer; empty: the newest ones.', {
  request: s.optional(s.input(cosignFields, 'by the side that the spend pays')),
  answer: s.optional(
    s.input(
      { id: s.as(s.hex32, 'of the request'), nonces, signatures },
      'by the other side, of the request that there is',
    ),
  ),
});

export const cosignReply = s.model('CosignReply', 'The newest of each spend.', {
  exchange: s.group('by verb; null: there is no request', { claim: exchange, refund: exchange }),
});

export const scheduleClaimsBody = s.form('ScheduleClaims', 'Claims that you have signed.', {
  transactions: s.list(
    'signed claims of one escrow in hex, the lowest fee first, each with an empty item in the ' +
      'place of the secret; they spend the payment that funds it, once that is as confirmed as ' +
      'the leg wants (`requiredConfirmations`)',
    signedHex('a transaction in hex', longestScheduledHex),
    { minItems: 1, maxItems: mostBumps },
  ),
});

export const scheduleBody = s.form('ScheduleRefunds', 'Refunds that you have signed.', {
  transactions: s.list(
    'signed refunds of one escrow in hex, the lowest fee first; they spend what is as confirmed ' +
      'as the leg wants (`requiredConfirmations`)',
    signedHex('a transaction in hex', longestScheduledHex),
    { minItems: 1, maxItems: mostBumps },
  ),
  escrow: formerEscrow,
});

const scheduledOf = (what: string) =>
  s.group(what, {
    escrow: s.escrow,
    txids: s.list('as they were given', s.txid),
    ...scheduledFields,
  });

export const scheduleReply = s.model('ScheduledReply', 'What is kept.', {
  scheduledRefunds: scheduledOf('the refunds of one escrow'),
});

export const scheduleClaimsReply = s.model('ScheduledClaimsReply', 'What is kept.', {
  scheduledClaims: scheduledOf('the claims of one escrow'),
});

export const legParams = Type.Object({
  id: s.text('UUID', s.exampleIn(s.swapId), { minLength: 1 }),
  // Another one is refused as `bad_leg`.
  leg: s.told(s.text('`a` (funded by the maker) or `b` (by the taker)', 'a', { minLength: 1 }), {
    enum: legNames,
  }),
});

/** Raw transactions may be as large as a body lets them. */
const longestHex = 65_536;

const psbtBase64 = s.bounded(
  'the PSBT as it was built, base64',
  'cHNidP8BAFICAAAAAQ==',
  longestHex,
);
const derSignature = (description: string) => signedHex(description, 160);
const preimageHex = s.optional(s.as(s.hex32Input, 'of a claim: the secret', s.examples.secret));

const signedPsbt = s.form('SignedPsbt', 'A PSBT and its signatures.', {
  psbtBase64,
  signaturesHex: s.list(
    'one an input, in order; empty: those inside the PSBT',
    derSignature('a DER signature in hex'),
    { maxItems: mostInputs },
  ),
  preimageHex,
});

const signedPsbtOfOne = s.form('SignedPsbtOfOne', 'The same of a single input.', {
  psbtBase64,
  signatureHex: derSignature('alias: `signaturesHex` with this one in it'),
  preimageHex,
});

/** Open: wallets add fields of their own, and only these are looked at. */
const signedTron = s.named(
  'SignedTron',
  Type.Object(
    s.taken({
      raw_data_hex: signedHex('what was signed', longestHex),
      signature: s.list(
        '65 bytes r, s, v in hex each',
        signedHex('a signature in hex: r, s and v', 132),
        {
          minItems: 1,
          maxItems: 5,
        },
      ),
      txID: s.optional(s.as({ ...s.txid, maxLength: 66 }, 'txid: SHA-256 of raw_data_hex, hex')),
    }),
    { additionalProperties: true, description: 'A signed transaction as wallets give it.' },
  ),
);

export const broadcastBody = s.form('Broadcast', 'A signed transaction.', {
  chain: s.bounded('a family (evm, tron, bitcoin, solana) or a chain key', 'bitcoin', 32),
  signed: Type.Union(
    [
      signedHex('raw transaction: hex; Solana: base64', longestHex),
      signedPsbt,
      signedPsbtOfOne,
      signedTron,
    ],
    {
      description:
        'EVM, Bitcoin: raw transaction in hex; Bitcoin also a PSBT with its signatures; ' +
        'Solana: base64; TRON: the signed transaction as wallets give it',
    },
  ),
});

export const broadcastReply = s.model('BroadcastReply', 'What was sent.', { txid: s.txid });
