// The release as its unit starts it: secrets as credentials, and a listener in the place of the
// service manager, which hears that it is ready, that it works, and that it stops.

import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { notifySocket } from '../support/notify.ts';
import { started } from './program.ts';

const watchdogMs = 2_000;

type Given = {
  readonly release: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly work: string;
};

/** The result, as a line. */
export async function runAsUnit({ release, secrets, work }: Given): Promise<string> {
  const credentials = join(work, 'credentials');
  const home = join(work, 'unit-home');
  for (const each of [credentials, home]) await mkdir(each, { mode: 0o700 });
  const { assets = '', ...hidden } = secrets;
  for (const [name, text] of Object.entries(hidden)) {
    await writeFile(join(credentials, name), text, { mode: 0o400 });
  }
  const unit = await readFile(join(release, 'apps/market/deploy/systemd/parley.service'), 'utf8');
  const [, command = ''] = /\nExecStart=(.*)\n/.exec(unit) ?? [];
  const own = command.replaceAll('/opt/parley', release).split(' ');
  const manager = await notifySocket();
  try {
    const program = await started([...own, '--json'], {
      PATH: process.env.PATH ?? '',
      PARLEY_HOME: home,
      PORT: '0',
      PARLEY_NETWORK: 'dev',
      CREDENTIALS_DIRECTORY: credentials,
      PARLEY_ASSETS: assets,
      NOTIFY_SOCKET: manager.socket,
      WATCHDOG_USEC: `${watchdogMs * 1_000}`,
    });
    assert.equal(await manager.next(), `READY=1 STATUS=serving ${program.url}`);
    assert.deepEqual([await manager.next(), await manager.next()], ['WATCHDOG=1', 'WATCHDOG=1']);
    // An event loop that does not turn says nothing: the manager ends it.
    const stopped = program.stop(program.child.pid ?? 0);
    let last = await manager.next();
    while (last === 'WATCHDOG=1') last = await manager.next();
    assert.equal(last, 'STOPPING=1 EXTEND_TIMEOUT_USEC=25000000');
    assert.equal(await stopped, 0, program.log());
    return 'as its unit: READY=1, WATCHDOG=1, STOPPING=1';
  } finally {
    await manager.close();
  }
}
