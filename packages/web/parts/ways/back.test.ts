// `?then=` of the sign-in can be written by anybody: it leads to a screen of this app, or nowhere.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownPath, signInPath } from './back.ts';

const origin = 'https://market.example';

test('a path of this app is gone back to with its search; what leads elsewhere is not', () => {
  for (const path of ['/keys', '/orders/1?from=a%20b#top', '/', '/a/../swaps']) {
    const back = ownPath(path, origin);
    assert.equal(back, new URL(path, origin).href.slice(origin.length), path);
  }
  for (const bad of [
    null,
    '',
    'keys',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    'https://evil.example/',
    'https://market.example/keys',
    'javascript:alert(1)',
    // Round and round.
    '/sign-in?then=/keys',
  ]) {
    assert.equal(ownPath(bad, origin), null, String(bad));
  }
});

test('where one was survives the address of the sign-in', () => {
  const was = '/swaps/1?tab=a&b=c#d';
  const search = new URL(signInPath(was), origin).searchParams;
  assert.equal(ownPath(search.get('then'), origin), was);
});
