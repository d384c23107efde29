// The ways in, for signing in, adding a login and being fresh again.

import {
  ask,
  button,
  done,
  field,
  fill,
  form,
  loginAdded,
  make,
  say,
  section,
  showing,
  thenShow,
} from './page-common.js';
import { passkeyWay } from './page-passkey.js';
import { walletWay } from './page-wallet.js';

/** `after`: signed in. A code that was sent before the page was loaded again can still be typed in. */
export async function signInView(after) {
  const back = async () => fill(await signInView(after));
  const waiting = pending();
  if (waiting !== null) return [codeForm({ address: waiting, purpose: 'sign-in', after, back })];
  const text =
    'An account is made on first use of an address, a provider or a wallet, unless it is a login ' +
    'of one already. A passkey signs in to the account that it was added to.';
  return [section('Sign in', make('p', {}, text)), ...(await waysOf('sign-in', { after, back }))];
}

/** The ways in that this market offers; `purpose`: sign-in, add or renew. `only`: of these alone. */
export async function waysOf(purpose, { after, back, only = null }) {
  const { status, body } = await ask('GET', '/account/ways');
  if (status !== 200) return [make('p', {}, body.error)];
  const asking = purpose === 'add' ? askFreshly : ask;
  const refused = refusedBy(after);
  const has = (way) => only === null || only.includes(way);
  const about = { purpose, after, back, asking, refused };
  return [
    body.email && has('email') ? emailWay(about, body.mailIsDown) : null,
    ...(has('provider') ? body.providers.map((each) => providerWay(each, about)) : []),
    body.passkeys && purpose !== 'add' && has('passkey') ? passkeyWay(purpose, after) : null,
    has('wallet') ? walletWay(purpose, body.wallets, about) : null,
  ].filter((each) => each !== null);
}

const pendingName = 'code sent to';
const codeMs = 600_000;

/** The address that waits for its code in this tab; null = none. */
function pending() {
  const { address, until } = JSON.parse(sessionStorage.getItem(pendingName) ?? '{}');
  return until > Date.now() ? address : null;
}

function sendCode({ purpose, asking = ask }, address) {
  return asking('POST', '/account/email', { address, purpose });
}

const down =
  'Mail cannot be sent just now: a code may come late or not at all. It is tried for 10 minutes.';

function emailWay(about, isDown) {
  const send = async ({ address }) => {
    const asked = await sendCode(about, address);
    if (!done(asked)) return;
    fill(codeForm({ ...about, address: asked.body.address }));
    const onItsWay =
      `A code is on its way to ${asked.body.address}, and good for 10 minutes. If none comes, ` +
      'look at the address, or go back and sign in in another way.';
    say(isDown ? down : onItsWay);
    document.querySelector('[name=code]').focus();
  };
  const limits = { type: 'email', required: true, maxlength: '254', autocomplete: 'email' };
  return section(
    'By e-mail',
    isDown ? make('p', {}, down) : null,
    form('Send a code', [field('E-mail address', 'address', limits)], send),
  );
}

function codeForm(about) {
  const { address, purpose, after, back } = about;
  if (purpose === 'sign-in') {
    const until = Date.now() + codeMs;
    sessionStorage.setItem(pendingName, JSON.stringify({ address, until }));
  }
  const forget = () => sessionStorage.removeItem(pendingName);
  const send = async ({ code }) => {
    const digits = code.replace(/\s/g, '');
    const given = await ask('POST', '/account/email/code', { address, code: digits });
    if (given.status === 200 || given.code === 'login_taken') forget();
    if (refusedBy(after)(given)) return;
    await thenShow(given, purpose === 'add' ? loginAdded : '', after);
  };
  const again = async () => {
    if (done(await sendCode({ ...about, asking: ask }, address), 'Another code is on its way.')) {
      document.querySelector('[name=code]').focus();
    }
  };
  const leave = async () => {
    forget();
    await back();
  };
  const digits = { inputmode: 'numeric', maxlength: '12', required: true };
  return section(
    `The code for ${address}`,
    form(
      'Go on',
      [field('Six digits', 'code', { ...digits, autocomplete: 'one-time-code' })],
      send,
    ),
    button('Send another code', again),
    button('Back', leave),
  );
}

function providerWay({ id, label }, { purpose, asking }) {
  const go = async () => {
    const begun = await asking('POST', '/account/provider', { provider: id, purpose });
    if (done(begun, `Going to ${label}.`)) location.assign(begun.body.url);
  };
  return section(`By ${label}`, button(`Go on with ${label}`, go));
}

/** Of a login of another account: says so, and offers to sign in there. True where it was shown. */
function refusedBy(after) {
  return ({ code, body }) => {
    if (code !== 'login_taken') return false;
    takenView(body.error, after);
    return true;
  };
}

export function takenView(text, after) {
  const go = async () => {
    const answer = await ask('POST', '/account/sign-out');
    if (!done(answer)) return;
    showing(null, () => {});
    fill(await signInView(after));
    say('Signed out. Sign in with that login.');
  };
  fill(
    section(
      'A login of another account',
      make('p', {}, 'Nothing was moved. Accounts never become one.'),
      button('Sign in there', go),
      button('Back', after),
    ),
  );
  say(text, true);
}

/** Signs in again, then shows what was there before; whether it was done. */
async function renewed(walletsOnly) {
  const me = await ask('GET', '/account/me');
  if (me.status !== 200) return false;
  const before = [...document.querySelector('#view').childNodes];
  const { promise, resolve } = Promise.withResolvers();
  const back = (isDone) => {
    fill(before);
    resolve(isDone);
  };
  const only = walletsOnly ? ['wallet'] : me.body.logins.map(({ way }) => way);
  const whose = walletsOnly ? 'With a wallet of this account.' : 'With any login of this account.';
  const view = async () => {
    const ways = await waysOf('renew', { after: async () => back(true), back: view, only });
    fill(
      section('Sign in again', make('p', {}, whose)),
      ways,
      button('Not now', () => back(false)),
    );
    say('This needs a sign-in of the last 10 minutes.');
  };
  await view();
  return promise;
}

/** Asks; where the sign-in is too long ago, once more after a new one. */
export async function askFreshly(method, path, body, walletsOnly = false) {
  const answer = await ask(method, path, body);
  if (answer.code !== 'session_stale') return answer;
  if (await renewed(walletsOnly)) return ask(method, path, body);
  return { ...answer, body: { error: 'Nothing was done.' } };
}
