// The addresses that are counted as a host: the operator's own are not, by address and by name. And
// who is sent to a host that gets no more.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import { createHosts, HostBusy, hostLimits, mostFirst } from './hosts.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.drop());

test('a name with an address of the operator’s own is not counted, and is again once it moves', async () => {
  const settings = { webhookNetworks: ['10.0.0.0/8', 'fd00::/8'] };
  const deps = testDeps({ db: database.db, settings });
  deps.freeze();
  const hosts = createHosts(deps);
  const deliver = async (...told: string[]) => {
    const visit = hosts.visit({ accountId: 'a', begins: true });
    for (const host of told) await visit.admit(host);
  };
  const many = async (count: number, ...told: string[]) => {
    for (let n = 0; n < count; n += 1) await deliver(...told);
  };
  const { unknown } = hostLimits;
  await many(unknown * 3, '10.1.2.3', '10.1.2.3');
  await many(unknown * 3, '[fd00::1]', 'fd00::1');
  await many(unknown * 3, 'hooks.inside.example', '10.1.2.3');
  // The name stands for a stranger's address now: that one delivery counts for both.
  // And one of an account passes in any case.
  await many(unknown + 1, 'hooks.inside.example', '192.0.2.1');
  await assert.rejects(deliver('hooks.inside.example', '192.0.2.1'), HostBusy);
});

test('others who flood a host that never answers keep the first delivery of no account from it', async () => {
  const deps = testDeps({ db: database.db });
  deps.freeze(Date.UTC(2030, 0, 1));
  const hosts = createHosts(deps);
  const host = 'silent.example';
  const passes = async (accountId: string) => {
    try {
      const visit = hosts.visit({ accountId, begins: true });
      for (const told of [host, '192.0.2.9']) await visit.admit(told);
      return true;
    } catch (error) {
      assert.ok(error instanceof HostBusy);
      return false;
    }
  };
  const flood = async (account: string) => {
    for (let at = 0; at < hostLimits.unknown * 2; at += 1) await passes(account);
  };
  await flood('flood');
  assert.equal(await passes('new'), true);
  assert.equal(await passes('new'), false, 'its second waits');
  // All accounts together have a few: it stays no flood.
  const others = Array.from({ length: mostFirst * 2 }, (_, at) => `other ${at}`);
  const passed: boolean[] = [];
  for (const each of others) passed.push(await passes(each));
  assert.equal(passed.filter(Boolean).length, mostFirst - 2, 'with those of the flood and of new');
  deps.advance(59 * 60_000);
  await flood('flood');
  assert.equal(await passes('new'), false);
  deps.advance(60_000);
  await flood('flood');
  assert.equal(await passes('new'), true, 'an hour later');
});

test('a name without an address is kept nowhere, and is looked up as often as it could be sent to', async () => {
  const deps = testDeps({ db: database.db });
  deps.freeze(Date.UTC(2031, 0, 1));
  const hosts = createHosts(deps);
  const rows = async () =>
    (await database.db.rows({ name: '', text: 'select host from webhook_hosts', values: [] }))
      .length;
  const before = await rows();
  const lookedUp = async (name: string, begins = true) => {
    const visit = hosts.visit({ accountId: 'a', begins });
    await visit.admit(name);
    visit.failed();
  };
  for (let n = 0; n < 100; n += 1) await lookedUp(`made-up-${n}.example`);
  for (let n = 0; n < hostLimits.unknown; n += 1) await lookedUp('nobody.example');
  await assert.rejects(lookedUp('nobody.example'), HostBusy);
  await lookedUp('nobody.example', false);
  assert.equal(await rows(), before);
  deps.advance(60_000);
  // It has an address now, and as many deliveries as any.
  for (let n = 0; n < hostLimits.unknown; n += 1) {
    const visit = hosts.visit({ accountId: 'a', begins: true });
    for (const told of ['nobody.example', '192.0.2.77']) await visit.admit(told);
    visit.failed();
  }
  assert.equal(await rows(), before + 2);
});
