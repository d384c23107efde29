// One request of the fuzz on a socket, and the whole of its answer.

import { Agent, request as httpRequest } from 'node:http';
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
    let isAnswered = false;
    request.on('error', (error: Error & { code?: string }) => {
      // A server may close a kept connection just as it is used again (RFC 9112, 9.5).
      const isStale = request.reusedSocket && !isAnswered && error.code === 'ECONNRESET';
      if (isStale) resolve(ask(port, new Agent(), { method, url, headers, body }));
      else reject(error);
    });
    request.on('response', (response) => {
      isAnswered = true;
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
