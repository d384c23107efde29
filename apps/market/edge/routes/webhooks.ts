// Webhooks: register, list, delete, ping. Any valid key.

import type { FastifyInstance } from 'fastify';
import { listWebhooks, type WebhookRow } from '../../db/webhooks.ts';
import type { Deps } from '../../ports/deps.ts';
import type { Send } from '../../webhooks/attempt.ts';
import { createPinging, PingsLimited, storePing } from '../../webhooks/ping.ts';
import { registerWebhook, removeWebhook } from '../../webhooks/register.ts';
import { limited } from '../budgets.ts';
import { command, read } from '../command.ts';
import { pageOf } from '../cursor.ts';
import { idParams, pageQuery, webhookId } from '../schemas/common.ts';
import * as shapes from '../schemas/webhook.ts';

const known = Object.keys(shapes.webhookEvents);
const params = idParams(webhookId);

export function registerWebhooks(app: FastifyInstance, deps: Deps, send?: Send): void {
  const place = { app, deps, tag: 'webhooks' };
  const ping = createPinging(deps, send);
  command(place, 'POST /v1/webhooks', 'registerWebhook', {
    about: 'Where your events are sent. The secret that signs them is given once.',
    fresh: true,
    body: shapes.registerBody,
    replies: { 201: shapes.registered },
    secret: true,
    run: async (tx, { caller: { accountId }, body: { url, events = [] } }) => {
      const asked = { accountId, url, events, known };
      const { webhook, secret } = await registerWebhook(tx, deps, asked);
      return { status: 201, body: { webhook: shown(webhook), secret } };
    },
  });

  read(place, '/v1/webhooks', 'listWebhooks', {
    about: 'Your webhooks, newest first. Each with how its last delivery went.',
    query: pageQuery({}),
    replies: { 200: shapes.webhookPage },
    handle: async ({ caller: { accountId }, query }) => {
      const filters = { list: 'webhooks', accountId };
      const { rows, nextCursor } = await pageOf(deps, query, filters, (from, limit) =>
        listWebhooks(deps.db, { accountId, before: from?.[0] ?? null, limit }),
      );
      const webhooks = rows.map((row) => {
        const { lastStatus, lastError, lastDeliveryAt } = row;
        return { ...shown(row), lastStatus, lastError, lastDeliveryAt };
      });
      return { webhooks, nextCursor };
    },
  });

  command(place, 'DELETE /v1/webhooks/:id', 'deleteWebhook', {
    about: 'Remove a webhook. What was on its way to it is given up.',
    fresh: true,
    params,
    replies: { 200: shapes.removed },
    run: async (tx, { caller, params }) => {
      await removeWebhook(tx, caller.accountId, params.id);
      return { status: 200, body: { ok: true } };
    },
  });

  command(place, 'POST /v1/webhooks/:id/ping', 'pingWebhook', {
    about: 'Send a test delivery at once, and say whether a 2xx came.',
    params,
    replies: { 200: shapes.pinged },
    anew: true,
    before: ({ caller: { accountId }, params, attempt }) =>
      ping({ accountId, webhookId: params.id, attempt }).catch((error: unknown) => {
        if (!(error instanceof PingsLimited)) throw error;
        throw limited('ping_rate_limited', error.message, error.seconds);
      }),
    run: async (tx, { caller, prepared }) => ({
      status: 200,
      body: await storePing(tx, deps, caller.accountId, prepared),
    }),
  });
}

function shown({ id, url, events, enabled }: WebhookRow) {
  return { id, url, events, enabled };
}
