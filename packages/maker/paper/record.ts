// `parley-maker CONFIG record FILE` writes a JSON line for each public observation. A
// file has a bound in time and size; with more than one kept, the next begins with all that is
// known, so that each can be read alone.

import {
  createWriteStream,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  type WriteStream,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { constants, createGzip, type Gzip } from 'node:zlib';
import type { Millis } from '@parley/core/nominal.ts';
import type { Observed } from './lines.ts';

/** A killed recorder loses so much of a packed file. */
const flushMs = 5_000;
/** A disk that is slower than the feed. */
const mostWaitingBytes = 67_108_864;

export type RecordHow = {
  readonly file: string;
  readonly mostMs: Millis;
  readonly mostBytes: number;
  /** Files: FILE and so many older ones, as FILE-1. */
  readonly keep: number;
};

export type Recorder = ReturnType<typeof createRecorder>;

/**
 * Throws where the only file that may be is there already. `snapshot`: the lines that a next file
 * begins with. `over`: told once, why no more is written.
 */
export function createRecorder(
  how: RecordHow,
  snapshot: () => readonly Observed[],
  over: (why: string, error?: Error) => void,
) {
  const { file, mostMs, mostBytes, keep } = how;
  if (keep === 1 && existsSync(file)) throw new Error(`${file} is there already`);
  let writing: Writing | null = null;
  let isOver = false;
  const end = (why: string, error?: Error) => {
    if (isOver) return;
    isOver = true;
    over(why, error);
  };
  const open = (at: Millis): Writing => {
    shift(file, keep);
    const opened = openFile(file, at);
    opened.raw.on('error', (error) => end('the file cannot be written', error));
    return opened;
  };
  const put = (to: Writing, line: Observed) => {
    const text = `${JSON.stringify(line)}\n`;
    to.bytes += Buffer.byteLength(text);
    to.into.write(text);
  };
  return {
    take: (line: Observed): void => {
      if (isOver) return;
      writing ??= open(line.at);
      put(writing, line);
      const { bytes, sinceMs, into } = writing;
      if (into.writableLength > mostWaitingBytes) end('the disk is slower than the feed');
      if (bytes < mostBytes && line.at - sinceMs < mostMs) return;
      if (keep === 1) {
        end(bytes < mostBytes ? 'its time is over' : 'the file is full');
        return;
      }
      closeFile(writing).catch((error: Error) => end('the file cannot be written', error));
      writing = open(line.at);
      for (const each of snapshot()) put(writing, each);
    },
    /** Once all is on disk. */
    close: async (): Promise<void> => {
      isOver = true;
      if (writing !== null) await closeFile(writing);
    },
  };
}

type Writing = {
  readonly raw: WriteStream;
  readonly into: Gzip | WriteStream;
  readonly flushing: NodeJS.Timeout | undefined;
  readonly sinceMs: Millis;
  /** Before they are packed. */
  bytes: number;
};

function openFile(file: string, sinceMs: Millis): Writing {
  const raw = createWriteStream(file, { fd: openSync(file, 'wx', 0o600) });
  if (!file.endsWith('.gz')) return { raw, into: raw, flushing: undefined, sinceMs, bytes: 0 };
  const into = createGzip();
  into.pipe(raw);
  const flushing = setInterval(() => into.flush(constants.Z_SYNC_FLUSH), flushMs).unref();
  return { raw, into, flushing, sinceMs, bytes: 0 };
}

async function closeFile({ raw, into, flushing }: Writing): Promise<void> {
  clearInterval(flushing);
  into.end();
  await finished(raw);
}

/** FILE becomes FILE-1, which becomes FILE-2; the oldest goes. */
function shift(file: string, keep: number): void {
  if (!existsSync(file)) return;
  const nameOf = (number: number) => {
    if (number === 0) return file;
    const [stem = '', ...rest] = basename(file).split('.');
    return join(dirname(file), [`${stem}-${number}`, ...rest].join('.'));
  };
  rmSync(nameOf(keep - 1), { force: true });
  for (let number = keep - 2; number >= 0; number -= 1) {
    if (existsSync(nameOf(number))) renameSync(nameOf(number), nameOf(number + 1));
  }
}
