// Passkeys over HTTP, with an authenticator in software: made, used, refused.

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { loginsOf } from '../../db/logins.ts';
import { findPasskey } from '../../db/passkeys.ts';
import { passHolds } from '../../people/passing.ts';
import { type Authenticator, authenticator, type How } from '../testing/authenticator.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { codeOf, refused, testEdge } from '../testing/edge.ts';
import { signInBy } from '../testing/sign-in.ts';
import { evmWallet } from '../testing/signers.ts';

const edge = await testEdge();
const gone = '409 ceremony_gone';
const adding = '/account/passkey/add';
const using = '/account/passkey';

async function signedIn(): Promise<{ browser: TestBrowser; accountId: string }> {
  const browser = browserOn(edge);
  const { accountId } = (await signInBy(browser, evmWallet())).body;
  return { browser, accountId };
}
const begin = async (browser: TestBrowser, purpose = 'sign-in') =>
  (await browser.post(using, { purpose })).body;
const prove = (browser: TestBrowser, response: unknown) =>
  browser.post(`${using}/proof`, { response });
const proveNew = (browser: TestBrowser, response: unknown, name = 'my phone') =>
  browser.post(`${adding}/proof`, { name, response });

async function add(browser: TestBrowser, device: Authenticator, how: How = {}, name?: string) {
  const begun = await browser.post(adding);
  return begun.status === 200 ? proveNew(browser, device.create(begun.body, how), name) : begun;
}

async function use(browser: TestBrowser, device: Authenticator, how: How = {}, purpose?: string) {
  const begun = await browser.post(using, { purpose: purpose ?? 'sign-in' });
  return begun.status === 200 ? prove(browser, device.get(begun.body, how)) : begun;
}
/** In a browser of its own. */
const signInWith = (device: Authenticator, how: How = {}) => use(browserOn(edge), device, how);

/** An account with one passkey, on a device of its own. */
async function withPasskey(options: Parameters<typeof authenticator>[0] = {}) {
  const device = authenticator(options);
  const { browser, accountId } = await signedIn();
  const { body } = await add(browser, device);
  assert.deepEqual(body, { accountId, isNew: false, outcome: 'added' }, JSON.stringify(body));
  const { id, user } = device.credentials[0]!;
  return { device, browser, accountId, id, user };
}

test('a browser is asked for a discoverable passkey that checks its person', async () => {
  const { browser, accountId, id } = await withPasskey();
  const { body } = await browser.post(adding);
  assert.deepEqual(
    [body.rp, body.attestation, body.pubKeyCredParams.map(({ alg }: How) => alg)],
    [{ id: 'localhost', name: 'Parley' }, 'none', [-8, -7, -257]],
  );
  assert.deepEqual(body.authenticatorSelection, {
    residentKey: 'required',
    requireResidentKey: true,
    userVerification: 'required',
  });
  assert.equal(body.excludeCredentials[0].id, id);
  // A random name, the same for all passkeys of the account.
  const user = Buffer.from(body.user.id, 'base64url');
  assert.equal(user.includes(Buffer.from(accountId.replaceAll('-', ''), 'hex')), false);
  assert.equal((await browser.post(adding)).body.user.id, body.user.id);
  const { challenge, ...rest } = await begin(browserOn(edge));
  assert.equal(Buffer.from(challenge, 'base64url').length, 32);
  const userVerification = 'required';
  const expected = { rpId: 'localhost', timeout: 600_000, allowCredentials: [], userVerification };
  assert.deepEqual(rest, expected);
});

test('a passkey that no account has, or has any more, signs nobody in', async () => {
  const { device, browser, accountId } = await withPasskey();
  assert.equal((await browser.call('DELETE', '/account/me')).status, 200);
  edge.deps.advance(72 * 3_600_000);
  await passHolds(edge.deps);
  const text = 'select passkey_user as "user" from accounts where id = $1';
  assert.deepEqual(await edge.sql(text, accountId), [{ user: null }]);
  const other = await withPasskey();
  await edge.sql(`delete from logins where account_id = $1 and way = 'passkey'`, other.accountId);
  for (const each of [device, other.device]) {
    const elsewhere = browserOn(edge);
    refused(await use(elsewhere, each), '404 unknown_passkey');
    assert.equal(elsewhere.session(), null);
  }
});

test('a credential id that an account has is made by nobody else, nor anew', async () => {
  const { device, browser, accountId, id, user } = await withPasskey();
  const forged = authenticator();
  const taken = await add((await signedIn()).browser, forged, { id });
  refused(taken, '409 login_taken', /belongs to another account/);
  // A signature of the owner's device still counts, and one of the other device does not.
  assert.equal((await signInWith(device)).body.accountId, accountId);
  refused(await signInWith(forged, { userHandle: user }), '400 bad_proof', /signature/);
  const token = browser.session();
  const again = await add(browser, authenticator(), { id });
  refused(again, '409 login_taken', /a login of the account already/);
  assert.equal(browser.session(), token);
  // Nor is it a login of an account whose user another passkey names.
  const other = await withPasskey();
  for (const userHandle of [other.user, null, Buffer.alloc(32).toString('base64url')]) {
    refused(await signInWith(device, { userHandle }), '400 bad_proof', /another account/);
  }
});

const challenge = Buffer.alloc(32).toString('base64url');
const lies: [How, RegExp, code?: string][] = [
  [{ origin: 'http://evil.example' }, /given to "http:\/\/evil.example"/],
  [{ origin: 'http://localhost:8081' }, /given to/],
  [{ crossOrigin: true }, /frame of another site/],
  [{ topOrigin: 'http://evil.example' }, /frame of another/],
  [{ rpId: 'evil.example' }, /for another site/],
  [{ uv: false }, /PIN, a finger or a face/],
  [{ up: false, uv: false }, /refused/],
  [{ challenge }, /good for nothing/, gone],
  [{ type: 'payment.get' }, /something else/],
];

test('an answer given elsewhere, to something else or by another key is refused', async () => {
  const { browser, device, accountId } = await withPasskey();
  for (const [how, sentence, code = '400 bad_proof'] of lies) {
    refused(await add(browser, authenticator(), how), code, sentence);
    const elsewhere = browserOn(edge);
    refused(await use(elsewhere, device, how), code, sentence);
    assert.equal(elsewhere.session(), null);
  }
  const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  refused(await signInWith(device, { key }), '400 bad_proof', /signature does not hold/);
  for (const alg of [-35, -48, -65_535]) {
    const answer = await add(browser, authenticator(), { alg });
    refused(answer, '400 bad_proof', /of a kind that is not taken/);
  }
  assert.equal((await loginsOf(edge.deps.db, accountId)).length, 1);
});

test('the challenge of one is no challenge of the other', async () => {
  const { browser, device } = await withPasskey();
  const made = (await browser.post(adding)).body;
  const swapped = device.get({ challenge: made.challenge, rpId: 'localhost' });
  refused(await prove(browser, swapped), '400 bad_proof', /to make a passkey/);
  const options = (await browser.post(adding)).body;
  const used = await begin(browser, 'renew');
  const crossed = authenticator().create({ ...options, challenge: used.challenge });
  refused(await proveNew(browser, crossed), '400 bad_proof', /to sign in/);
  refused(await use(browser, device, {}, 'add'), '400 bad_field');
});

test('a counter that goes up is kept; one that stands or goes back is refused, at once too', async () => {
  const { device, id } = await withPasskey({ counts: true });
  for (const counter of [7, 8]) {
    assert.equal((await signInWith(device, { counter })).status, 200);
    assert.equal((await findPasskey(edge.deps.db, id))?.counter, counter);
  }
  for (const counter of [8, 7, 0]) {
    const words = new RegExp(`counter is ${counter}, .* \\(8\\)`);
    refused(await signInWith(device, { counter }), '400 bad_proof', words);
  }
  const both = await Promise.all([1, 2].map(() => signInWith(device, { counter: 4_294_967_295 })));
  assert.deepEqual(both.map(codeOf).sort(), ['200 ok', '400 bad_proof']);
  // The counter of one that does not count is 0 every time; from 0 it may begin to count.
  const silent = (await withPasskey()).device;
  for (const counter of [0, 0, 5]) {
    assert.equal((await signInWith(silent, { counter })).status, 200);
  }
  refused(await signInWith(silent, { counter: 0 }), '400 bad_proof');
});
