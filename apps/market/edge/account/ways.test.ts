// The promises that all login methods share: by e-mail, wallet, passkey and identity provider. The
// file of each method's name has its own.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Authenticator, authenticator } from '../testing/authenticator.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { type Answer, codeOf, refused } from '../testing/edge.ts';
import { freshAddress } from '../testing/people.ts';
import { comeBack, endOf, startProviderEdge, whoIs } from '../testing/provider-edge.ts';
import { type Purpose, signInBy } from '../testing/sign-in.ts';
import { evmWallet, solanaWallet, type TestWallet } from '../testing/signers.ts';

const { edge, deps, hostile } = await startProviderEdge();
const gone = 'ceremony_gone';

/** The result of a proof: a code, or `ok`; given in the browser that began, unless in another. */
type Give = (by?: TestBrowser) => Promise<string>;
type Way<Login> = {
  /** A login that nobody has. */
  fresh(): Login;
  begin(browser: TestBrowser, login: Login, purpose: Purpose): Promise<Give>;
};

const codeIn = (answer: Answer) => codeOf(answer).slice(4);

/** Begins at one address and proves at another what `proof` makes of the answer. */
async function ceremony(
  browser: TestBrowser,
  [asking, ask]: readonly [string, object?],
  proving: string,
  proof: (begun: Answer['body']) => unknown,
): Promise<Give> {
  const begun = await browser.post(asking, ask);
  if (begun.status !== 200) return async () => codeIn(begun);
  const body = await proof(begun.body);
  return async (by = browser) => codeIn(await by.post(proving, body));
}

const byEmail: Way<string> = {
  fresh: freshAddress,
  begin: (browser, address, purpose) =>
    ceremony(browser, ['/account/email', { address, purpose }], '/account/email/code', () => ({
      address,
      code: edge.codeOf(address),
    })),
};
const byWallet: Way<TestWallet> = {
  fresh: solanaWallet,
  begin: (browser, { family, address, sign }, purpose) => {
    const asking = ['/account/wallet', { family, address, purpose }] as const;
    return ceremony(browser, asking, '/account/wallet/proof', async ({ message }) => ({
      family,
      address,
      message,
      signature: await sign(message),
    }));
  },
};
const byPasskey: Way<Authenticator> = {
  fresh: authenticator,
  begin: (browser, device, purpose) => {
    const path = '/account/passkey';
    if (purpose !== 'add') {
      return ceremony(browser, [path, { purpose }], `${path}/proof`, (options) => ({
        response: device.get(options),
      }));
    }
    const id = device.credentials[0]?.id;
    return ceremony(browser, [`${path}/add`], `${path}/add/proof`, (options) => ({
      name: 'my phone',
      response: id === undefined ? device.create(options) : authenticator().create(options, { id }),
    }));
  },
};
let subs = 0;
const byProvider: Way<string> = {
  fresh: () => `sub ${++subs}`,
  begin: async (browser, sub, purpose) => {
    const asked = await browser.post('/account/provider', { provider: 'hostile', purpose });
    if (asked.status !== 200) return async () => codeIn(asked);
    const back = await hostile.authorize(new URL(asked.body.url));
    return async (by = browser) => {
      hostile.claim({ sub });
      const [what, code = ''] = endOf(await comeBack(by, back)).split('=');
      return what === 'done' ? 'ok' : code;
    };
  },
};

const bySigning = async () => {
  const browser = browserOn(edge);
  assert.equal((await signInBy(browser, evmWallet())).status, 200);
  return browser;
};

function promises<Login>(name: string, { fresh, begin }: Way<Login>): void {
  const prove = async (browser: TestBrowser, login: Login, purpose: Purpose = 'sign-in') =>
    (await begin(browser, login, purpose))();
  /** An account that has this login beside another one. */
  const owned = async () => {
    const browser = await bySigning();
    const login = fresh();
    assert.equal(await prove(browser, login, 'add'), 'ok');
    return { browser, login, accountId: await whoIs(browser) };
  };

  describe(name, () => {
    test('a login is added to the account that is signed in, recorded, and then signs in to it', async () => {
      const browser = await bySigning();
      const login = fresh();
      const accountId = await whoIs(browser);
      const token = browser.session();
      assert.equal(await prove(browser, login, 'add'), 'ok');
      assert.equal(browser.session(), token);
      assert.equal((await edge.events(browser, 'login.added')).length, 1);
      const elsewhere = browserOn(edge);
      assert.equal(await prove(elsewhere, login), 'ok');
      assert.equal(await whoIs(elsewhere), accountId);
      // One of another account is not added, and moves nothing.
      const thief = await bySigning();
      const before = (await thief.get('/account/me')).body;
      for (const purpose of ['add', 'renew'] as const) {
        assert.equal(await prove(thief, login, purpose), 'login_taken');
      }
      assert.deepEqual((await thief.get('/account/me')).body, before);
      const owner = browserOn(edge);
      await prove(owner, login);
      assert.equal(await whoIs(owner), accountId);
    });

    test('a proof is good once, of two at once too, in the browser that began, for 10 minutes', async () => {
      const { login } = await owned();
      const browser = browserOn(edge);
      const victim = browserOn(edge);
      await victim.get('/account/ways');
      const give = await begin(browser, login, 'sign-in');
      assert.deepEqual([await give(victim), victim.session()], [gone, null]);
      const both = await Promise.all([give(), give()]);
      assert.deepEqual(both.sort(), [gone, 'ok']);
      assert.equal(await give(), gone);
      deps.freeze();
      for (const [ms, end] of [
        [599_999, 'ok'],
        [600_000, gone],
      ] as const) {
        const late = await begin(browser, login, 'sign-in');
        deps.advance(ms);
        assert.equal(await late(), end);
      }
    });

    test('a session is fresh again by it, under another token; one that is old adds nothing', async () => {
      const { browser, login, accountId } = await owned();
      const stolen = browserOn(edge, { cookies: browser.cookies });
      deps.advance(11 * 60_000);
      assert.equal(await prove(browser, fresh(), 'add'), 'session_stale');
      assert.equal(await prove(browser, login, 'renew'), 'ok');
      assert.notEqual(browser.session(), stolen.session());
      assert.equal(await whoIs(browser), accountId);
      refused(await stolen.get('/account/me'), '401 session_missing');
    });

    test('a login that another session began is added by no stranger, nor by a person signed in since', async () => {
      const { browser, login } = await owned();
      assert.equal(await prove(browserOn(edge), login, 'renew'), 'session_ended');
      assert.match(await prove(browserOn(edge), fresh(), 'add'), /^session_(ended|missing)$/);
      const give = await begin(browser, fresh(), 'add');
      await signInBy(browser, evmWallet());
      assert.equal(await give(), 'session_ended');
    });

    test('signing in ends the session that the browser had: none is fixed on', async () => {
      const { login, accountId } = await owned();
      const attacker = await bySigning();
      const shared = browserOn(edge, { cookies: attacker.cookies });
      assert.equal(await prove(shared, login), 'ok');
      assert.equal(await whoIs(shared), accountId);
      refused(await attacker.get('/account/me'), '401 session_missing');
    });
  });
}

promises('by e-mail', byEmail);
promises('by a wallet', byWallet);
promises('by a passkey', byPasskey);
promises('by an identity provider', byProvider);
