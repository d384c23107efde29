// Passkeys (WebAuthn): made as a further login of an account, then enough alone. The authenticator
// checks its person itself (user verification), knows the account by a random name, and finds it
// without being told whose it is.

import { isIP } from 'node:net';
import { ParleyError } from '@parley/core/errors.ts';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Ceremony } from '../db/ceremonies.ts';
import type { Tx } from '../db/database.ts';
import { loginsOf, type PasskeyFacts } from '../db/logins.ts';
import {
  countPasskey,
  findPasskey,
  type Passkey,
  passkeysOf,
  passkeyUserOf,
} from '../db/passkeys.ts';
import type { Deps, Making } from '../ports/deps.ts';
import { isLoopback } from '../settings/networks.ts';
import { ceremonyMs, mostLogins } from './bounds.ts';
import { type Begun, begin, intentOf, take } from './ceremonies.ts';
import { type Browser, lockLive, type Session } from './sessions.ts';
import { type Proven, type TakenUp, takeUp } from './sign-in.ts';
import type { Site } from './site.ts';

/** Loaded where a passkey is used first: it takes a third of a second of every start otherwise. */
const webauthn = () => import('@simplewebauthn/server');
const helpers = () => import('@simplewebauthn/server/helpers');

// As the specification wants: 16 at least, and 64 at most for the name of a user.
const challengeBytes = 32;
const userBytes = 32;
/** EdDSA, ES256, RS256: the algorithms of authenticators (COSE algorithms, RFC 9053). */
const algorithms = [-8, -7, -257];

/** The name that passkeys of this site are bound to. Throws `way_off` where it has none. */
function relyingPartyOf({ host, hostname }: Site): string {
  if (isIP(hostname.replace(/^\[|\]$/g, '')) === 0) return hostname;
  const port = /:\d+$/.exec(host)?.[0] ?? '';
  throw new ParleyError(
    'way_off',
    isLoopback(hostname)
      ? `passkeys are for names, and ${hostname} is an address; open http://localhost${port} instead`
      : `passkeys are for names, and this site has only an address (${hostname})`,
  );
}

/** The options from which a browser makes a passkey. Throws `way_off`, `too_many_logins`. */
export async function beginMaking(
  tx: Tx,
  deps: Making,
  { site, browser, session }: { site: Site; browser: Browser; session: Session },
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const rpID = relyingPartyOf(site);
  const { accountId } = session;
  await lockLive(tx, deps, session);
  if ((await loginsOf(tx, accountId)).length >= mostLogins) {
    const sentence = `the account has ${mostLogins} logins already; remove one first`;
    throw new ParleyError('too_many_logins', sentence);
  }
  const userID = await passkeyUserOf(tx, accountId, deps.randomBytes(userBytes));
  const known = await passkeysOf(tx, accountId);
  // The name tells several accounts of one person apart: it says which one it is, and holds no
  // personal data.
  const userName = `${deps.settings.productName} ${accountId.slice(-6)}`;
  const { generateRegistrationOptions } = await webauthn();
  const options = await generateRegistrationOptions({
    rpName: deps.settings.productName,
    rpID,
    userName,
    userDisplayName: userName,
    userID: new Uint8Array(userID),
    challenge: new Uint8Array(deps.randomBytes(challengeBytes)),
    timeout: ceremonyMs,
    attestationType: 'none',
    excludeCredentials: known.map(({ credentialId, transports }) => {
      return { id: credentialId, transports: [...transports] };
    }),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  });
  const begun: Begun = { browser, purpose: 'add', session };
  await begin(tx, deps, begun, { way: 'passkey', subject: options.challenge });
  return options;
}

/**
 * The options with which a browser asks its passkeys; they know their account. Throws `way_off`.
 */
export async function beginAsking(
  tx: Tx,
  deps: Making,
  begun: Begun,
  site: Site,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await webauthn();
  const options = await generateAuthenticationOptions({
    rpID: relyingPartyOf(site),
    challenge: new Uint8Array(deps.randomBytes(challengeBytes)),
    timeout: ceremonyMs,
    userVerification: 'required',
    allowCredentials: [],
  });
  await begin(tx, deps, begun, { way: 'passkey', subject: options.challenge });
  return options;
}

type Given<R> = {
  readonly site: Site;
  readonly browser: Browser;
  readonly session: Session | null;
  readonly response: R;
};

export type Made = { readonly ceremony: Ceremony; readonly proven: Proven };

/** A passkey that was just made. Uses its challenge up. Throws `bad_proof`, `ceremony_gone`. */
export async function checkMade(
  deps: Pick<Deps, 'db' | 'now'>,
  { site, browser, response }: Given<RegistrationResponseJSON>,
  label: string,
): Promise<Made> {
  const rpID = relyingPartyOf(site);
  const { clientDataJSON, attestationObject } = response.response;
  const ceremony = await takeChallenge(deps, browser, clientDataJSON, 'webauthn.create', site);
  if (ceremony.purpose !== 'add') throw refusal('it was asked for to sign in');
  const { verifyRegistrationResponse } = await webauthn();
  const bare = { ...response.response, attestationObject: await withoutOrigin(attestationObject) };
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { ...response, response: bare },
    expectedChallenge: ceremony.subject,
    expectedOrigin: site.origin,
    expectedRPID: rpID,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  }).catch((error: unknown) => {
    throw refusal(whyOf(error), error);
  });
  if (!verified) throw refusal('it does not hold');
  const { credential, credentialDeviceType, credentialBackedUp } = registrationInfo;
  const made: PasskeyFacts = {
    publicKey: credential.publicKey,
    counter: credential.counter,
    transports: credential.transports ?? [],
    backupEligible: credentialDeviceType === 'multiDevice',
    backedUp: credentialBackedUp,
  };
  return { ceremony, proven: { way: 'passkey', credentialId: credential.id, label, made } };
}

/** Without its attestation: strangers' certificates, and addresses in them, are never read. */
async function withoutOrigin(attestationObject: string): Promise<string> {
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await helpers();
  try {
    const authData = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject)).get(
      'authData',
    );
    if (!(authData instanceof Uint8Array)) throw new TypeError('authData is missing');
    const bare = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    return isoBase64URL.fromBuffer(isoCBOR.encode(bare as Parameters<typeof isoCBOR.encode>[0]));
  } catch (error) {
    throw refusal('it cannot be read', error);
  }
}

export type Used = {
  readonly ceremony: Ceremony;
  readonly passkey: Passkey;
  readonly counter: number;
  readonly backedUp: boolean;
};

/** Uses its challenge up. Throws `bad_proof`, `ceremony_gone`, `unknown_passkey`. */
export async function checkUsed(
  deps: Pick<Deps, 'db' | 'now'>,
  { site, browser, response }: Given<AuthenticationResponseJSON>,
): Promise<Used> {
  const rpID = relyingPartyOf(site);
  const { clientDataJSON, userHandle } = response.response;
  const ceremony = await takeChallenge(deps, browser, clientDataJSON, 'webauthn.get', site);
  if (ceremony.purpose === 'add') throw refusal('it was asked for to make a passkey');
  const passkey = await findPasskey(deps.db, response.id);
  if (passkey === null) {
    const sentence = 'no account has this passkey; sign in another way and add it there';
    throw new ParleyError('unknown_passkey', sentence);
  }
  const { verifyAuthenticationResponse } = await webauthn();
  const { credentialId: id, publicKey } = passkey;
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: ceremony.subject,
    expectedOrigin: site.origin,
    expectedRPID: rpID,
    // The counter is compared where it is stored, so that of two at once one passes.
    credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 },
    requireUserVerification: true,
  }).catch((error: unknown) => {
    throw refusal(whyOf(error), error);
  });
  if (!verified) throw refusal('its signature does not hold');
  if (userHandle !== passkey.user.toString('base64url')) {
    throw refusal('it is for another account than it says');
  }
  const { newCounter: counter, credentialDeviceType, credentialBackedUp } = authenticationInfo;
  if ((credentialDeviceType === 'multiDevice') !== passkey.backupEligible) {
    throw refusal('it says another thing than it did of whether it can be on other devices');
  }
  return { ceremony, passkey, counter, backedUp: credentialBackedUp };
}

/** After `checkUsed`: signs in, or renews the session. Two with one counter: one does. */
export async function takeUsed(
  tx: Tx,
  deps: Making,
  { ceremony, passkey, counter, backedUp }: Used,
  { browser, session }: { browser: Browser; session: Session | null },
): Promise<TakenUp> {
  const { id, credentialId, label } = passkey;
  const proven: Proven = { way: 'passkey', credentialId, label, made: null };
  const taken = await takeUp(tx, deps, proven, intentOf(ceremony, session), browser);
  if (!(await countPasskey(tx, { id, counter, backedUp }))) {
    throw refusal(
      `its counter is ${counter}, which it was past before (${passkey.counter}): there may be a ` +
        'copy of it; remove it from the account and make another',
    );
  }
  return taken;
}

type ClientData = {
  readonly type?: unknown;
  readonly challenge?: unknown;
  readonly origin?: unknown;
  readonly crossOrigin?: unknown;
  readonly topOrigin?: unknown;
};

/** Ends the ceremony of the challenge that the browser says it had; then looks at what it says. */
async function takeChallenge(
  deps: Pick<Deps, 'db' | 'now'>,
  browser: Browser,
  clientDataJSON: string,
  type: 'webauthn.create' | 'webauthn.get',
  site: Site,
): Promise<Ceremony> {
  const data = clientDataOf(clientDataJSON);
  // Else the database refuses a character, which is no answer to a stranger.
  if (typeof data?.challenge !== 'string' || !/^[\w-]{43}$/.test(data.challenge)) {
    throw refusal('it cannot be read');
  }
  const place = { way: 'passkey', subject: data.challenge } as const;
  const ceremony = await take(deps.db, deps, browser, place);
  if (data.type !== type) throw refusal('it was asked for to do something else');
  if (data.origin !== site.origin) {
    throw refusal(`it was given to ${shown(data.origin)}, and this is ${site.origin}`);
  }
  if (data.crossOrigin === true || data.topOrigin !== undefined) {
    throw refusal('it was given in a frame of another site');
  }
  return ceremony;
}

function clientDataOf(text: string): ClientData | null {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as ClientData | null;
  } catch {
    return null;
  }
}

/** In our words: the library's are for those who call it, and may quote what a stranger sent. */
function whyOf(error: unknown): string {
  const { message } = error as Error;
  if (/User verification/i.test(message)) {
    return 'it did not check its person by a PIN, a finger or a face';
  }
  if (/RP ID/.test(message)) return 'it is for another site';
  if (/public key alg/.test(message)) return 'its key is of a kind that is not taken';
  return 'it cannot be read';
}

function shown(text: unknown): string {
  return typeof text === 'string' ? JSON.stringify(text.slice(0, 100)) : 'no site';
}

function refusal(why: string, cause?: unknown): ParleyError {
  const sentence = `the answer of the passkey is refused: ${why}`;
  return new ParleyError('bad_proof', sentence, {}, cause === undefined ? {} : { cause });
}
