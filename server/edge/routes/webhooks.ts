// Webhooks: register, list, delete, ping. Any valid key.

import type { FastifyInstance } from 'fastify';
import { listWebhooks } from '../../db/webhooks.ts';
import type { Deps } from '../../ports/deps.ts';
import type { Send } from '../../webhooks/attempt.ts';
import { createPinging, PingsLimited, storePing } from '../../webhooks/ping.ts';
import { registerWebhook, removeWebhook } from '../../webhooks/register.ts';
import { command, read } from '../command.ts';
import { cursorSecrets, decodeCursor, encodeCursor } from '../cursor.ts';
import { HttpError } from '../errors.ts';
import { idParams, pageLimit, pageQuery } from '../schemas/common.ts';
import { webhookEvents } from '../schemas/events.ts';
import {
  listedOf,
  pinged,
  registerBody,
  registered,
  removed,
  webhookOf,
  webhookPage,
} from '../schemas/webhook.ts';

const tags = ['webhooks'] as const;
const known = Object.keys(webhookEvents);

export function registerWebhooks(app: FastifyInstance, deps: Deps, send?: Send): void {
  const ping = createPinging(deps, send);
  command(app, deps, {
    method: 'POST',
    url: '/v1/webhooks',
    operationId: 'registerWebhook',
    summary: 'Where your events are sent; the secret that signs them is shown once',
    tags,
    fresh: true,
    body: registerBody,
    replies: { 201: registered },
    secret: true,
    run: async (tx, { caller, body }) => {
      const { accountId } = caller;
      const { url, events = [] } = body;
      const { webhook, secret } = await registerWebhook(tx, deps, {
        accountId,
        url,
        events,
        known,
      });
      return { status: 201, body: { webhook: webhookOf(webhook), secret } };
    },
  });

  read(app, deps, {
    url: '/v1/webhooks',
    operationId: 'listWebhooks',
    summary: 'Your webhooks, newest first',
    tags,
    query: pageQuery({}),
    replies: { 200: webhookPage },
    handle: async ({ caller, query }) => {
      const { accountId } = caller;
      const filters = { list: 'webhooks', accountId };
      const secrets = cursorSecrets(deps);
      const [before = null] = query.cursor ? decodeCursor(secrets, filters, query.cursor) : [];
      const limit = query.limit ?? pageLimit.otherwise;
      const found = await listWebhooks(deps.db, { accountId, before, limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const more = found.length > limit && last !== undefined;
      return {
        webhooks: page.map(listedOf),
        nextCursor: more ? encodeCursor(secrets, filters, [last.id]) : null,
      };
    },
  });

  command(app, deps, {
    method: 'DELETE',
    url: '/v1/webhooks/:id',
    operationId: 'deleteWebhook',
    summary: 'Remove a webhook; what was on its way to it is given up',
    tags,
    fresh: true,
    params: idParams,
    replies: { 200: removed },
    run: async (tx, { caller, params }) => {
      await removeWebhook(tx, caller.accountId, params.id);
      return { status: 200, body: { ok: true } };
    },
  });

  command(app, deps, {
    method: 'POST',
    url: '/v1/webhooks/:id/ping',
    operationId: 'pingWebhook',
    summary: 'Send a test delivery at once, and say whether a 2xx came',
    tags,
    params: idParams,
    replies: { 200: pinged },
    withoutRoom: 'anew',
    before: ({ caller, params, attempt }) =>
      ping({ accountId: caller.accountId, webhookId: params.id, attempt }).catch(limited),
    run: async (tx, { caller, prepared }) => ({
      status: 200,
      body: await storePing(tx, deps, caller.accountId, prepared),
    }),
  });
}

function limited(error: unknown): never {
  if (!(error instanceof PingsLimited)) throw error;
  const headers = { 'retry-after': String(error.seconds) };
  throw new HttpError('ping_rate_limited', error.message, headers);
}
