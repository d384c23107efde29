// Commands of operators run as programs, many of them in one process (command-child.ts): starting
// fifty processes was nine tenths of a test that runs fifty. That a command ends by itself is shown
// where one is run as a program of its own.

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

export type Said = { readonly code: number; readonly out: string; readonly err: string };

export type Commands = {
  /** `file` is from the project's root. One runs at a time; those that wait do so in order. */
  run(file: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Said>;
  stop(): Promise<void>;
};

/** The limit of one, and of those before it. */
const limitMs = 240_000;
const root = join(import.meta.dirname, '../../..');

export function startCommands(): Commands {
  const child: ChildProcess = fork(join(import.meta.dirname, 'command-child.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Those of the test runner are not for it.
    execArgv: [],
  });
  const waiting = new Map<number, PromiseWithResolvers<Said>>();
  let isEnded = false;
  child.on('message', ({ number, ...said }: Said & { number: number }) => {
    waiting.get(number)?.resolve(said);
    waiting.delete(number);
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code) => {
      isEnded = true;
      for (const each of waiting.values()) each.reject(new Error(`commands ended with ${code}`));
      resolve();
    });
  });
  let number = 0;
  return {
    run: async (file, args, env = {}) => {
      const what = [file, ...args].join(' ');
      if (isEnded) throw new Error(`${what}: the process that runs commands has ended`);
      number += 1;
      const answer = Promise.withResolvers<Said>();
      waiting.set(number, answer);
      const timer = setTimeout(() => {
        answer.reject(new Error(`${what} did not end in ${limitMs / 1_000} s`));
        child.kill('SIGKILL');
      }, limitMs);
      child.send({ number, file: join(root, file), args, env: { ...process.env, ...env } });
      return answer.promise.finally(() => clearTimeout(timer));
    },
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
