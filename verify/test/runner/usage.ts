// The processor time of a process of tests, its ended children counted, file by file: the entry of
// a group (groups.ts) notes it after each of its files.

import { appendFileSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/**
 * The unit of /proc/self/stat, which counts in hundredths of a second everywhere that Node runs.
 */
const ticksPerSecond = 100;

export type Used = { readonly what: string; readonly seconds: number };

/** Children count only once they have ended; a system without /proc gives none. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + secondsOfChildren();
}

function secondsOfChildren(): number {
  if (process.platform !== 'linux') return 0;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // After the name, which may have spaces: state, then numbers; the 14th and 15th are these.
  const numbers = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(numbers[13]) + Number(numbers[14])) / ticksPerSecond;
}

/** Of a shell and its children, by its word `times`, such as `0m1.50s`, four times. */
export function secondsOfTimes(times: string): number {
  const all = [...times.matchAll(/(\d+)m([\d.]+)s/g)];
  return all.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

let noted = 0;

/** Since the last time. */
export function used(what: string): Used {
  const now = processorSeconds();
  const seconds = now - noted;
  noted = now;
  return { what, seconds };
}

export function note(file: string, what: string): void {
  appendFileSync(file, `${JSON.stringify(used(what))}\n`);
}

/** The end of a shared thing, such as a market of several files, is booked apart. */
export async function apart(
  what: string,
  work: () => Promise<unknown>,
  file = process.env.PARLEY_TEST_USAGE,
): Promise<void> {
  const before = processorSeconds();
  await work();
  if (file === undefined) return;
  const seconds = processorSeconds() - before;
  appendFileSync(file, `${JSON.stringify({ what, seconds } satisfies Used)}\n`);
  noted += seconds;
}

export function sumsOf(lines: string): Used[] {
  const sums = new Map<string, number>();
  for (const line of lines.split('\n').filter(Boolean)) {
    const { what, seconds } = JSON.parse(line) as Used;
    sums.set(what, (sums.get(what) ?? 0) + seconds);
  }
  const all = [...sums].map(([what, seconds]) => ({ what, seconds }));
  return all.sort((a, b) => b.seconds - a.seconds);
}

/** Of all cores since the machine started, in milliseconds. */
export type Cores = { readonly idle: number; readonly whole: number };

const sampleMs = 30_000;

function coresNow(): Cores {
  const each = cpus().map(({ times }) => times);
  const idle = each.reduce((sum, times) => sum + times.idle, 0);
  const whole = each.reduce((sum, times) => sum + Object.values(times).reduce((a, b) => a + b), 0);
  return { idle, whole };
}

/** Ends with all samples, of the machine and not of this run alone. */
export function watchCores(): () => readonly Cores[] {
  const samples = [coresNow()];
  const timer = setInterval(() => samples.push(coresNow()), sampleMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    return [...samples, coresNow()];
  };
}

/** In percent, from each sample to the next. */
export function idleOver(samples: readonly Cores[]): number[] {
  return samples.slice(1).map(({ idle, whole }, at) => {
    const before = samples[at] ?? { idle: 0, whole: 0 };
    return Math.round(((idle - before.idle) / Math.max(1, whole - before.whole)) * 100);
  });
}
