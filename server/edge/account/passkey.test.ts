// Passkeys over HTTP, with an authenticator in software: made, used, refused.

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { loginsOf } from '../../db/logins.ts';
import { findPasskey } from '../../db/passkeys.ts';
import { mostLogins } from '../../people/bounds.ts';
import { type Authenticator, authenticator, type How } from '../testing/authenticator.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { type Answer, codeOf, refused, testEdge } from '../testing/edge.ts';
import { signInBy } from '../testing/sign-in.ts';
import { evmWallet } from '../testing/signers.ts';

const edge = await testEdge();

async function signedIn(): Promise<{ browser: TestBrowser; accountId: string }> {
  const browser = browserOn(edge);
  const { accountId } = (await signInBy(browser, evmWallet())).body;
  return { browser, accountId };
}

async function add(
  browser: TestBrowser,
  device: Authenticator,
  how: How = {},
  name = 'my phone',
): Promise<Answer> {
  const begun = await browser.post('/account/passkey/add');
  if (begun.status !== 200) return begun;
  const response = device.create(begun.body, how);
  return browser.post('/account/passkey/add/proof', { name, response });
}

async function use(
  browser: TestBrowser,
  device: Authenticator,
  how: How = {},
  purpose = 'sign-in',
): Promise<Answer> {
  const begun = await browser.post('/account/passkey', { purpose });
  if (begun.status !== 200) return begun;
  return browser.post('/account/passkey/proof', { response: device.get(begun.body, how) });
}

/** An account with one passkey, on a device of its own. */
async function withPasskey(options: Parameters<typeof authenticator>[0] = {}) {
  const device = authenticator(options);
  const { browser, accountId } = await signedIn();
  const added = await add(browser, device);
  assert.deepEqual(
    added.body,
    { accountId, isNew: false, outcome: 'added' },
    JSON.stringify(added.body),
  );
  return { device, browser, accountId, id: device.credentials[0]!.id };
}

test('a passkey is added to an account, and then signs in to it alone', async () => {
  const { device, accountId, id } = await withPasskey();
  const [login] = await loginsOf(edge.deps.db, accountId);
  assert.deepEqual([login?.way, login?.subject, login?.label], ['passkey', id, 'my phone']);
  const elsewhere = browserOn(edge);
  const signed = await use(elsewhere, device);
  assert.deepEqual(
    signed.body,
    { accountId, isNew: false, outcome: 'signed_in' },
    JSON.stringify(signed.body),
  );
  assert.match(elsewhere.session() ?? '', /^parley_session_/);
  assert.deepEqual(
    await edge.sql(
      `select signed_in_by as by, wallet_address as address from sessions
        where account_id = $1 order by id desc limit 1`,
      accountId,
    ),
    [{ by: 'passkey', address: null }],
  );
  // And its person hears of it.
  const told = await edge.sql(
    `select payload from outbox where topic = 'login.added' and account_id = $1`,
    accountId,
  );
  assert.deepEqual(told, [{ payload: { way: 'passkey', what: 'my phone', waitsUntil: null } }]);
});

test('what a browser is given wants a discoverable passkey that checks its person', async () => {
  const { browser, accountId, id } = await withPasskey();
  const { body } = await browser.post('/account/passkey/add');
  assert.deepEqual(body.rp, { id: 'localhost', name: 'Parley' });
  assert.deepEqual(body.authenticatorSelection, {
    residentKey: 'required',
    requireResidentKey: true,
    userVerification: 'required',
  });
  assert.equal(body.attestation, 'none');
  assert.deepEqual(
    body.pubKeyCredParams.map(({ alg }: { alg: number }) => alg),
    [-8, -7, -257],
  );
  const excluded = { id, type: 'public-key', transports: ['internal', 'hybrid'] };
  assert.deepEqual(body.excludeCredentials, [excluded]);
  assert.equal(Buffer.from(body.challenge, 'base64url').length, 32);
  // A random name, the same for all passkeys of the account.
  const user = Buffer.from(body.user.id, 'base64url');
  assert.equal(user.length, 32);
  assert.equal(user.includes(Buffer.from(accountId.replaceAll('-', ''), 'hex')), false);
  assert.equal((await browser.post('/account/passkey/add')).body.user.id, body.user.id);
  const other = await signedIn();
  const begun = (await other.browser.post('/account/passkey/add')).body;
  assert.notEqual(begun.user.id, body.user.id);
  assert.match(begun.user.name, /^Parley [0-9a-f]{6}$/);
  const asked = await browserOn(edge).post('/account/passkey', { purpose: 'sign-in' });
  const { challenge, ...rest } = asked.body;
  assert.equal(Buffer.from(challenge, 'base64url').length, 32);
  assert.deepEqual(rest, {
    rpId: 'localhost',
    timeout: 600_000,
    allowCredentials: [],
    userVerification: 'required',
  });
});

test('an account has several, of which each knows whether it is on other devices', async () => {
  const { browser, accountId } = await withPasskey({ be: true, bs: true });
  const key = authenticator({ be: false, bs: false, counts: true });
  assert.equal((await add(browser, key, {}, '  security key  ')).status, 200);
  const { logins } = (await browser.get('/account/me')).body;
  type Shown = { label: string; backupEligible: boolean | null; backedUp: boolean | null };
  assert.deepEqual(
    logins
      .slice(0, 2)
      .map(({ label, backupEligible, backedUp }: Shown) => [label, backupEligible, backedUp]),
    [
      ['my phone', true, true],
      ['security key', false, false],
    ],
  );
  assert.equal((await use(browserOn(edge), key)).body.accountId, accountId);
});

test('whether it is on other devices is kept as it was told last', async () => {
  const { device, accountId } = await withPasskey({ be: true, bs: false });
  assert.equal((await use(browserOn(edge), device, { bs: true })).status, 200);
  const [login] = await loginsOf(edge.deps.db, accountId);
  assert.equal(login?.backedUp, true);
  const other = await use(browserOn(edge), device, { be: false });
  refused(other, '400 bad_proof', /whether it can be on other devices/);
  const absurd = await use(browserOn(edge), device, { be: false, bs: true });
  refused(absurd, '400 bad_proof');
});

test('it renews the session of its account, and of no other', async () => {
  const { browser, device, accountId } = await withPasskey();
  const token = browser.session();
  edge.deps.advance(11 * 60_000);
  refused(await browser.post('/account/passkey/add'), '403 session_stale');
  assert.equal((await use(browser, device, {}, 'renew')).body.accountId, accountId);
  assert.notEqual(browser.session(), token);
  assert.equal((await browser.post('/account/passkey/add')).status, 200);
  const stranger = await signedIn();
  refused(await use(stranger.browser, device, {}, 'renew'), '409 login_taken');
  refused(await use(browserOn(edge), device, {}, 'renew'), '409 session_ended');
  refused(await use(browser, device, {}, 'add'), '400 bad_field');
});

test('of an account that ends nothing is left that a passkey would know', async () => {
  const { device, browser, accountId } = await withPasskey();
  const ended = await browser.call('DELETE', '/account/me');
  assert.equal(ended.status, 200, JSON.stringify(ended.body));
  const rows = await edge.sql(
    'select passkey_user as "user" from accounts where id = $1',
    accountId,
  );
  assert.deepEqual(rows, [{ user: null }]);
  refused(await use(browserOn(edge), device), '404 unknown_passkey');
});

test('a passkey that no account has signs nobody in, and makes no account', async () => {
  const { device, accountId } = await withPasskey();
  await edge.sql(`delete from logins where account_id = $1 and way = 'passkey'`, accountId);
  const browser = browserOn(edge);
  refused(await use(browser, device), '404 unknown_passkey');
  assert.equal(browser.session(), null);
});

describe('a credential id that an account has', () => {
  test('is added to no other, whoever claims to have it', async () => {
    const { device, accountId, id } = await withPasskey();
    const thief = await signedIn();
    const forged = authenticator();
    const taken = await add(thief.browser, forged, { id });
    refused(taken, '409 login_taken', /belongs to another account/);
    // What the owner's device signs still counts, and what the other one signs does not.
    assert.equal((await use(browserOn(edge), device)).body.accountId, accountId);
    const user = device.credentials[0]!.user;
    const signed = await use(browserOn(edge), forged, { userHandle: user });
    refused(signed, '400 bad_proof', /signature/);
  });

  test('is not made anew in its own account, and keeps no session fresh so', async () => {
    const { device, browser, accountId, id } = await withPasskey();
    const token = browser.session();
    const again = await add(browser, authenticator(), { id });
    refused(again, '409 login_taken', /a login of the account already/);
    assert.equal(browser.session(), token);
    assert.equal((await use(browserOn(edge), device)).body.accountId, accountId);
  });

  test('is no login of an account whose user another passkey names', async () => {
    const { device } = await withPasskey();
    const other = await withPasskey();
    const { user } = other.device.credentials[0]!;
    for (const userHandle of [user, null, Buffer.alloc(32).toString('base64url')]) {
      const answer = await use(browserOn(edge), device, { userHandle });
      refused(answer, '400 bad_proof', /another account/);
    }
  });
});

describe('an answer is refused', () => {
  const refusals: readonly (readonly [string, How, RegExp])[] = [
    [
      'given to another site',
      { origin: 'http://evil.example' },
      /given to "http:\/\/evil.example"/,
    ],
    ['given to another port', { origin: 'http://localhost:8081' }, /given to/],
    ['given in a frame', { crossOrigin: true }, /frame of another site/],
    ['given in a page within another', { topOrigin: 'http://evil.example' }, /frame of another/],
    ['for another relying party', { rpId: 'evil.example' }, /for another site/],
    ['whose person was not checked', { uv: false }, /PIN, a finger or a face/],
    ['with nobody there', { up: false, uv: false }, /refused/],
    [
      'to another challenge',
      { challenge: Buffer.alloc(32).toString('base64url') },
      /good for nothing/,
    ],
    ['of another kind', { type: 'payment.get' }, /something else/],
  ];
  let owner: Awaited<ReturnType<typeof withPasskey>>;
  before(async () => {
    owner = await withPasskey();
  });
  for (const [what, how, sentence] of refusals) {
    test(`${what}, of a passkey that is made and of one that is used`, async () => {
      const { browser, device, accountId } = owner;
      const made = await add(browser, authenticator(), how);
      assert.match(made.body.error ?? '', sentence);
      assert.match(codeOf(made), /^(400 bad_proof|409 ceremony_gone)$/);
      const elsewhere = browserOn(edge);
      const used = await use(elsewhere, device, how);
      assert.match(used.body.error ?? '', sentence);
      assert.match(codeOf(used), /^(400 bad_proof|409 ceremony_gone)$/);
      assert.equal(elsewhere.session(), null);
      assert.equal((await loginsOf(edge.deps.db, accountId)).length, 1);
    });
  }

  test('that another key signed', async () => {
    const { device } = await withPasskey();
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const answer = await use(browserOn(edge), device, { key: privateKey });
    refused(answer, '400 bad_proof', /signature does not hold/);
  });

  test('that is given again, elsewhere, late, or for what it was not asked', async () => {
    const { browser, device } = await withPasskey();
    const ask = async (of: TestBrowser) =>
      (await of.post('/account/passkey', { purpose: 'sign-in' })).body;
    const give = (of: TestBrowser, response: unknown) =>
      of.post('/account/passkey/proof', { response });
    const one = browserOn(edge);
    const first = device.get(await ask(one));
    refused(await give(browserOn(edge), first), '409 ceremony_gone');
    assert.equal((await give(one, first)).status, 200);
    const replayed = await give(one, first);
    refused(replayed, '409 ceremony_gone', /it was used, is older than 10 minutes, or/);
    const late = device.get(await ask(one));
    edge.deps.advance(600_001);
    refused(await give(one, late), '409 ceremony_gone');
    assert.equal((await use(browser, device, {}, 'renew')).status, 200);
    // The challenge of one is no challenge of the other.
    const making = (await browser.post('/account/passkey/add')).body;
    const swapped = device.get({ challenge: making.challenge, rpId: 'localhost' });
    const crossed = await give(browser, swapped);
    refused(crossed, '400 bad_proof', /to make a passkey/);
    const using = (await browser.post('/account/passkey', { purpose: 'renew' })).body;
    const options = (await browser.post('/account/passkey/add')).body;
    const made = authenticator().create({ ...options, challenge: using.challenge });
    const body = { name: 'x', response: made };
    const other = await browser.post('/account/passkey/add/proof', body);
    refused(other, '400 bad_proof', /to sign in/);
  });

  test('of whoever is signed in to another account by now', async () => {
    const { browser } = await signedIn();
    const options = (await browser.post('/account/passkey/add')).body;
    await signInBy(browser, evmWallet());
    const body = { name: 'x', response: authenticator().create(options) };
    refused(await browser.post('/account/passkey/add/proof', body), '409 session_ended');
  });
});

describe('the counter', () => {
  test('that goes up is kept; one that stands or goes back is refused', async () => {
    const { device, id } = await withPasskey({ counts: true });
    for (const counter of [7, 8]) {
      assert.equal((await use(browserOn(edge), device, { counter })).status, 200);
      assert.equal((await findPasskey(edge.deps.db, id))?.counter, counter);
    }
    for (const counter of [8, 7, 0]) {
      const browser = browserOn(edge);
      const answer = await use(browser, device, { counter });
      refused(answer, '400 bad_proof', new RegExp(`counter is ${counter}, .* \\(8\\)`));
      assert.equal(browser.session(), null);
    }
    assert.equal((await use(browserOn(edge), device, { counter: 4_294_967_295 })).status, 200);
  });

  test('of one that does not count is 0 every time; from 0 it may begin to count', async () => {
    const { device } = await withPasskey();
    for (const counter of [0, 0, 5]) {
      assert.equal((await use(browserOn(edge), device, { counter })).status, 200);
    }
    refused(await use(browserOn(edge), device, { counter: 0 }), '400 bad_proof');
  });

  test('of two answers at once with one count, one signs in', async () => {
    const { device } = await withPasskey({ counts: true });
    const answers = await Promise.all(
      [1, 2].map(() => use(browserOn(edge), device, { counter: 100 })),
    );
    assert.deepEqual(answers.map(codeOf).sort(), ['200 ok', '400 bad_proof']);
  });
});

test('a key of a kind that was not asked for is not taken', async () => {
  const { browser } = await signedIn();
  for (const alg of [-35, -48, -65_535]) {
    const answer = await add(browser, authenticator(), { alg });
    refused(answer, '400 bad_proof', /of a kind that is not taken/);
  }
});

test('what an authenticator says of its origin is not looked at', async () => {
  const { browser, accountId } = await signedIn();
  const attStmt = new Map<string, unknown>([
    ['x5c', [new Uint8Array([1, 2, 3])]],
    ['alg', -7],
  ]);
  for (const fmt of ['packed', 'tpm', 'android-safetynet', 'made up']) {
    const added = await add(browser, authenticator(), { fmt, attStmt });
    assert.equal(added.body.accountId, accountId, JSON.stringify(added.body));
  }
});

test('an address has no passkeys: the page is to be opened under a name', async () => {
  for (const [origin, sentence] of [
    ['http://127.0.0.1:8080', /127.0.0.1 is an address; open http:\/\/localhost:8080 instead/],
    ['http://[::1]:8080', /open http:\/\/localhost:8080 instead/],
  ] as const) {
    const browser = browserOn(edge, { origin });
    const answer = await browser.post('/account/passkey', { purpose: 'sign-in' });
    refused(answer, '404 way_off');
    assert.match(answer.body.error, sentence);
    await signInBy(browser, evmWallet());
    refused(await browser.post('/account/passkey/add'), '404 way_off');
  }
  const people = { ...edge.deps.settings.people, publicUrl: 'https://203.0.113.7' };
  const own = await testEdge({ settings: { people } });
  try {
    const browser = browserOn(own, { origin: 'https://203.0.113.7' });
    const answer = await browser.post('/account/passkey', { purpose: 'sign-in' });
    refused(answer, '404 way_off', /this site has only an address \(203.0.113.7\)/);
  } finally {
    await own.close();
  }
});

test('an account that is full of logins makes no passkey', async () => {
  const { browser, accountId } = await signedIn();
  await edge.sql(
    `insert into logins (id, account_id, way, issuer, subject, label, added_at, last_used_at)
      select gen_random_uuid(), $1, 'provider', 'https://x', gen_random_uuid(), 'x', now(), now()
      from generate_series(1, $2::int)`,
    accountId,
    mostLogins - 1,
  );
  assert.equal((await add(browser, authenticator())).status, 200);
  const full = await browser.post('/account/passkey/add');
  refused(full, '400 too_many_logins', /has 20 logins already/);
});

test('nobody adds a passkey who is not signed in', async () => {
  refused(await browserOn(edge).post('/account/passkey/add'), '401 session_missing');
});

test('the fields of an answer are bounded, and fields that are not known are let be', async () => {
  const { browser, device } = await withPasskey();
  const { body: options } = await browser.post('/account/passkey', { purpose: 'renew' });
  const good = device.get(options);
  const give = (response: unknown) => browser.post('/account/passkey/proof', { response });
  const within = (part: object) => ({ ...good, response: { ...good.response, ...part } });
  for (const bad of [
    null,
    [],
    {},
    { ...good, id: 'a'.repeat(1_365) },
    { ...good, id: 'a b' },
    { ...good, type: 'password' },
    within({ clientDataJSON: 'a'.repeat(4_097) }),
    within({ authenticatorData: 'a'.repeat(4_097) }),
    within({ signature: 'a'.repeat(1_367) }),
    within({ signature: 7 }),
    within({ userHandle: 'a'.repeat(87) }),
  ]) {
    assert.equal(codeOf(await give(bad)), '400 bad_field', JSON.stringify(bad)?.slice(0, 80));
  }
  for (const bad of [
    within({ clientDataJSON: 'AAAA' }),
    within({ clientDataJSON: Buffer.from('null').toString('base64url') }),
    within({ clientDataJSON: Buffer.from('{"challenge":{}}').toString('base64url') }),
    // A character that the database has no place for.
    within({ clientDataJSON: Buffer.from('{"challenge":"\\u0000"}').toString('base64url') }),
  ]) {
    refused(await give(bad), '400 bad_proof');
  }
  const more = { ...within({ future: [1] }), clientExtensionResults: { prf: { enabled: true } } };
  assert.equal((await give(more)).status, 200);
});

test('an answer that is not what it says to be is refused, and never a fault of ours', async () => {
  const { browser, device, id } = await withPasskey();
  const junk = (bytes: number[]) => Buffer.from(bytes).toString('base64url');
  for (const part of [
    { authenticatorData: junk([1]) },
    { authenticatorData: junk(new Array(37).fill(255)) },
    { signature: junk([0x30, 0x80, 1]) },
  ]) {
    const { body } = await browser.post('/account/passkey', { purpose: 'renew' });
    const good = device.get(body);
    const response = { ...good, id, response: { ...good.response, ...part } };
    const answer = await browser.post('/account/passkey/proof', { response });
    assert.equal(codeOf(answer), '400 bad_proof', JSON.stringify(answer.body));
  }
  for (const attestationObject of [
    junk([0xa0]),
    junk([0xff]),
    // Arrays within arrays.
    junk(new Array(12_000).fill(0x81)),
    junk([0xa1, 0x68, ...Buffer.from('authData'), 0x41, 0]),
  ]) {
    const { body } = await browser.post('/account/passkey/add');
    const made = authenticator().create(body);
    const response = { ...made, response: { ...made.response, attestationObject } };
    const answer = await browser.post('/account/passkey/add/proof', { name: 'x', response });
    assert.equal(codeOf(answer), '400 bad_proof', JSON.stringify(answer.body));
  }
});

test('its name is one line that is not blank', async () => {
  const { browser } = await signedIn();
  const { body } = await browser.post('/account/passkey/add');
  const response = authenticator().create(body);
  for (const name of ['', '  ', 'a\nb', 'a\u2028b', 'x'.repeat(101)]) {
    const answer = await browser.post('/account/passkey/add/proof', { name, response });
    assert.equal(codeOf(answer), '400 bad_field', JSON.stringify(name));
  }
  const name = '👩‍💻 Schlüssel';
  assert.equal((await browser.post('/account/passkey/add/proof', { name, response })).status, 200);
});
