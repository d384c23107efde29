// The facts taken from an ID token that openid-client found good, with both sides of each boundary.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IDToken } from 'openid-client';
import { provenBy, type TokenRules, UnprovenError } from './provider-token.ts';

const nowSeconds = 1_700_000_000;
const provider = {
  id: 'acme',
  label: 'Acme',
  issuer: 'https://acme.example',
  clientId: 'parley',
  clientSecret: '',
  scopes: ['openid', 'profile', 'telegram:bot_access'],
  messages: true,
  nonce: true,
};
const rules: TokenRules = { provider, nowSeconds, anewSince: null, tellsAuthTime: false };
const claims: IDToken = {
  iss: provider.issuer,
  aud: 'parley',
  sub: 'somebody',
  iat: nowSeconds,
  exp: nowSeconds + 60,
};

function proven(more: object, scope?: string, changed: Partial<TokenRules> = {}) {
  return provenBy({ claims: { ...claims, ...more }, scope }, { ...rules, ...changed });
}

function refused(more: object, changed: Partial<TokenRules> = {}): string {
  try {
    proven(more, undefined, changed);
  } catch (error) {
    if (error instanceof UnprovenError) return error.message;
    throw error;
  }
  return '';
}

test('a person is an issuer and a sub of 1 to 255 printable characters', () => {
  const { way, issuer, subject } = proven({ sub: 'x'.repeat(255) });
  assert.deepEqual([way, issuer, subject], ['provider', provider.issuer, 'x'.repeat(255)]);
  for (const sub of ['', 'x'.repeat(256), 'a\u0000b', 'é', 'a\nb']) {
    assert.match(refused({ sub }), /"sub" is not/, JSON.stringify(sub));
  }
});

test('the clock of a provider may be two minutes ahead, and not more', () => {
  assert.equal(refused({ iat: nowSeconds + 120 }), '');
  assert.match(refused({ iat: nowSeconds + 121 }), /from the future/);
});

test('a token that names another client as the one it was issued to is refused', () => {
  assert.equal(refused({ azp: 'parley' }), '');
  assert.match(refused({ azp: 'another' }), /another client/);
});

test('where a new sign-in was asked for, an older one than that is refused', () => {
  const anew = { anewSince: nowSeconds };
  assert.equal(refused({ auth_time: nowSeconds - 180 }, anew), '');
  assert.match(refused({ auth_time: nowSeconds - 181 }, anew), /did not sign in anew/);
  assert.equal(refused({ auth_time: 0 }), '', 'any will do');
  assert.equal(refused({}, anew), '', 'a provider that never tells is taken at its word');
  assert.match(refused({}, { ...anew, tellsAuthTime: true }), /does not say when/);
});

test('the bot may write to the claim id of Telegram, where the scope was granted', () => {
  const chat = (id: unknown, scope?: string, messages = true) =>
    proven({ id }, scope, { provider: { ...provider, messages } }).chatId;
  assert.equal(chat(987654321), '987654321');
  assert.equal(chat(2 ** 52 - 1), '4503599627370495');
  assert.equal(chat('987654321'), '987654321');
  assert.equal(chat(1, 'openid telegram:bot_access'), '1');
  assert.equal(chat(1, 'openid profile'), null, 'the person said no');
  assert.equal(chat(1, undefined, false), null, 'it is not Telegram');
  for (const id of [undefined, null, 0, -100123, 1.5, 2 ** 53, '0', '-1', '@channel', '1 2', {}]) {
    assert.equal(chat(id), null, JSON.stringify(id));
  }
});
