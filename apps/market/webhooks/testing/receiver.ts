// Tests only: a real HTTPS receiver on loopback, its certificate made by an authority of its own
// that this process trusts from then on.

import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  type Certificate,
  makeCertificate,
  trusted,
} from '@parley/verify/test/support/certificate.ts';

type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
};

export type Receiver = {
  readonly url: string;
  readonly port: number;
  /** The authority's certificate, for processes that are to trust it. */
  readonly ca: string;
  /** Its own. */
  readonly cert: string;
  readonly key: string;
  readonly received: Received[];
  /** The answer from now on; a number is a status. */
  answer(how: number | ((received: Received, response: ServerResponse) => void)): void;
  close(): Promise<void>;
};

let certificate: Certificate | undefined;

export async function startReceiver(): Promise<Receiver> {
  certificate ??= trusted(makeCertificate(['DNS:localhost', 'IP:127.0.0.1']));
  let how: Parameters<Receiver['answer']>[0] = 200;
  const received: Received[] = [];
  const server = createServer(
    { cert: certificate.cert, key: certificate.key },
    (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const body = Buffer.concat(parts).toString();
        const { headers, url: path = '' } = request;
        const one = { path, headers, body, atMs: performance.now() };
        received.push(one);
        if (typeof how === 'number') response.writeHead(how).end();
        else how(one, response);
      });
    },
  );
  await listen(server);
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}/hook`,
    port,
    ...certificate,
    received,
    answer: (next) => {
      how = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
}
