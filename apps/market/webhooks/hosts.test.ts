// The addresses that are counted as a host: the operator's own are not, by address and by name.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import { createHosts, HostBusy, hostLimits } from './hosts.ts';

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
  const deliver = (host: string, address: string) =>
    hosts.visit({ accountId: 'a', begins: true }).admit(host, address);
  const many = async (count: number, host: string, address: string) => {
    for (let n = 0; n < count; n += 1) await deliver(host, address);
  };
  const { unknown } = hostLimits;
  await many(unknown * 3, '10.1.2.3', '10.1.2.3');
  await many(unknown * 3, '[fd00::1]', 'fd00::1');
  await many(unknown * 3, 'hooks.inside.example', '10.1.2.3');
  // The name stands for a stranger's address now: each delivery counts for both.
  await many(unknown, 'hooks.inside.example', '192.0.2.1');
  await assert.rejects(deliver('hooks.inside.example', '192.0.2.1'), HostBusy);
});
