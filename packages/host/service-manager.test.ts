// The words that a service manager hears, by a socket of a real listener and the real
// systemd-notify.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { notifySocket } from '@parley/verify/test/support/notify.ts';
import { serviceManager } from './service-manager.ts';

const log = {
  warn: (facts: object, message: string) => assert.fail(JSON.stringify([facts, message])),
};

/** It waits at least so long: 600 s of drain, 20 of the stop, 5 of its end. */
const stop = 'STOPPING=1 EXTEND_TIMEOUT_USEC=625000000';

async function listening(t: TestContext) {
  const manager = await notifySocket();
  t.after(() => manager.close());
  return manager;
}

const envOf = (NOTIFY_SOCKET: string, more: object = {}): Record<string, string | undefined> => {
  return { PATH: process.env.PATH, NOTIFY_SOCKET, ...more };
};

test('a manager hears of ready, of each beat while nothing is late, and of the stop', async (t) => {
  const { socket, next } = await listening(t);
  const late: { service: string }[] = [];
  const env = envOf(socket, { WATCHDOG_USEC: '40000', WATCHDOG_PID: `${process.pid}` });
  const warned: unknown[] = [];
  const noting = { warn: (...line: unknown[]) => void warned.push(line) };
  const manager = serviceManager(env, noting);
  assert.deepEqual(Object.keys(env), ['PATH'], 'no child of this process says it is ready');
  let looks = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  await manager.ready('serving http://h', () => {
    looks += 1;
    // The third look finds something that hangs, and from then on no beat is sent.
    if (looks === 3) late.push({ service: 'follow' });
    if (looks === 5) resolve();
    return late;
  });
  assert.equal(await next(), 'READY=1 STATUS=serving http://h');
  assert.deepEqual([await next(), await next()], ['WATCHDOG=1', 'WATCHDOG=1']);
  await promise;
  await manager.stopping(620_000);
  assert.equal(await next(), stop);
  const message = 'the watchdog is not told that this process works';
  assert.deepEqual(warned, [[{ services: ['follow'] }, message]]);
});

test('no beat is sent where the watchdog is another process’s, or is off', async (t) => {
  const { socket, next } = await listening(t);
  for (const more of [{ WATCHDOG_USEC: '20', WATCHDOG_PID: '1' }, { WATCHDOG_USEC: '0' }, {}]) {
    const manager = serviceManager(envOf(socket, more), log);
    // The second takes a process of its own, in which many beats would be.
    for (let time = 0; time < 2; time += 1) await manager.ready('x', () => []);
    await manager.stopping(620_000);
    const heard = [await next(), await next(), await next()];
    assert.deepEqual(heard, ['READY=1 STATUS=x', 'READY=1 STATUS=x', stop]);
  }
});

test('without a manager nothing is run, and one that cannot be told is warned of once', async () => {
  await serviceManager({ PATH: '/nonexistent' }, log).ready('x', () => []);
  const warned: object[] = [];
  const noting = { warn: (facts: object) => void warned.push(facts) };
  const manager = serviceManager({ PATH: '/nonexistent', NOTIFY_SOCKET: '/x' }, noting);
  await manager.ready('x', () => []);
  await manager.stopping(620_000);
  assert.equal(warned.length, 1);
  assert.match(JSON.stringify(warned), /status 127: .*systemd-notify: not found/);
});
