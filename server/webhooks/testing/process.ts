// Tests only: a server process of its own that also delivers, on a given database and with a clock
// that may be ahead, so that what a dead process had in hand is due.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testDeps } from '../../../test/support/deps.ts';
import { connect } from '../../db/database.ts';
import { buildApp } from '../../edge/app.ts';
import { createDelivering } from '../deliver.ts';

const self = fileURLToPath(import.meta.url);
/** For all of them, and for the test: secrets are sealed by one and read by another. */
export const encryptionKey = '42'.repeat(32);

export type DeliveringProcess = {
  readonly url: string;
  stop(): Promise<void>;
  /** kill -9 */
  kill(): Promise<void>;
};

/** `ca` is the authority of the receivers. */
export async function startDelivering(
  databaseUrl: string,
  ca: string,
  aheadMs = 0,
): Promise<DeliveringProcess> {
  const home = mkdtempSync(join(tmpdir(), 'parley-delivering-'));
  const file = join(home, 'ca.pem');
  writeFileSync(file, ca);
  const child = fork(self, [databaseUrl, String(aheadMs), home], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, NODE_EXTRA_CA_CERTS: file },
  });
  const ended = once(child, 'exit').then(() => rmSync(home, { recursive: true, force: true }));
  const [url] = await Promise.race([once(child, 'message'), failure(child)]);
  return {
    url: String(url),
    stop: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function failure(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit');
  throw new Error(`the delivering process ended with ${code}`);
}

async function serve([databaseUrl = '', aheadMs, home = '']: readonly string[]): Promise<void> {
  const db = connect(databaseUrl);
  const settings = { home, encryptionKey, webhookNetworks: ['127.0.0.1'] };
  const deps = testDeps({ db, settings, now: () => Date.now() + Number(aheadMs) });
  const app = await buildApp(deps);
  const delivering = createDelivering(deps);
  // Also when the test is killed: the channel closes with it.
  process.once('disconnect', async () => {
    await delivering.stop();
    app.server.closeAllConnections();
    await app.close();
    await db.close();
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  delivering.start();
  process.send?.(url);
}

if (process.argv[1] === self && process.send !== undefined) await serve(process.argv.slice(2));
