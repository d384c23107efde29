// The content of a message until it is sent: to whom, and the facts that its text is made of.
// Sealed, because both are personal and a code opens an account.

import type { Channel, NewMessage } from '../db/messages.ts';
import { messagesNotOf, resealMessage } from '../db/messages.ts';
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

const noUuid = '00000000-0000-0000-0000-000000000000';
/** Sealed anew in one transaction: a few milliseconds of it. */
const resealBatch = 500;

export function newMessage(
  { settings, now, randomBytes }: Making,
  message: {
    readonly accountId: string | null;
    readonly channel: Channel;
    readonly loginId: string | null;
    readonly event: MessageEvent;
    readonly content: Content;
  },
): NewMessage {
  const { content, ...rest } = message;
  const plain = Buffer.from(JSON.stringify(content));
  const { sealed, version } = keyringOf(settings).encrypt(plain);
  return { ...rest, id: uuidv7(now(), randomBytes), sealed, keyVersion: version };
}

/** Null when no key of the server opens it any more. */
export function contentOf(
  { settings }: Pick<Deps, 'settings'>,
  { sealed, keyVersion }: { readonly sealed: Buffer; readonly keyVersion: number },
): Content | null {
  const plain = keyringOf(settings).decrypt(keyVersion, sealed);
  return plain === null ? null : (JSON.parse(plain.toString()) as Content);
}

/** Seals what waits with the first of the server's keys, so that a former one may be put away. */
export async function resealMessages(deps: Pick<Deps, 'settings' | 'db' | 'log'>): Promise<void> {
  const rows = { read: messagesNotOf, store: resealMessage, before: noUuid, atOnce: resealBatch };
  const unread = await sealAnew<string>(deps, rows);
  if (unread > 0) deps.log.warn({ messages: unread }, 'messages to people cannot be read');
}
