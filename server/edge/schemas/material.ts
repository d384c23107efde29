// Shapes of what is signed: unsigned material out, signed transactions in.

import Type from 'typebox';
import { mostRungs } from '../../../chains/bitcoin/fee-ladder.ts';
import { defaultFeeBounds } from '../../../chains/bitcoin/fees.ts';
import { longestRefundHex } from '../../../chains/bitcoin/signed-refunds.ts';
import { mostInputs } from '../../../chains/bitcoin/spending.ts';
import { hex32Input, input, named, nullable, oneOf, unixSeconds } from './common.ts';
import { scheduledFields } from './swap.ts';

const text = Type.String();
const validUntil = { ...unixSeconds, description: 'Unix seconds: do not send it after this' };
const lamports = Type.String({ pattern: '^(0|[1-9][0-9]*)$', description: 'lamports' });
const sats = Type.String({ pattern: '^(0|[1-9][0-9]*)$', description: 'satoshis' });

const integerText = 'integers as decimal strings';
const typedData = named(
  'TypedData',
  Type.Object(
    {
      domain: Type.Object({
        name: text,
        version: Type.Optional(text),
        chainId: Type.Optional(Type.String({ description: 'decimal' })),
        verifyingContract: text,
        salt: Type.Optional(text),
      }),
      types: Type.Record(text, Type.Array(Type.Object({ name: text, type: text }))),
      primaryType: text,
      message: Type.Record(text, text, { description: integerText }),
    },
    { description: `EIP-712, without the type of the domain; ${integerText}` },
  ),
);
const signedCall = named(
  'SignedCall',
  Type.Object({
    to: text,
    value: Type.Literal('0x0'),
    dataBeforeSignature: Type.String({
      description: 'hex with 0x; v, r and s of the signature follow, 32 bytes each',
    }),
  }),
);
const alternatives = Type.Array(
  Type.Union([
    named(
      'PermitFunding',
      Type.Object({
        way: Type.Literal('permit'),
        from: Type.String({ description: 'signs the typed data, then sends the one transaction' }),
        typedData,
        call: signedCall,
      }),
    ),
    named(
      'AuthorizedFunding',
      Type.Object({
        way: Type.Literal('authorization'),
        from: Type.Null({ description: 'anyone may send it; the refund address signs' }),
        typedData: nullable(typedData),
        call: nullable(signedCall),
        relay: Type.Boolean({ description: 'whether the market sends it, given the signature' }),
      }),
    ),
  ]),
  {
    description:
      'fund of a token: what may be signed instead of `txs`, one of all. An authorization is ' +
      'null until asked for with `sign=authorization`; from then on the leg does not move',
  },
);

const evmTx = named(
  'EvmMaterial',
  Type.Object({
    chain: text,
    family: Type.Literal('evm'),
    sign: Type.Literal('evm-tx'),
    chainId: Type.Integer(),
    from: Type.Optional(Type.String({ description: 'fund: sign from this address' })),
    txs: Type.Array(
      Type.Object({
        to: text,
        data: Type.String({ description: 'hex with 0x' }),
        value: Type.String({ description: 'wei, hex with 0x' }),
      }),
      { description: 'sign and send each, in order' },
    ),
    escrow: text,
    alternatives: Type.Optional(alternatives),
    validUntil,
  }),
);

const btcPayment = named(
  'BtcPayment',
  Type.Object({
    chain: text,
    family: Type.Literal('bitcoin'),
    sign: Type.Literal('btc-payment'),
    payTo: Type.String({ description: 'pay ONE output of exactly amountSats to it' }),
    amountSats: sats,
    uri: Type.String({ description: 'BIP 21' }),
    escrow: text,
    validUntil,
  }),
);

const btcSighash = named(
  'BtcSighash',
  Type.Object({
    chain: text,
    family: Type.Literal('bitcoin'),
    sign: Type.Literal('btc-sighash'),
    psbtBase64: text,
    sighashHexes: Type.Array(text, { description: 'one an input; sign each with SIGHASH_ALL' }),
    escrow: text,
    feeSats: sats,
    feeRateSatPerVbyte: Type.Number({ description: 'feeSats as a rate' }),
    ladder: Type.Array(
      Type.Object({
        at: { ...unixSeconds, description: 'Unix seconds from which to pay it' },
        feeRateSatPerVbyte: Type.Number(),
        feeSats: sats,
      }),
      { description: 'what to pay if it is not mined by then: build it again; the first is now' },
    ),
    validUntil,
  }),
);

const tronTx = named(
  'TronMaterial',
  Type.Object({
    chain: text,
    family: Type.Literal('tron'),
    sign: Type.Literal('tron-txid'),
    from: Type.String({ description: 'base58: sign as this address' }),
    transactions: Type.Array(
      Type.Object(
        {
          visible: Type.Literal(false),
          txID: Type.String({ description: 'SHA-256 of raw_data_hex: what is signed' }),
          raw_data: Type.Object({
            contract: Type.Array(
              Type.Object({
                parameter: Type.Object({
                  value: Type.Object({
                    data: text,
                    owner_address: text,
                    contract_address: text,
                    call_value: Type.Optional(Type.Integer({ description: 'sun' })),
                  }),
                  type_url: text,
                }),
                type: Type.Literal('TriggerSmartContract'),
              }),
            ),
            ref_block_bytes: text,
            ref_block_hash: text,
            expiration: Type.Integer({ description: 'Unix milliseconds' }),
            fee_limit: Type.Integer({ description: 'sun' }),
            timestamp: Type.Integer({ description: 'Unix milliseconds' }),
          }),
          raw_data_hex: text,
        },
        { description: "java-tron's JSON of an unsigned transaction, addresses in 41-hex" },
      ),
      { description: 'sign each, in order; send the next when the one before has succeeded' },
    ),
    escrow: Type.String({ description: '<contract in base58>:<id in hex>' }),
    validUntil,
  }),
);

const solanaTx = named(
  'SolanaMaterial',
  Type.Object({
    chain: text,
    family: Type.Literal('solana'),
    sign: Type.Literal('solana-tx'),
    transaction: Type.String({ description: 'base64, with room for its one signature' }),
    lastValidBlockHeight: Type.Integer({ description: 'no later block takes it' }),
    escrow: text,
    costs: Type.Optional(
      Type.Object(
        {
          depositLamports: { ...lamports, description: "rent of the escrow's accounts" },
          returnedLamports: { ...lamports, description: 'of it, to the funder when it is settled' },
          keptLamports: {
            ...lamports,
            description: 'of it, after a claim: from the timelock on, by a refund',
          },
          feeLamports: lamports,
        },
        { description: "fund: what it takes from the funder's SOL beside what moves" },
      ),
    ),
    validUntil,
  }),
);

export const material = named(
  'Material',
  Type.Union([evmTx, btcPayment, btcSighash, tronTx, solanaTx]),
);

export const claimBody = named(
  'Claim',
  input({
    secret: hex32Input,
    relay: Type.Optional(
      Type.Boolean({
        description:
          'the market sends the claim and pays its gas, where it has a gas key (not Bitcoin); ' +
          'refused where landing it cannot be guaranteed',
      }),
    ),
  }),
);

const relayed = named(
  'Relayed',
  Type.Object({
    relayed: Type.Literal(true),
    txid: Type.String({ description: 'of its newest transaction; a stuck one is replaced' }),
  }),
);

const orRelayed = Type.Union([evmTx, btcPayment, btcSighash, tronTx, solanaTx, relayed]);
export const claimReply = named('ClaimReply', orRelayed);
export const fundReply = named('FundReply', orRelayed);

const { floorSatPerVbyte, capSatPerVbyte } = defaultFeeBounds;
// What is out of bounds is `bad_fee_rate`, by these as by the narrower ones of the moment.
const feeRate = Type.Optional(
  Type.Number({
    // Said where it is no number at all.
    'x-wanted': `sat per vbyte, from ${floorSatPerVbyte} to ${capSatPerVbyte}`,
    description:
      `Bitcoin: sat per vbyte instead of the estimate, from ${floorSatPerVbyte} to ` +
      `${capSatPerVbyte} and within the narrower bounds of now; else \`bad_fee_rate\`, with the ` +
      'bounds. On other chains, and of a funding, which your wallet pays for, it is refused out of ' +
      'the same numbers and is else of no effect',
  }),
);

export const buildQuery = Type.Object({ feeRate });

export const fundQuery = Type.Object({
  feeRate,
  allowance: Type.Optional(
    oneOf(
      ['exact', 'standing'],
      'EVM: what an approval or a permit lets the escrow contract take: the amount (default), or ' +
        'any number of later fundings too',
    ),
  ),
  sign: Type.Optional(
    oneOf(
      ['authorization'],
      'EVM: gives the text of an authorization too, where the token takes one. From then on the ' +
        'leg does not move until the text can open nothing any more',
    ),
  ),
});

/** A signature of a key in hex; what is longer is none. */
const longestSignature = 1_024;

export const fundBody = named(
  'Fund',
  input({
    relay: Type.Optional(
      Type.Boolean({
        description:
          'EVM, of a token: the market sends the funding that you signed and pays its gas, where ' +
          'it does so (`relay` of the alternative) and within its caps',
      }),
    ),
    signature: Type.Optional(
      Type.String({
        maxLength: longestSignature,
        description: "of the authorization, by the refund address's key: 65 bytes in hex with 0x",
      }),
    ),
    escrow: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'what was signed for' }),
    ),
  }),
);

export const refundQuery = Type.Object({
  feeRate,
  escrow: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'an escrow that this leg moved off after an address was corrected',
    }),
  ),
});

export const scheduleBody = named(
  'ScheduleRefunds',
  input({
    transactions: Type.Array(Type.String({ minLength: 1, maxLength: longestRefundHex }), {
      minItems: 1,
      maxItems: mostRungs,
      description:
        'signed refunds of one escrow in hex, the lowest fee first; they spend what is as deep as ' +
        'the leg wants (`requiredConfirmations`)',
    }),
    escrow: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'an escrow that this leg moved off after an address was corrected',
      }),
    ),
  }),
);

export const scheduleReply = named(
  'ScheduledReply',
  Type.Object({
    scheduledRefunds: Type.Object({
      escrow: text,
      txids: Type.Array(text, { description: 'as they were given' }),
      ...scheduledFields,
    }),
  }),
);

export const legParams = Type.Object({
  id: Type.String({ description: 'UUID' }),
  leg: Type.String({ description: '`a` (funded by the maker) or `b` (by the taker)' }),
});

/** Raw transactions may be as large as a body lets them. */
const longestHex = 65_536;

/** Open: wallets add fields of their own, and only these are looked at. */
const signedTron = named(
  'SignedTron',
  Type.Object(
    {
      raw_data_hex: Type.String({ minLength: 1, maxLength: longestHex }),
      signature: Type.Array(Type.String({ minLength: 1, maxLength: 132 }), {
        minItems: 1,
        maxItems: 5,
        description: '65 bytes r, s, v in hex each',
      }),
      txID: Type.Optional(Type.String({ maxLength: 66 })),
    },
    { additionalProperties: true },
  ),
);

export const broadcastBody = named(
  'Broadcast',
  input({
    chain: Type.String({
      minLength: 1,
      maxLength: 32,
      description: 'a family (evm, tron, bitcoin, solana) or a chain key',
    }),
    signed: Type.Union(
      [
        Type.String({ minLength: 1, maxLength: longestHex }),
        named(
          'SignedPsbt',
          input({
            psbtBase64: Type.String({ minLength: 1, maxLength: longestHex }),
            signaturesHex: Type.Array(Type.String({ minLength: 1, maxLength: 160 }), {
              maxItems: mostInputs,
              description: 'one an input, in order; none = those inside the PSBT',
            }),
            preimageHex: Type.Optional(hex32Input),
          }),
        ),
        signedTron,
      ],
      {
        description:
          'EVM, Bitcoin: raw transaction in hex; Bitcoin also a PSBT with its signatures; ' +
          'Solana: base64; TRON: the signed transaction as wallets give it',
      },
    ),
  }),
);

export const broadcastReply = named('BroadcastReply', Type.Object({ txid: text }));
