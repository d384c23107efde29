import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { freePort } from './free-port.ts';

test('a port that is wanted is given where it is free, else one that no system gives away', async (t) => {
  const wanted = await freePort();
  assert.equal(await freePort(wanted), wanted);
  const holder = createServer().listen(wanted, '127.0.0.1');
  t.after(() => holder.close());
  await once(holder, 'listening');
  const other = await freePort(wanted);
  assert.notEqual(other, wanted);
  for (const port of [wanted, other]) assert.ok(port >= 20_000 && port < 32_000, `${port}`);
});
