// `npm start`: reads the environment, starts the market, says what runs where, and stops it on
// Ctrl-C or SIGTERM. The only file that reads the environment.

import type { Settings } from './settings/config.ts';

/** How soon a market notices that the npm which started it was killed. */
const parentCheckMs = 1_000;

/** A stop that hangs is given up so long after its drain, so that a restart is not held back. */
const stopLimitMs = 20_000;

const usage = `usage: npm start [-- --json]
  --json   print one JSON line when ready, and nothing else, on standard output
Settings are environment variables: docs/settings.md lists them.`;

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) {
    console.log(usage);
    process.exit(0);
  }
  const unknown = args.filter((arg) => arg !== '--json');
  if (unknown.length > 0) {
    console.error(`"${unknown.join(' ')}" is not understood\n${usage}`);
    process.exit(2);
  }
  const isForProgram = args.includes('--json');
  const say = isForProgram ? () => {} : console.log;
  // Before anything is loaded: the settings alone take a third of a second.
  say('Starting the market. Its address follows.');
  const [{ readSettings }, { createLog }, { serviceManager }, { banner, heldLine, partsLine }] =
    await Promise.all([
      import('./settings/config.ts'),
      import('./ports/log.ts'),
      import('@parley/host/service-manager.ts'),
      import('./start/banner.ts'),
    ]);
  const settings = watched(readSettings(process.env), isForProgram);
  const log = createLog(settings.logLevel);
  const manager = serviceManager(process.env, log);
  say(partsLine(settings));
  // All of the server, which whoever has a setting wrong need not wait for.
  const [{ startMarket }, { finishBuilds, openWeb, openWebAtOnce }] = await Promise.all([
    import('./start/boot.ts'),
    import('./start/web.ts'),
  ]);
  // A program may open the app as soon as it reads the line.
  const opening = isForProgram ? openWeb() : openWebAtOnce();
  const starting = startMarket(settings, log, opening);
  let stops = 0;
  const stop = async (why: string, status = 0) => {
    stops += 1;
    if (stops > 1) process.exit(130);
    log.info({ signal: why }, 'stopping');
    const limitMs = settings.drainSeconds * 1_000 + stopLimitMs;
    setTimeout(() => process.exit(1), limitMs).unref();
    void manager.stopping(limitMs);
    const market = await starting.catch(() => null);
    await market?.stop();
    process.exit(status);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void stop(signal));
  }
  if (process.env.npm_lifecycle_event !== undefined) stopWithParent(stop);
  const { ready, held, late, broken } = await starting;
  void broken.then((why) => {
    if (stops > 0) return;
    console.error(`${why}, and the market ends with it: start it again`);
    return stop(why, 1);
  });
  if (stops === 0) await manager.ready(`serving ${ready.url}`, late);
  if (isForProgram) console.log(JSON.stringify(ready));
  say([banner(ready), ...heldLine(held)].join('\n'));
  // A program reads no documents, and a test of ours starts many markets.
  if (!isForProgram) {
    const behind = opening.then(async ({ build, later }) => {
      const newer = await later;
      if (newer !== undefined) console.log(`App: ${newer.said ?? 'built'}`);
      return finishBuilds(newer?.build ?? build);
    });
    void behind.catch((err) => log.warn({ err }, 'a build behind failed'));
  }
}

/** A person who tries the market out has the operator's page without a setting. */
function watched(settings: Settings, isForProgram: boolean): Settings {
  const isTried = settings.network === 'dev' && settings.chains === null && !isForProgram;
  return isTried ? { ...settings, metricsPort: settings.metricsPort ?? 0 } : settings;
}

/** npm and the launcher hand signals on, but cannot when they are killed with -9. */
function stopWithParent(stop: (why: string) => Promise<void>): void {
  const parent = process.ppid;
  const check = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(check);
    void stop('the process that started this is gone');
  }, parentCheckMs);
  check.unref();
}

main(process.argv.slice(2)).catch((error: unknown) => {
  // Some errors of the system have a code and no words.
  const { message = '', code } = (error ?? {}) as { message?: string; code?: string };
  console.error(`not started: ${message || code || String(error)}`);
  process.exit(1);
});
