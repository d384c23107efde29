// The machine's own streams. A hidden answer is read letter by letter, and echoed nowhere.

import { read } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { promisify } from 'node:util';
import { Failure, needsYou } from './failures.ts';
import type { Io } from './io.ts';

/** Bytes that `parley` reads of a descriptor, and of a hidden answer. */
const mostRead = 65_536;
const mostTyped = 2_048;

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
    askHidden: (question) => hidden(question, signal),
    readDescriptor,
  };
}

/** Ctrl-C and Ctrl-D are the terminal's own here: both are a no. */
async function asked(question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const no = new AbortController();
  const refuse = () => no.abort(needsYou('declined', 'the answer was no: the command did nothing'));
  lines.once('SIGINT', refuse).once('close', refuse);
  try {
    return await lines.question(question, { signal: AbortSignal.any([no.signal, signal]) });
  } catch (error) {
    throw no.signal.aborted ? no.signal.reason : error;
  } finally {
    lines.close();
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

const enter = 13;
const newline = 10;
const endOfText = 3;
const endOfInput = 4;
const backspace = 8;
const del = 127;

function hidden(question: string, signal: AbortSignal): Promise<string> {
  const { stdin, stderr } = process;
  // Before the question is seen: a quick person would otherwise see the typed text.
  stdin.setRawMode(true);
  stdin.resume();
  stderr.write(question);
  return new Promise<string>((accept, reject) => {
    let typed: number[] = [];
    const end = (work: () => void) => {
      stdin.off('data', take);
      signal.removeEventListener('abort', stop);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
      work();
      typed = [];
    };
    const stop = () =>
      end(() => reject(needsYou('declined', 'the answer was no: the command did nothing')));
    const take = (chunk: Buffer) => {
      for (const byte of chunk) {
        if (byte === endOfText || byte === endOfInput) return stop();
        if (byte === enter || byte === newline) {
          return end(() => accept(Buffer.from(typed).toString('utf8')));
        }
        if (byte === backspace || byte === del) typed = withoutLast(typed);
        else if (typed.length < mostTyped) typed.push(byte);
      }
    };
    stdin.on('data', take);
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** A letter may be several bytes of UTF-8. */
function withoutLast(typed: readonly number[]): number[] {
  return [...Buffer.from([...Buffer.from(typed).toString('utf8')].slice(0, -1).join(''))];
}
