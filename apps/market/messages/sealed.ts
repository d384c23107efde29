// The content of a message until it is sent: to whom, and the facts that its text is made of.
// Sealed, because both are personal and a code opens an account.

import { type Job, jobsNotOf, type NewJob, resealJob } from '../db/jobs.ts';
import type { Deps, Making } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { keyringOf } from '../ports/keyring.ts';
import { sealAnew } from '../ports/sealed-anew.ts';
import type { Facts, MessageEvent } from './texts.ts';

export type Content = {
  readonly to: string;
  readonly facts: Facts;
  /** When it happened, ISO 8601. */
  readonly at: string;
};

/** Sealed anew in one transaction: a few milliseconds of it. */
const resealBatch = 500;

/** Codes come first: a person waits for each. */
export const messageKinds = ['code', 'email', 'telegram'] as const;
export type MessageKind = (typeof messageKinds)[number];

export function newMessage(
  { settings, now, randomBytes }: Making,
  message: {
    readonly accountId: string | null;
    readonly kind: MessageKind;
    readonly loginId: string | null;
    readonly event: MessageEvent;
    readonly content: Content;
  },
): NewJob {
  const { content, loginId, event, ...rest } = message;
  const plain = Buffer.from(JSON.stringify(content));
  const { sealed, version: keyVersion } = keyringOf(settings).encrypt(plain);
  const id = uuidv7(now(), randomBytes);
  return { ...rest, id, about: { event, loginId }, sealed, keyVersion, dueAt: new Date(now()) };
}

/** Null when no key of the server opens it any more. */
export function contentOf(
  { settings }: Pick<Deps, 'settings'>,
  { sealed, keyVersion }: Pick<Job, 'sealed' | 'keyVersion'>,
): Content | null {
  if (sealed === null || keyVersion === null) return null;
  const plain = keyringOf(settings).decrypt(keyVersion, sealed);
  return plain === null ? null : (JSON.parse(plain.toString()) as Content);
}

/** Seals what waits with the first of the server's keys, so that a former one may be put away. */
export async function resealMessages(deps: Pick<Deps, 'settings' | 'db' | 'log'>): Promise<void> {
  const rows = { read: jobsNotOf, store: resealJob, before: '', atOnce: resealBatch };
  const unread = await sealAnew<string>(deps, rows);
  if (unread > 0) deps.log.warn({ messages: unread }, 'messages to people cannot be read');
}
