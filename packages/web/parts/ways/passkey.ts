// Passkeys of this browser. The market makes and checks the options; the page decides nothing.

import { account, type SignedIn } from '../../market/account.ts';
import { text } from '../../texts/texts.ts';

/** A browser without the JSON forms of WebAuthn level 3 is not offered passkeys. */
export function passkeysHere(): boolean {
  return (
    'PublicKeyCredential' in window && 'parseRequestOptionsFromJSON' in window.PublicKeyCredential
  );
}

export async function signInByPasskey(purpose: 'sign-in' | 'renew'): Promise<SignedIn> {
  const options = await account.askPasskey(purpose);
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return account.givePasskey(await fromBrowser(() => navigator.credentials.get({ publicKey })));
}

/** `begin`: how what it is made from is asked for. */
export async function addPasskey(
  name: string,
  begin: typeof account.beginPasskey,
): Promise<SignedIn> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(await begin());
  const made = await fromBrowser(() => navigator.credentials.create({ publicKey }));
  return account.addPasskey(name, made);
}

const reasons = {
  NotAllowedError: 'ways.passkey.cancelled',
  AbortError: 'ways.passkey.cancelled',
  InvalidStateError: 'ways.passkey.has',
  SecurityError: 'ways.passkey.place',
} as const;

/** Throws with a sentence for people. */
async function fromBrowser(work: () => Promise<Credential | null>): Promise<unknown> {
  try {
    const credential = await work();
    if (credential instanceof PublicKeyCredential) return credential.toJSON();
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    const known = Object.hasOwn(reasons, name) ? reasons[name as keyof typeof reasons] : null;
    const why = error instanceof Error ? error.message.replace(/\.+$/, '') : String(error);
    const sentence = known === null ? text('ways.passkey.failed', { why }) : text(known);
    throw new Error(sentence, { cause: error });
  }
  throw new Error(text('ways.passkey.cancelled'));
}
