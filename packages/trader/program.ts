// A program of this machine: its streams, signals and exit status. The first interruption ends what
// runs as it may be ended, the second one ends the process.

import { read } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { Failure, needsYou, statuses } from './failures.ts';
import type { Io } from './io.ts';

/** Resolves when it has ended; `run` gives the exit status. */
export async function program(
  run: (args: readonly string[], io: Io) => Promise<number>,
): Promise<void> {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(statuses.interrupted);
      stop.abort(new Error('interrupted'));
    });
  }
  // A reader that leaves, such as `head`, ends the program without a word. The interrupted command
  // is not done.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(statuses.interrupted);
      throw error;
    });
  }
  process.exitCode = await run(process.argv.slice(2), terminalIo(stop.signal));
}

// The machine's own streams. A hidden answer is echoed nowhere.

/** Bytes that `parley` reads of a descriptor. */
const mostRead = 65_536;

export function terminalIo(signal: AbortSignal): Io {
  const { stdin, stdout, stderr } = process;
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    isAsked: stdin.isTTY === true && stderr.isTTY === true,
    env: process.env,
    cwd: process.cwd(),
    signal,
    ask: (question) => asked(question, signal),
    askHidden: (question) => asked(question, signal, true),
    readDescriptor,
  };
}

/** Ctrl-C and Ctrl-D are the terminal's own here: both are a no. */
async function asked(question: string, signal: AbortSignal, isHidden = false): Promise<string> {
  const { stdin: input, stderr } = process;
  const unseen = new Writable({ write: (_, __, done) => done() });
  // Before the question is seen: a quick person would otherwise see the typed text.
  const lines = isHidden
    ? createInterface({ input, output: unseen, terminal: true, historySize: 0 })
    : createInterface({ input, output: stderr });
  if (isHidden) stderr.write(question);
  const no = new AbortController();
  const refuse = () => no.abort(needsYou('declined', 'the answer was no: the command did nothing'));
  lines.once('SIGINT', refuse).once('close', refuse);
  try {
    return await lines.question(question, { signal: AbortSignal.any([no.signal, signal]) });
  } catch (error) {
    throw no.signal.aborted ? no.signal.reason : error;
  } finally {
    lines.close();
    if (isHidden) stderr.write('\n');
  }
}

async function readDescriptor(descriptor: number): Promise<string> {
  const buffer = Buffer.alloc(mostRead + 1);
  let size = 0;
  try {
    for (;;) {
      const { bytesRead } = await promisify(read)(
        descriptor,
        buffer,
        size,
        buffer.length - size,
        null,
      );
      if (bytesRead === 0) return buffer.subarray(0, size).toString('utf8');
      size += bytesRead;
      if (size > mostRead) throw new Error(`more than ${mostRead} bytes`);
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const sentence = `descriptor ${descriptor} cannot be read: ${why}`;
    throw new Failure('local', 'bad_descriptor', sentence, { cause });
  } finally {
    buffer.fill(0);
  }
}
