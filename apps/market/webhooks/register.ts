// Registering webhooks: the permitted receivers, and the secret that signs their deliveries.

import { isIP } from 'node:net';
import { ParleyError } from '@parley/core/errors.ts';
import { longestUrl } from '@parley/core/limits.ts';
import { lockTrader } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import {
  countWebhooks,
  deleteWebhook,
  insertWebhook,
  resealSecret,
  secretsNotOf,
  type WebhookRow,
} from '../db/webhooks.ts';
import type { Deps, Making } from '../ports/deps.ts';
import { isUuid, uuidv7 } from '../ports/ids.ts';
import { keyringOf } from '../ports/keyring.ts';
import { sealAnew } from '../ports/sealed-anew.ts';
import { isInsideName, reachable } from './public-address.ts';

/** Webhooks of an account. More are refused with 400. */
export const mostWebhooks = 20;
const httpsPort = 443;
const secretBytes = 32;
/** Secrets sealed anew in one transaction. */
export const resealBatch = 200;
const noUuid = '00000000-0000-0000-0000-000000000000';

export type Registered = { readonly webhook: WebhookRow; readonly secret: string };

export async function registerWebhook(
  tx: Tx,
  deps: Making,
  wanted: {
    readonly accountId: string;
    readonly url: string;
    readonly events: readonly string[];
    readonly known: readonly string[];
  },
): Promise<Registered> {
  const url = checkedUrl(wanted.url, deps);
  for (const event of wanted.events) {
    if (wanted.known.includes(event)) continue;
    const names = wanted.known.join(', ');
    const sentence = `"${event.slice(0, 50)}" is not an event; there are: ${names}`;
    throw new ParleyError('bad_event', sentence, {});
  }
  const { accountId } = wanted;
  await lockTrader(tx, accountId);
  const there = await countWebhooks(tx, accountId);
  if (there >= mostWebhooks) {
    const sentence = `this account has ${there} webhooks, the most there may be; delete one first`;
    throw new ParleyError('too_many_webhooks', sentence, { most: mostWebhooks });
  }
  const now = deps.now();
  const id = uuidv7(now, deps.randomBytes);
  const secret = `whsec_${Buffer.from(deps.randomBytes(secretBytes)).toString('base64url')}`;
  const { version, sealed } = keyringOf(deps.settings).encrypt(Buffer.from(secret));
  const events = [...new Set(wanted.events)];
  const at = new Date(now);
  await insertWebhook(tx, {
    id,
    accountId,
    url,
    events,
    secret: sealed,
    secretVersion: version,
    at,
  });
  const nothingYet = { lastStatus: null, lastError: null, lastDeliveryAt: null };
  return { webhook: { id, url, events, enabled: true, ...nothingYet }, secret };
}

/** As it is stored and sent to. A name is looked up only when something is sent to it. */
function checkedUrl(given: string, { settings }: Making): string {
  const refuse = (why: string) => new ParleyError('bad_webhook_url', `url ${why}`, {});
  if (!URL.canParse(given)) throw refuse('is not a URL');
  const url = new URL(given);
  if (url.protocol !== 'https:') throw refuse(`must begin with https://, not ${url.protocol}//`);
  if (url.username !== '' || url.password !== '') throw refuse('must not carry a user or password');
  // Numbers in any base and length are dotted here.
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  const { webhookNetworks, webhookPorts, network } = settings;
  if (isIP(literal) !== 0 && !reachable(webhookNetworks)(literal)) {
    throw refuse(`is at ${literal}, which is not a public address`);
  }
  // On a network of the operator's own they may lead to a receiver.
  const hasOwn = network === 'dev' || webhookNetworks.length > 0;
  if (isIP(literal) === 0 && isInsideName(literal) && !hasOwn) {
    throw refuse(`is at ${literal.slice(0, 253)}, a name that has no public address`);
  }
  const port = Number(url.port || httpsPort);
  const isOwn = isIP(literal) !== 0 && !reachable([])(literal);
  if (!isOwn && !webhookPorts.some(([from, to]) => port >= from && port <= to)) {
    throw refuse(`has port ${port}, to which this market sends nothing; ${httpsPort} is the usual`);
  }
  url.hash = '';
  const { length } = url.href;
  if (length > longestUrl) throw refuse(`has ${length} characters, more than ${longestUrl}`);
  return url.href;
}

/** Throws `no_such_webhook`. Its waiting deliveries are given up. */
export async function removeWebhook(tx: Tx, accountId: string, id: string): Promise<void> {
  if (!isUuid(id) || !(await deleteWebhook(tx, accountId, id))) absent(id);
}

export function absent(id: string): never {
  throw new ParleyError('no_such_webhook', `this account has no webhook ${id.slice(0, 50)}`, {});
}

/** Seals every secret with the first of the server's keys, so that a former one may be put away. */
export async function resealSecrets(deps: Pick<Deps, 'settings' | 'db' | 'log'>): Promise<void> {
  const rows = { read: secretsNotOf, store: resealSecret, before: noUuid, atOnce: resealBatch };
  const unread = await sealAnew<string>(deps, rows);
  if (unread > 0) deps.log.warn({ webhooks: unread }, 'secrets of webhooks cannot be read');
}
