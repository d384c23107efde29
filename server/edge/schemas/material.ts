// Shapes of what is signed: unsigned material out, signed transactions in.

import Type from 'typebox';
import { hex32Input, input, named, unixSeconds } from './common.ts';

const text = Type.String();
const validUntil = { ...unixSeconds, description: 'Unix seconds: do not send it after this' };
const sats = Type.String({ pattern: '^(0|[1-9][0-9]*)$', description: 'satoshis' });

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
    validUntil,
  }),
);

export const material = named('Material', Type.Union([evmTx, btcPayment, btcSighash]));

export const claimBody = named('Claim', input({ secret: hex32Input }));

const feeRate = Type.Optional(
  Type.Number({
    minimum: 1,
    maximum: 10_000,
    description: 'Bitcoin: sat per vbyte instead of the estimate, within bounds',
  }),
);

export const buildQuery = Type.Object({ feeRate });

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

export const legParams = Type.Object({
  id: Type.String({ description: 'UUID' }),
  leg: Type.String({ description: '`a` (funded by the maker) or `b` (by the taker)' }),
});

/** Raw transactions may be as large as a body lets them. */
const longestHex = 65_536;

export const broadcastBody = named(
  'Broadcast',
  input({
    chain: Type.String({
      minLength: 1,
      maxLength: 32,
      description: 'a family (evm, bitcoin) or a chain key',
    }),
    signed: Type.Union(
      [
        Type.String({ minLength: 1, maxLength: longestHex }),
        named(
          'SignedPsbt',
          input({
            psbtBase64: Type.String({ minLength: 1, maxLength: longestHex }),
            signaturesHex: Type.Array(Type.String({ minLength: 1, maxLength: 160 }), {
              maxItems: 500,
              description: 'one an input, in order; none = those inside the PSBT',
            }),
            preimageHex: Type.Optional(hex32Input),
          }),
        ),
      ],
      { description: 'raw transaction in hex; Bitcoin also a PSBT with its signatures' },
    ),
  }),
);

export const broadcastReply = named('BroadcastReply', Type.Object({ txid: text }));
