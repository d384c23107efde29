// One attempt to send a message, and what is stored of it: sent, tried again later, or dropped. A
// result that is not stored leads to another attempt when the message's time in hand ends: at least
// once, with the same id.

import type { Tx } from '../db/database.ts';
import { finishJob, giveUpJob, type Job, type JobKind, retryJob } from '../db/jobs.ts';
import { endChat } from '../db/logins.ts';
import type { Channel } from '../db/messages.ts';
import { insertOutbox } from '../db/outbox.ts';
import type { Deps } from '../ports/deps.ts';
import { mostRetryAfterSeconds, retryAfterSeconds } from './bounds.ts';
import type { Courier, Outcome } from './courier.ts';
import { contentOf } from './sealed.ts';
import { type MessageEvent, textOf, worthlessAfter } from './texts.ts';

type DeliverDeps = Pick<Deps, 'settings' | 'db' | 'now' | 'log' | 'metrics'>;

export type Couriers = Readonly<Record<Channel, Courier | null>>;

export const channelOf = (kind: JobKind): Channel => (kind === 'telegram' ? kind : 'email');

type About = { readonly event: MessageEvent; readonly loginId: string | null };

const refused = (error: string): Outcome => ({ kind: 'refused', error });

/** The answer of the other side; null where nobody was asked. */
export async function deliver(
  deps: DeliverDeps,
  due: Job,
  couriers: Couriers,
  signal: AbortSignal,
): Promise<Outcome | null> {
  const { event } = due.about as About;
  const content = contentOf(deps, due);
  if (content === null) {
    await give(deps, due, refused('no key of the server opens it'), null, null);
    return null;
  }
  const { to, facts } = content;
  const until = worthlessAfter(event, facts);
  const courier = couriers[channelOf(due.kind)];
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
  due: Job,
  outcome: Outcome,
  until: number | null,
  to: string | null,
): Promise<void> {
  const { attempts } = due;
  const { loginId } = due.about as About;
  const at = new Date(deps.now());
  const nextAt = outcome.kind === 'again' ? nextOf(outcome, attempts, at, until) : null;
  const isEnd = outcome.kind === 'ended';
  await deps.db.transaction(async (tx) => {
    if (outcome.kind === 'sent') return finishJob(tx, due);
    const { error: failure } = outcome;
    if (nextAt === null) await giveUpJob(tx, due, { at, failure });
    else await retryJob(tx, due, { dueAt: nextAt, failure });
    if (isEnd && loginId !== null && to !== null) await tellEnd(tx, loginId, to, at);
  });
  const left = nextAt === null ? 'dropped' : 'failed';
  const told = outcome.kind === 'sent' || isEnd ? outcome.kind : left;
  deps.metrics.messages.inc({ channel: channelOf(due.kind), outcome: told });
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
