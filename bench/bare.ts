// The peer of list reads: bare `node:http` that sends the same bytes.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerQuestions, processorMs } from './children.ts';

export const answers = {
  processorMs,
  serve: async (headers: Record<string, string>, body: string): Promise<number> => {
    const server = createServer((_request, response) => {
      response.writeHead(200, headers);
      response.end(body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  },
};

answerQuestions(answers);
