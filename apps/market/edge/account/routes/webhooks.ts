// The log of a webhook's deliveries, and sending one again. Registering, deleting and pinging are
// operations of /v1, which a page calls with its session.

import { ParleyError } from '@parley/core/errors.ts';
import { sendAgain } from '../../../db/deliveries.ts';
import {
  deliveriesOf,
  isSwitchedOff,
  type LoggedDelivery,
  ownsWebhook,
  stateOfDelivery,
} from '../../../db/delivery-log.ts';
import { notifyWork } from '../../../db/work.ts';
import { isUuid } from '../../../ports/ids.ts';
import { mostWaiting } from '../../../webhooks/hand-out.ts';
import { absent } from '../../../webhooks/register.ts';
import type { Place } from '../../command.ts';
import { pageOf } from '../../cursor.ts';
import { idParams, pageQuery, webhookId } from '../../schemas/common.ts';
import { signedIn } from '../declare.ts';
import { deliveryPage, deliveryParams, ok } from '../schemas.ts';

export function registerAccountWebhooks(place: Place): void {
  const { deps } = place;
  const mustBeOwn = async (accountId: string, id: string) => {
    if (!isUuid(id) || !(await ownsWebhook(deps.db, accountId, id))) absent(id);
  };

  signedIn(place, 'GET /account/webhooks/:id/deliveries', 'listDeliveries', {
    about: 'What was sent to a webhook in the last 7 days, newest first, and what was answered.',
    params: idParams(webhookId),
    query: pageQuery({}),
    replies: { 200: deliveryPage },
    handle: async ({ session: { accountId }, params: { id }, query }) => {
      await mustBeOwn(accountId, id);
      const filters = { list: 'deliveries', accountId, webhookId: id };
      const { rows, nextCursor } = await pageOf(
        deps,
        query,
        filters,
        (from, limit) => {
          const [at, beforeId = null] = from ?? [];
          const beforeAt = at === undefined ? null : new Date(at);
          return deliveriesOf(deps.db, { webhookId: id, beforeAt, beforeId, limit });
        },
        (row) => [row.createdAt.toISOString(), row.id],
      );
      return { body: { deliveries: rows.map(shown), nextCursor } };
    },
  });

  signedIn(place, 'POST /account/webhooks/:id/deliveries/:deliveryId/again', 'sendAgain', {
    about: 'Send a delivery again that was delivered or dropped: the same bytes and the same id.',
    params: deliveryParams,
    replies: { 200: ok },
    handle: async ({ session: { accountId }, params: { id, deliveryId } }) => {
      await mustBeOwn(accountId, id);
      const at = new Date(deps.now());
      await deps.db.transaction(async (tx) => {
        const state = isUuid(deliveryId) ? await stateOfDelivery(tx, id, deliveryId) : null;
        if (state === null) {
          throw new ParleyError('unknown_delivery', 'this webhook has no such delivery');
        }
        if (await isSwitchedOff(tx, id)) {
          throw refused('the webhook is switched off; a ping that is answered 2xx switches it on');
        }
        if (await sendAgain(tx, { deliveryId, accountId, at, mostWaiting })) {
          await notifyWork(tx, 'webhooks');
          return;
        }
        if (state === 'waiting') throw refused('it waits to be tried, and is sent by itself');
        const { answered, never } = mostWaiting;
        throw refused(
          `as many deliveries wait for this webhook as may: ${answered}, or ${never} while it ` +
            'never answered 2xx',
        );
      });
      return { body: { ok: true } };
    },
  });
}

const refused = (sentence: string) => new ParleyError('not_sent_again', sentence);

function shown({ attempts, nextAt, state, ...row }: LoggedDelivery) {
  const made = attempts.map(({ at, ...each }) => ({ ...each, at: new Date(at) }));
  return { ...row, state, nextAt: state === 'waiting' ? nextAt : null, attempts: made };
}
