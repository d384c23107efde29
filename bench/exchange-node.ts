// A node that says its height to whoever asks, for bench/exchange.ts.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerQuestions } from './children.ts';

const server = createServer((asked, reply) => {
  asked.resume();
  asked.on('end', () => {
    reply.writeHead(200, { 'content-type': 'application/json' });
    reply.end('{"jsonrpc":"2.0","id":1,"result":"0x10"}');
  });
});

answerQuestions(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
