// What a service manager is told that waits for words (systemd's Type=notify): ready, stopping, and
// by its watchdog that the process still works. Node has no datagram sockets of the file system, so
// `systemd-notify` says it: about a millisecond of this process a time, some twice a minute.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** It waits until the manager has read what it said. */
const sayMs = 10_000;
/** Half of what the watchdog waits, as sd_watchdog_enabled(3) advises. */
const shareOfWatchdog = 0.5;

type Environment = Record<string, string | undefined>;
type Log = { warn(facts: object, message: string): void };

export type ServiceManager = {
  /**
   * Serves from now on; `status` is a line for the manager's own list. The watchdog hears of it as
   * long as the event loop turns and `late` names nothing.
   */
  ready(status: string, late: () => readonly object[]): Promise<void>;
  stopping(): Promise<void>;
};

/** Does nothing where no manager waits for words. */
const none: ServiceManager = { ready: async () => {}, stopping: async () => {} };

/**
 * Takes its variables out of `env`: a PostgreSQL that this process starts would call it ready too.
 */
export function serviceManager(env: Environment, log: Log): ServiceManager {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: usec, WATCHDOG_PID: pid } = env;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name];
  if (socket === undefined || socket === '') return none;
  const isOurs = pid === undefined || pid === String(process.pid);
  const watchdogMs = isOurs && /^[1-9]\d{0,14}$/.test(usec ?? '') ? Number(usec) / 1_000 : null;
  let told = '';
  let beating: NodeJS.Timeout | null = null;

  const warnOnce = (facts: object, message: string) => {
    const key = JSON.stringify([facts, message]);
    if (key !== told) log.warn(facts, message);
    told = key;
  };
  const say = async (...words: readonly string[]) => {
    const own = { PATH: env.PATH, NOTIFY_SOCKET: socket };
    try {
      await run('systemd-notify', words, { env: own, timeout: sayMs });
      told = '';
    } catch (error) {
      const { message } = error as Error;
      warnOnce({ reason: message.trim() }, 'the service manager could not be told');
    }
  };
  const beat = async (late: () => readonly object[]) => {
    const all = late();
    if (all.length === 0) return say('WATCHDOG=1');
    warnOnce({ services: all.length }, 'the watchdog is not told that this process works');
  };
  return {
    async ready(status, late) {
      await say('READY=1', `STATUS=${status}`);
      if (watchdogMs === null) return;
      let isSaying = false;
      beating = setInterval(() => {
        if (isSaying) return;
        isSaying = true;
        void beat(late).finally(() => {
          isSaying = false;
        });
      }, watchdogMs * shareOfWatchdog);
      beating.unref();
    },
    async stopping() {
      if (beating !== null) clearInterval(beating);
      await say('STOPPING=1');
    },
  };
}
