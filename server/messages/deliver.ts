// One attempt to send a message, and what is stored of it: sent, tried again later, or dropped. A
// result that is not stored leads to another attempt when the message's time in hand ends: at least
// once, with the same id.

import type { Tx } from '../db/database.ts';
import { endChat } from '../db/logins.ts';
import { type Channel, type DueMessage, storeAttempt } from '../db/messages.ts';
import { insertOutbox } from '../db/outbox.ts';
import type { Deps } from '../ports/deps.ts';
import { mostRetryAfterSeconds, retryAfterSeconds } from './bounds.ts';
import type { Courier, Outcome } from './courier.ts';
import { contentOf } from './sealed.ts';
import { type MessageEvent, textOf, worthlessAfter } from './texts.ts';

export type DeliverDeps = Pick<Deps, 'settings' | 'db' | 'now' | 'log' | 'metrics'>;

export type Couriers = Readonly<Record<Channel, Courier | null>>;

const refused = (error: string): Outcome => ({ kind: 'refused', error });

/** The answer of the other side; null where nobody was asked. */
export async function deliver(
  deps: DeliverDeps,
  due: DueMessage,
  couriers: Couriers,
  signal: AbortSignal,
): Promise<Outcome | null> {
  const event = due.event as MessageEvent;
  const content = contentOf(deps, due);
  if (content === null) {
    await give(deps, due, refused('no key of the server opens it'), null, null);
    return null;
  }
  const { to, facts } = content;
  const until = worthlessAfter(event, facts);
  const courier = couriers[due.channel];
  const late = until !== null && deps.now() >= until;
  if (late || courier === null || due.attempts > retryAfterSeconds.length + 1) {
    const error = late ? 'too late' : courier === null ? 'no such channel' : 'begun too often';
    await give(deps, due, refused(error), until, to);
    return null;
  }
  const { productName, people } = deps.settings;
  const market = { productName, origin: people.publicUrl };
  const { subject, body } = textOf(event, facts, new Date(content.at), market);
  const at = new Date(content.at);
  const outcome = await courier.send({ id: due.id, to, subject, body, at }, signal);
  await give(deps, due, outcome, until, to);
  return outcome;
}

async function give(
  deps: DeliverDeps,
  due: DueMessage,
  outcome: Outcome,
  until: number | null,
  to: string | null,
): Promise<void> {
  const { id, attempts, channel, loginId } = due;
  const at = new Date(deps.now());
  const error = outcome.kind === 'sent' ? null : outcome.error;
  const nextAt = outcome.kind === 'again' ? nextOf(outcome, attempts, at, until) : null;
  const state = outcome.kind === 'sent' ? 'sent' : nextAt === null ? 'dropped' : 'waiting';
  const isEnd = outcome.kind === 'ended';
  await deps.db.transaction(async (tx) => {
    await storeAttempt(tx, { id, attempts, at, state, nextAt, error });
    if (isEnd && loginId !== null && to !== null) await tellEnd(tx, loginId, to, at);
  });
  const told = { sent: 'sent', waiting: 'failed', dropped: isEnd ? 'ended' : 'dropped' } as const;
  deps.metrics.messages.inc({ channel, outcome: told[state] });
}

/** The account hears of it where it still does; the browser shows it. */
async function tellEnd(tx: Tx, loginId: string, chatId: string, at: Date): Promise<void> {
  const ended = await endChat(tx, loginId, chatId, at);
  if (ended === null) return;
  const { accountId, label } = ended;
  await insertOutbox(tx, [{ topic: 'chat.ended', accountId, payload: { label }, at }]);
}

function nextOf(
  { afterSeconds = 0 }: { readonly afterSeconds?: number },
  attempts: number,
  at: Date,
  until: number | null,
): Date | null {
  const seconds = retryAfterSeconds[attempts - 1];
  if (seconds === undefined) return null;
  const wait = Math.max(seconds, Math.min(afterSeconds, mostRetryAfterSeconds));
  const next = at.getTime() + wait * 1_000;
  return until !== null && next >= until ? null : new Date(next);
}
