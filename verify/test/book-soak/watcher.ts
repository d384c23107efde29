// One watching program: its book, what it has said, and what must not be seen in either.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../support/waiting.ts';

export type Look = {
  readonly state: 'connecting' | 'live' | 'closed';
  readonly leftOut: number;
  readonly ids: readonly string[];
  readonly rssBytes: number;
};
type Change = {
  readonly kind: 'created' | 'cancelled' | 'expired' | 'agreed';
  readonly id: string;
};

export type Watcher = {
  readonly name: string;
  readonly child: ChildProcess;
  /** The book as it is now. Throws where the changes that were told do not lead to it. */
  look(): Promise<Look>;
  changes(): number;
  stop(): Promise<void>;
};

/** A program that is stopped for a while answers after it. */
const answerMs = 120_000;
const mostErrors = 20_000;

export function startWatcher(
  name: string,
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Watcher {
  const child = spawn(command[0] ?? '', command.slice(1), {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const asked: PromiseWithResolvers<Look>[] = [];
  const there = new Set<string>();
  const left = new Set<string>();
  let fault: Error | null = null;
  const fail = (error: Error) => {
    fault ??= error;
    for (const { reject } of asked.splice(0)) reject(fault);
  };
  let errors = '';
  let changes = 0;
  let isStopping = false;
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk).slice(-mostErrors);
  });
  child.on('exit', (code) => {
    if (!isStopping) fail(new Error(`${name} ended with ${code}:\n${errors}`));
  });
  const changed = ({ kind, id }: Change) => {
    changes += 1;
    if (kind === 'created') {
      assert.ok(!there.has(id), `${name} told twice that ${id} came`);
      assert.ok(!left.has(id), `${name} showed ${id} again, which had left`);
      there.add(id);
    } else {
      assert.ok(there.delete(id), `${name} told that ${id} left, which it did not have`);
      left.add(id);
    }
  };
  createInterface({ input: child.stdout }).on('line', (text) => {
    try {
      const line = JSON.parse(text) as Look | Change;
      if ('kind' in line) return changed(line);
      assert.deepEqual([...line.ids].sort(), [...there].sort(), `${name}: told is not shown`);
      asked.shift()?.resolve(line);
    } catch (error) {
      fail(error as Error);
    }
  });
  return {
    name,
    child,
    changes: () => changes,
    look: async () => {
      if (fault !== null) throw fault;
      const answer = Promise.withResolvers<Look>();
      asked.push(answer);
      child.stdin.write('look\n');
      const late = sleep(answerMs, null, { ref: false });
      const found = await Promise.race([answer.promise, late]);
      return found ?? assert.fail(`${name} does not say what it has:\n${errors}`);
    },
    stop: async () => {
      isStopping = true;
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await waitUntil(() => child.exitCode !== null || child.signalCode !== null);
    },
  };
}
