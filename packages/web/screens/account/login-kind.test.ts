// How a login is called.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindOf } from './login-kind.ts';
import '../../texts/testing.ts';

test('a login says its kind: a wallet its family, a provider its host', () => {
  const about = { issuer: null, id: 'x' };
  assert.equal(kindOf({ ...about, way: 'email' }), 'e-mail');
  assert.equal(kindOf({ ...about, way: 'wallet', id: 'tron:TX' }), 'wallet, TRON');
  const issuer = 'https://login.acme.example/realm';
  assert.equal(kindOf({ ...about, way: 'provider', issuer }), 'provider, login.acme.example');
});
