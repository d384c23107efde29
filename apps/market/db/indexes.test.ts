// Indexes find rows that grow with the market, so that the work of a pass grows with the due rows.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { fundedInBuckets, fundedLately, unfundedOf } from './agreements.ts';
import * as candidates from './candidates.ts';
import type { Statement, Tx } from './database.ts';
import * as jobs from './jobs.ts';
import { quotedPairs } from './levels.ts';
import { findListedToken } from './listing.ts';
import * as messages from './messages.ts';
import { listOwnThreads } from './own-threads.ts';
import * as reminders from './reminders.ts';
import { listBook } from './rfqs.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
  await run(`insert into candidates (id, chain, address, source, status, created_at, next_check_at,
      gives_up_at)
    select gen_random_uuid(), 'evm-dev', '0x' || i, case i % 4 when 0 then 'api' else
        'launchpad:' || i % 9 end, case i % 3 when 0 then 'expired' else 'pending' end,
      now() + i * interval '1 minute', now() + i * interval '1 minute',
      now() + i * interval '1 minute'
    from generate_series(1, 5000) i`);
  // Without rows a plan by kind costs the same, and PostgreSQL before 18 takes it.
  await run(`with made as (insert into accounts (id, kind, created_at)
      select gen_random_uuid(), 'wallet', now() from generate_series(1, 1000) returning id)
    insert into jobs (id, kind, account_id, about, due_at, made_at)
      select id, 'email', id, '{}', now(), now() from made`);
  await run('analyze candidates, jobs');
});
after(() => database.drop());

const run = (text: string, values: readonly unknown[] = []) =>
  database.db.rows({ name: '', text, values });
const now = new Date();
const id = randomUUID();
const page = { now: 1, lead: 1, after: { swapId: id, accountId: id }, limit: 1 };
const claim = { kind: 'email', now, until: now, limit: 1 };
const own = { accountId: id, rfqId: null, before: null, now, limit: 20 };
const book = { direction: null, baseAssetId: null, quoteAssetId: null };
const buckets = { from: 0, until: 604_800, seconds: 3_600, walked: 50 };
const keys = { now, until: now, lifeMs: 1, limit: 1 };

const found: readonly (readonly [
  what: string,
  ask: string | ((tx: Tx) => Promise<unknown>),
  ...indexes: readonly string[],
])[] = [
  ...(['maker', 'taker'] as const).flatMap((role) =>
    (['open', 'closed'] as const).map(
      (status) =>
        [
          `${status} threads of a ${role}`,
          (tx: Tx) => listOwnThreads(tx, role, status, own),
          `threads_${status}_by_${role}`,
        ] as const,
    ),
  ),
  [
    'own threads of one RFQ',
    (tx) => listOwnThreads(tx, 'taker', 'closed', { ...own, rfqId: id }),
    'threads_by_activity',
  ],
  [
    'the book of accounts with settled swaps',
    (tx) => listBook(tx, { ...book, minSettled: 3 }, { before: null, limit: 20 }, now),
    'book_of_settled',
  ],
  [
    'unsettled swaps',
    (tx) => unfundedOf(tx, [id], { from: 0, until: 1, limit: 1 }),
    'swaps_unsettled_by_maker',
    'swaps_unsettled_by_taker',
    'swaps_settled_by_maker',
    'swaps_settled_by_taker',
  ],
  [
    'agreements of a pair in buckets',
    (tx) => fundedInBuckets(tx, { baseAssetId: id, quoteAssetId: id }, buckets),
    'rfqs_agreed_by_pair',
    'swaps_rfq_id_key',
    'threads_pkey',
  ],
  [
    'the newest agreements',
    (tx) => fundedLately(tx, { since: now, walked: 2_000 }),
    'swaps_pkey',
    'rfqs_pkey',
  ],
  [
    'pairs with levels',
    (tx) => quotedPairs(tx, { now, walked: 1_000, weighed: 20 }),
    'levels_by_pair',
  ],
  ['a token', (tx) => findListedToken(tx, 'evm-dev', '0xd0'), 'assets_chain_address_key'],
  [
    'candidates that are due',
    (tx) => candidates.takeDueCandidates(tx, ['evm-dev'], now, now, 'api', 20),
    'candidates_due',
  ],
  [
    'those of a source',
    (tx) => candidates.countPendingOf(tx, 'launchpad:x'),
    'candidates_by_source',
  ],
  ['those at their end', (tx) => candidates.expireCandidates(tx, now, 20), 'candidates_expiring'],
  ['old ones', (tx) => candidates.pruneCandidates(tx, now, 20), 'candidates_old'],
  ['the newest', (tx) => candidates.listCandidates(tx, null, 20), 'candidates_by_age'],
  ['waiting events for people', (tx) => messages.peopleEventsWait(tx), 'outbox_people'],
  ['the next jobs', (tx) => jobs.nextJobs(tx, ['email']), 'jobs_due'],
  ['events of people', (tx) => messages.takePeopleEvents(tx, 1), 'outbox_people'],
  ['jobs that are due', (tx) => jobs.claimJobs(tx, claim), 'jobs_due'],
  ['jobs of accounts', (tx) => jobs.countJobsOf(tx, [id], ['email']), 'jobs_of_accounts'],
  ['old jobs', (tx) => jobs.pruneJobs(tx, now, 1), 'jobs_given_up'],
  ['first fundings', (tx) => reminders.nearFirstFunding(tx, page), 'swaps_to_fund_first'],
  ['second fundings', (tx) => reminders.nearSecondFunding(tx, page), 'swaps_to_fund_second'],
  ['reveals', (tx) => reminders.nearRevealing(tx, page), 'swaps_to_reveal'],
  ['claims', (tx) => reminders.claimable(tx, page), 'swaps_revealed', 'logins_by_account'],
  ['refunds', (tx) => reminders.refundable(tx, page), 'escrows_refundable'],
  ['keys', (tx) => reminders.takeExpiringKeys(tx, keys), 'live_keys_by_expiry'],
  [
    'revoked sessions',
    'select id from sessions where revoked_at < now() limit 500',
    'sessions_by_revocation',
  ],
  [
    'idle sessions',
    'select id from sessions where last_used_at < now() limit 500',
    'sessions_by_use',
  ],
  [
    'sessions at their end',
    'select id from sessions where expires_at < now() limit 500',
    'sessions_by_expiry',
  ],
  [
    'old devices',
    'select hash from devices where seen_at < now() order by seen_at limit 9',
    'devices_by_age',
  ],
  [
    'what a session began',
    `select 1 from ceremonies where session_id = '${id}'`,
    'ceremonies_by_session',
  ],
  [
    'its tickets',
    `select 1 from feed_tickets where session_id = '${id}'`,
    'feed_tickets_by_session',
  ],
];

for (const [what, ask, ...indexes] of found) {
  test(`${what}: found by an index of their own`, async () => {
    const asked: Pick<Statement, 'text' | 'values'>[] = [];
    const note: Tx = {
      rows: async (statement) => {
        asked.push(statement);
        return [];
      },
    };
    if (typeof ask === 'string') asked.push({ text: ask, values: [] });
    // Some want a row.
    else await ask(note).catch(() => {});
    const { text, values } = asked[0] ?? assert.fail();
    const plan = JSON.stringify(await run(`explain (format json) ${text}`, values));
    for (const index of indexes) assert.match(plan, new RegExp(`"${index}"`), plan);
  });
}
