// Tests only: a database of accounts with webhooks, what happens to them, and receivers that are
// functions. The clock is moved by hand.

import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { after, before, beforeEach } from 'node:test';
import { webhookTopics } from '@parley/core/events.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import { insertOutbox } from '../../db/outbox.ts';
import { uuidv7 } from '../../ports/ids.ts';
import { insertAccount } from '../../settle/testing/account.ts';
import type { Send } from '../attempt.ts';
import { createDelivering } from '../deliver.ts';
import { registerWebhook } from '../register.ts';
import type { Sending } from '../send.ts';

export const start = Date.UTC(2030, 0, 1);
const known = [...webhookTopics, 'ping'];

type Answer = (sending: Sending) => number | Promise<number>;

/** Each name has an address of its own. */
function addressOf(url: string): string {
  const { hostname } = new URL(url);
  if (isIP(hostname) !== 0) return hostname;
  return ['203', ...createHash('sha256').update(hostname).digest().subarray(0, 3)].join('.');
}

/** The receiver whose answers a test chooses; and all that was sent to it. */
export function recording(answer: Answer = () => 200, at = () => 0) {
  const sent: (Sending & { at: number })[] = [];
  const send: Send = async (sending) => {
    await sending.admit?.(addressOf(sending.url));
    sent.push({ ...sending, at: at() });
    return { status: await answer(sending), error: null };
  };
  return { sent, send };
}

export const typeOf = ({ body }: Sending) => (JSON.parse(body) as { type: string }).type;

/** Before each test nothing has happened, and there is no webhook. */
export function webhookMarket() {
  const at = {} as { database: TestDatabase; deps: TestDeps };
  before(async () => {
    at.database = await testDatabase();
  });
  after(() => at.database.drop());
  const rows = <T extends object>(text: string, ...values: unknown[]) =>
    at.database.db.rows<T>({ name: '', text, values });
  beforeEach(async () => {
    for (const table of ['outbox', 'webhooks', 'webhook_hosts']) await rows(`delete from ${table}`);
    const settings = { encryptionKey: '42'.repeat(32), webhookNetworks: ['127.0.0.1'] };
    at.deps = testDeps({ db: at.database.db, settings });
    at.deps.freeze(start);
  });
  const account = async () => (await insertAccount(at.deps, [])).accountId;
  const webhook = async (
    accountId: string,
    url = 'https://example.com/hook',
    events: string[] = [],
  ) => {
    const wanted = { accountId, url, events, known };
    const made = await at.deps.db.transaction((tx) => registerWebhook(tx, at.deps, wanted));
    return { id: made.webhook.id, secret: made.secret };
  };
  /** An account with a webhook. */
  const owner = async (url?: string, events?: string[]) => {
    const accountId = await account();
    return { accountId, ...(await webhook(accountId, url, events)) };
  };
  const swapId = (n = 0) => uuidv7(at.deps.now() + n, at.deps.randomBytes);
  const happens = async (accountId: string, topic: string, payload: object) => {
    const entry = { topic, accountId, payload: { ...payload }, at: new Date(at.deps.now()) };
    await at.deps.db.transaction((tx) => insertOutbox(tx, [entry]));
  };
  /** So many swaps of the account. */
  const agreed = async (accountId: string, times = 1) => {
    for (let n = 0; n < times; n += 1)
      await happens(accountId, 'swap.agreed', { swapId: swapId(n) });
  };
  /** A server whose receivers answer so. */
  const delivering = (answer?: Answer) => {
    const { sent, send } = recording(answer, () => at.deps.now());
    return { sent, ...createDelivering(at.deps, { send }) };
  };
  /** How often such an outcome was counted. */
  const counted = async (outcome: string) => {
    const text = await at.deps.metrics.registry.metrics();
    const found = new RegExp(`webhook_attempts_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text);
    return Number(found?.[1] ?? 0);
  };
  return { at, rows, account, webhook, owner, swapId, happens, agreed, delivering, counted };
}
