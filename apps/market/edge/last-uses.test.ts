// When keys and sessions were used last: written now and then, and by no request.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testEdge } from './testing/edge.ts';
import { signedIn } from './testing/session.ts';
import { evmWallet } from './testing/signers.ts';

const edge = await testEdge({ settings: { clientPrefixes: { ipv4: 24, ipv6: 56 } } });

const minute = 60_000;
const write = () => edge.app.edge.uses.write();

/** Day and network of a key's last use. */
async function keyUse(id: string): Promise<[string | null, string | null]> {
  const text = `select to_char(used_on, 'YYYY-MM-DD') as day, used_from as place
    from api_keys where id = $1`;
  const [{ day, place }] = await edge.sql(text, id);
  return [day, place];
}
const newKey = async (): Promise<{ id: string; key: string }> =>
  (await edge.mint(evmWallet())).body;
const use = (key: string, ip = '192.0.2.7', call = edge.call) => call('GET', '/v1/me', { key, ip });

test('a key is shown with day and network of its last use, once that was written', async () => {
  const { id, key } = await newKey();
  edge.deps.freeze(Date.parse('2031-03-04T23:59:59.999Z'));
  await edge.sql(`update api_keys set expires_at = '2032-01-01' where id = $1`, id);
  await use(key);
  assert.deepEqual(await keyUse(id), [null, null]);
  await write();
  assert.deepEqual(await keyUse(id), ['2031-03-04', '192.0.2.0/24']);
  // Uses of one day from one network are one write; an update would make another version.
  const version = () => edge.sql('select xmin::text as version from api_keys where id = $1', id);
  const before = await version();
  for (let count = 0; count < 3; count += 1) await use(key);
  await write();
  assert.deepEqual(await version(), before);
  await use(key);
  edge.deps.advance(1);
  await use(key, '2001:db8:1:2ff::7');
  await write();
  assert.deepEqual(await keyUse(id), ['2031-03-05', '2001:db8:1:200::/56']);
});

test("a session's last use is written at most once a minute, to the minute", async () => {
  const browser = await signedIn(edge);
  const made = browser.stored.madeAt.getTime();
  for (const [afterMs, written] of [
    [minute - 1, 0],
    [minute, minute],
    [2 * minute - 1, minute],
    [2 * minute, 2 * minute],
  ] as const) {
    edge.deps.freeze(made + afterMs);
    await browser.get('/v1/me');
    await write();
    const text = 'select last_used_at as at from sessions where id = $1';
    const [row] = await edge.sql(text, browser.stored.id);
    assert.equal(row.at.getTime() - made, written);
  }
});
