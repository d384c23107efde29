// `npm run watchtower`: the watchtower in a process of its own, with the settings of a server. It
// answers no requests: a server with PARLEY_KEEPER=apart asks it by the database. The only file of
// this room that sees the server: it wires.

import { serviceManager } from '@parley/host/service-manager.ts';
import { createLog } from './ports/log.ts';
import { readSettings } from './settings/config.ts';

/** A stop that hangs is given up after this, so that a restart is not held back. */
const stopLimitMs = 20_000;

const usage = `usage: npm run watchtower
Settings are environment variables: docs/settings.md lists them.`;

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) {
    console.log(usage);
    process.exit(0);
  }
  if (args.length > 0) {
    console.error(`"${args.join(' ')}" is not understood\n${usage}`);
    process.exit(2);
  }
  const settings = readSettings(process.env);
  const log = createLog(settings.logLevel);
  const manager = serviceManager(process.env, log);
  const { startWatchtower } = await import('./start/watchtower.ts');
  const starting = startWatchtower(settings, log);
  const stop = async (signal: string) => {
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), stopLimitMs).unref();
    void manager.stopping(stopLimitMs);
    await (await starting.catch(() => null))?.stop();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void stop(signal));
  }
  const { chains, metrics, late } = await starting;
  for (const { chain, gasKey } of chains) {
    console.log(`  ${chain.padEnd(16)} gas key ${gasKey}`);
  }
  if (metrics !== null) console.log(`  ${'metrics'.padEnd(16)} ${metrics}`);
  const watching = chains.map(({ chain }) => chain).join(', ');
  await manager.ready(`watching ${watching}`, late);
  console.log(`Watching: ${watching}`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`not started: ${(error as Error).message}`);
  process.exit(1);
});
