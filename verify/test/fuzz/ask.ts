// One request of the fuzz on a socket, and the whole of its answer.

import { type Agent, request as httpRequest } from 'node:http';
import type { Answer } from './description.ts';
import type { Request } from './requests.ts';

const answerLimitMs = 30_000;

export function ask(
  port: number,
  agent: Agent,
  { method, url, headers, body }: Request,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(answerLimitMs);
    const length = body === null ? {} : { 'content-length': String(body.length) };
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      agent,
      method,
      path: url,
      headers: { ...headers, ...length },
      signal,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode as number,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    request.end(body ?? undefined);
  });
}
