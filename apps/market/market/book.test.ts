// The kept pages of the book: never older than a change that was made here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBook, type Page } from './book.ts';

const ready =
  (json: string, validUntilMs = 1_000) =>
  async (): Promise<Page<string>> => ({ value: json, validUntilMs });
const shown = async (page: Promise<string> | string) => page;
const never = (): Promise<Page<string>> => Promise.reject(new Error('read again'));

test('a page is read once and kept until the book is touched', async () => {
  const book = createBook();
  assert.equal(await shown(book.page('k', 0, ready('one'))), 'one');
  assert.equal(await shown(book.page('k', 0, never)), 'one');
  assert.equal(await shown(book.page('other', 0, ready('two'))), 'two');
  book.touch();
  assert.equal(await shown(book.page('k', 0, ready('new'))), 'new');
});

test('a page that was being read when the book changed is not shown after the change', async () => {
  const book = createBook();
  const slow = Promise.withResolvers<Page<string>>();
  const early = book.page('k', 0, () => slow.promise);
  const joined = book.page('k', 0, never);
  book.touch();
  const late = book.page('k', 0, ready('new'));
  slow.resolve({ value: 'old', validUntilMs: 1_000 });
  const pages = await Promise.all([early, joined, late].map(shown));
  assert.deepEqual(pages, ['old', 'old', 'new']);
  assert.equal(await shown(book.page('k', 0, never)), 'new');
});

test('a page ends when the first RFQ on it expires, and when the clock goes back', async () => {
  const book = createBook();
  await book.page('k', 500, ready('one', 1_000));
  assert.equal(await shown(book.page('k', 999, never)), 'one');
  assert.equal(await shown(book.page('k', 1_000, ready('two', 2_000))), 'two');
  assert.equal(await shown(book.page('k', 999, ready('three', 2_000))), 'three');
});

test('a change by another process shows within a quarter of a second', async () => {
  const book = createBook();
  await book.page('k', 0, ready('one'));
  await new Promise((resolve) => setTimeout(resolve, 260));
  assert.equal(await shown(book.page('k', 0, ready('two'))), 'two');
});
