// The words for a service manager that waits for them (systemd's Type=notify): ready, stopping, and
// by its watchdog that the process still works. Node has no datagram sockets of the file system, so
// `systemd-notify` says it. A small process is its parent, begun while this one is small too: to
// fork 350 MB holds the event loop for some 10 ms, on a busy machine for 100, and a line to a pipe
// does not.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { within } from './within.ts';

/** `systemd-notify` waits until the manager has read what it said. */
const sayMs = 10_000;
const unheard = `no answer within ${sayMs} ms`;
/** From the end of a stop to that of the process, on a busy machine. */
const endingMs = 5_000;
/** Half of what the watchdog waits, as sd_watchdog_enabled(3) advises. */
const shareOfWatchdog = 0.5;

/** For each line, whose words stand between tabs: says them, tells what is wrong, and the end. */
const speaker = `set -f
IFS=$(printf '\\t')
while read -r words; do systemd-notify $words 2>&1; echo $?; done`;

type Environment = Record<string, string | undefined>;
type Log = { warn(facts: object, message: string): void };

/** A service of the process that hangs. */
type Late = { readonly service: string };

export type ServiceManager = {
  /**
   * Serves from now on; `status` is a line for the manager's own list. The watchdog hears of it as
   * long as the event loop turns and `late` names nothing.
   */
  ready(status: string, late: () => readonly Late[]): Promise<void>;
  /** `withinMs`: it ends by itself by then. The manager waits longer, whatever its unit says. */
  stopping(withinMs: number): Promise<void>;
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
  const voice = openVoice({ PATH: env.PATH, NOTIFY_SOCKET: socket });
  let told = '';
  let beating: NodeJS.Timeout | null = null;

  const once = (what: string, warn: () => void) => {
    if (what !== told) warn();
    told = what;
  };
  const say = async (...words: readonly string[]) => {
    const reason = await within(sayMs, voice(words), unheard);
    if (reason === null) told = '';
    else once(reason, () => log.warn({ reason }, 'the service manager could not be told'));
  };
  const beat = async (late: () => readonly Late[]) => {
    const all = late();
    if (all.length === 0) return say('WATCHDOG=1');
    const services = all.map(({ service }) => service);
    once(`late: ${services.join()}`, () =>
      log.warn({ services }, 'the watchdog is not told that this process works'),
    );
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
    async stopping(withinMs) {
      if (beating !== null) clearInterval(beating);
      // A longer TimeoutStopSec stands.
      await say('STOPPING=1', `EXTEND_TIMEOUT_USEC=${(withinMs + endingMs) * 1_000}`);
    },
  };
}

const speakerEnded = 'its speaker has ended';

/** Resolves to null when it is said, else to why not. */
type Voice = (words: readonly string[]) => Promise<string | null>;

/** Does not keep this process from ending, and ends with it. */
function openVoice(env: Environment): Voice {
  const child = spawn('/bin/sh', ['-c', speaker], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting: ((reason: string | null) => void)[] = [];
  let complaint = 'it gave no reason';
  let dead: string | null = null;
  const end = (reason: string) => {
    dead = reason;
    for (const answer of waiting.splice(0)) answer(reason);
  };
  child.once('error', (error) => end(error.message));
  child.once('close', () => end(dead ?? speakerEnded));
  // A speaker that has ended says so by `close`.
  child.stdin.on('error', () => {});
  createInterface(child.stdout).on('line', (line) => {
    if (!/^\d+$/.test(line)) {
      complaint = line;
      return;
    }
    waiting.shift()?.(line === '0' ? null : `status ${line}: ${complaint}`);
  });
  loosen(child);
  return (words) =>
    new Promise((resolve) => {
      if (dead !== null) return resolve(dead);
      waiting.push(resolve);
      child.stdin.write(`${words.join('\t').replaceAll('\n', ' ')}\n`);
    });
}

function loosen(child: ChildProcessByStdio<Writable, Readable, null>): void {
  child.unref();
  // Pipes of a child are sockets.
  for (const each of [child.stdin, child.stdout]) (each as Socket).unref();
}
