// The probes: the causes that make a process not ready, those that do not, and that the probes run
// whatever else stops.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../db/database.ts';
import type { DatabaseState } from '../db/doctor.ts';
import { knows } from '../db/version.ts';
import { passesOf } from '../ports/passes.ts';
import { createHealth } from './health.ts';
import { rawAnswer, testEdge } from './testing/edge.ts';

const edge = await testEdge({ settings: { rateLimit: 1, rateLimitPerNetwork: 1 } });
const ready = () => edge.call('GET', '/readyz');
const wrong = (body: { checks: { name: string; ok: boolean; says?: string }[] }) =>
  body.checks.filter(({ ok }) => !ok).map(({ name, says }) => `${name}: ${says}`);

/** Asked anew each time, on a database whose answers are the test's. */
function healthOf(rows: () => Promise<unknown[]>, limits = { databaseMs: 5_000, keptMs: 0 }) {
  const listen: Database['listen'] = () => Promise.reject(new Error('nobody listens'));
  const db = { rows, listen } as unknown as Database;
  const health = createHealth({ ...edge.deps, db }, limits);
  return { db, health, wrong: async () => wrong({ checks: [...(await health.checks())] }) };
}
const applied = async (): Promise<string[]> => {
  const rows = await edge.sql('select name from migrations order by name');
  return rows.map(({ name }) => name);
};

test('probes cost no budget, and are answered where it is out', async () => {
  for (const status of [200, 429])
    assert.equal((await edge.call('GET', '/v1/rules')).status === 429, status === 429);
  for (let times = 0; times < 3; times += 1) {
    const live = await edge.call('GET', '/livez');
    assert.deepEqual([live.status, live.body], [200, { live: true }]);
    const { status, body, headers } = await ready();
    assert.deepEqual([status, body.ready], [200, true], JSON.stringify(body));
    assert.deepEqual(
      body.checks.map(({ name }: { name: string }) => name),
      ['serving', 'database', 'migrations', 'passes'],
    );
    assert.equal(headers['ratelimit-remaining'], undefined);
    assert.equal(headers['cache-control'], 'no-store');
  }
  assert.equal((await edge.app.inject({ method: 'HEAD', url: '/readyz' })).statusCode, 200);
  assert.deepEqual(
    edge.app.edge.operations.filter(({ url }) => /livez|readyz/.test(url)),
    [],
  );
});

test('a database that is silent, refuses or takes no writes makes a process not ready', async () => {
  const migrations = await applied();
  const silent = healthOf(() => new Promise(() => {}), { databaseMs: 1, keptMs: 0 });
  assert.deepEqual(await silent.wrong(), [
    'database: no answer within 1 ms',
    'migrations: not known without the database',
  ]);
  const gone = healthOf(() => Promise.reject(new Error('password of parley@10.0.0.1')));
  assert.deepEqual(await gone.wrong(), [
    'database: it does not answer',
    'migrations: not known without the database',
  ]);
  const standby = healthOf(async () => [{ migrations, compatibleFrom: null, isStandby: true }]);
  assert.deepEqual(await standby.wrong(), ['database: it is a standby, and takes no writes']);
});

test('a migration that lacks is named; one of a later version only where it took something away', async () => {
  const migrations = await applied();
  const last = migrations.at(-1);
  const later = [...migrations, '9999-later.sql'];
  const found = (given: Partial<DatabaseState>) => {
    const state = { migrations: later, compatibleFrom: null, isStandby: false };
    return healthOf(async () => [{ ...state, ...given }]).wrong();
  };
  assert.deepEqual(await found({}), []);
  assert.deepEqual(await found({ compatibleFrom: knows }), []);
  assert.deepEqual(await found({ compatibleFrom: '999' }), [
    `migrations: this version knows ${knows}, and 999 is needed`,
  ]);
  assert.deepEqual(await found({ migrations: later.filter((each) => each !== last) }), [
    `migrations: missing: ${last}`,
  ]);
});

test('a service that was not heard of when it said is named, and one that fails is not', async () => {
  const answers = async () => [
    { migrations: await applied(), compatibleFrom: null, isStandby: false },
  ];
  const { db, wrong: found } = healthOf(answers);
  const pulse = passesOf(db).join('follow ethereum');
  pulse.within(0);
  assert.deepEqual(await found(), []);
  // Ten seconds of grace, and more.
  pulse.within(-12_500);
  assert.match((await found()).join(), /^passes: late: follow ethereum by [3-9] s$/);
  pulse.leave();
  assert.deepEqual(await found(), []);
});

test('a server that closes is alive to whoever asks on a connection that it still has', async () => {
  const own = await testEdge({}, (app) => {
    app.get('/held', async (_request, reply) => {
      reached.resolve();
      await held.promise;
      return reply.send('{}');
    });
  });
  const reached = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const head = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
  const behind = Promise.withResolvers<string>();
  const answers = rawAnswer(await own.port(), head('/held'), () => behind.promise);
  await reached.promise;
  const closed = own.app.close();
  behind.resolve(head('/livez'));
  held.resolve();
  await closed;
  assert.match(await answers, /^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 200 [\s\S]*\{"live":true\}$/);
});
