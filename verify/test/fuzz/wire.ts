// Bytes on a socket: sends them in the pieces given, and reads back every answer to the last byte.

import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './description.ts';

const closedWithinMs = 20_000;

/**
 * The bytes that came back until the server closed. Throws when it does not, or says what is not
 * HTTP.
 */
export async function exchange(
  port: number,
  pieces: readonly Buffer[],
  /** Says that nothing more will come after this much silence; never, if not given. */
  endAfterMs?: number,
): Promise<Answer[]> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.setNoDelay(true);
  const chunks: Buffer[] = [];
  const closed = new Promise<void>((resolve, reject) => {
    const late = () => socket.destroy(new Error(`not closed within ${closedWithinMs} ms`));
    const timer = setTimeout(late, closedWithinMs);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => socket.end());
    // A server may close on what it refuses while more of it is on the way.
    socket.on('error', (error: Error & { code?: string }) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? undefined : reject(error),
    );
    socket.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  for (const piece of pieces) {
    if (!socket.writable) break;
    socket.write(piece);
    await sleep(1);
  }
  if (endAfterMs !== undefined) socket.setTimeout(endAfterMs, () => socket.end());
  await closed;
  return answersIn(Buffer.concat(chunks));
}

/** Every answer in the bytes; interim ones (1xx) are left out. */
function answersIn(bytes: Buffer): Answer[] {
  const answers: Answer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n\r\n', at);
    const [first = '', ...lines] = bytes.subarray(at, Math.max(at, end)).toString().split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    if (end === -1 || Number.isNaN(status)) {
      throw new Error(`not an answer: ${bytes.subarray(at, at + 200).toString()}`);
    }
    at = end + 4;
    if (status < 200) continue;
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const length = Number(headers['content-length'] ?? Number.NaN);
    if (Number.isNaN(length)) throw new Error(`an answer of no length: ${first}`);
    if (at + length > bytes.length) throw new Error(`an answer cut short: ${first}`);
    answers.push({ status, headers, text: bytes.subarray(at, at + length).toString() });
    at += length;
  }
  return answers;
}
