// `ops webhooks`: receivers of customers that fail, and what an operator does about one.

import type { Tx } from '../db/database.ts';
import { sendAgain } from '../db/deliveries.ts';
import {
  disableWebhook,
  droppedOf,
  enableWebhook,
  failingShown,
  offShown,
  releaseWebhook,
  type ShownWebhook,
  webhookShown,
} from '../db/webhooks-shown.ts';
import { notifyWork } from '../db/work.ts';
import { mostWaiting } from '../webhooks/hand-out.ts';
import { acting, print, reading } from './operator.ts';

async function theWebhook(tx: Tx, id: string): Promise<ShownWebhook> {
  const found = await webhookShown(tx, id);
  if (found === null) throw new Error(`there is no webhook ${id}`);
  return found;
}

function webhookLine(of: ShownWebhook): string {
  const { id, accountId, host, enabled, offFor, failingSince, lastStatus, waiting, dropped } = of;
  const off = offFor === null ? 'off, failed for a day' : `off, by an operator: ${offFor}`;
  const failing = failingSince === null ? 'well' : `failing since ${failingSince.toISOString()}`;
  const last = lastStatus === null ? 'never sent to' : `last ${lastStatus}`;
  const counts = `${waiting} waiting, ${dropped} given up`;
  return `${id}  ${host}  account ${accountId}  ${enabled ? failing : off}, ${last}, ${counts}`;
}

type Limited = { readonly limit: number };
type Reasoned = { readonly reason: string };

export async function list(
  json: boolean,
  { off = false, limit }: Limited & { readonly off?: boolean | undefined },
): Promise<number> {
  const found = await reading((db) => (off ? offShown : failingShown)(db, limit));
  for (const each of found) print(json ? JSON.stringify(each) : webhookLine(each));
  if (found.length === 0 && !json) print(off ? 'no webhook is off' : 'no webhook fails');
  return found.length > 0 && !off ? 1 : 0;
}

export async function show(json: boolean, id: string): Promise<number> {
  const found = await reading((db) => theWebhook(db, id));
  print(json ? JSON.stringify(found) : webhookLine(found));
  return 0;
}

export async function retry(json: boolean, id: string, { limit }: Limited): Promise<number> {
  const action = { command: 'webhooks retry', arguments: { id, limit } } as const;
  const done = await acting(action, async (tx) => {
    const { accountId, enabled } = await theWebhook(tx, id);
    if (!enabled) throw new Error(`webhook ${id} is switched off: enable it first`);
    const at = new Date();
    let again = 0;
    for (const deliveryId of await droppedOf(tx, id, limit)) {
      if (await sendAgain(tx, { deliveryId, accountId, at, mostWaiting })) again += 1;
    }
    await releaseWebhook(tx, id);
    await notifyWork(tx, 'webhooks');
    const result = { webhookId: id, changed: again > 0, again };
    return { result, changed: result.changed, facts: result };
  });
  print(json ? JSON.stringify(done) : `${done.again} deliveries of ${id} are sent again`);
  return 0;
}

export const disable = (json: boolean, id: string, { reason }: Reasoned) =>
  switched(json, 'disable', { id, reason }, (tx) =>
    disableWebhook(tx, { id, reason, at: new Date() }),
  );

export const enable = (json: boolean, id: string, { reason }: Reasoned) =>
  switched(json, 'enable', { id, reason }, async (tx) => {
    const changed = (await enableWebhook(tx, id)) > 0;
    await notifyWork(tx, 'webhooks');
    return changed;
  });

async function switched(
  json: boolean,
  verb: 'disable' | 'enable',
  given: Reasoned & { readonly id: string },
  change: (tx: Tx) => Promise<boolean>,
): Promise<number> {
  const action = { command: `webhooks ${verb}`, arguments: given } as const;
  const done = await acting(action, async (tx) => {
    await theWebhook(tx, given.id);
    const result = { webhookId: given.id, changed: await change(tx) };
    return { result, changed: result.changed, facts: result };
  });
  const told = done.changed
    ? `${given.id} is switched ${verb === 'enable' ? 'on' : 'off'}`
    : `no change, ${given.id} was so already`;
  print(json ? JSON.stringify(done) : told);
  return 0;
}
