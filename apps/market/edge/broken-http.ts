// Bytes that are not HTTP, too long a head, or a client too slow: fastify never sees them, so the
// answer is written to the socket, in the form and with the headers of every other refusal.

import { maxHeaderSize, STATUS_CODES } from 'node:http';
import { baseHeaders, budgetHeaders } from './access.ts';
import { type Budgets, whenKnown } from './budgets.ts';
import { httpRefusal } from './errors.ts';
import { requestIdHeader } from './request-ids.ts';

type Peer = {
  readonly writable: boolean;
  readonly remoteAddress?: string | undefined;
  end(text: string): unknown;
  destroy(): unknown;
};

export function answerBrokenHttp(
  error: Error & { code?: string },
  socket: Peer,
  budgets: Budgets,
  shortName: string,
  requestId: string,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? httpRefusal('request_timeout', 'the request took too long to arrive')
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? httpRefusal('headers_too_large', `the headers are larger than ${maxHeaderSize} bytes`)
        : httpRefusal('malformed_http', 'the request is not valid HTTP');
  const body = JSON.stringify({ error: refusal.sentence });
  // The client behind a proxy cannot be read: its own address is spent then.
  void whenKnown(budgets.spendClient(socket.remoteAddress ?? 'unknown'), (spent) => {
    if (!socket.writable) return;
    const headers = {
      ...baseHeaders,
      ...budgetHeaders(spent),
      [requestIdHeader]: requestId,
      [`x-${shortName}-error`]: refusal.code,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const { status } = refusal;
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  });
}
