// An authenticator in software, for tests of the protocol: P-256 keys, discoverable credentials,
// and the answers that a browser makes of them (WebAuthn level 3, 5.1 and 6). `how` makes an answer
// that no honest browser would.

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

// biome-ignore lint/suspicious/noExplicitAny: options as they come from the wire
type Options = any;

export type Credential = {
  /** base64url */
  readonly id: string;
  readonly rpId: string;
  readonly user: string;
  readonly key: KeyObject;
  readonly cose: Uint8Array;
  counter: number;
};

export type How = {
  readonly origin?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly rpId?: string;
  readonly crossOrigin?: boolean;
  readonly topOrigin?: string;
  /** User present, user verified. */
  readonly up?: boolean;
  readonly uv?: boolean;
  readonly counter?: number;
  readonly userHandle?: string | null;
  /** The id of a credential that is made: instead of one of its own. */
  readonly id?: string;
  readonly alg?: number;
  /** Another one signs. */
  readonly key?: KeyObject;
};

export type Authenticator = {
  readonly credentials: Credential[];
  /** The result of `navigator.credentials.create`, as JSON. */
  create(options: Options, how?: How): Options;
  /** The result of `navigator.credentials.get`, as JSON. */
  get(options: Options, how?: How): Options;
};

/** `counts`: one that counts its uses, as security keys do; passkeys of phones say 0. */
export function authenticator(own: { counts?: boolean } = {}): Authenticator {
  const { counts = false } = own;
  const credentials: Credential[] = [];
  return {
    credentials,
    create: (options, how = {}) => {
      const known = options.excludeCredentials.map(({ id }: { id: string }) => id);
      if (credentials.some(({ id }) => known.includes(id))) throw new Error('InvalidStateError');
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const made: Credential = {
        id: how.id ?? randomBytes(32).toString('base64url'),
        rpId: options.rp.id,
        user: options.user.id,
        key: privateKey,
        cose: coseOf(publicKey, how.alg),
        counter: counts ? 1 : 0,
      };
      credentials.push(made);
      const data = authData(made, how, attested(made));
      const object = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', new Uint8Array(data)],
      ]);
      return answer(made, {
        clientDataJSON: clientData('webauthn.create', options.challenge, how),
        attestationObject: base64url(cbor(object)),
        transports: ['internal', 'hybrid'],
        authenticatorData: base64url(data),
        publicKeyAlgorithm: -7,
      });
    },
    get: (options, how = {}) => {
      const used = credentials.findLast(({ rpId }) => rpId === options.rpId);
      if (used === undefined) throw new Error('NotAllowedError');
      if (counts) used.counter += 1;
      const clientDataJSON = clientData('webauthn.get', options.challenge, how);
      const data = authData(used, how, null);
      const hash = sha256(Buffer.from(clientDataJSON, 'base64url'));
      return answer(used, {
        clientDataJSON,
        authenticatorData: base64url(data),
        signature: base64url(sign('sha256', Buffer.concat([data, hash]), how.key ?? used.key)),
        userHandle: how.userHandle === undefined ? used.user : how.userHandle,
      });
    },
  };
}

function answer({ id }: Credential, response: object) {
  return {
    id,
    rawId: id,
    type: 'public-key',
    authenticatorAttachment: 'platform',
    clientExtensionResults: { credProps: { rk: true } },
    response,
  };
}

function clientData(type: string, challenge: string, how: How): string {
  const { crossOrigin = false, topOrigin } = how;
  const data = {
    type: how.type ?? type,
    challenge: how.challenge ?? challenge,
    origin: how.origin ?? 'http://localhost:8080',
    crossOrigin,
    ...(topOrigin === undefined ? {} : { topOrigin }),
  };
  return base64url(Buffer.from(JSON.stringify(data)));
}

/** WebAuthn 6.1. */
function authData(of: Credential, how: How, attestedData: Buffer | null): Buffer {
  const { up = true, uv = true } = how;
  // Can be on other devices too, and is.
  const bits = [up, false, uv, true, true, false, attestedData !== null];
  const flags = bits.reduce((sum, bit, at) => sum + (bit ? 2 ** at : 0), 0);
  const counter = Buffer.alloc(4);
  counter.writeUInt32BE(how.counter ?? of.counter);
  const rp = sha256(Buffer.from(how.rpId ?? of.rpId));
  return Buffer.concat([rp, Buffer.of(flags), counter, attestedData ?? Buffer.alloc(0)]);
}

/** WebAuthn 6.5.1; no model is named. */
function attested({ id, cose }: Credential): Buffer {
  const bytes = Buffer.from(id, 'base64url');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([Buffer.alloc(16), length, bytes, cose]);
}

/** RFC 9053, 7.1.1: kty EC2, alg ES256, crv P-256, x, y. */
function coseOf(key: KeyObject, alg = -7): Uint8Array {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  return cbor(
    new Map<number, unknown>([
      [1, 2],
      [3, alg],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ]),
  );
}

function cbor(value: ReadonlyMap<string | number, unknown>): Uint8Array {
  return isoCBOR.encode(value as Parameters<typeof isoCBOR.encode>[0]);
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
