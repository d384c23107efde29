// The dev network's clock: the machine's plus an offset that only grows, kept across restarts.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { DevnetError } from '@parley/host/failure.ts';

export type Clock = {
  now(): number;
  offsetSeconds(): number;
  isMoved(): boolean;
  /** On disk before it takes effect. */
  move(seconds: number): Promise<void>;
};

export async function openClock(file: string): Promise<Clock> {
  let offset = await readOffset(file);
  return {
    now: () => Math.floor(Date.now() / 1_000) + offset,
    offsetSeconds: () => offset,
    isMoved: () => offset !== 0,
    move: async (seconds) => {
      const next = offset + seconds;
      await writeFile(`${file}.new`, JSON.stringify({ clockOffsetSeconds: next }), { flush: true });
      await rename(`${file}.new`, file);
      offset = next;
    },
  };
}

async function readOffset(file: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return 0;
  const { clockOffsetSeconds } = JSON.parse(text) as { clockOffsetSeconds: unknown };
  if (Number.isSafeInteger(clockOffsetSeconds) && (clockOffsetSeconds as number) >= 0) {
    return clockOffsetSeconds as number;
  }
  throw new DevnetError(`${file} holds no clock offset: delete the folder of the dev chains`);
}
