// One try to tell a hedge: a command that reads the notice on its standard input and ends with 0,
// or a POST that is answered 2xx. Rejects in any other case.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { withResolvers } from '@parley/core/engines.ts';
import { readUpTo } from '@parley/trader/places.ts';
import type { HedgeConfig } from '../config/config.ts';
import type { Notice } from './notices.ts';

const mostTokenBytes = 8_192;

export async function tell({ to, timeoutMs }: HedgeConfig, notice: Notice): Promise<void> {
  const body = JSON.stringify(notice);
  return 'url' in to ? post(to, notice.id, body, timeoutMs) : run(to, body, timeoutMs);
}

type To<Key extends string> = Extract<HedgeConfig['to'], Readonly<Record<Key, unknown>>>;

async function run({ command, folder }: To<'command'>, body: string, timeoutMs: number) {
  const [program, ...args] = command;
  // In a group of its own: a limit of time ends what it has started too, and its maker's end does not.
  const child = spawn(program, args, {
    cwd: folder,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // One that ends without reading is judged by its status.
  child.stdin.on('error', () => {});
  child.stdin.end(`${body}\n`);
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  const { promise: late, reject } = withResolvers<never>();
  const limit = setTimeout(() => {
    endGroup(child.pid);
    reject(new Error(`${program} did not end within ${timeoutMs / 1_000} s`));
  }, timeoutMs);
  try {
    const [code, signal] = await Promise.race([ended, late]);
    if (code !== 0) throw new Error(`${program} ended with ${code ?? signal}`);
  } finally {
    clearTimeout(limit);
    ended.catch(() => undefined);
  }
}

/** One of another user, or that is gone, cannot be ended: its maker does not wait for it. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

async function post({ url, tokenFile }: To<'url'>, id: string, body: string, timeoutMs: number) {
  const token = tokenFile === null ? null : await readUpTo(tokenFile, mostTokenBytes);
  if (tokenFile !== null && token === null) throw new Error(`${tokenFile} is not there`);
  const answer = await fetch(url, {
    method: 'POST',
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
    body,
    headers: {
      'content-type': 'application/json',
      'idempotency-key': id,
      ...(token === null ? {} : { authorization: `Bearer ${token.trim()}` }),
    },
  });
  // Its status decides, and nobody reads the rest.
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`the hedge answered ${answer.status}`);
}
