// `ops webhooks`: receivers of customers that fail, and what an operator does about one.

import { Misused, parsed, usualOptions, wholeNumber } from '@parley/host/command.ts';
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
import { isUuid } from '../ports/ids.ts';
import { mostWaiting } from '../webhooks/hand-out.ts';
import { acting, print, reading, reasonFor } from './operator.ts';
import type { Act } from './table.ts';

const usage = `usage: npm run ops -- webhooks list [--off] [--limit N] [--json]
       npm run ops -- webhooks show ID [--json]
       npm run ops -- webhooks retry ID [--limit N] [--json]
       npm run ops -- webhooks disable ID --reason TEXT [--json]
       npm run ops -- webhooks enable ID --reason TEXT [--json]
  list     those that fail, for longest first; --off: those that are switched off instead
  retry    sends the newest deliveries that were given up again, the oldest of them first; --limit:
           at most so many, default 100
  disable  nothing is sent to it, and no ping of its owner switches it on again
  enable   it is sent to again; what was given up stays so: retry
Exit status: 0 done or so already, 1 refused, or of list: some fail; 2 not understood. Settings as
for npm start: DATABASE_URL, or PARLEY_HOME of a running market.`;

const usualLimit = '100';
const mostShown = 1_000;
const verbs = ['list', 'show', 'retry', 'disable', 'enable'] as const;

function understand(args: string[]) {
  const text = { type: 'string' } as const;
  const own = { off: { type: 'boolean' }, limit: text, reason: text } as const;
  const options = { ...usualOptions, ...own };
  const { values, positionals } = parsed({ args, options, allowPositionals: true });
  if (values.help === true) return null;
  const [given = '', id = '', ...rest] = positionals;
  const verb = verbs.find((each) => each === given);
  if (verb === undefined) throw new Misused(given === '' ? '' : `webhooks has no "${given}"`);
  if (rest.length > 0) throw new Misused(`one webhook at a time, not also "${rest.join(' ')}"`);
  if (verb === 'list' ? id !== '' : !isUuid(id)) {
    throw new Misused(verb === 'list' ? `list takes no "${id}"` : `"${id}" is no id of a webhook`);
  }
  const { off = false, limit = usualLimit, reason, json = false } = values;
  if (off && verb !== 'list') throw new Misused('--off goes with list');
  if (values.limit !== undefined && verb !== 'list' && verb !== 'retry') {
    throw new Misused(`--limit does not go with ${verb}`);
  }
  const isSwitch = verb === 'disable' || verb === 'enable';
  if (!isSwitch && reason !== undefined) throw new Misused(`--reason does not go with ${verb}`);
  const why = isSwitch ? reasonFor(verb, reason) : '';
  const count = wholeNumber('--limit', limit, { most: mostShown });
  return { verb, id: id.toLowerCase(), off, count, reason: why, json };
}

type Asked = NonNullable<ReturnType<typeof understand>>;

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

type Done = { readonly webhookId: string; readonly changed: boolean; readonly again?: number };

async function change(tx: Tx, { verb, id, count, reason }: Asked): Promise<Done> {
  const { accountId, enabled } = await theWebhook(tx, id);
  const of = { webhookId: id };
  const at = new Date();
  if (verb === 'disable') return { ...of, changed: await disableWebhook(tx, { id, reason, at }) };
  if (verb === 'enable') {
    const changed = (await enableWebhook(tx, id)) > 0;
    await notifyWork(tx, 'webhooks');
    return { ...of, changed };
  }
  if (!enabled) throw new Error(`webhook ${id} is switched off: enable it first`);
  let again = 0;
  for (const deliveryId of await droppedOf(tx, id, count)) {
    if (await sendAgain(tx, { deliveryId, accountId, at, mostWaiting })) again += 1;
  }
  await releaseWebhook(tx, id);
  await notifyWork(tx, 'webhooks');
  return { ...of, changed: again > 0, again };
}

function told({ verb }: Asked, { webhookId, changed, again = 0 }: Done): string {
  if (verb === 'retry') return `${again} deliveries of ${webhookId} are sent again`;
  if (!changed) return `nothing to do, ${webhookId} was so already`;
  return `${webhookId} is switched ${verb === 'enable' ? 'on' : 'off'}`;
}

async function run(asked: Asked): Promise<number> {
  const { verb, id, off, count, reason, json } = asked;
  const show = (each: ShownWebhook) => print(json ? JSON.stringify(each) : webhookLine(each));
  if (verb === 'list') {
    const found = await reading((db) => (off ? offShown : failingShown)(db, count));
    for (const each of found) show(each);
    if (found.length === 0 && !json) print(off ? 'no webhook is off' : 'no webhook fails');
    return found.length > 0 && !off ? 1 : 0;
  }
  if (verb === 'show') {
    show(await reading((db) => theWebhook(db, id)));
    return 0;
  }
  const given = verb === 'retry' ? { id, limit: count } : { id, reason };
  const action = { command: `webhooks ${verb}` as Act, arguments: given };
  const done = await acting(action, async (tx) => {
    const result = await change(tx, asked);
    return { result, changed: result.changed, facts: { ...result } };
  });
  print(json ? JSON.stringify(done) : told(asked, done));
  return 0;
}

export const command = { usage, understand, run };
