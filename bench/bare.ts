// The peer of list reads: bare `node:http` that sends the same bytes.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerQuestions } from './children.ts';

export type Bytes = { readonly headers: Record<string, string>; readonly body: string };

function serve({ headers, body }: Bytes): Promise<{ port: number }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, headers);
    response.end(body);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({ port: (server.address() as AddressInfo).port });
    });
  });
}

answerQuestions(serve);
