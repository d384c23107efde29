// The parts of a benchmark that run in processes of their own, so that none shares an event loop
// with another: the market, its peers, and what loads them. Each exports `answers`: functions that
// are called over IPC, one at a time.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { isMiniature } from './miniature.ts';

const answerLimitMs = 120_000;

/** One clock for all processes of this machine. */
export const microseconds = () => Number(process.hrtime.bigint() / 1_000n);

/** The time of this process so far. The rest of the machine's work is not in it. */
export const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

type Answers = Readonly<Record<string, (...asked: never[]) => unknown>>;

/** `Child<typeof import('./market.ts')>`. */
export type Child<Module extends { readonly answers: Answers }> = {
  ask<Name extends keyof Module['answers'] & string>(
    name: Name,
    ...asked: Parameters<Module['answers'][Name]>
  ): Promise<Awaited<ReturnType<Module['answers'][Name]>>>;
  stop(): Promise<void>;
};

/** Starts a file of this folder. */
export function startChild<Module extends { readonly answers: Answers }>(
  file: string,
  { limitMs = answerLimitMs } = {},
): Child<Module> {
  if (isMiniature) return inThisProcess(file);
  const child = fork(new URL(file, import.meta.url), {
    execArgv: [...(file.endsWith('market.ts') ? flagsOfStart() : []), '--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return {
    ask: async (name, ...asked) => {
      const over = new AbortController();
      const signal = AbortSignal.any([over.signal, AbortSignal.timeout(limitMs)]);
      const ended = once(child, 'exit', { signal }).then(() => {
        throw new Error(`${file} ended`);
      });
      const answered = once(child, 'message', { signal });
      child.send({ name, asked });
      try {
        const [message] = await Promise.race([answered, ended]);
        const { answer, error } = message as { answer: never; error?: string };
        if (error !== undefined) throw new Error(`${file} ${name}: ${error}`);
        return answer;
      } finally {
        over.abort();
        await Promise.allSettled([answered, ended]);
      }
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

let imported = 0;

/** A module of its own for each; `close` ends what it has open. */
function inThisProcess<Module extends { readonly answers: Answers }>(file: string): Child<Module> {
  imported += 1;
  const module = import(`./${file}?${imported}`) as Promise<Module>;
  return {
    // Copied, as between processes.
    ask: async (name, ...asked) =>
      structuredClone(await (await module).answers[name]?.(...structuredClone(asked))) as never,
    stop: async () => void (await (await module).answers.close?.()),
  };
}

/** The flags with which `npm start` starts Node: the market that is measured is that one. */
export function flagsOfStart(): string[] {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { scripts } = JSON.parse(manifest) as { scripts: { start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

/** In the child. */
export function answerQuestions(answers: Answers): void {
  if (isMiniature) return;
  process.on('message', ({ name, asked }: { name: string; asked: never[] }) => {
    const answer = async () => answers[name]?.(...asked);
    answer().then(
      (found) => process.send?.({ answer: found }),
      (error: Error) => process.send?.({ error: error.stack ?? error.message }),
    );
  });
  process.on('SIGTERM', () => process.exit(0));
  process.on('disconnect', () => process.exit(0));
}
