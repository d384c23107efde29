// A process of tests has the cluster that the run gives it, and hears where there is none.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openCluster } from '../support/cluster.ts';

async function served(t: TestContext, give: (socket: Socket) => unknown) {
  const folder = await mkdtemp(join(tmpdir(), 'parley-clusters-'));
  const server = createServer(give);
  const path = join(folder, 'socket');
  server.listen(path);
  await once(server, 'listening');
  t.after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  return path;
}

test('a cluster is kept until it is stopped', async (t) => {
  const given: Socket[] = [];
  const path = await served(t, (socket) => given.push(socket) && socket.write('postgres://one\n'));
  const { adminUrl, stop } = await openCluster(path);
  assert.equal(adminUrl, 'postgres://one');
  const socket = given[0] ?? assert.fail();
  assert.equal(socket.destroyed, false);
  const back = once(socket, 'close');
  await stop();
  await back;
});

test('an error says that no cluster could be started', async (t) => {
  const path = await served(t, (socket) => socket.destroy());
  await assert.rejects(openCluster(path), /no cluster could be started/);
});
