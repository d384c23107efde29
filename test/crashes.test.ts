// kill -9 of a server at each point of a command, and the same request again at another server:
// the effect is there exactly once. The points are forced: the server's way to PostgreSQL stops
// at the message that the test names, and only then is the process killed.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerProcess, startServerProcess } from '../server/edge/testing/process.ts';
import { evmWallet } from '../server/edge/testing/signers.ts';
import { seedAssets } from '../server/market/assets.ts';
import { type TestDatabase, testDatabase } from './support/database.ts';
import { type TestDeps, testDeps } from './support/deps.ts';
import { type Point, type PostgresProxy, postgresProxy } from './support/postgres-proxy.ts';
import { insertTrader, someAddress } from './support/trading.ts';

let database: TestDatabase;
let deps: TestDeps;
let proxy: PostgresProxy;
let other: ServerProcess;
/** The server that is killed next: starting while the test before still runs. */
let next: Promise<ServerProcess>;
let assets: { btc: string; usd: string };
let homes: string;

before(async () => {
  homes = await mkdtemp(join(tmpdir(), 'parley-crashes-'));
  process.env.TMPDIR = homes;
  database = await testDatabase();
  deps = testDeps({ db: database.db });
  const [btc, usd] = await seedAssets(database.db, deps, [
    { chain: 'bitcoin', symbol: 'BTC', address: null, decimals: 8 },
    { chain: 'evm-dev', symbol: 'USD', address: `0x${'d0'.repeat(20)}`, decimals: 6 },
  ]);
  assets = { btc: btc?.id ?? '', usd: usd?.id ?? '' };
  proxy = await postgresProxy(database.url);
  next = startServerProcess(proxy.url);
  other = await startServerProcess(database.url);
});
after(async () => {
  await (await next).stop();
  await other.stop();
  await proxy.close();
  await database.drop();
  await rm(homes, { recursive: true, force: true });
});

type Call = {
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly key: string;
  readonly body?: unknown;
};
type Answer = { readonly status: number; readonly replayed: boolean; readonly text: string };

async function send(url: string, call: Call, idempotencyKey?: string): Promise<Answer> {
  const reply = await fetch(url + call.path, {
    method: call.method,
    headers: {
      authorization: `Bearer ${call.key}`,
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  });
  const replayed = reply.headers.get('idempotency-replayed') === 'true';
  return { status: reply.status, replayed, text: await reply.text() };
}

async function must(call: Call) {
  const { status, text } = await send(other.url, call);
  assert.ok(status < 300, `${call.path} ${status} ${text}`);
  return JSON.parse(text);
}

/** Killed with the connection to PostgreSQL stopped at the point. */
async function killAt(point: Point, work: (victim: ServerProcess) => unknown): Promise<void> {
  const victim = await next;
  next = startServerProcess(proxy.url);
  const reached = proxy.stopAt(point);
  const working = Promise.resolve(work(victim)).catch(() => null);
  const answered = working.then((answer) => {
    throw new Error(`${point.statement} was never reached: ${JSON.stringify(answer)}`);
  });
  await Promise.race([reached, answered]);
  process.kill(victim.pid, 'SIGKILL');
  answered.catch(() => {});
  assert.equal(await working, null, 'nothing was answered');
}

/** Killed as soon as the first byte of the reply arrives, which nobody reads. */
async function killInReply(call: Call, idempotencyKey: string): Promise<void> {
  const victim = await next;
  next = startServerProcess(proxy.url);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = {
    authorization: `Bearer ${call.key}`,
    'idempotency-key': idempotencyKey,
    ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const sent = request(victim.url + call.path, { method: call.method, headers }, (reply) => {
    process.kill(victim.pid, 'SIGKILL');
    reply.on('error', () => {});
    sent.destroy();
    resolve();
  });
  sent.on('error', reject);
  sent.end(call.body === undefined ? undefined : JSON.stringify(call.body));
  await promise;
}

/** The answer of the other server, which may still see the dead one's transaction for a moment. */
async function again(call: Call, idempotencyKey: string): Promise<Answer> {
  for (let tries = 0; ; tries += 1) {
    const answer = await send(other.url, call, idempotencyKey);
    if (answer.status !== 409 || tries === 200) return answer;
    await sleep(25);
  }
}

async function count(text: string, ...values: unknown[]): Promise<number> {
  const rows = await database.db.rows<{ count: number }>({ name: '', text, values });
  return rows[0]?.count ?? 0;
}

const newTrader = () =>
  insertTrader(
    deps,
    ['read', 'taker', 'maker'],
    [
      { family: 'bitcoin', address: someAddress('bitcoin') },
      { family: 'evm', address: someAddress('evm') },
    ],
  );

type Trader = Awaited<ReturnType<typeof newTrader>>;

const rfqCall = ({ key }: Trader): Call => ({
  method: 'POST',
  path: '/v1/rfqs',
  key,
  body: {
    direction: 'sell_base',
    baseAssetId: assets.btc,
    baseAmount: '100000',
    quoteAssetId: assets.usd,
    ttlSeconds: 3_600,
  },
});
const quoteCall = (rfqId: string, { key }: Trader): Call => ({
  method: 'POST',
  path: `/v1/rfqs/${rfqId}/quotes`,
  key,
  body: { quoteAmount: '65000000' },
});

/** A request, and what it did in numbers that are 1 when it happened once. */
type Case = { readonly call: Call; readonly effects: () => Promise<readonly number[]> };

type Command = {
  readonly name: string;
  readonly effect: string;
  /** What comes before the transaction, besides telling other processes. */
  readonly early: readonly string[];
  readonly make: () => Promise<Case>;
};

const commands: readonly Command[] = [
  {
    name: 'POST /v1/rfqs',
    effect: 'rfqs_insert',
    early: ['try_lock_session'],
    make: async () => {
      const trader = await newTrader();
      const own = 'select count(*) from rfqs where creator_id = $1';
      const told = `select (select count(*) from outbox
          where topic = 'feed.created' and payload->>'creatorId' = $1)
        + (select count(*) from feed_log
          where kind = 'created' and creator_id::text = $1) as count`;
      return {
        call: rfqCall(trader),
        effects: async () => [
          await count(own, trader.accountId),
          await count(told, trader.accountId),
        ],
      };
    },
  },
  {
    name: 'POST /v1/rfqs/{id}/quotes',
    effect: 'quotes_insert',
    early: ['try_lock_session'],
    make: async () => {
      const { rfq } = await must(rfqCall(await newTrader()));
      const prices = 'select sum(jsonb_array_length(messages)) as count from threads';
      const told = `select count(*) from outbox where topic = 'quote.created'`;
      return {
        call: quoteCall(rfq.id, await newTrader()),
        effects: async () => [
          Number(await count(`${prices} where rfq_id = $1`, rfq.id)),
          await count(`${told} and payload->>'rfqId' = $1`, rfq.id),
        ],
      };
    },
  },
  {
    name: 'POST /v1/threads/{id}/accept',
    effect: 'swap_insert',
    early: [],
    make: async () => {
      const [taker, maker] = [await newTrader(), await newTrader()];
      const { rfq } = await must(rfqCall(taker));
      const { thread } = await must(quoteCall(rfq.id, maker));
      const hashlock = randomBytes(32).toString('hex');
      const accept = (side: 'taker' | 'maker', { key }: Trader): Call => ({
        method: 'POST',
        path: `/v1/threads/${thread.id}/accept`,
        key,
        body: {
          quoteAmount: '65000000',
          ...(thread.initiator === side ? { hashlock } : {}),
        },
      });
      await must(accept('taker', taker));
      const told = `select count(*) / 2 as count from outbox where topic = 'swap.agreed'`;
      return {
        call: accept('maker', maker),
        effects: async () => [
          await count('select count(*) from swaps where thread_id = $1', thread.id),
          await count('select count(*) from hashlocks where hashlock = $1', hashlock),
          await count(`${told} and payload->>'threadId' = $1`, thread.id),
        ],
      };
    },
  },
  {
    name: 'POST /v1/wallets/evm',
    effect: 'upsert_proof',
    early: ['try_lock_session', 'use_nonce'],
    make: async () => {
      const { accountId, key } = await newTrader();
      const wallet = evmWallet();
      const reply = await fetch(`${other.url}/v1/wallets/nonce`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const { nonce } = (await reply.json()) as { nonce: string };
      const { address } = wallet;
      const message = `Parley - link this wallet\n\nAddress: ${address}\nNonce: ${nonce}`;
      const signature = await wallet.sign(message);
      const proven = `select count(*) from wallets where account_id = $1 and standing = 'proven'`;
      return {
        call: {
          method: 'POST',
          path: '/v1/wallets/evm',
          key,
          body: { address, message, signature },
        },
        effects: async () => [await count(proven, accountId)],
      };
    },
  },
  {
    name: 'DELETE /v1/wallets/{address}',
    effect: 'delete_proof',
    early: [],
    make: async () => {
      const { accountId, key } = await insertTrader(
        deps,
        ['read'],
        [{ family: 'evm', address: evmWallet().address, standing: 'proven' }],
      );
      const left = 'select count(*) from wallets where account_id = $1';
      const stored = `select address as one from wallets where account_id = $1`;
      const [row] = await database.db.rows<{ one: string }>({
        name: '',
        text: stored,
        values: [accountId],
      });
      return {
        call: { method: 'DELETE', path: `/v1/wallets/${row?.one}`, key },
        effects: async () => [1 - (await count(left, accountId))],
      };
    },
  },
];

let keys = 0;

/** What it is called, where, and whether the command is done by then. */
type KillPoint = readonly [string, Point, boolean];

/** At every point this one is killed, and in the soak all are; the others around their commit. */
const wholly = 'POST /v1/threads/{id}/accept';

for (const { name, effect, early, make } of commands) {
  describe(name, () => {
    const always: readonly KillPoint[] = [
      ...early.map(
        (statement): KillPoint => [`after ${statement}`, { statement, when: 'after' }, false],
      ),
      ['after its effect', { statement: effect, when: 'after' }, false],
      ['before its commit', { statement: 'commit', when: 'before', having: effect }, false],
      ['after its commit', { statement: 'commit', when: 'after', having: effect }, true],
    ];
    const others: readonly KillPoint[] = [
      ['before its lock', { statement: 'try_lock', when: 'before' }, false],
      ['after its reply is stored', { statement: 'keep_reply', when: 'after' }, false],
    ];
    const isWhole = name === wholly || process.env.PARLEY_FAULTS === 'all';
    const points = isWhole ? [...others, ...always] : always.slice(-2);

    async function happensOnce({ call, effects }: Case, key: string, committed: boolean) {
      const ones = (await effects()).map(() => 1);
      const retried = await again(call, key);
      assert.ok(retried.status < 300, `${retried.status} ${retried.text}`);
      assert.equal(retried.replayed, committed);
      assert.deepEqual(await effects(), ones);
      const replayed = await again(call, key);
      assert.deepEqual(replayed, { ...retried, replayed: true });
      assert.deepEqual(await effects(), ones);
    }

    for (const [what, point, committed] of points) {
      test(`killed ${what} happens once`, async () => {
        const made = await make();
        const key = `crash-${keys++}`;
        await killAt(point, ({ url }) => send(url, made.call, key));
        await happensOnce(made, key, committed);
      });
    }

    if (!isWhole) return;
    test('killed in the reply happens once', async () => {
      const made = await make();
      const key = `crash-${keys++}`;
      await killInReply(made.call, key);
      await happensOnce(made, key, true);
    });
  });
}

test('quotes that commit together are killed together: each is whole or not there', async () => {
  for (const when of ['before', 'after'] as const) {
    const { rfq } = await must(rfqCall(await newTrader()));
    const makers = [await newTrader(), await newTrader(), await newTrader()];
    const calls = makers.map((maker) => quoteCall(rfq.id, maker));
    await killAt({ statement: 'commit', when, having: 'quotes_insert' }, async ({ url }) => {
      const answers = await Promise.allSettled(calls.map((call) => send(url, call)));
      if (answers.every((each) => each.status === 'rejected')) throw new Error('cut off');
      return answers;
    });
    const threads = () => count('select count(*) from threads where rfq_id = $1', rfq.id);
    const told = `select count(*) from outbox where topic = 'quote.created'
      and payload->>'rfqId' = $1`;
    if (when === 'before') assert.equal(await threads(), 0);
    else assert.ok((await threads()) > 0);
    assert.equal(await count(told, rfq.id), await threads());
    for (const call of calls) await must(call);
    assert.equal(await threads(), 3);
  }
});
