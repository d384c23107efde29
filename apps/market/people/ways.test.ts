// The login methods on offer, and the answer where one of them is down.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Messaging } from '../ports/deps.ts';
import { readSettings } from '../settings/config.ts';
import type { ProviderSettings } from '../settings/people.ts';
import { siteOf } from './site.ts';
import { waysAt } from './ways.ts';

const plain = readSettings({});
const provider = (id: string, messages = false): ProviderSettings => ({
  id,
  label: `${id[0]?.toUpperCase()}${id.slice(1)}`,
  issuer: `https://${id}.example`,
  clientId: 'parley',
  clientSecret: '',
  scopes: ['openid'],
  messages,
  nonce: true,
});
const bot = { token: '', api: '' };

function site(host: string) {
  return siteOf({ publicUrl: null, network: 'dev' }, host) ?? assert.fail(host);
}

function deps(people: Partial<(typeof plain)['people']>, sends = false, isDown = false) {
  const messaging: Messaging = {
    sendCode: sends ? async () => {} : null,
    mailIsDown: () => isDown,
  };
  return { settings: { ...plain, people: { ...plain.people, ...people } }, messaging };
}

test('e-mail is offered where codes can be sent, and it is told that mail is down', () => {
  const ways = (sends: boolean, isDown: boolean) => {
    const { email, mailIsDown } = waysAt(deps({}, sends, isDown), site('localhost'));
    return [email, mailIsDown];
  };
  assert.deepEqual(ways(true, false), [true, false]);
  assert.deepEqual(ways(true, true), [true, true]);
  assert.deepEqual(ways(false, true), [false, false], 'none of it without mail');
  assert.equal(waysAt({ settings: plain }, site('localhost')).email, false);
});

test('a provider lets a bot write where there is one', () => {
  const providers = [provider('acme'), provider('telegram', true)];
  const told = (people: Parameters<typeof deps>[0]) =>
    waysAt(deps(people), site('localhost')).providers.map(({ id, messages }) => [id, messages]);
  const off = [
    ['acme', false],
    ['telegram', false],
  ];
  assert.deepEqual(told({ providers }), off);
  assert.deepEqual(told({ providers, bot }), [off[0], ['telegram', true]]);
});

test('passkeys are offered under a name, not under an address', () => {
  const passkeys = (host: string) => waysAt(deps({}), site(host)).passkeys;
  assert.deepEqual(['localhost:8080', '127.0.0.1:8080', '[::1]:8080'].map(passkeys), [
    true,
    false,
    false,
  ]);
});
