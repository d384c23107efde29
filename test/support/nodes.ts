// Node of other versions on this machine, on which the package must run too.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export type OtherNode = { readonly version: string; readonly path: string };

const least = [20, 19] as const;
/** Where systems, images and people keep one, whatever npm has put first on PATH. */
const usual = ['/usr/bin', '/usr/local/bin'];

/** Oldest first, none of them this one. `PARLEY_NODES` names more, as PATH names folders. */
export function otherNodes(): OtherNode[] {
  const named = (process.env.PARLEY_NODES ?? '').split(delimiter).filter(Boolean);
  const paths = [...named, ...usual.map((folder) => join(folder, 'node'))].filter(existsSync);
  const found = new Map<string, OtherNode>();
  for (const path of paths) {
    const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim();
    if (version !== process.version && isNewEnough(version)) found.set(version, { version, path });
  }
  return [...found.values()].sort((one, other) => orderOf(one.version) - orderOf(other.version));
}

function numbersOf(version: string): [major: number, minor: number] {
  const [major = 0, minor = 0] = version.replace('v', '').split('.').map(Number);
  return [major, minor];
}

function orderOf(version: string): number {
  const [major, minor] = numbersOf(version);
  return major * 1_000 + minor;
}

function isNewEnough(version: string): boolean {
  return orderOf(version) >= least[0] * 1_000 + least[1];
}
