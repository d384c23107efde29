// Shapes of keys, accounts and wallets.

import Type from 'typebox';
import { families } from '../../../core/families.ts';
import { scopes } from '../../../core/scopes.ts';
import { longestMessage } from '../../market/messages.ts';
import { dateTime, input, named, oneOf } from './common.ts';

// A contract wallet signs with up to 8 192 bytes, in hex.
const longestSignature = 16_386;

/** Of every text that a wallet signs. */
export const words = {
  address: Type.String({
    minLength: 1,
    maxLength: 128,
    description: 'in any spelling of its family; answers write the canonical one',
  }),
  message: Type.String({
    minLength: 1,
    maxLength: longestMessage,
    description: 'the signed text; what it must contain: docs/signing.md',
  }),
  signature: Type.String({
    minLength: 1,
    maxLength: longestSignature,
    description:
      'evm, tron: hex; solana: base58 of 64 bytes; bitcoin: base64 (BIP-322 simple); docs/signing.md',
  }),
};

export const nonceReply = named(
  'Nonce',
  Type.Object({ nonce: Type.String({ description: '128 random bits, hex; single-use' }) }),
);

export const mintBody = named('MintKey', input({ rail: oneOf(families), ...words }));

export const mintedKey = named(
  'ApiKey',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    key: Type.String({ description: 'shown once' }),
    prefix: Type.String(),
    scopes: Type.Array(oneOf(scopes)),
    name: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    expiresAt: dateTime,
    replaced: Type.Boolean({ description: 'this mint revoked a key of the account' }),
    note: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'of an account that holds several keys: how a leaked one is revoked',
    }),
  }),
);

const authorization = named('Authorization', input(words));

export const proveBody = named(
  'ProveWallet',
  input({ ...words, authorization: Type.Optional(authorization) }),
);

export const provenWallet = named(
  'ProvenWallet',
  Type.Object({
    address: Type.String(),
    family: oneOf(families),
    proven: Type.Boolean(),
    authorised: Type.Boolean({ description: 'counts beyond giving: may receive' }),
  }),
);

export const removedWallet = named(
  'RemovedWallet',
  Type.Object({
    address: Type.String(),
    family: oneOf(families),
    proven: Type.Unsafe<false>({ type: 'boolean', const: false }),
  }),
);

const walletsOfFamily = named(
  'WalletsOfFamily',
  Type.Object({
    login: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'is paid: signs in, unless another wallet was chosen in the browser',
    }),
    proven: Type.Array(Type.String(), { description: 'tradeable; never a payout identity' }),
  }),
);

export const me = named(
  'Me',
  Type.Object({
    userId: Type.String({ format: 'uuid' }),
    scopes: Type.Array(oneOf(scopes)),
    wallets: Type.Object({
      evm: walletsOfFamily,
      tron: walletsOfFamily,
      bitcoin: walletsOfFamily,
      solana: walletsOfFamily,
    }),
  }),
);
