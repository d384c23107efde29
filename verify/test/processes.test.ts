// Three processes of a market on one PostgreSQL, of which one follows the chains: it stands still,
// and the one that follows then is killed, in the middle of a swap. The swap goes on each time, and
// both sides have theirs and hear of the secret once.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { processRows } from '@parley/bench/processes.ts';
import { newCustomer } from './support/customers.ts';
import { type TestDatabase, testDatabase } from './support/database.ts';
import { agreed, endsRight, finish, fund, type Pair, shows, until } from './support/deals.ts';
import { faultProxy } from './support/fault-proxy.ts';
import { processesIn } from './support/market.ts';
import { type Ground, type Server, type Stage, sharedChains, startStage } from './support/stage.ts';

const limits = { timeout: 240_000 };
const chains = sharedChains();
let stage: Stage;
let database: TestDatabase;
let front: Awaited<ReturnType<typeof faultProxy>>;

before(async () => {
  database = await testDatabase();
  const env = { DATABASE_URL: database.url, PARLEY_LOG_LEVEL: 'info' };
  stage = await startStage({ chains: await chains(), env });
  front = await faultProxy(1);
}, limits);
after(async () => {
  await front?.close();
  await stage?.close();
  await database?.drop();
}, limits);

/** With a database and chains of its own a market starts neither, nor what dev sign-ins need. */
async function startedNeither({ market: { ready, home } }: Server): Promise<void> {
  const { database, dev, inbox, identityProvider } = ready;
  const own = ['external', null, undefined, undefined];
  assert.deepEqual([database, dev, inbox, identityProvider], own);
  assert.deepEqual(await processesIn(home), []);
}

/** How often a process took a lease. */
const takes = ({ market }: Server) => market.log().split('this process follows').length - 1;

test(
  'a swap goes on when its follower stands still, and when the next one is killed',
  limits,
  async () => {
    const first = await stage.startServer();
    const others = await Promise.all([stage.startServer(), stage.startServer()]);
    assert.deepEqual([first, ...others].map(takes), [1, 0, 0]);
    await startedNeither(first);
    front.pointTo(others[0].port);
    const ground: Ground = { ...stage, url: `http://127.0.0.1:${front.port}` };
    const pair: Pair = [await newCustomer(ground, 'Ann'), await newCustomer(ground, 'Ben')];
    const measured = { stage: ground, database: process.pid, fronts: [front], pairs: [pair] };
    assert.equal((await processRows(measured, [first, ...others], 1)).length, 2);
    front.pointTo(others[0].port);
    const deal = await agreed(ground, pair, 'SOL', 'ETH');

    first.market.child.kill('SIGSTOP');
    await fund(ground, deal, 'initiator');
    await shows(deal, 'another process follows', ({ status }) => status === 'initiator_funded');
    first.market.child.kill('SIGCONT');
    await until('it hears of that', async () =>
      first.market.log().includes('another process follows from now on'),
    );

    const [next, last] = others.toSorted((one, two) => takes(two) - takes(one)) as typeof others;
    front.pointTo(last.port);
    await next.market.kill();
    await endsRight(stage, deal, await finish(ground, deal), 'received');
    assert.ok(takes(first) + takes(last) > 1, 'one of those that are left follows');
  },
);
