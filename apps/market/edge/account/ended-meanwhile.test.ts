// An act that is under way when a session, a login or the whole account ends does nothing
// afterwards.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { lockIfLive, setAccountLeaving } from '../../db/accounts.ts';
import type { Tx } from '../../db/database.ts';
import { deleteLogin } from '../../db/logins.ts';
import { insertPayout } from '../../db/payouts.ts';
import { findLiveSession, revokeSession } from '../../db/sessions.ts';
import { deleteLoginWallet } from '../../db/wallets.ts';
import { untilBlocked } from '../../market/testing/blocked.ts';
import { endAccount } from '../../people/delete.ts';
import { removeLogin } from '../../people/logins.ts';
import { hashOf, windowAt } from '../../people/sessions.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { type Answer, refused } from '../testing/edge.ts';
import { account, link } from '../testing/hands.ts';
import { freshAddress, testPeople } from '../testing/people.ts';
import { type SignedIn, signedIn } from '../testing/session.ts';
import { signInBy, textFor } from '../testing/sign-in.ts';
import { evmWallet } from '../testing/signers.ts';

const edge = await testPeople();
edge.deps.freeze();
const { db } = edge.deps;

/** Has `change` happen while `act` waits for the account. */
async function meanwhile<T>(
  accountId: string,
  act: () => Promise<T>,
  change: (tx: Tx) => Promise<unknown>,
): Promise<T> {
  const { acted } = await db.transaction(async (tx) => {
    await lockIfLive(tx, accountId);
    const acted = act();
    await untilBlocked(db, 1);
    await change(tx);
    return { acted };
  });
  return acted;
}

/** As after its wait. */
async function endNow(tx: Tx, accountId: string): Promise<void> {
  await setAccountLeaving(tx, accountId, new Date(edge.deps.now()));
  await endAccount(tx, edge.deps, accountId);
}

async function rows(accountId: string) {
  const text = `select (select count(*) from logins where account_id = $1) as logins,
      (select count(*) from wallets where account_id = $1) as wallets,
      (select count(*) from sessions where account_id = $1 and revoked_at is null) as sessions,
      (select count(*) from api_keys where account_id = $1 and revoked_at is null) as keys,
      (select count(*) from webhooks where account_id = $1) as webhooks,
      (select count(*) from ceremonies c join sessions s on s.id = c.session_id
        where s.account_id = $1) as begun,
      (select count(*) from accounts where id = $1
        and (deleted_at is not null or leaves_at is not null)) as deleted`;
  return (await edge.sql(text, accountId))[0];
}

const loginOf = async (browser: Pick<TestBrowser, 'get'>, wanted: string): Promise<string> => {
  const { logins } = (await browser.get('/account/me')).body;
  return logins.find(({ way, label }: Record<string, string>) => [way, label].includes(wanted)).id;
};
const adds = async (own: SignedIn, wallet = evmWallet()) => {
  assert.equal((await signInBy(own, wallet, 'add')).status, 200);
};
const makeKey = (own: Pick<SignedIn, 'post'>) => own.post('/account/keys', { scopes: ['read'] });

/**
 * The acts that a session may do; each begun with what it needs, and given back as what is left to
 * ask.
 */
type Act = (own: SignedIn) => Promise<() => Promise<Answer>>;
const acts: Readonly<Record<string, Act>> = {
  'makes a key': async (own) => () => makeKey(own),
  'adds an e-mail login': async (own) => {
    const address = freshAddress();
    await own.post('/account/email', { address, purpose: 'add' });
    return () => own.post('/account/email/code', { address, code: edge.codeOf(address) });
  },
  'removes a login': async (own) => {
    await adds(own);
    const id = await loginOf(own, 'email');
    return () => own.call('DELETE', `/account/logins/${id}`);
  },
  'stops what waits': async (own) => {
    await adds(own);
    await own.call('DELETE', `/account/logins/${await loginOf(own, 'wallet')}`);
    return () => own.post('/account/payout/stop-all');
  },
  'deletes the account': async (own) => () => own.call('DELETE', '/account/me'),
};

for (const [what, begin] of Object.entries(acts)) {
  test(`a session that was ended while it ${what} does nothing`, async () => {
    const own = await signedIn(edge);
    const { accountId, stored } = own;
    const act = await begin(own);
    const before = await rows(accountId);
    const at = new Date(edge.deps.now());
    const answer = await meanwhile(accountId, act, (tx) =>
      revokeSession(tx, accountId, stored.id, at),
    );
    refused(answer, '409 session_ended');
    assert.deepEqual(await rows(accountId), { ...before, sessions: before.sessions - 1 });
  });
}

test('a login or wallet that is removed while it signs in or mints opens nothing of the account', async () => {
  const address = freshAddress();
  const other = freshAddress();
  const own = await signedIn(edge, { proven: { way: 'email', address } });
  const { accountId } = own;
  await edge.byEmail(own, other, 'add');
  const id = await loginOf(own, address);
  const { status, body } = await meanwhile(
    accountId,
    () => edge.byEmail(browserOn(edge), address),
    (tx) => deleteLogin(tx, accountId, id),
  );
  assert.deepEqual([status, body.isNew, body.accountId === accountId], [200, true, false]);
  const { wallet, userId } = await account(edge, evmWallet());
  const minted = await meanwhile(
    userId,
    () => edge.mint(wallet),
    (tx) => deleteLoginWallet(tx, userId, wallet.family, wallet.address),
  );
  const me = await edge.call('GET', '/v1/me', { key: minted.body.key });
  assert.deepEqual([me.status, me.body.userId === userId], [200, false]);
});

test('a wallet that is chosen to be paid while a key removes it stays', async () => {
  const own = await signedIn(edge);
  const { accountId } = own;
  const { key } = (await makeKey(own)).body;
  const wallet = evmWallet();
  const { family, address } = wallet;
  assert.equal((await link(edge, key, wallet)).status, 200);
  const askedAt = new Date(edge.deps.now());
  const fromAt = new Date(askedAt.getTime() + 60_000);
  const payout = { id: randomUUID(), accountId, family, address, askedAt, fromAt, told: false };
  const answer = await meanwhile(
    accountId,
    () => edge.call('DELETE', `/v1/wallets/${address}`, { key }),
    (tx) => insertPayout(tx, payout),
  );
  refused(answer, '409 wallet_paid');
});

test('a deleted account leaves nothing personal but its last message', async () => {
  const address = freshAddress();
  const other = freshAddress();
  const wallet = evmWallet();
  const own = await edge.person(address);
  const stored = await findLiveSession(db, hashOf(own.session()!), windowAt(edge.deps.now()));
  assert.ok(stored);
  await edge.byEmail(own, other, 'add');
  await own.post('/account/keys', { scopes: ['read'], name: 'of a person' });
  for (const purpose of ['add', 'sign-in'] as const) await textFor(own, wallet, purpose);
  await edge.sql(
    `with asked as (
        insert into feed_subscriptions (account_id, number, asked) values ($1, 1, '{}')
      )
      insert into feed_events (account_id, number, topic, payload, at)
      values ($1, 1, 'thread.closed', '{}', now())`,
    stored.accountId,
  );
  const id = await loginOf(own, other);
  await db.transaction((tx) => removeLogin(tx, edge.deps, stored, id));
  await db.transaction((tx) => endNow(tx, stored.accountId));
  const [last, ...more] = await edge.sql(
    'select topic, payload from outbox where account_id = $1 order by id',
    stored.accountId,
  );
  assert.deepEqual([last.topic, more], ['account.deleted', []]);
  const addresses = last.payload.former.map(({ to }: { to: string }) => to);
  assert.deepEqual(addresses.sort(), [address, other].sort());
  const begun = 'select facts from ceremonies where facts::text like $1';
  assert.deepEqual(await edge.sql(begun, `%${wallet.address}%`), []);
  const left = `select account_id from feed_subscriptions where account_id = $1
    union all select account_id from feed_events where account_id = $1`;
  assert.deepEqual(await edge.sql(left, stored.accountId), []);
});
