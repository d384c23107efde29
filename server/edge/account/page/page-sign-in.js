// The ways in, for signing in, adding a login and being fresh again.

import { ask, button, done, field, fill, form, make, say, section } from './page-common.js';
import { passkeyWay } from './page-passkey.js';
import { walletWay } from './page-wallet.js';

export async function signInView(after) {
  return [
    section(
      'Sign in',
      make(
        'p',
        {},
        'An account is made on first use. Every way below leads to an account of its own, unless you added it to one.',
      ),
    ),
    ...(await waysOf('sign-in', after)),
  ];
}

/** The ways in that this market offers; `purpose`: sign-in, add or renew. */
export async function waysOf(purpose, after) {
  const { status, body } = await ask('GET', '/account/ways');
  if (status !== 200) return [make('p', {}, body.error)];
  return [
    body.email ? emailWay(purpose, after, body.mailIsDown) : null,
    ...body.providers.map((each) => providerWay(each, purpose)),
    body.passkeys && purpose !== 'add' ? passkeyWay(purpose, after) : null,
    walletWay(purpose, body.wallets, after),
  ].filter((each) => each !== null);
}

function emailWay(purpose, after, isDown) {
  const send = async ({ address }) => {
    const asked = await ask('POST', '/account/email', { address, purpose });
    if (!done(asked, `A code was sent to ${asked.body.address}. It is good for 10 minutes.`))
      return;
    fill(codeForm(asked.body.address, after));
    document.querySelector('[name=code]').focus();
  };
  const fields = [
    field('E-mail address', 'address', { type: 'email', required: true, autocomplete: 'email' }),
  ];
  const down = 'Mail cannot be sent just now. It is tried again for 10 minutes.';
  return section(
    'By e-mail',
    isDown ? make('p', {}, down) : null,
    form('Send a code', fields, send),
  );
}

function codeForm(address, after) {
  const send = async ({ code }) => {
    const given = await ask('POST', '/account/email/code', { address, code });
    if (done(given)) await after();
  };
  const digits = { inputmode: 'numeric', pattern: '[0-9]{6}', maxlength: '6', required: true };
  return section(
    `The code sent to ${address}`,
    form(
      'Go on',
      [field('Six digits', 'code', { ...digits, autocomplete: 'one-time-code' })],
      send,
    ),
    button('Back', after),
  );
}

function providerWay({ id, label }, purpose) {
  const go = async () => {
    const begun = await ask('POST', '/account/provider', { provider: id, purpose });
    if (done(begun, `Going to ${label}.`)) location.assign(begun.body.url);
  };
  return section(`By ${label}`, button(`Go on with ${label}`, go));
}

/** Asks to sign in again, then goes on with `next`. */
export async function freshened(next, after) {
  say('This needs a sign-in of the last 10 minutes.');
  fill(
    section('Sign in again', make('p', {}, 'With any login of this account.')),
    await waysOf('renew', async () => {
      await after();
      await next();
    }),
    button('Not now', after),
  );
}
