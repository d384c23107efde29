// Passkeys: signing in with one, and adding one.

import { ask, button, done, field, form, say, section, thenShow } from './page-common.js';

export function passkeyWay(purpose, after) {
  const go = async () => {
    const begun = await ask('POST', '/account/passkey', { purpose });
    if (!done(begun)) return;
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(begun.body);
    const credential = await fromBrowser(() => navigator.credentials.get({ publicKey }));
    if (credential === null) return;
    const body = { response: credential.toJSON() };
    if (done(await ask('POST', '/account/passkey/proof', body))) await after();
  };
  return section('By passkey', button('Use a passkey', go));
}

/** `asking`: how what it is made from is asked for. */
export function addPasskey(after, asking) {
  const send = async ({ name }) => {
    const begun = await asking('POST', '/account/passkey/add');
    if (!done(begun)) return;
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(begun.body);
    const credential = await fromBrowser(() => navigator.credentials.create({ publicKey }));
    if (credential === null) return;
    const body = { name, response: credential.toJSON() };
    await thenShow(await ask('POST', '/account/passkey/add/proof', body), 'Added.', after);
  };
  const fields = [field('What you call this device', 'name', { required: true, maxlength: '100' })];
  return section('Add a passkey', form('Add a passkey', fields, send));
}

/** Of errors of the Web Authentication API, by name. */
const reasons = {
  NotAllowedError: 'it was cancelled, took too long, or this device has none for this site',
  InvalidStateError: 'this device has one of this account already',
};

async function fromBrowser(work) {
  try {
    return await work();
  } catch (error) {
    const why = reasons[error.name] ?? error.message.replace(/\.+$/, '');
    say(`No passkey was used: ${why}.`, true);
    return null;
  }
}
