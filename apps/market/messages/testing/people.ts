// Tests only: accounts of people with e-mail addresses and chats, and what is stored of messages.

import type { TestDeps } from '@parley/verify/test/support/deps.ts';
import { insertAccount } from '../../db/accounts.ts';
import type { Database } from '../../db/database.ts';
import { insertLoginOf } from '../../db/logins.ts';
import { insertOutbox } from '../../db/outbox.ts';
import type { Deps } from '../../ports/deps.ts';
import { uuidv7 } from '../../ports/ids.ts';
import { type Content, contentOf } from '../sealed.ts';

type Parts = Pick<Deps, 'db' | 'now' | 'randomBytes'>;
type Reach = { readonly email?: readonly string[]; readonly chats?: readonly string[] };

export async function newPerson(deps: Parts, reach: Reach): Promise<string> {
  const accountId = uuidv7(deps.now(), deps.randomBytes);
  const createdAt = new Date(deps.now());
  await insertAccount(deps.db, { id: accountId, kind: 'browser', createdAt });
  await addLogins(deps, accountId, reach);
  return accountId;
}

export async function addLogins(deps: Parts, accountId: string, reach: Reach): Promise<string[]> {
  const at = new Date(deps.now());
  const email = (reach.email ?? []).map((subject) => {
    const name = { way: 'email', issuer: '', subject, label: subject } as const;
    return { ...name, chatId: null };
  });
  const chats = (reach.chats ?? []).map((chatId) => {
    const name = { way: 'provider', issuer: 'https://telegram.example', subject: chatId } as const;
    return { ...name, label: `person ${chatId}`, chatId };
  });
  const ids: string[] = [];
  for (const login of [...email, ...chats]) {
    const id = uuidv7(deps.now(), deps.randomBytes);
    await insertLoginOf(deps.db, { ...login, id, accountId, passkey: null, at });
    ids.push(id);
  }
  return ids;
}

export function happens(
  { db, now }: Pick<TestDeps, 'db' | 'now'>,
  accountId: string,
  topic: string,
  payload: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  return insertOutbox(db, [{ topic, accountId, payload, at: new Date(now()) }]);
}

export type StoredMessage = {
  readonly id: string;
  readonly account_id: string | null;
  readonly kind: string;
  readonly about: { readonly event: string };
  readonly sealed: Buffer | null;
  /** One that was sent has no row. */
  readonly state: 'waiting' | 'dropped';
  readonly attempts: number;
  readonly due_at: Date;
  readonly failure: string | null;
};

export function storedMessages(db: Database): Promise<StoredMessage[]> {
  const text = `select *, case when gave_up_at is null then 'waiting' else 'dropped' end as state
    from jobs order by id`;
  return db.rows<StoredMessage>({ name: 'test_messages', text, values: [] });
}

/** The waiting messages, opened: for tests of a server that sends nothing. */
export async function waitingContents(
  deps: Pick<Deps, 'db' | 'settings'>,
): Promise<(Content & { readonly event: string })[]> {
  const rows = await deps.db.rows<StoredMessage & { key_version: number }>({
    name: 'test_waiting',
    text: `select * from jobs where gave_up_at is null order by id`,
    values: [],
  });
  return rows.flatMap(({ about: { event }, sealed, key_version: keyVersion }) => {
    const content = contentOf(deps, { sealed, keyVersion });
    return content === null ? [] : [{ event, ...content }];
  });
}

/** Another test begins. */
export async function forgetMessages(db: Database): Promise<void> {
  for (const table of ['jobs', 'outbox', 'reminders']) {
    await db.rows({ name: '', text: `delete from ${table}`, values: [] });
  }
}

/** A number of nobody else's. */
export function someChat(): string {
  return String(Math.floor(1e9 + Math.random() * 8e9));
}

let people = 0;
export function someAddress(): string {
  people += 1;
  return `somebody.${people}@mail.example`;
}
