// The switches of a running maker: files in its store, so that a switch survives every restart.
// `paused`: the maker quotes nothing new. `killed`: quotes are withdrawn and nothing new is agreed.
// Agreed swaps are settled in any case.

import { access, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mode } from './rules/decide.ts';

export const verbs = ['pause', 'resume', 'kill'] as const;
export type Verb = (typeof verbs)[number];

const files = { paused: 'paused', killed: 'killed' } as const;
const lookMs = 250;

/** Where the disk does not say, it is taken to be there: a switch never turns off by a fault. */
async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
  );
}

async function make(file: string): Promise<void> {
  const handle = await open(file, 'a', 0o600);
  await handle.sync();
  await handle.close();
}

export async function modeOf(dir: string): Promise<Mode> {
  if (await isThere(join(dir, files.killed))) return 'killed';
  return (await isThere(join(dir, files.paused))) ? 'paused' : 'open';
}

/** Takes effect within `lookMs` in a maker that runs, else at its next start. */
export async function turn(dir: string, verb: Verb): Promise<void> {
  switch (verb) {
    case 'pause':
      return make(join(dir, files.paused));
    case 'kill':
      return make(join(dir, files.killed));
    case 'resume':
      for (const name of Object.values(files)) await rm(join(dir, name), { force: true });
  }
}

export type Switch = { readonly mode: () => Mode; stop(): void };

/** `changed` hears each other mode. A signal SIGUSR2 is the kill switch. */
export async function watchSwitch(dir: string, changed: (mode: Mode) => void): Promise<Switch> {
  let mode = await modeOf(dir);
  const look = async () => {
    const now = await modeOf(dir);
    if (now === mode) return;
    mode = now;
    changed(mode);
  };
  const timer = setInterval(() => void look(), lookMs);
  const kill = () => {
    mode = 'killed';
    changed(mode);
    // Where the disk takes no file, the process at least has it.
    void turn(dir, 'kill').catch(() => clearInterval(timer));
  };
  process.on('SIGUSR2', kill);
  return {
    mode: () => mode,
    stop: () => {
      clearInterval(timer);
      process.off('SIGUSR2', kill);
    },
  };
}
