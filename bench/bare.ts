// The peer of list reads: bare `node:http` that sends the same bytes.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerQuestions, processorMs } from './children.ts';

let server: Server | undefined;

export const answers = {
  processorMs,
  close: () => void server?.close(),
  serve: async (headers: Record<string, string>, body: string): Promise<number> => {
    server = createServer((_request, response) => {
      response.writeHead(200, headers);
      response.end(body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  },
};

answerQuestions(answers);
