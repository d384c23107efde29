// Shapes of accounts in the browser. Those of passkeys are as browsers take and give them in JSON
// (WebAuthn level 3: parseCreationOptionsFromJSON, parseRequestOptionsFromJSON, toJSON).

import { scopes } from '@parley/core/scopes.ts';
import Type, { type TSchema } from 'typebox';
import { keyLifeDays } from '../../market/keys.ts';
import { longestName } from '../../market/messages.ts';
import { longestLabel } from '../../people/bounds.ts';
import * as s from '../schemas/common.ts';
import { address, family, scopeList, words } from '../schemas/identity.ts';
import { eventName } from '../schemas/webhook.ts';

const yes = <const V extends boolean>(value: V) =>
  Type.Unsafe<V>({ type: 'boolean', const: value, description: 'it is done' });
export const ok = s.model('Ok', 'It is done.', { ok: yes(true) });

/** Why a sign-in is begun: to sign in, to add a login to the account, or to be fresh again. */
const purpose = s.oneOf(
  ['sign-in', 'add', 'renew'],
  'sign-in; add: a further login of the account that is signed in; renew: its session is fresh again',
);
const way = (description: string) =>
  s.oneOf(['email', 'provider', 'passkey', 'wallet'], description);

// The account, its sessions and its logins.

const session = s.model('Session', 'A signed-in browser.', {
  id: s.id('UUID of the session', '01936b25-77d2-7b03-9e6f-1a4c8d5b2e70'),
  current: s.flag('the one that asks', true),
  signedInBy: way('how its last sign-in was made'),
  signedInAt: s.instant('its last sign-in'),
  madeAt: s.instant('its first sign-in'),
  lastUsedAt: s.instant('its last use'),
  expiresAt: s.instant('when it ends by itself'),
  device: s.text('what the browser says it is', 'Firefox on Linux'),
  place: s.text('the network of the first use', '203.0.113.7'),
});

export const sessions = s.model('Sessions', 'The live sessions of the account.', {
  sessions: s.list('the one used last first', session),
});

const login = s.model('Login', 'A way into the account.', {
  id: s.text('a UUID; of a wallet its family and address: evm:0x…', `evm:${s.examples.evm}`),
  way: way('which way'),
  label: s.text('the address, or the name its provider or person gave it', s.examples.evm),
  issuer: s.nullable(s.text('of a provider', 'https://accounts.example.com')),
  addedAt: s.instant('when it was added'),
  lastUsedAt: s.nullable(s.instant('its last use')),
  backupEligible: s.nullable(s.flag('of a passkey: it can be on other devices too', true)),
  backedUp: s.nullable(s.flag('of a passkey: it is', true)),
  messages: s.nullable(
    s.oneOf(['on', 'ended'], 'messages go there; ended: the bot was blocked or the chat is gone'),
  ),
  waitsUntil: s.nullable(s.instant('a wallet that may not receive before')),
  leavesAt: s.nullable(s.instant('it is removed then, unless stopped')),
});

export const loginRemoved = s.model('LoginRemoved', 'What became of it.', {
  ok: yes(true),
  leavesAt: s.nullable(s.instant('it leaves then, unless stopped; null = it is removed')),
});

export const accountLeaves = s.model('AccountLeaves', 'When it is deleted.', {
  ok: yes(true),
  leavesAt: s.instant('it is deleted then, unless stopped'),
});

export const account = s.model('Account', 'The account that is signed in.', {
  accountId: s.accountId,
  kind: s.oneOf(['wallet', 'browser'], 'wallet: one live key; browser: ten'),
  createdAt: s.instant('when it was made'),
  leavesAt: s.nullable(s.instant('it is deleted then, unless stopped; null = it stays')),
  session,
  freshUntil: s.instant('until when the sign-in counts as fresh'),
  walletSession: s.flag('may change where the account is paid', true),
  logins: s.list('its ways in', login),
  recovery: s.nullable(s.text('a warning where only one login is left', 'add a second login')),
});

export const sessionParams = Type.Object({
  id: s.text('UUID', s.exampleIn(session.properties.id)),
});
export const loginParams = Type.Object({
  id: s.text('the id of the login', `evm:${s.examples.evm}`, { maxLength: 200 }),
});

// Ways in.

export const ways = s.model('Ways', 'What one may sign in with here.', {
  email: s.flag('a code sent by mail', true),
  mailIsDown: s.flag('mail cannot be sent just now; it is tried again', false),
  providers: s.list(
    'identity providers',
    s.group('A provider.', {
      id: s.text('its id', 'example'),
      label: s.text('its name', 'Example'),
      messages: s.flag('it can also bring messages', false),
    }),
  ),
  passkeys: s.flag('a passkey', true),
  wallets: s.list('a signature by a wallet of one of these', family),
});

export const signedInReply = s.model('SignedIn', 'What a sign-in came to.', {
  accountId: s.accountId,
  isNew: s.flag('the account was made for it', false),
  outcome: s.oneOf(
    ['made', 'signed_in', 'added', 'renewed'],
    'renewed also where the login that was to be added was one of the account before',
    'signed_in',
  ),
});

const email = s.text('an e-mail address', 'ada@example.com', { minLength: 3, maxLength: 320 });
export const askCode = s.form('AskCode', 'Where a code is to be sent.', {
  address: email,
  purpose,
});
export const codeSent = s.model('CodeSent', 'A code was sent.', {
  address: s.text('as it is stored', 'ada@example.com'),
  expiresAt: s.instant('when the code ends'),
});
export const giveCode = s.form('GiveCode', 'The code that was sent.', {
  address: email,
  code: s.text('six digits; twenty where many were asked for', '402917', {
    pattern: '^(?:[0-9]{6}|[0-9]{20})$',
  }),
});

export const beginProvider = s.form('BeginProvider', 'Which provider.', {
  provider: s.text('its id, of GET /account/ways', 'example', {
    pattern: '^[a-z][a-z0-9-]{0,31}$',
  }),
  purpose,
});
export const providerBegun = s.model('ProviderBegun', 'Where the browser is to go.', {
  url: s.text('the page of the provider', 'https://accounts.example.com/authorize?state=q1w2e3'),
});

const chainId = (maximum: number | undefined, unlessTold: string) =>
  s.optional(
    s.int(`of an EVM wallet: the chain that it is on${unlessTold}`, 1, {
      minimum: 1,
      ...(maximum === undefined ? {} : { maximum }),
    }),
  );
export const askText = s.form('AskText', 'Which wallet is to sign.', {
  family,
  address: words.address,
  purpose,
  chainId: chainId(Number.MAX_SAFE_INTEGER, '; the first that is served unless told'),
});
const message = s.text('to be signed as it is: docs/signing.md', s.exampleIn(words.message));
const expiresAt = s.instant('when it can no longer be signed');
export const textToSign = s.model('TextToSign', 'A text that the wallet is to sign.', {
  address,
  message,
  expiresAt,
});
export const giveSignature = s.form('GiveSignature', 'The signed text.', { family, ...words });

// Passkeys.

const base64url = (description: string, maxLength: number) =>
  s.text(description, 'q1w2e3r4T5y6U7i8', { pattern: '^[A-Za-z0-9_-]+$', maxLength });
const publicKey = s.oneOf(['public-key'], 'its kind');
const userVerification = s.oneOf(['required'], 'the person is verified');
const transports = s.list(
  'usb, nfc, ble, smart-card, hybrid, internal',
  s.text('one of them', 'internal', { pattern: '^[a-z-]{1,32}$' }),
  { maxItems: 8 },
);
const descriptor = s.group('A passkey.', {
  id: s.text('its id, base64url', 'q1w2e3r4T5y6U7i8'),
  type: publicKey,
  transports: s.optional(transports),
});
const challenge = s.text(
  '256 random bits, base64url; single-use',
  'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE',
);
const timeout = s.int('milliseconds', 600_000);

export const creationOptions = s.model('PasskeyCreationOptions', 'What a passkey is made from.', {
  rp: s.group('this site', {
    id: s.text('its host', 'market.example.com'),
    name: s.text('its name', '{product}'),
  }),
  user: s.group('the account', {
    id: s.text('random; what passkeys know the account by', 'q1w2e3r4T5y6U7i8'),
    name: s.text('what a browser shows', '{product}'),
    displayName: s.text('what a browser shows', '{product}'),
  }),
  challenge,
  pubKeyCredParams: s.list(
    'algorithms that are taken',
    s.group('An algorithm.', { alg: s.int('COSE', -7), type: publicKey }),
  ),
  timeout,
  excludeCredentials: s.list('passkeys that the account has', descriptor),
  authenticatorSelection: s.group('what it must be able to do', {
    residentKey: s.oneOf(['required'], 'it knows the account'),
    requireResidentKey: s.flag('the same, for older browsers', true),
    userVerification,
  }),
  attestation: s.oneOf(['none'], 'where it is from is not asked'),
  extensions: s.group('what is asked besides', {
    credProps: s.flag('whether it is resident', true),
  }),
  hints: s.list('which kind is preferred', s.text('a kind', 'client-device')),
});

export const requestOptions = s.model('PasskeyRequestOptions', 'What passkeys are asked with.', {
  rpId: s.text('the host of this site', 'market.example.com'),
  challenge,
  timeout,
  allowCredentials: s.list('empty: the passkey knows whose it is', descriptor),
  userVerification,
});

// A credential id has at most 1 023 bytes (WebAuthn, 4).
const credentialId = base64url('its id', 1_364);
// Challenge and origin, and what browsers add so that nobody compares it as a text.
const clientDataJSON = base64url('what the browser signed for', 4_096);

const attachment = s.text('where it is', 'platform', { maxLength: 32 });

/** The answer of a browser's passkey. Open: browsers may say more than this. */
function credential<R extends TSchema>(response: R) {
  return s.group('PublicKeyCredential.toJSON()', {
    id: credentialId,
    rawId: credentialId,
    type: publicKey,
    authenticatorAttachment: s.optional(s.nullable(attachment)),
    clientExtensionResults: s.optional(s.group('not looked at', {})),
    response,
  });
}

/** Controls, separators of lines and halves of characters. */
const unprinted = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ud800-\\udfff';

export const madePasskey = s.form('MadePasskey', 'The passkey that the browser has made.', {
  name: s.text('what its person knows it by', 'Laptop', {
    // Not blank, one line.
    pattern: `^ *[^ ${unprinted}][^${unprinted}]*$`,
    maxLength: longestLabel,
  }),
  response: credential(
    s.group('what it says', {
      clientDataJSON,
      // Key and id, and a statement of where it is from, which is not looked at.
      attestationObject: base64url('CBOR', 16_384),
      transports: s.optional(transports),
    }),
  ),
});

export const askPasskey = s.form('AskPasskey', 'What a passkey is asked for.', {
  purpose: s.oneOf(['sign-in', 'renew'], 'renew: the session is fresh again'),
});

export const usedPasskey = s.form('UsedPasskey', 'What the passkey answered.', {
  response: credential(
    s.group('what it says', {
      clientDataJSON,
      authenticatorData: base64url('what the passkey adds', 4_096),
      // RSA keys of 8 192 bits.
      signature: base64url('of both', 1_366),
      // At most 64 bytes (WebAuthn, 5.4.3).
      userHandle: s.optional(s.nullable(base64url('whose it is', 86))),
    }),
  ),
});

// Where the account is paid.

const paid = s.flag(
  'true: the family is paid there from then on; false: a swap may be told to pay there',
  true,
);
const { message: given, signature } = words;
const signed = { message: given, signature };

const waiting = s.group('One that waits.', { address, fromAt: s.instant('when it counts'), paid });
const leaving = s.group('One that leaves.', { address, at: s.instant('when it is removed') });

export const payouts = s.model('Payouts', 'Where the account is paid.', {
  payouts: s.list(
    'one entry a family',
    s.group('Of one family.', {
      family,
      paid: s.nullable(s.text('paid unless a swap is told otherwise', s.examples.evm)),
      receives: s.list('may be named as where a swap pays', address),
      waiting: s.list('wallets that are to be paid later', waiting),
      leaving: s.list('login wallets that are removed then, and paid until then', leaving),
    }),
  ),
});

export const beginPayout = s.form('BeginPayout', 'Which wallet is to be paid.', {
  family,
  address: words.address,
  paid,
  chainId: chainId(undefined, ''),
});

export const payoutBegun = s.model('PayoutBegun', 'The texts to sign.', {
  address,
  message: s.as(message, 'for the wallet that is to be paid'),
  expiresAt,
  voucher: s.nullable(
    s.group('for the wallet whose signature makes it count at once', { family, address, message }),
  ),
  waitSeconds: s.int('how long it waits without that signature', 172_800),
});

export const provePayout = s.form('ProvePayout', 'The signed texts.', {
  family,
  address: words.address,
  paid,
  ...signed,
  voucher: s.optional(s.input(signed, 'the text that the wallet of before has signed')),
});

export const payoutChosen = s.model('PayoutChosen', 'What was chosen.', {
  family,
  address,
  paid,
  fromAt: s.instant('from when on it counts'),
});

export const stopPayout = s.form('StopPayout', 'Of which wallet.', {
  family,
  address: words.address,
});

// Keys, and tickets for the feed.

const day = { pattern: '^\\d{4}-\\d{2}-\\d{2}$' };

export const keysShown = s.model('Keys', 'The live keys of the account.', {
  keys: s.list(
    'the newest first',
    s.model('KeyShown', 'A key, without its secret.', {
      id: s.keyId,
      prefix: s.text('how the key begins', '{short}_test_4kX9mQ'),
      name: s.nullable(s.text('what its person calls it', 'market maker')),
      scopes: scopeList,
      createdAt: s.instant('when it was made'),
      expiresAt: s.instant('when it ends'),
      usedOn: s.nullable(s.text('the day (UTC) of the last use', '2026-03-14', day)),
      usedFrom: s.nullable(s.text('the network of the last use', '203.0.113.7')),
    }),
  ),
});

export const makeKeyBody = s.form('MakeKey', 'What the key is to be.', {
  name: s.optional(s.nullable(s.bounded('what its person calls it', 'market maker', longestName))),
  scopes: s.list('what it may do', s.oneOf(scopes, 'one scope'), {
    minItems: 1,
    maxItems: scopes.length,
    uniqueItems: true,
  }),
  lifeDays: s.optional(
    s.int(`${keyLifeDays} unless told`, 30, { minimum: 1, maximum: keyLifeDays }),
  ),
});

export const deliveryParams = Type.Object({
  id: s.text('the webhook', s.exampleIn(s.webhookId)),
  deliveryId: s.text('the delivery', s.exampleIn(s.deliveryId)),
});

export const deliveryPage = s.page(
  'Deliveries',
  'A page of the deliveries to a webhook.',
  'deliveries',
  s.model('Delivery', 'One event for one webhook.', {
    id: s.deliveryId,
    event: eventName,
    state: s.oneOf(
      ['waiting', 'delivered', 'dropped'],
      'waiting: it is tried at nextAt; dropped: after the sixth attempt, or a ping without a 2xx',
    ),
    body: s.text('as it is sent, byte for byte', '{"type":"swap.funded"}'),
    createdAt: s.instant('when it was made'),
    nextAt: s.nullable(s.instant('the next attempt, of one that waits')),
    attempts: s.list(
      'at most the last 24, the newest first',
      s.group('One attempt.', {
        at: s.instant('when it began'),
        milliseconds: s.int('how long it took', 48),
        status: s.int('HTTP status; 0 = no answer', 200),
        error: s.nullable(s.text('why there was no answer', 'no connection: ECONNREFUSED')),
        answer: s.nullable(s.text('how the body of the answer begins, at most 500 bytes', 'ok')),
      }),
    ),
  }),
);

export const feedTicket = s.model('FeedTicket', 'For the first frame of the maker feed.', {
  ticket: s.text('good once', `{short}_ticket_${'4kX9mQ2v'.repeat(5)}abc`),
  expiresAt: s.instant('when it ends'),
});
