// The parts of a benchmark that run in processes of their own, so that none shares an event loop
// with another: the market, its peers, and what loads them.

import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';

const answerLimitMs = 120_000;

/** One clock for all processes of this machine. */
export const microseconds = () => Number(process.hrtime.bigint() / 1_000n);

export type Child = {
  /** Sends a question and waits for its answer. */
  ask<Answer>(question: object): Promise<Answer>;
  stop(): Promise<void>;
};

/** Starts a file of this folder; it answers one question at a time over IPC. */
export function startChild(file: string, { limitMs = answerLimitMs } = {}): Child {
  const child = fork(new URL(file, import.meta.url), {
    execArgv: [...(file.endsWith('market.ts') ? flagsOfStart() : []), '--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return {
    ask: <Answer>(question: object) => answerTo<Answer>(child, file, question, limitMs),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** What `npm start` starts Node with: the market that is measured is that one. */
function flagsOfStart(): string[] {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { scripts } = JSON.parse(manifest) as { scripts: { start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

function answerTo<Answer>(
  child: ChildProcess,
  file: string,
  question: object,
  limitMs: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail('did not answer in time'), limitMs);
    const done = () => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
    };
    const fail = (what: string) => {
      done();
      reject(new Error(`${file} ${what}`));
    };
    const onMessage = (message: unknown) => {
      const { answer, error } = message as { answer: Answer; error?: string };
      if (error !== undefined) return fail(error);
      done();
      resolve(answer);
    };
    const onExit = () => fail('ended');
    child.once('message', onMessage);
    child.once('exit', onExit);
    child.send(question);
  });
}

/** In the child: answers every question with what `handle` gives. */
export function answerQuestions<Question>(handle: (question: Question) => Promise<unknown>): void {
  process.on('message', (question: Question) => {
    handle(question).then(
      (answer) => process.send?.({ answer }),
      (error: Error) => process.send?.({ error: error.stack ?? error.message }),
    );
  });
  process.on('SIGTERM', () => process.exit(0));
  process.on('disconnect', () => process.exit(0));
}
