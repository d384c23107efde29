// Shapes of accounts in the browser.

import Type from 'typebox';
import { families } from '../../../core/families.ts';
import { dateTime, input, named, nullable, oneOf } from '../schemas/common.ts';

export const ok = named(
  'Ok',
  Type.Object({ ok: Type.Unsafe<true>({ type: 'boolean', const: true }) }),
);

/** Why a sign-in is begun: to sign in, to add a login to the account, or to be fresh again. */
export const purpose = oneOf(
  ['sign-in', 'add', 'renew'],
  'sign-in; add: a further login of the account that is signed in; renew: its session is fresh again',
);

export const signedInBy = oneOf(['email', 'provider', 'passkey', 'wallet']);

export const session = named(
  'Session',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    current: Type.Boolean({ description: 'the one that asks' }),
    signedInBy,
    signedInAt: dateTime,
    madeAt: dateTime,
    lastUsedAt: dateTime,
    expiresAt: dateTime,
    device: Type.String({ description: 'what the browser says it is' }),
    place: Type.String({ description: 'the network of the first use' }),
  }),
);

export const sessions = named('Sessions', Type.Object({ sessions: Type.Array(session) }));

export const loginShown = named(
  'Login',
  Type.Object({
    id: Type.String({ description: 'a UUID; of a wallet its family and address: evm:0x…' }),
    way: oneOf(['email', 'provider', 'passkey', 'wallet']),
    label: Type.String({ description: 'the address, or the name its provider or person gave it' }),
    issuer: nullable(Type.String({ description: 'of a provider' })),
    addedAt: dateTime,
    lastUsedAt: nullable(dateTime),
    backupEligible: nullable(
      Type.Boolean({ description: 'of a passkey: it can be on other devices too' }),
    ),
    backedUp: nullable(Type.Boolean({ description: 'of a passkey: it is' })),
    messages: nullable(
      oneOf(['on', 'ended'], 'messages go there; ended: the bot was blocked or the chat is gone'),
    ),
    waitsUntil: nullable(
      Type.String({ format: 'date-time', description: 'a wallet that may not receive before' }),
    ),
    leavesAt: nullable(
      Type.String({ format: 'date-time', description: 'a wallet that is removed then' }),
    ),
  }),
);

export const loginRemoved = named(
  'LoginRemoved',
  Type.Object({
    ok: Type.Literal(true),
    leavesAt: nullable(
      Type.String({
        format: 'date-time',
        description: 'a wallet is removed then, unless it is stopped; null = it is removed',
      }),
    ),
  }),
);

export const account = named(
  'Account',
  Type.Object({
    accountId: Type.String({ format: 'uuid' }),
    kind: oneOf(['wallet', 'browser'], 'wallet: one live key; browser: ten'),
    createdAt: dateTime,
    session,
    freshUntil: dateTime,
    walletSession: Type.Boolean({ description: 'may change where the account is paid' }),
    logins: Type.Array(loginShown),
    recovery: nullable(
      Type.String({ description: 'a warning where only one login is left to get in with' }),
    ),
  }),
);

export const ways = named(
  'Ways',
  Type.Object({
    email: Type.Boolean(),
    mailIsDown: Type.Boolean({ description: 'mail cannot be sent just now; it is tried again' }),
    providers: Type.Array(
      Type.Object({ id: Type.String(), label: Type.String(), messages: Type.Boolean() }),
    ),
    passkeys: Type.Boolean(),
    wallets: Type.Array(oneOf(families)),
  }),
);

/** What a sign-in came to. */
export const signedInReply = named(
  'SignedIn',
  Type.Object({
    accountId: Type.String({ format: 'uuid' }),
    isNew: Type.Boolean({ description: 'the account was made for it' }),
    outcome: oneOf(
      ['made', 'signed_in', 'added', 'renewed'],
      'renewed also where the login that was to be added was one of the account before',
    ),
  }),
);

export const askCode = named(
  'AskCode',
  input({ address: Type.String({ minLength: 3, maxLength: 320 }), purpose }),
);
export const codeSent = named(
  'CodeSent',
  Type.Object({
    address: Type.String({ description: 'as it is stored' }),
    expiresAt: dateTime,
  }),
);
export const giveCode = named(
  'GiveCode',
  input({
    address: Type.String({ minLength: 3, maxLength: 320 }),
    code: Type.String({ pattern: '^[0-9]{6}$' }),
  }),
);
