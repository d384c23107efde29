// `npm run watchtower`: the watchtower in a process of its own, with the settings of a server. It
// opens no port: a server with PARLEY_KEEPER=apart asks it by the database. The only file of this
// room that sees the server: it wires.

import { createLog } from '../server/ports/log.ts';
import { readSettings } from '../server/settings/config.ts';

async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const log = createLog(settings.logLevel);
  const { startWatchtower } = await import('../server/start/watchtower.ts');
  const starting = startWatchtower(settings, log);
  const stop = async (signal: string) => {
    log.info({ signal }, 'stopping');
    await (await starting.catch(() => null))?.stop();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => stop(signal));
  }
  const { chains } = await starting;
  console.log(`Watching: ${chains.join(', ')}`);
}

main().catch((error: unknown) => {
  console.error(`not started: ${(error as Error).message}`);
  process.exit(1);
});
