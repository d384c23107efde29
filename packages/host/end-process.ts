// Ends a process by steps: a polite signal first, force last, each with the time it gets.

import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 20;

export type Step = { readonly signal: NodeJS.Signals; readonly limitMs: number };

export async function endBySteps(
  pid: number,
  steps: readonly Step[],
  isGone: (pid: number) => Promise<boolean>,
): Promise<void> {
  for (const { signal, limitMs } of steps) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw error;
    }
    for (let waited = 0; waited < limitMs; waited += pollMs) {
      if (await isGone(pid)) return;
      await sleep(pollMs);
    }
  }
}
