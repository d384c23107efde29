import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { within } from './time-limit.ts';

const timeout = { code: 'chain_timeout', message: /"x" did not answer in time/ };
const never = () => new Promise<never>(() => {});

test('work that ends in time keeps its result, and its own refusal', async () => {
  const { signal } = new AbortController();
  assert.equal(await within(signal, 'x', Promise.resolve(7)), 7);
  const refusal = new ParleyError('nothing_there', 'nothing');
  await assert.rejects(within(signal, 'x', Promise.reject(refusal)), refusal);
  const fault = new Error('a fault');
  await assert.rejects(within(signal, 'x', Promise.reject(fault)), fault);
});

test('work that does not end is chain_timeout when the signal ends, before or during it', async () => {
  await assert.rejects(within(AbortSignal.abort(), 'x', never()), timeout);
  await assert.rejects(within(AbortSignal.timeout(5), 'x', never()), timeout);
});

test("a library's own abort is the same refusal; a refusal that came with it stands", async () => {
  const abort = new AbortController();
  abort.abort();
  const thrown = Promise.reject(new DOMException('aborted', 'AbortError'));
  await assert.rejects(within(abort.signal, 'x', thrown), timeout);
  const refusal = new ParleyError('chain_unavailable', 'gone');
  await assert.rejects(within(abort.signal, 'x', Promise.reject(refusal)), refusal);
});
