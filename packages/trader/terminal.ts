// The machine's own streams. A hidden answer is echoed nowhere.

import { read } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { Failure, needsYou } from './failures.ts';
import type { Io } from './io.ts';

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
