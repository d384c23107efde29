// An account that an operator has blocked: it begins nothing new, what it offers leaves the market,
// and its open swaps go on.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Commands, startCommands } from '@parley/verify/test/support/commands.ts';
import { someAddress, type Trader } from '@parley/verify/test/support/trading.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { lockTrader, setBlocked, setUnblocked } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import { accept } from '../market/agreement.ts';
import { withdrawBlocked } from '../market/blocking.ts';
import { prune } from '../market/prune.ts';
import { quote } from '../market/quotes.ts';
import { addProof } from '../market/wallets.ts';
import { registerWebhook } from '../webhooks/register.ts';
import type { Operation } from './command.ts';
import { codeOf, refused } from './testing/edge.ts';
import type { Frame } from './testing/feed-client.ts';
import { agreeOn, type FeedMarket, feedMarket } from './testing/feed-market.ts';
import { pageHeaders, signedIn } from './testing/session.ts';

let market: FeedMarket;
let commands: Commands;
const absent = '0193b5a0-0000-7000-8000-000000000000';
const price = { quoteAmount: '65000000' };

before(async () => {
  commands = startCommands();
  market = await feedMarket();
});
after(() => Promise.all([market.close(), commands.stop()]));

const ops = (...args: string[]) =>
  commands.run('apps/market/ops.ts', ['accounts', ...args], { DATABASE_URL: market.url });
/** Straight into the database, and remembered by nobody. */
const block = async ({ accountId: id }: Pick<Trader, 'accountId'>) => {
  await setBlocked(market.db, { id, reason: 'why', at: new Date() });
  market.app.edge.keys.forget(id);
};
const all = () => [...market.app.edge.operations, ...market.app.edge.accountOperations];

const newBusiness = new Set([
  'createRfq',
  'quoteRfq',
  'quoteMany',
  'proposePrice',
  'publishLevels',
  'listAsset',
  'proveEvmWallet',
  'proveTronWallet',
  'proveBitcoinWallet',
  'proveSolanaWallet',
  'registerWebhook',
  'makeKey',
  'makeFeedTicket',
  'beginPayout',
  'provePayout',
]);

test('a new trade is refused with 403 before anything of the request is looked at; the rest is not', async () => {
  const trader = await market.trader();
  await block(trader);
  const call = () => assert.fail('no page is asked');
  const person = await signedIn({ call, deps: market.deps });
  await block(person);
  const ask = ({ method, url, access }: Operation) => {
    const path = url.replace(':leg', 'a').replaceAll(/:\w+/g, absent);
    const headers =
      access.kind === 'key'
        ? { authorization: `Bearer ${trader.key}` }
        : pageHeaders(person.session(), person.accountId);
    return market.app.inject({ method, url: path, headers });
  };
  let refusals = 0;
  let others = 0;
  for (const each of all()) {
    if (each.access.kind === 'open' || each.access.kind === 'browser') continue;
    // The last of them.
    if (each.operationId === 'deleteAccount' || each.operationId === 'signOut') continue;
    const reply = await ask(each);
    const code = codeOf({ status: reply.statusCode, headers: reply.headers });
    if (newBusiness.has(each.operationId)) {
      assert.equal(code, '403 account_blocked', each.operationId);
      refusals += 1;
    } else {
      assert.doesNotMatch(code, /account_blocked/, each.operationId);
      others += 1;
    }
  }
  assert.equal(refusals, newBusiness.size);
  assert.ok(others >= 35, `${others} others`);
});

/** A blocked account with all that it may have open. */
async function busyMaker() {
  const taker = await market.trader();
  const maker = await market.trader();
  const agreed = await market.rfq(taker);
  await agreeOn(market, agreed.id, taker, maker);
  const asked = await market.rfq(taker);
  const own = await market.rfq(maker);
  const quoted = (await maker.post(`/v1/rfqs/${asked.id}/quotes`, price)).body.thread;
  const theirs = (await taker.post(`/v1/rfqs/${own.id}/quotes`, price)).body.thread;
  const { btc, usd } = market.assets;
  const level = {
    direction: 'sell_base',
    baseAmount: '100000',
    quoteAmount: '65000000',
    validForSeconds: 600,
  };
  const levels = { baseAssetId: btc.id, quoteAssetId: usd.id, levels: [level] };
  assert.equal((await maker.post('/v1/levels', levels)).status, 200);
  const { swapId } = (await maker.get(`/v1/threads?role=maker&status=agreed`)).body.threads[0];
  return { taker, maker, asked, own, quoted, theirs, swapId, levels };
}

test('a block takes all that is offered off the market, ends the feed, and leaves swaps alone', async () => {
  const busy = await busyMaker();
  const { taker, maker, asked, own, quoted, theirs, swapId, levels } = busy;
  const words = { ...price, ...(quoted.initiator === 'maker' && { hashlock: 'ab'.repeat(32) }) };
  assert.equal((await maker.post(`/v1/threads/${quoted.id}/accept`, words)).status, 200);
  const watcher = await market.maker(taker);
  const socket = await market.maker(maker, { resume: true });
  const done = await ops('block', maker.accountId, '--reason', 'a court said so');
  assert.deepEqual([done.code, done.err], [0, '']);
  const gone = '1 RFQ, 1 quotes and 1 levels left the market';
  assert.equal(done.out, `${maker.accountId} is blocked: ${gone}\n`);
  const left = (frame: Frame) => frame.kind === 'cancelled' && frame.rfq.id === own.id;
  await watcher.frame(left);
  const told = await socket.frame(({ type }: Frame) => type === 'error');
  assert.deepEqual([told.code, (await socket.closed).code], ['account_blocked', 4403]);
  assert.doesNotMatch(JSON.stringify(socket.frames), /court/);
  assert.equal((await taker.get(`/v1/rfqs/${own.id}`)).body.status, 'cancelled');
  for (const { id } of [quoted, theirs]) {
    assert.equal((await taker.get(`/v1/threads/${id}`)).body.status, 'closed');
  }
  const pair = `direction=sell_base&baseAssetId=${levels.baseAssetId}&quoteAssetId=${levels.quoteAssetId}`;
  assert.deepEqual((await taker.get(`/v1/levels?${pair}`)).body.levels, []);
  // The other side's RFQ, and its own swap, are as they were.
  assert.equal((await taker.get(`/v1/rfqs/${asked.id}`)).body.status, 'negotiating');
  refused(await maker.post(`/v1/rfqs/${asked.id}/quotes`, price), '403 account_blocked');
  refused(await maker.post(`/v1/threads/${quoted.id}/accept`, words), '403 account_blocked');
  assert.equal((await maker.get(`/v1/swaps/${swapId}`)).body.status, 'agreed');
  const again = await market.maker(maker).catch((error: Error) => error.message);
  assert.match(String(again), /account is blocked/);
  watcher.close();
  const back = await ops('unblock', maker.accountId, '--reason', 'the order was lifted');
  assert.equal(back.out, `${maker.accountId} may begin again\n`);
  await waitUntil(async () => {
    return (await maker.post(`/v1/rfqs/${asked.id}/quotes`, price)).status === 200;
  });
});

test('orders that a killed command left on the market go with the next pass of any process, once', async () => {
  const taker = await market.trader();
  const asker = await market.trader();
  const quoter = await market.trader();
  const own = await market.rfq(asker);
  const asked = await market.rfq(taker);
  const quoted = (await quoter.post(`/v1/rfqs/${asked.id}/quotes`, price)).body.thread;
  const { maker, levels } = await busyMaker();
  const pair = `&baseAssetId=${levels.baseAssetId}&quoteAssetId=${levels.quoteAssetId}`;
  const shown = async () => {
    const ofMaker = `makerId=${maker.accountId}&direction=sell_base`;
    return (await taker.get(`/v1/levels?${ofMaker}${pair}`)).body.levels.length;
  };
  // One with an RFQ alone, one with a quote, one with levels.
  await withdrawBlocked(market.db, maker.accountId, new Date());
  assert.equal((await maker.post('/v1/levels', levels)).status, 200);
  assert.equal(await shown(), 1);
  for (const each of [asker, quoter, maker]) await block(each);
  assert.equal((await prune(market.deps)).blocked, 3);
  assert.equal((await taker.get(`/v1/rfqs/${own.id}`)).body.status, 'cancelled');
  assert.equal((await taker.get(`/v1/threads/${quoted.id}`)).body.status, 'closed');
  assert.equal(await shown(), 0);
  assert.equal((await prune(market.deps)).blocked, 0);
});

test('in the transactions themselves: what passed the gate before the block is refused all the same', async () => {
  const { taker, maker, asked, quoted } = await busyMaker();
  const { deps } = market;
  await setBlocked(market.db, { id: maker.accountId, reason: 'why', at: new Date() });
  const { accountId } = maker;
  const hook = { accountId, url: 'https://example.org/', events: [], known: [] };
  const wallet = { family: 'evm', address: `0x${'ab'.repeat(20)}`, pubkey: null } as const;
  const begun: ((tx: Tx) => Promise<unknown>)[] = [
    (tx) => addProof(tx, deps, accountId, { ...wallet, authorised: false }),
    (tx) => registerWebhook(tx, deps, hook),
    (tx) => lockTrader(tx, accountId),
  ];
  for (const each of begun) {
    await assert.rejects(market.db.transaction(each), { code: 'account_blocked' });
  }
  const wanted = { makerId: maker.accountId, rfqId: asked.id, quoteAmount: 1n, expiresAt: null };
  await assert.rejects(
    market.db.transaction((tx) => quote(tx, deps, { ...wanted, unlessAccepted: false })),
    { code: 'account_blocked' },
  );
  const mint = { quoteAmount: 65_000_000n, hashlock: null };
  const accepts = (by: Trader) =>
    market.db.transaction((tx) => accept(tx, deps, by.accountId, quoted.id, mint));
  await assert.rejects(accepts(maker), { code: 'account_blocked' });
  // The other side hears nothing of it.
  await assert.rejects(accepts(taker), { code: 'thread_closed' });
});

test('a wallet is not freed of a block: neither by deleting the account nor by removing the login', async () => {
  const { askDeletion } = await import('../people/delete.ts');
  const { removeLogin, shownLogins } = await import('../people/logins.ts');
  const { db, deps } = market;
  const person = await signedIn({ call: () => assert.fail('no page'), deps });
  await market.sql(
    `insert into wallets (account_id, family, address, standing, proven_at)
      values ($1, 'evm', $2, 'login', now() - interval '1 year')`,
    person.accountId,
    someAddress('evm'),
  );
  const logins = await db.transaction((tx) => shownLogins(tx, person.accountId, deps.now()));
  const wallet = logins.find(({ way }) => way === 'wallet')!;
  await block(person);
  await assert.rejects(
    db.transaction((tx) => removeLogin(tx, deps, person.stored, wallet.id)),
    { code: 'account_blocked' },
  );
  const end = () => db.transaction((tx) => askDeletion(tx, deps, person.stored));
  await assert.rejects(end(), { code: 'account_blocked', message: /ask the operator/ });
  await setUnblocked(db, person.accountId);
  await end();
});
