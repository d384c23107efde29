// A market that runs as a program of its own, until its ready line and to its end.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const readyMs = 120_000;

export type Program = {
  readonly child: ChildProcess;
  readonly url: string;
  log(): string;
  /** By SIGTERM to `pid`. The exit code. */
  stop(pid: number): Promise<number | null>;
};

/** Throws with what it said where no ready line comes. */
export async function started(
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Program> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk;
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const line = once(createInterface(child.stdout), 'line', {
    signal: AbortSignal.timeout(readyMs),
  }) as Promise<[string]>;
  const first = await Promise.race([line, ended.then(() => null)]).catch(() => null);
  if (first === null) {
    child.kill('SIGKILL');
    throw new Error(`it did not get ready: ${log}`);
  }
  const { url } = JSON.parse(first[0]) as { readonly url: string };
  return {
    child,
    url,
    log: () => log,
    stop: async (pid) => {
      process.kill(pid, 'SIGTERM');
      return (await ended)[0];
    },
  };
}
