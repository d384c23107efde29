// Shapes of passkeys, as browsers take and give them in JSON (WebAuthn level 3: parseCreation-
// OptionsFromJSON, parseRequestOptionsFromJSON, toJSON).

import Type from 'typebox';
import { longestLabel } from '../../people/bounds.ts';
import { input, named, oneOf } from '../schemas/common.ts';

const text = Type.String();
const base64url = (most: number, description?: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9_-]+$',
    maxLength: most,
    ...(description === undefined ? {} : { description }),
  });
const publicKey = oneOf(['public-key']);
const userVerification = oneOf(['required']);
const transports = Type.Array(Type.String({ pattern: '^[a-z-]{1,32}$' }), {
  maxItems: 8,
  description: 'usb, nfc, ble, smart-card, hybrid, internal',
});

const descriptor = Type.Object({
  id: text,
  type: publicKey,
  transports: Type.Optional(transports),
});

export const creationOptions = named(
  'PasskeyCreationOptions',
  Type.Object({
    rp: Type.Object({ id: text, name: text }),
    user: Type.Object({
      id: Type.String({ description: 'random; what passkeys know the account by' }),
      name: text,
      displayName: text,
    }),
    challenge: Type.String({ description: '256 random bits, base64url; single-use' }),
    pubKeyCredParams: Type.Array(Type.Object({ alg: Type.Integer(), type: publicKey })),
    timeout: Type.Integer({ description: 'milliseconds' }),
    excludeCredentials: Type.Array(descriptor),
    authenticatorSelection: Type.Object({
      residentKey: oneOf(['required']),
      requireResidentKey: Type.Boolean(),
      userVerification,
    }),
    attestation: oneOf(['none']),
    extensions: Type.Object({ credProps: Type.Boolean() }),
    hints: Type.Array(text),
  }),
);

export const requestOptions = named(
  'PasskeyRequestOptions',
  Type.Object({
    rpId: text,
    challenge: Type.String({ description: '256 random bits, base64url; single-use' }),
    timeout: Type.Integer({ description: 'milliseconds' }),
    allowCredentials: Type.Array(descriptor, {
      description: 'empty: the passkey knows whose it is',
    }),
    userVerification,
  }),
);

// A credential id has at most 1 023 bytes (WebAuthn, 4).
const credentialId = base64url(1_364);
// Challenge and origin, and what browsers add so that nobody compares it as a text.
const clientDataJSON = base64url(4_096);

/** What a browser's passkey says. Open: browsers may say more than this. */
function credential<R extends Type.TSchema>(response: R) {
  return Type.Object(
    {
      id: credentialId,
      rawId: credentialId,
      type: publicKey,
      authenticatorAttachment: Type.Optional(
        Type.Union([Type.String({ maxLength: 32 }), Type.Null()]),
      ),
      clientExtensionResults: Type.Optional(Type.Object({})),
      response,
    },
    { description: 'PublicKeyCredential.toJSON()' },
  );
}

/** Controls, separators of lines and halves of characters. */
const unprinted = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ud800-\\udfff';

export const madePasskey = named(
  'MadePasskey',
  input({
    name: Type.String({
      // Not blank, one line.
      pattern: `^ *[^ ${unprinted}][^${unprinted}]*$`,
      maxLength: longestLabel,
      description: 'what its person knows it by',
    }),
    response: credential(
      Type.Object({
        clientDataJSON,
        // Key and id, and a statement of where it is from, which is not looked at.
        attestationObject: base64url(16_384),
        transports: Type.Optional(transports),
      }),
    ),
  }),
);

export const askPasskey = named(
  'AskPasskey',
  input({ purpose: oneOf(['sign-in', 'renew'], 'renew: the session is fresh again') }),
);

export const usedPasskey = named(
  'UsedPasskey',
  input({
    response: credential(
      Type.Object({
        clientDataJSON,
        authenticatorData: base64url(4_096),
        // RSA keys of 8 192 bits.
        signature: base64url(1_366),
        // At most 64 bytes (WebAuthn, 5.4.3).
        userHandle: Type.Optional(Type.Union([base64url(86), Type.Null()])),
      }),
    ),
  }),
);
