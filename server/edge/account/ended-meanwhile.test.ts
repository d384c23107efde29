// What was under way when a session, a login or the whole account ended does nothing afterwards.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { lockIfLive } from '../../db/accounts.ts';
import type { Tx } from '../../db/database.ts';
import { deleteLogin } from '../../db/logins.ts';
import { insertPayout } from '../../db/payouts.ts';
import { findLiveSession, revokeSession } from '../../db/sessions.ts';
import { deleteLoginWallet } from '../../db/wallets.ts';
import { deleteAccount } from '../../people/delete.ts';
import { removeLogin } from '../../people/logins.ts';
import { hashOf, lockLive, windowAt } from '../../people/sessions.ts';
import { browserOn, type TestBrowser } from '../testing/browser.ts';
import { refused } from '../testing/edge.ts';
import { byEmail, startPeople } from '../testing/people.ts';
import { type SignedIn, signedIn } from '../testing/session.ts';
import { signInBy, textFor } from '../testing/sign-in.ts';
import { evmWallet } from '../testing/signers.ts';

const edge = await startPeople();
after(() => edge.close());
edge.deps.freeze();

const plain = (text: string, values: readonly unknown[] = []) => ({ name: '', text, values });

async function untilBlocked(count = 1): Promise<void> {
  for (let look = 0; look < 500; look += 1) {
    const [row] = await edge.deps.db.rows<{ count: number }>(
      plain(`select count(*) as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`),
    );
    if ((row?.count ?? 0) >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`fewer than ${count} wait for the account`);
}

/** Has `change` happen while `act` waits for the account. */
async function meanwhile<T>(
  accountId: string,
  act: () => Promise<T>,
  change: (tx: Tx) => Promise<unknown>,
): Promise<T> {
  const { acted } = await edge.deps.db.transaction(async (tx) => {
    await lockIfLive(tx, accountId);
    const acted = act();
    await untilBlocked();
    await change(tx);
    return { acted };
  });
  return acted;
}

const rows = async (accountId: string) => {
  const [row] = await edge.deps.db.rows<Record<string, number>>(
    plain(
      `select (select count(*) from logins where account_id = $1) as logins,
        (select count(*) from wallets where account_id = $1) as wallets,
        (select count(*) from sessions where account_id = $1 and revoked_at is null) as sessions,
        (select count(*) from api_keys where account_id = $1 and revoked_at is null) as keys,
        (select count(*) from webhooks where account_id = $1) as webhooks,
        (select count(*) from ceremonies c join sessions s on s.id = c.session_id
          where s.account_id = $1) as begun,
        (select count(*) from accounts where id = $1 and deleted_at is not null) as deleted`,
      [accountId],
    ),
  );
  return row;
};

type Told = ReturnType<TestBrowser['call']>;
/** What a session may do; each begun with what it needs, and given back as what is left to ask. */
const acts: Readonly<Record<string, (own: SignedIn) => Promise<() => Told>>> = {
  'makes a key': async (own) => () => own.post('/account/keys', { scopes: ['read'] }),
  'revokes a key': async (own) => {
    const made = await own.post('/account/keys', { scopes: ['read'] });
    return () => own.call('DELETE', `/account/keys/${made.body.id}`);
  },
  'adds an e-mail login': async (own) => {
    const address = `${randomUUID()}@example.org`;
    await own.post('/account/email', { address, purpose: 'add' });
    return () => own.post('/account/email/code', { address, code: edge.codeOf(address) });
  },
  'adds a wallet': async (own) => {
    const wallet = evmWallet();
    const { family, address } = wallet;
    const message = await textFor(own, wallet, 'add');
    const signature = await wallet.sign(message);
    return () => own.post('/account/wallet/proof', { family, address, message, signature });
  },
  'removes a login': async (own) => {
    assert.equal((await signInBy(own, evmWallet(), 'add')).status, 200);
    const { logins } = (await own.get('/account/me')).body;
    return () => own.call('DELETE', `/account/logins/${logins[0].id}`);
  },
  'begins a passkey': async (own) => () => own.post('/account/passkey/add', {}),
  'stops what waits': async (own) => {
    assert.equal((await signInBy(own, evmWallet(), 'add')).status, 200);
    const { logins } = (await own.get('/account/me')).body;
    const { id } = logins.find((each: { way: string }) => each.way === 'wallet');
    assert.equal((await own.call('DELETE', `/account/logins/${id}`)).status, 200);
    return () => own.post('/account/payout/stop-all');
  },
  'ends the other sessions': async (own) => () => own.call('DELETE', '/account/sessions'),
  'ends one session': async (own) => () => own.call('DELETE', `/account/sessions/${own.stored.id}`),
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
      revokeSession(tx, accountId, stored.id, stored.id, at),
    );
    refused(answer, '409 session_ended');
    const sessions = (before?.sessions ?? 0) - 1;
    assert.deepEqual(await rows(accountId), { ...before, sessions });
  });
}

test('who ends a session waits until what it does is done', async () => {
  const own = await signedIn(edge);
  const { stored } = own;
  const { db } = edge.deps;
  let ended = false;
  const held = await db.transaction(async (tx) => {
    await lockLive(tx, edge.deps, stored);
    const ending = own.post('/account/sign-out').then((answer) => {
      ended = true;
      return answer;
    });
    await untilBlocked();
    assert.equal(ended, false);
    return { ending };
  });
  assert.equal((await held.ending).status, 200);
});

test('a login that was removed while it signs in opens no session of the account', async () => {
  const [address, other] = [`${randomUUID()}@example.org`, `${randomUUID()}@example.org`];
  const own = await signedIn(edge, { proven: { way: 'email', address } });
  const { accountId } = own;
  await byEmail(own, other, () => edge.codeOf(other), 'add');
  const { logins } = (await own.get('/account/me')).body;
  const id = logins.find((each: { label: string }) => each.label === address).id;
  const thief = browserOn(edge);
  const answer = await meanwhile(
    accountId,
    () => byEmail(thief, address, () => edge.codeOf(address)),
    (tx) => deleteLogin(tx, accountId, id),
  );
  assert.equal(answer.status, 200);
  assert.equal(answer.body.isNew, true);
  assert.notEqual(answer.body.accountId, accountId);
});

test('a wallet that was removed while it mints makes no key of the account', async () => {
  const wallet = evmWallet();
  const minted = await edge.mint(wallet);
  const me = await edge.call('GET', '/v1/me', { key: minted.body.key });
  const accountId: string = me.body.userId;
  const { family, address } = wallet;
  const again = await meanwhile(
    accountId,
    () => edge.mint(wallet),
    (tx) => deleteLoginWallet(tx, accountId, family, address),
  );
  const of = await edge.call('GET', '/v1/me', { key: again.body.key });
  assert.equal(of.status, 200);
  assert.notEqual(of.body.userId, accountId);
});

test('of an account that was deleted meanwhile a key registers no webhook and proves no wallet', async () => {
  const own = await signedIn(edge);
  const { accountId, stored } = own;
  const { key } = (await own.post('/account/keys', { scopes: ['read'] })).body;
  const wallet = evmWallet();
  const body = await edge.proof(wallet, key);
  const url = `/v1/wallets/${wallet.family}`;
  const both = await meanwhile(
    accountId,
    () =>
      Promise.all([
        edge.call('POST', '/v1/webhooks', { key, body: { url: 'https://hooks.example.org/' } }),
        edge.call('POST', url, { key, body }),
      ]),
    async (tx) => {
      await untilBlocked(2);
      await deleteAccount(tx, edge.deps, stored);
    },
  );
  for (const answer of both) refused(answer, '409 account_deleted');
  const left = await rows(accountId);
  assert.deepEqual([left?.webhooks, left?.wallets], [0, 0]);
});

test('a wallet that is chosen to be paid while a key removes it stays', async () => {
  const own = await signedIn(edge);
  const { accountId } = own;
  const { key } = (await own.post('/account/keys', { scopes: ['read'] })).body;
  const wallet = evmWallet();
  const { family, address } = wallet;
  const body = await edge.proof(wallet, key);
  assert.equal((await edge.call('POST', `/v1/wallets/${family}`, { key, body })).status, 200);
  const at = new Date(edge.deps.now());
  const fromAt = new Date(at.getTime() + 60_000);
  const payout = { id: randomUUID(), accountId, family, address, askedAt: at, fromAt, told: false };
  const answer = await meanwhile(
    accountId,
    () => edge.call('DELETE', `/v1/wallets/${address}`, { key }),
    (tx) => insertPayout(tx, payout),
  );
  refused(answer, '409 wallet_paid');
});

test('a deleted account leaves nothing personal but its last message', async () => {
  const address = `${randomUUID()}@example.org`;
  const ownAddress = `${randomUUID()}@example.org`;
  const own = await edge.person(ownAddress);
  const { db } = edge.deps;
  const token = hashOf(own.session() ?? '');
  const stored = await findLiveSession(db, token, windowAt(edge.deps.now()));
  assert.ok(stored);
  const { accountId } = stored;
  await byEmail(own, address, () => edge.codeOf(address), 'add');
  await own.post('/account/keys', { scopes: ['read'], name: 'of a person' });
  const wallet = evmWallet();
  await textFor(own, wallet, 'add');
  await textFor(own, wallet, 'sign-in');
  const { logins } = (await own.get('/account/me')).body;
  const { id } = logins.find((each: { label: string }) => each.label === address);
  await db.transaction((tx) => removeLogin(tx, edge.deps, stored, id));
  await db.transaction((tx) => deleteAccount(tx, edge.deps, stored));
  const [last] = await db.rows<{ payload: { former: { to: string }[] } }>(
    plain(`select payload from outbox where topic = 'account.deleted' and account_id = $1`, [
      accountId,
    ]),
  );
  assert.deepEqual(last?.payload.former.map(({ to }) => to).sort(), [ownAddress, address].sort());
  const events = await db.rows<{ topic: string; payload: Record<string, unknown> }>(
    plain('select topic, payload from outbox where account_id = $1 order by id', [accountId]),
  );
  assert.deepEqual(
    events.map(({ topic }) => topic),
    ['account.deleted'],
  );
  const begun = await db.rows(
    plain('select facts from ceremonies where facts::text like $1', [`%${wallet.address}%`]),
  );
  assert.deepEqual(begun, []);
});
