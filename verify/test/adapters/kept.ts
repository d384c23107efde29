// Runs the promises on one driver over a node that is real: promises that no real chain can keep on
// demand are not run, and are listed. A line for each, and a last one that counts.

import type { Driver } from './driver.ts';
import { promises } from './promises.ts';
import { NotHere } from './remote-tron.ts';

type Outcome = readonly ['kept' | 'broken' | 'not run', string];

/** The last line, and whether none was broken. */
export async function keepPromises(
  driver: Driver,
  only: string,
  log: (text: string) => void,
): Promise<{ readonly total: string; readonly isKept: boolean }> {
  const count = { kept: 0, broken: 0, 'not run': 0 };
  const wanted = promises.filter(({ name: each }) => each.includes(only));
  for (const [at, { name, run, except }] of wanted.entries()) {
    const startedMs = performance.now();
    log(`${at + 1} of ${wanted.length}: ${name}`);
    const left = except?.[driver.family];
    const [how, why] =
      left === undefined ? await outcomeOf(run(driver)) : (['not run', left] as const);
    count[how] += 1;
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    process.stdout.write(`${how}: ${name} (${seconds} s)${why === '' ? '' : `\n  ${why}`}\n`);
  }
  const { kept, broken } = count;
  const sum = `${kept} kept, ${broken} broken, ${count['not run']} not run`;
  const total = `${sum}, of ${promises.length}`;
  process.stdout.write(`${total}\n`);
  return { total, isKept: broken === 0 && kept > 0 };
}

async function outcomeOf(running: Promise<void>): Promise<Outcome> {
  try {
    await running;
    return ['kept', ''];
  } catch (error) {
    if (error instanceof NotHere) return ['not run', error.message];
    return ['broken', error instanceof Error ? error.message : String(error)];
  }
}
