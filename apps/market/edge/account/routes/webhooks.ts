// The log of a webhook's deliveries. Registering, deleting and pinging are operations of /v1, which a
// page calls with its session.

import { deliveriesOf, type LoggedDelivery, ownsWebhook } from '../../../db/delivery-log.ts';
import { isUuid } from '../../../ports/ids.ts';
import { absent } from '../../../webhooks/register.ts';
import type { Place } from '../../command.ts';
import { firstIfEmpty, pageOf } from '../../cursor.ts';
import { idParams, pageQuery, webhookId } from '../../schemas/common.ts';
import { signedIn } from '../declare.ts';
import { deliveryPage } from '../schemas.ts';

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
        firstIfEmpty(query),
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
}

function shown({ attempts, nextAt, state, ...row }: LoggedDelivery) {
  const made = attempts.map(({ at, ...each }) => ({ ...each, at: new Date(at) }));
  return { ...row, state, nextAt: state === 'waiting' ? nextAt : null, attempts: made };
}
