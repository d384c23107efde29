// People in a real Chromium on the account page: each way in, and what its page does then.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { base58 } from '@scure/base';
import type { Browser, Page } from 'playwright-core';
import {
  type IdentityProvider,
  startIdentityProvider,
} from '../devnet/people/identity-provider.ts';
import { type PeopleEdge, startPeople } from '../server/edge/testing/people.ts';
import {
  bitcoinWallet,
  evmWallet,
  solanaWallet,
  type TestWallet,
  tronWallet,
} from '../server/edge/testing/signers.ts';
import { readSettings } from '../server/settings/config.ts';
import { launch } from './support/chromium.ts';

let edge: PeopleEdge;
let browser: Browser;
let provider: IdentityProvider;
let origin: string;
/** A page of another site, with a form that signs out here. */
let elsewhere: string;
let others: Server;
before(async () => {
  provider = await startIdentityProvider({ log: { error: assert.fail } as never });
  const { issuer, label, client } = provider;
  const own = { id: 'dev', label, issuer, clientId: client.id, clientSecret: client.secret };
  const scopes = ['openid', 'email'];
  const providers = [{ ...own, scopes, messages: false, nonce: true }];
  const people = { ...readSettings({}).people, providers, payoutHoldSeconds: 5_000 };
  [edge, browser] = await Promise.all([startPeople({ settings: { people } }), launch()]);
  await edge.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = edge.app.server.address() as AddressInfo;
  origin = `http://localhost:${port}`;
  others = createServer((_, reply) => {
    reply.setHeader('content-type', 'text/html').end(`<form method=post target=_blank
      action="${origin}/account/sign-out" enctype=text/plain><input name="{" value="}"></form>`);
  }).listen(0, '127.0.0.1');
  await once(others, 'listening');
  elsewhere = `http://127.0.0.1:${(others.address() as AddressInfo).port}`;
});
after(async () => {
  await browser.close();
  others.close();
  await Promise.all([edge.close(), provider.stop()]);
});

/** A page of a browser of its own; what its console says is a failure. */
async function open(
  wallet?: TestWallet,
  prepare: (page: Page) => Promise<void> = async () => {},
): Promise<Page> {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  // Whatever is asked before something ends is meant.
  page.on('dialog', (dialog) => dialog.accept());
  page.on('pageerror', (error) => assert.fail(error));
  page.on('console', (line) => {
    if (/Content.Security.Policy|Refused to/.test(line.text())) assert.fail(line.text());
  });
  if (wallet !== undefined) await announceWallet(page, wallet);
  await prepare(page);
  await page.goto(`${origin}/account`);
  return page;
}

/** As an extension announces itself by EIP-6963. */
async function announceWallet(page: Page, wallet: TestWallet): Promise<void> {
  await page.exposeFunction('signText', (hex: string) =>
    wallet.sign(Buffer.from(hex.slice(2), 'hex').toString()),
  );
  await page.addInitScript(`(() => {
    const provider = { request: async ({ method, params }) =>
      method === 'personal_sign' ? signText(params[0]) : ['${wallet.address}'] };
    const detail = { info: { name: 'Test Wallet' }, provider };
    const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
    addEventListener('eip6963:requestProvider', announce);
  })()`);
}

async function byEmail(page: Page, address: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(address);
  await page.getByRole('button', { name: 'Send a code' }).click();
  await page.getByLabel('Six digits').waitFor();
  await page.getByLabel('Six digits').fill(edge.codeOf(address));
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('heading', { name: 'Logins' }).waitFor();
}

test('by e-mail: a person signs in, mints a key that works, revokes it, and signs out', async () => {
  const page = await open();
  await byEmail(page, 'ann@example.test');
  assert.match(String(await page.locator('main').textContent()), /Only one login is left/);
  await page.getByLabel('Name', { exact: true }).fill('my bot');
  await page.getByRole('button', { name: 'Mint a key' }).click();
  await page.getByText(/^parley_test_.{43}$/).waitFor();
  const key = (await page.locator('#minted code').textContent()) ?? '';
  assert.equal((await edge.call('GET', '/v1/me', { key })).status, 200);
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('Revoked.').waitFor();
  assert.equal((await edge.call('GET', '/v1/me', { key })).status, 401);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
});

test('through an identity provider: there and back as any browser goes, and back to cancel', async () => {
  const page = await open();
  const go = page.getByRole('button', { name: `Go on with ${provider.label}` });
  await go.click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('The sign-in was cancelled.').waitFor();
  await go.click();
  await page.getByLabel('Sign in as').fill('olga');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('olga@example.test').waitFor();
  assert.equal(page.url(), `${origin}/account`);
});

test('by wallet: a program in the browser signs, and the account is paid there', async () => {
  const wallet = evmWallet();
  const page = await open(wallet);
  await page.getByRole('button', { name: 'Use Test Wallet' }).click();
  await page.getByRole('heading', { name: 'Where you are paid' }).waitFor();
  assert.ok(String(await page.locator('main').textContent()).includes(`EVM: ${wallet.address}`));
});

/** As TronLink and wallets of Solana are found in a page. */
async function announceOthers(page: Page, tron: TestWallet, solana: TestWallet): Promise<void> {
  await page.exposeFunction('signTron', (text: string) => tron.sign(text));
  await page.exposeFunction('signSolana', async (text: string) => [
    ...base58.decode(await solana.sign(text)),
  ]);
  await page.addInitScript(`(() => {
    window.tronWeb = { defaultAddress: { base58: '${tron.address}' },
      trx: { signMessageV2: (text) => signTron(text) } };
    window.solana = {
      connect: async () => ({ publicKey: { toString: () => '${solana.address}' } }),
      signMessage: async (bytes) => ({
        signature: new Uint8Array(await signSolana(new TextDecoder().decode(bytes))) }) };
  })()`);
}

/** A text that is signed elsewhere: a Bitcoin wallet has no program in the page. */
async function byHand(page: Page, wallet: TestWallet): Promise<void> {
  await page.getByText('Sign a text by hand').first().click();
  await page.locator('select[name=family]').first().selectOption(wallet.family);
  await page.getByLabel('Address', { exact: true }).first().fill(wallet.address);
  await page.getByRole('button', { name: 'Show the text' }).first().click();
  const text = await page.getByLabel('The text to sign').first().inputValue();
  await page.getByLabel(/^Signature/).fill(await wallet.sign(text));
  await page.getByRole('button', { name: 'Go on', exact: true }).click();
}

test('by wallets of TRON and Solana that are in the page, and by a Bitcoin wallet that is not', async () => {
  const [tron, solana, bitcoin] = [tronWallet(), solanaWallet(), bitcoinWallet()];
  const page = await open(undefined, (each) => announceOthers(each, tron, solana));
  const main = page.locator('main');
  for (const [wallet, go] of [
    [tron, () => page.getByRole('button', { name: 'Use TronLink' }).click()],
    [solana, () => page.getByRole('button', { name: 'Use Solana wallet' }).click()],
    [bitcoin, () => byHand(page, bitcoin)],
  ] as const) {
    await go();
    await page.getByRole('heading', { name: 'Where you are paid' }).waitFor();
    assert.ok((await main.textContent())?.includes(`: ${wallet.address}`));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
  }
});

test('a session that is not fresh is renewed on the spot, and what was asked for is done then', async () => {
  const page = await open();
  await byEmail(page, 'una@example.test');
  edge.deps.advance(660_000);
  await page.getByRole('button', { name: 'Add a login' }).click();
  await page.getByLabel('E-mail address').fill('una@work.test');
  await page.getByRole('button', { name: 'Send a code' }).click();
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
  await page.getByLabel('E-mail address').fill('una@example.test');
  await page.getByRole('button', { name: 'Send a code' }).click();
  await page.getByRole('heading', { name: 'code for una@example.test' }).waitFor();
  await page.getByLabel('Six digits').fill(edge.codeOf('una@example.test'));
  await page.getByRole('button', { name: 'Go on' }).click();
  // Without being asked again: the code for the login that is added.
  await page.getByRole('heading', { name: 'code for una@work.test' }).waitFor();
  await page.getByLabel('Six digits').fill(edge.codeOf('una@work.test'));
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.locator('code', { hasText: 'una@work.test' }).waitFor();
  // A login of another account: nothing is moved, and the way there is offered.
  await edge.person('zoe@example.test');
  await page.getByRole('button', { name: 'Add a login' }).click();
  await page.getByLabel('E-mail address').fill('zoe@example.test');
  await page.getByRole('button', { name: 'Send a code' }).click();
  await page.getByRole('heading', { name: 'code for zoe@example.test' }).waitFor();
  await page.getByLabel('Six digits').fill(edge.codeOf('zoe@example.test'));
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('button', { name: 'Sign in there' }).click();
  await byEmail(page, 'zoe@example.test');
});

test('where one is paid: another wallet waits, its person is warned and stops it; then the account ends', async () => {
  const [wallet, other] = [evmWallet(), bitcoinWallet()];
  const page = await open(wallet);
  await page.getByRole('button', { name: 'Use Test Wallet' }).click();
  await page.getByRole('heading', { name: 'Another wallet is paid' }).waitFor();
  await byHand(page, other);
  await page.getByText('Without it, in 1 h 23 min 20 s.').waitFor();
  await page.getByRole('button', { name: 'Wait instead' }).click();
  await page.getByText(`Bitcoin: ${other.address} waits until`).waitFor();
  await page.getByText('A change of who is paid waits.').waitFor();
  await page.getByRole('button', { name: 'Stop it' }).click();
  await page.getByText('Stopped.').waitFor();
  assert.equal(await page.getByText('A change of who is paid waits.').count(), 0);
  await page.getByRole('button', { name: 'Delete the account' }).click();
  await page.getByText('The account is deleted.').waitFor();
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
});

test('by passkey: one that was added signs in alone', async () => {
  const page = await open();
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await byEmail(page, 'pia@example.test');
  await page.getByRole('button', { name: 'Add a login' }).click();
  await page.getByLabel('What you call this device').fill('my laptop');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('my laptop').waitFor();
  await page.getByRole('button', { name: 'Add a login' }).click();
  await page.getByLabel('What you call this device').fill('my laptop');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page
    .getByText('No passkey was used: this device has one of this account already.', { exact: true })
    .waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('Signed in by passkey').waitFor();
});

/** Has another person sign in in the browser of `page`, in a tab of its own. */
async function signInBeside(page: Page, address: string): Promise<void> {
  const beside = await page.context().newPage();
  beside.setDefaultTimeout(15_000);
  await beside.goto(`${origin}/account`);
  await beside.getByRole('button', { name: 'Sign out' }).click();
  await byEmail(beside, address);
  await beside.close();
}

/** Holds what the page asks for at this path; the end lets it go on. */
async function holding(page: Page, path: string): Promise<() => Promise<void>> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const url = `${origin}${path}`;
  await page.route(url, (route) => promise.then(() => route.continue()), { times: 1 });
  return async () => resolve();
}

const cameBack = (page: Page) =>
  page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
const exists = async (address: string) => {
  const browser = await edge.person(address);
  return (await browser.get('/account/me')).body.createdAt as string;
};

test('a tab that was left open does nothing to the account that another tab signed in to', async () => {
  const page = await open();
  await byEmail(page, 'xena@example.test');
  await signInBeside(page, 'yuri@example.test');
  const before = await exists('yuri@example.test');
  // On a slow network: who is signed in by now is not known yet when the button is pressed.
  const goOn = await holding(page, '/account/me');
  await cameBack(page);
  await page.getByRole('button', { name: 'Delete the account' }).click();
  await page.getByText('another account is signed in here').waitFor();
  await goOn();
  await page.locator('code', { hasText: 'yuri@example.test' }).waitFor();
  assert.equal(await exists('yuri@example.test'), before);
});

test('nothing of a former account can be pressed while another is looked up, nor comes back late', async () => {
  const page = await open();
  await byEmail(page, 'xaver@example.test');
  // Its own look is slow, and an account is signed in to elsewhere meanwhile.
  const goOn = await holding(page, '/account/payout');
  await page.getByRole('button', { name: 'End all others' }).click();
  await page.locator('#view[inert]').waitFor();
  const press = page.getByRole('button', { name: 'Delete the account' }).click({ timeout: 500 });
  await assert.rejects(press, /Timeout/);
  await signInBeside(page, 'yves@example.test');
  await cameBack(page);
  await page.locator('#view:not([inert]) code', { hasText: 'yves@example.test' }).waitFor();
  await page.evaluate(`document.querySelector('#told').textContent = ''`);
  const late = page.waitForResponse(`${origin}/account/sessions`);
  await goOn();
  await late;
  await page.waitForTimeout(300);
  const labels = await page.locator('section:has(h2:text("Logins")) li code').allTextContents();
  assert.deepEqual(labels, ['yves@example.test']);
  assert.equal(await page.locator('#told').textContent(), '');
});

test('it says of a login what was done: added or known before, removed or to be removed', async () => {
  const [wallet, other] = [evmWallet(), bitcoinWallet()];
  const page = await open(wallet);
  await page.getByRole('button', { name: 'Use Test Wallet' }).click();
  const told = page.locator('#told');
  const ways = async () => {
    await page.getByRole('button', { name: 'Add a login' }).click();
    await page.getByLabel('E-mail address').waitFor();
  };
  const codeIsGiven = async () => {
    await page.getByLabel('E-mail address').fill('wim@example.test');
    await page.getByRole('button', { name: 'Send a code' }).click();
    await told.filter({ hasText: 'A code is on its way to wim@example.test' }).waitFor();
    await page.getByLabel('Six digits').fill(edge.codeOf('wim@example.test'));
    await page.getByRole('button', { name: 'Go on' }).click();
  };
  await ways();
  assert.equal(await page.getByLabel('E-mail address').getAttribute('maxlength'), '254');
  await codeIsGiven();
  await told.filter({ hasText: /^The login is added\.$/ }).waitFor();
  await ways();
  await codeIsGiven();
  await told.filter({ hasText: 'It was a login of this account before' }).waitFor();
  await ways();
  await byHand(page, other);
  await told.filter({ hasText: /^The login is added\.$/ }).waitFor();
  await page.getByRole('button', { name: `Remove: ${other.address}` }).click();
  await told.filter({ hasText: /^Removed\.$/ }).waitFor();
  await page.getByRole('button', { name: `Remove: ${wallet.address}` }).click();
  await told.filter({ hasText: /^It is removed at .*, unless you stop it below\.$/ }).waitFor();
});

/** Run in a page of another site, whose types are not those of node: what it gets of each. */
const attack = `async (there) => {
  const send = (init) =>
    fetch(there + '/account/sign-out', { method: 'POST', credentials: 'include', ...init }).then(
      ({ status, type }) => (type === 'opaque' ? 'opaque' : String(status)),
      () => 'refused',
    );
  const socket = new WebSocket(there.replace('http', 'ws') + '/v1/ws');
  const closed = new Promise((resolve) => {
    socket.onopen = () => resolve('opened');
    socket.onerror = () => resolve('refused');
  });
  const frame = document.createElement('iframe');
  frame.src = there + '/account';
  const shown = new Promise((resolve) => {
    frame.onload = () => resolve(frame.contentDocument === null ? 'blocked' : 'shown');
  });
  document.body.append(frame);
  document.querySelector('form').submit();
  const blind = await send({ mode: 'no-cors' });
  const withHeader = await send({ headers: { 'x-parley-request': '1' } });
  return { blind, withHeader, socket: await closed, frame: await shown };
}`;

test('a page of another site gets nothing, neither by a form nor by a script nor in a frame', async () => {
  const page = await open();
  await byEmail(page, 'vic@example.test');
  const other = await page.context().newPage();
  await other.goto(elsewhere);
  const got = await other.evaluate(`(${attack})(${JSON.stringify(origin)})`);
  assert.deepEqual(got, {
    blind: 'opaque',
    withHeader: 'refused',
    socket: 'refused',
    frame: 'blocked',
  });
  await page.reload();
  await page.getByRole('heading', { name: 'Logins' }).waitFor();
});
