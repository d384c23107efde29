// `GET /status`: how the service is, for programs that watch it and for people. It stands outside
// `/v1`, needs no key and costs no budget: it is read once for all who ask within a moment. A
// browser that goes there is given the app, whose screen asks for the same address.

import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readServiceStatus } from '../market/service-status.ts';
import type { Deps } from '../ports/deps.ts';
import { createMoments } from '../ports/moments.ts';
import { isKnown } from './etags.ts';

/** How old an answer may be, and how long a cache may give it again. */
export const freshSeconds = 5;

const headers = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': `public, max-age=${freshSeconds}`,
  // Any page may show it: it says the same to everybody.
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
};

type Told = { readonly text: string; readonly etag: string };

export type Tell = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

export function createServiceStatus(deps: Deps): Tell {
  const startedAt = deps.now();
  const kept = createMoments<Told | { readonly failure: unknown }>(freshSeconds * 1_000, 1);
  const read = async (): Promise<Told> => {
    const text = JSON.stringify(await readServiceStatus(deps, startedAt));
    return { text, etag: `W/"${hash('sha256', text).slice(0, 32)}"` };
  };
  // A database that is gone is not asked by everybody who wonders whether it is.
  const tried = () => read().catch((failure: unknown) => ({ failure }));
  return async (request, reply) => {
    reply.header('access-control-allow-origin', '*');
    const told = await kept.of('', tried);
    if ('failure' in told) throw told.failure;
    reply.headers(headers).header('etag', told.etag);
    if (isKnown(request.headers['if-none-match'], told.etag)) return reply.code(304).send();
    return reply.send(told.text);
  };
}
