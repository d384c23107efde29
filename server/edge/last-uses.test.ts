// When keys and sessions were used last: written now and then, and by no request.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildApp } from './app.ts';
import { createLastUses } from './last-uses.ts';
import { caller, testEdge } from './testing/edge.ts';
import { openMaker } from './testing/feed-client.ts';
import { type SignedIn, signedIn } from './testing/session.ts';
import { evmWallet } from './testing/signers.ts';

const edge = await testEdge({ settings: { clientPrefixes: { ipv4: 24, ipv6: 56 } } });
const at = await edge.app.listen({ host: '127.0.0.1', port: 0 });

const minute = 60_000;
const write = () => edge.app.edge.uses.write();

async function keyUse(id: string): Promise<[string | null, string | null]> {
  const [row] = await edge.deps.db.rows<{ day: string | null; place: string | null }>({
    name: 'test_key_use',
    text: `select to_char(used_on, 'YYYY-MM-DD') as day, used_from as place
      from api_keys where id = $1`,
    values: [id],
  });
  return [row?.day ?? null, row?.place ?? null];
}

async function sessionUse({ stored }: SignedIn): Promise<number> {
  const [row] = await edge.sql('select last_used_at as at from sessions where id = $1', stored.id);
  return row?.at.getTime() ?? 0;
}

/** Row versions: an update without a change would make one too. */
async function versionOf(table: string, id: string): Promise<string> {
  const [row] = await edge.sql(`select xmin::text as version from ${table} where id = $1`, id);
  return row?.version ?? '';
}

test('a key is shown with day and network of its last use, once that was written', async () => {
  const { id, key } = (await edge.mint(evmWallet())).body;
  edge.deps.freeze(Date.parse('2031-03-04T23:59:59.999Z'));
  await edge.sql(`update api_keys set expires_at = '2032-01-01' where id = $1`, id);
  await edge.call('GET', '/v1/me', { key, ip: '192.0.2.7' });
  assert.deepEqual(await keyUse(id), [null, null]);
  await write();
  assert.deepEqual(await keyUse(id), ['2031-03-04', '192.0.2.0/24']);
  edge.deps.advance(1);
  await edge.call('GET', '/v1/me', { key, ip: '2001:db8:1:2ff::7' });
  await write();
  assert.deepEqual(await keyUse(id), ['2031-03-05', '2001:db8:1:200::/56']);
});

test('uses of one day from one network are one write, and unused keys none', async () => {
  const { id, key } = (await edge.mint(evmWallet())).body;
  await edge.call('GET', '/v1/me', { key });
  await write();
  const version = await versionOf('api_keys', id);
  for (let count = 0; count < 3; count += 1) await edge.call('GET', '/v1/me', { key });
  await write();
  assert.equal(await versionOf('api_keys', id), version);
});

test('a key that is refused was not used', async () => {
  const { id } = (await edge.mint(evmWallet())).body;
  await edge.call('GET', '/v1/me', { key: `parley_test_${'a'.repeat(43)}` });
  await write();
  assert.deepEqual(await keyUse(id), [null, null]);
});

test("a session's last use is written at most once a minute, to the minute", async () => {
  const browser = await signedIn(edge);
  const made = browser.stored.madeAt.getTime();
  const use = async (afterMs: number) => {
    edge.deps.freeze(made + afterMs);
    await browser.get('/v1/me');
    await write();
    return (await sessionUse(browser)) - made;
  };
  assert.equal(await use(minute - 1), 0);
  assert.equal(await use(minute), minute);
  assert.equal(await use(2 * minute - 1), minute);
  assert.equal(await use(2 * minute), 2 * minute);
});

test('a session that is used every 29 days lives on, and one left for 30 ends', async () => {
  const browser = await signedIn(edge);
  const day = 86_400_000;
  const made = browser.stored.madeAt.getTime();
  for (const days of [29, 58, 87]) {
    edge.deps.freeze(made + days * day);
    // Remembered for a second of real time.
    edge.app.edge.keys.forget(null);
    assert.equal((await browser.get('/v1/me')).status, 200, `${days} days`);
    await write();
  }
  const idle = await signedIn(edge);
  edge.deps.freeze(idle.stored.madeAt.getTime() + 30 * day - 1);
  assert.equal((await idle.get('/v1/me')).status, 200);
  edge.deps.advance(1);
  assert.equal((await idle.get('/v1/me')).status, 401);
});

test('the feed counts as use', async () => {
  edge.deps.freeze(Date.now());
  const { id, key } = (await edge.mint(evmWallet())).body;
  const client = await openMaker(at, { apiKey: key });
  client.close();
  await write();
  assert.deepEqual((await keyUse(id))[1], '127.0.0.0/24');
});

test('what a process has not written it writes when it stops', async () => {
  const { id, key } = (await edge.mint(evmWallet())).body;
  const other = await buildApp(edge.deps);
  await caller(other)('GET', '/v1/me', { key, ip: '192.0.2.7' });
  await other.close();
  assert.deepEqual((await keyUse(id))[1], '192.0.2.0/24');
});

test('a use that is written after the key was revoked leaves nothing of where it came from', async () => {
  const { id, key } = (await edge.mint(evmWallet())).body;
  const other = await buildApp(edge.deps);
  await caller(other)('GET', '/v1/me', { key, ip: '192.0.2.7' });
  await edge.sql('update api_keys set revoked_at = now() where id = $1', id);
  await other.close();
  assert.equal((await keyUse(id))[1], null);
});

test('a database that is gone loses what was to be written, and holds up no stop', async () => {
  const lines: unknown[] = [];
  const log = { ...edge.deps.log, warn: (line: unknown) => void lines.push(line) };
  const rows = () => new Promise<never>(() => {});
  const db = { ...edge.deps.db, rows };
  const silent = createLastUses({ ...edge.deps, db } as never, 100);
  silent.note({ by: 'key', keyId: 'a' }, '192.0.2.7');
  const began = performance.now();
  await silent.close();
  assert.ok(performance.now() - began < 2_000);
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
  const [one, other] = [createLastUses(edge.deps), createLastUses(edge.deps)];
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
