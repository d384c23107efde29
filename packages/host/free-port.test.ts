import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
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

test('a port that is given is not given to another process while the program begins', async () => {
  const mine = await freePort();
  const program = `const { freePort } = await import(${JSON.stringify(import.meta.resolve('./free-port.ts'))});
    console.log(await freePort(${mine}));`;
  const args = ['--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  assert.notEqual(Number(stdout), mine);
  assert.equal(await freePort(mine), mine, 'a program of this process begins there again');
});
