// Shapes of keys, accounts and wallets.

import { families } from '@parley/core/families.ts';
import { scopes } from '@parley/core/scopes.ts';
import Type from 'typebox';
import { longestMessage } from '../../market/messages.ts';
import * as s from './common.ts';

// A contract wallet signs with up to 8 192 bytes, in hex.
const longestSignature = 16_386;

export const family = s.oneOf(families, 'the family of its chain');
export const address = s.text('in its canonical form', s.examples.evm);
export const scopeList = s.list(
  'what it may do',
  s.oneOf(scopes, 'a scope, as the signed text names it'),
);

/** The fields of every text that a wallet signs. */
export const words = {
  address: s.bounded('in any spelling; answers write the canonical one', s.examples.evm, 128),
  message: s.bounded(
    'the signed text; what it must contain: docs/signing.md',
    `{product} - create an API key\n\nAddress: ${s.examples.evm}\nNonce: ${s.examples.nonce}`,
    longestMessage,
  ),
  signature: s.bounded(
    'evm, tron: hex; solana: base58 of 64 bytes; bitcoin: base64 (BIP-322 simple); docs/signing.md',
    s.examples.evmSignature,
    longestSignature,
  ),
};

export const nonceReply = s.model('Nonce', 'What a text to sign carries.', {
  nonce: s.text('128 random bits, hex; single-use', s.examples.nonce),
});

export const nonceQuery = Type.Object({
  purpose: s.optional(s.oneOf(['link', 'authorize'], 'link: proving; authorize: vouching')),
});

const signedText = 'A text that the wallet has signed.';
export const mintBody = s.form('MintKey', signedText, { rail: family, ...words });

export const mintedKey = s.model('ApiKey', 'A new key.', {
  id: s.keyId,
  key: s.text(
    'the key itself, shown once: what requests carry',
    `{short}_test_${'4kX9mQ2v'.repeat(5)}abc`,
  ),
  prefix: s.text('how the key begins', '{short}_test_4kX9mQ'),
  scopes: scopeList,
  name: s.nullable(s.text('what its person calls it', 'market maker')),
  expiresAt: s.instant('when it ends'),
  replaced: s.flag('this mint revoked a key of the account', false),
  note: s.nullable(
    s.text('of an account that holds several keys: how a leaked one is revoked', 'revoke it there'),
  ),
});

export const proveBody = s.form('ProveWallet', signedText, {
  ...words,
  authorization: s.optional(s.form('Authorization', 'The same of a login wallet.', words)),
});

export const provenWallet = s.model('ProvenWallet', 'A wallet of the account.', {
  address,
  family,
  proven: s.flag('it may trade', true),
  authorised: s.flag('counts beyond giving: may receive', false),
});

export const removedWallet = s.model('RemovedWallet', 'A wallet that is no longer proven.', {
  address,
  family,
  proven: Type.Unsafe<false>({ type: 'boolean', const: false, description: 'it is not' }),
});

const walletsOfFamily = s.model('WalletsOfFamily', 'The wallets of one family.', {
  login: s.nullable(
    s.text('is paid: signs in, unless another wallet was chosen in the browser', s.examples.evm),
  ),
  proven: s.list('tradeable; never a payout identity', address),
});

export const me = s.model('Me', 'The account of a key.', {
  userId: s.accountId,
  scopes: scopeList,
  wallets: s.group(
    'the wallets of the account by family of chains',
    Object.fromEntries(families.map((each) => [each, walletsOfFamily])),
  ),
});

export const addressParams = Type.Object({
  address: s.text('in any spelling', s.examples.evm, { minLength: 1 }),
});
