// A test delivery on demand: sent while the caller waits, once, and never tried again. The ping is
// stored only after it has ended, so that a crash in between leaves no row.

import type { Tx } from '../db/database.ts';
import { type Ended, storeSingle } from '../db/deliveries.ts';
import { targetOf } from '../db/webhooks.ts';
import type { Deps } from '../ports/deps.ts';
import { isUuid, uuidOf, uuidv7 } from '../ports/ids.ts';
import { attempt, type Message, type Send, senderOf } from './attempt.ts';
import { createHosts, HostBusy } from './hosts.ts';
import { trimLog } from './log-length.ts';
import { absent } from './register.ts';

/** Under way of one account: each holds a request and a connection for up to 10 s. */
export const mostPingsEach = 4;

export type Pinged = {
  readonly webhookId: string;
  readonly message: Message;
  readonly ended: Ended;
};

export type Asked = {
  readonly accountId: string;
  readonly webhookId: string;
  /** The same for every try of one request; null = it is tried once. */
  readonly attempt: Uint8Array | null;
};

/** Too many of this account are under way, or its host gets no more for now. */
export class PingsLimited extends Error {
  readonly seconds: number;

  constructor(sentence: string, seconds: number) {
    super(`${sentence}; try again in ${seconds} s`);
    this.name = 'PingsLimited';
    this.seconds = seconds;
  }
}

type Ping = (asked: Asked) => Promise<Pinged>;

export function createPinging(deps: Deps, send: Send = senderOf(deps.settings)): Ping {
  const hosts = createHosts(deps);
  const underway = new Map<string, number>();
  return async ({ accountId, webhookId, attempt: tried }) => {
    const own = underway.get(accountId) ?? 0;
    if (own >= mostPingsEach) {
      throw new PingsLimited(`${mostPingsEach} pings of this account are under way`, 1);
    }
    underway.set(accountId, own + 1);
    try {
      const target = isUuid(webhookId) ? await targetOf(deps.db, accountId, webhookId) : null;
      if (target === null) return absent(webhookId);
      const at = new Date(deps.now());
      const id = tried === null ? uuidv7(at.getTime(), deps.randomBytes) : uuidOf(tried);
      const body = JSON.stringify({
        type: 'ping',
        deliveryId: id,
        createdAt: at.toISOString(),
        message: `a test of ${deps.settings.productName}`,
      });
      const message = { id, event: 'ping', body };
      const visit = hosts.visit({ accountId, begins: true });
      return { webhookId, message, ended: await attempt(deps, target, message, send, visit) };
    } catch (error) {
      if (!(error instanceof HostBusy)) throw error;
      const seconds = Math.max(1, Math.ceil((error.until.getTime() - deps.now()) / 1_000));
      throw new PingsLimited('this host is sent as much as it may be', seconds);
    } finally {
      const left = (underway.get(accountId) ?? 1) - 1;
      if (left === 0) underway.delete(accountId);
      else underway.set(accountId, left);
    }
  };
}

/** Throws `no_such_webhook` when it was deleted meanwhile. */
export async function storePing(
  tx: Tx,
  deps: Pick<Deps, 'metrics'>,
  accountId: string,
  { webhookId, message, ended }: Pinged,
): Promise<{ ok: boolean; deliveryId: string }> {
  if (!(await storeSingle(tx, { ...message, ...ended, webhookId, accountId }))) absent(webhookId);
  // It is dear anyway.
  await trimLog(tx, webhookId);
  deps.metrics.webhookAttempts.inc({ outcome: ended.delivered ? 'delivered' : 'dropped' });
  return { ok: ended.delivered, deliveryId: message.id };
}
