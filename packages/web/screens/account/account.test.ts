// Reading all of an account up to a limit, and what a login is called.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PageRead } from '../../market/pages.ts';
import { collect } from './collect.ts';
import { partsOf } from './export-parts.ts';
import { kindOf } from './login-kind.ts';
import '../../texts/testing.ts';

/** So many rows, two a page. */
const pagesOf =
  (count: number): PageRead =>
  async (cursor) => {
    const from = Number(cursor ?? 0);
    const rows = [from, from + 1].filter((each) => each < count);
    return { rows, nextCursor: from + 2 < count ? String(from + 2) : null };
  };

test('every page is read, each part at most to its limit, and what was cut is named', async () => {
  const told: string[] = [];
  const { parts, cut } = await collect(
    { none: pagesOf(0), exact: pagesOf(3), more: pagesOf(4), odd: pagesOf(5) },
    {
      signal: new AbortController().signal,
      most: 3,
      onProgress: (part, count) => told.push(`${part} ${count}`),
    },
  );
  assert.deepEqual(parts, { none: [], exact: [0, 1, 2], more: [0, 1, 2], odd: [0, 1, 2] });
  assert.deepEqual(cut, ['more', 'odd']);
  assert.deepEqual(told.slice(0, 5), ['none 0', 'none 0', 'exact 0', 'exact 2', 'exact 3']);
});

test('quotes of every status, own orders and swaps go into the file, page by page', async () => {
  const asked: unknown[] = [];
  const page = (name: string) => async (query: object) => {
    asked.push([name, query]);
    return { [name]: [name], nextCursor: null };
  };
  const of = {
    market: { rfqs: page('rfqs'), swaps: page('swaps'), quotes: page('threads') },
    account: {},
  };
  const parts = partsOf(of as unknown as Parameters<typeof partsOf>[0]);
  const { signal } = new AbortController();
  const own = ['orders', 'swaps', 'openQuotes', 'agreedQuotes', 'closedQuotes'];
  for (const name of own) {
    assert.equal((await parts[name]!('more', signal)).rows.length, 1, name);
  }
  const from = { limit: 100, cursor: 'more' };
  assert.deepEqual(asked, [
    ['rfqs', { own: true, ...from }],
    ['swaps', from],
    ...['open', 'agreed', 'closed'].map((status) => [
      'threads',
      { role: 'maker', status, ...from },
    ]),
  ]);
});

test('a login says its kind: a wallet its family, a provider its host', () => {
  const about = { issuer: null, id: 'x' };
  assert.equal(kindOf({ ...about, way: 'email' }), 'e-mail');
  assert.equal(kindOf({ ...about, way: 'wallet', id: 'tron:TX' }), 'wallet, TRON');
  const issuer = 'https://login.acme.example/realm';
  assert.equal(kindOf({ ...about, way: 'provider', issuer }), 'provider, login.acme.example');
});
