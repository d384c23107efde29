// `GET /status`: how the service is, for programs that watch it and for people. It stands outside
// `/v1`, needs no key and costs no budget: it is read once for all who ask within a moment. A
// browser that goes there is given the app, whose screen asks for the same address.

import { hash } from 'node:crypto';
import { within } from '@parley/host/within.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readServiceStatus } from '../market/service-status.ts';
import { causedBy } from '../ports/cause.ts';
import type { Deps } from '../ports/deps.ts';
import { createMoments } from '../ports/moments.ts';
import { causeOf } from './access.ts';
import { fault, type Refusal, refusalOf, sendRefusal } from './errors.ts';
import { isKnown } from './etags.ts';

/** How old an answer may be, and how long a cache may give it again. */
export const freshSeconds = 5;
/** The database has so long to answer. */
const readMs = 2_000;

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
  const kept = createMoments<Told | Refusal>(freshSeconds * 1_000, 1);
  let asking: Promise<Told> | null = null;
  const read = async (): Promise<Told> => {
    const text = JSON.stringify(await readServiceStatus(deps, startedAt));
    return { text, etag: `W/"${hash('sha256', text).slice(0, 32)}"` };
  };
  /** One question at a time, however long the database takes over it. */
  const ask = () => {
    asking ??= read().finally(() => {
      asking = null;
    });
    return asking;
  };
  // A database that is gone is not asked by everybody who wonders whether it is, nor does each of
  // them write a line of the log: no budget would end that.
  const tried = async () => {
    try {
      return (await within(readMs, ask(), null)) ?? refused(deps, tooLate);
    } catch (error) {
      return refused(deps, error);
    }
  };
  return async (request, reply) => {
    reply.header('access-control-allow-origin', '*');
    const told = await kept.of('', () => causedBy(causeOf(request), tried));
    if ('status' in told) {
      sendRefusal(reply, told, deps.settings.shortName);
      return reply;
    }
    reply.headers(headers).header('etag', told.etag);
    if (isKnown(request.headers['if-none-match'], told.etag)) return reply.code(304).send();
    return reply.send(told.text);
  };
}

/** The error of a query that the server ended (PostgreSQL, appendix A). */
const tooLate = Object.assign(new Error('the database takes too long'), { code: '57014' });

function refused({ log, settings }: Pick<Deps, 'log' | 'settings'>, error: unknown): Refusal {
  const refusal = refusalOf(error, settings.shortName) ?? fault();
  const { status, code } = refusal;
  if (status === 500) log.error({ err: error }, 'the status could not be read');
  else log.warn({ status, code }, 'the status could not be read');
  return refusal;
}
