// People in a real Chromium on the account page: each way in, and what its page does then.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import {
  type IdentityProvider,
  startIdentityProvider,
} from '../devnet/people/identity-provider.ts';
import { readSettings } from '../server/config.ts';
import { type PeopleEdge, startPeople } from '../server/edge/testing/people.ts';
import { evmWallet, type TestWallet } from '../server/edge/testing/signers.ts';
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
  const people = { ...readSettings({}).people, providers };
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
async function open(wallet?: TestWallet): Promise<Page> {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (error) => assert.fail(error));
  page.on('console', (line) => {
    if (/Content.Security.Policy|Refused to/.test(line.text())) assert.fail(line.text());
  });
  if (wallet !== undefined) await announceWallet(page, wallet);
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
  const key = (await page.locator('#minted').textContent()) ?? '';
  assert.equal((await edge.call('GET', '/v1/me', { key })).status, 200);
  await page.reload();
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
  assert.ok(String(await page.locator('main').textContent()).includes(`evm: ${wallet.address}`));
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
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('Signed in by passkey').waitFor();
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
