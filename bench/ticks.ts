// Processor time of other processes, as the kernel counts it.

import { readdirSync, readFileSync } from 'node:fs';

export const ticksPerSecond = 100;

/** The time of these and their children, ended ones too, in hundredths of a second (proc(5)). */
export function ticksOf(pids: readonly number[]): number {
  let sum = 0;
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const fields = fieldsOf(name);
    if (fields === null) continue;
    const isOwn = pids.includes(Number(name));
    if (!isOwn && !pids.includes(Number(fields[1]))) continue;
    sum += Number(fields[11]) + Number(fields[12]);
    if (isOwn) sum += Number(fields[13]) + Number(fields[14]);
  }
  return sum;
}

/** From the state on, which follows the name in parentheses; null where it has ended. */
function fieldsOf(pid: string): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
