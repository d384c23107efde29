// Passkeys: signing in with one, and adding one.

import { ask, button, done, field, form, say, section } from './page-common.js';

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

export function addPasskey(after) {
  const send = async ({ name }) => {
    const begun = await ask('POST', '/account/passkey/add');
    if (!done(begun)) return;
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(begun.body);
    const credential = await fromBrowser(() => navigator.credentials.create({ publicKey }));
    if (credential === null) return;
    const body = { name, response: credential.toJSON() };
    if (done(await ask('POST', '/account/passkey/add/proof', body), 'Added.')) await after();
  };
  const fields = [field('What you call this device', 'name', { required: true, maxlength: '100' })];
  return section('Add a passkey', form('Add a passkey', fields, send));
}

async function fromBrowser(work) {
  try {
    return await work();
  } catch (error) {
    say(`The browser has no passkey for this: ${error.message}`, true);
    return null;
  }
}
