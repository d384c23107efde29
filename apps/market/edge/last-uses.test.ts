// When keys and sessions were used last: written now and then, and by no request.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildApp } from './app.ts';
import { createLastUses } from './last-uses.ts';
import { caller, testEdge } from './testing/edge.ts';
import { openMaker } from './testing/feed-client.ts';
import { signedIn } from './testing/session.ts';
import { evmWallet } from './testing/signers.ts';

const edge = await testEdge({ settings: { clientPrefixes: { ipv4: 24, ipv6: 56 } } });
const at = await edge.app.listen({ host: '127.0.0.1', port: 0 });

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

test('the feed counts as use', async () => {
  edge.deps.freeze(Date.now());
  const { id, key } = await newKey();
  const client = await openMaker(at, { apiKey: key });
  client.close();
  await write();
  assert.equal((await keyUse(id))[1], '127.0.0.0/24');
});

test('a process writes its unwritten last uses when it stops, except of keys revoked since', async () => {
  for (const [revoked, place] of [
    [false, '192.0.2.0/24'],
    [true, null],
  ] as const) {
    const { id, key } = await newKey();
    const other = await buildApp(edge.deps);
    await use(key, '192.0.2.7', caller(other));
    if (revoked) await edge.sql('update api_keys set revoked_at = now() where id = $1', id);
    await other.close();
    assert.equal((await keyUse(id))[1], place);
  }
});

test('a database that is gone loses what was to be written, and holds up no stop', async () => {
  const lines: unknown[] = [];
  const log = { ...edge.deps.log, warn: (line: unknown) => void lines.push(line) };
  const rows = () => new Promise<never>(() => {});
  const db = { ...edge.deps.db, rows };
  const silent = createLastUses({ ...edge.deps, db } as never, 100);
  silent.note({ by: 'key', keyId: 'a' }, '192.0.2.7');
  await silent.close();
  const gone = { ...edge.deps.db, rows: () => Promise.reject(new Error('gone')) };
  const uses = createLastUses({ ...edge.deps, db: gone, log } as never);
  uses.note({ by: 'session', keyId: 'a' }, '192.0.2.7');
  await uses.write();
  await uses.close();
  assert.equal(lines.length, 1);
});

test('two processes that write the same keys at once do not wait for each other', async () => {
  const keys = await Promise.all(Array.from({ length: 20 }, () => edge.mint(evmWallet())));
  const ids = keys.map(({ body }) => body.id as string);
  const one = createLastUses(edge.deps);
  const other = createLastUses(edge.deps);
  for (let round = 0; round < 5; round += 1) {
    for (const id of ids) one.note({ by: 'key', keyId: id }, `192.0.${round}.7`);
    for (const id of ids.toReversed()) other.note({ by: 'key', keyId: id }, `198.51.${round}.7`);
    await Promise.all([one.write(), other.write()]);
  }
  await Promise.all([one.close(), other.close()]);
  for (const id of ids) assert.match((await keyUse(id))[1] ?? '', /^19(2\.0|8\.51)\.4\.0\/24$/);
});

test('twenty thousand are held between two writes, and no more', () => {
  let held = 0;
  const db = {
    ...edge.deps.db,
    rows: async (asked: { values: unknown[][] }) => {
      held += asked.values[0]?.length ?? 0;
      return [];
    },
  };
  const uses = createLastUses({ ...edge.deps, db } as never);
  for (let at = 0; at <= 20_000; at += 1) uses.note({ by: 'key', keyId: `${at}` }, '192.0.2.7');
  return uses.close().then(() => assert.equal(held, 20_000));
});
