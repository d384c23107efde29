// Node of other versions on this machine, on which the package must run too.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export type OtherNode = {
  readonly version: string;
  readonly path: string;
  /** Whether it runs TypeScript as it stands. */
  readonly takesTypes: boolean;
};

const least = [20, 19] as const;
const leastWithTypes = [22, 18] as const;
/** Where systems, images and people keep one, whatever npm has put first on PATH. */
const usual = ['/usr/bin', '/usr/local/bin'];

export const thisNode: OtherNode = nodeAt(process.execPath, process.version);

/** Oldest first, none of them this one. `PARLEY_NODES` names more, as PATH names folders. */
export function otherNodes(): OtherNode[] {
  const named = (process.env.PARLEY_NODES ?? '').split(delimiter).filter(Boolean);
  const paths = [...named, ...usual.map((folder) => join(folder, 'node'))].filter(existsSync);
  const found = new Map<string, OtherNode>();
  for (const path of paths) {
    const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim();
    if (version === process.version || orderOf(numbersOf(version)) < orderOf(least)) continue;
    found.set(version, nodeAt(path, version));
  }
  return [...found.values()].sort(
    (one, other) => orderOf(numbersOf(one.version)) - orderOf(numbersOf(other.version)),
  );
}

function nodeAt(path: string, version: string): OtherNode {
  return { version, path, takesTypes: orderOf(numbersOf(version)) >= orderOf(leastWithTypes) };
}

type Numbers = readonly [major: number, minor: number];

function numbersOf(version: string): Numbers {
  const [major = 0, minor = 0] = version.replace('v', '').split('.').map(Number);
  return [major, minor];
}

function orderOf([major, minor]: Numbers): number {
  return major * 1_000 + minor;
}
