// kill -9 of a real `server/main.ts`: at statements of its start on an empty database, around the
// commit of a request, and while it stops. At every await the same code is ended within one process
// (test/crash-matrix.test.ts).

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { startDevnet } from '../../devnet/devnet.ts';
import { chanceOf } from '../sim/chance.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { testDeps } from '../support/deps.ts';
import { newHome, startMarketProcess } from '../support/market.ts';
import { postgresProxy } from '../support/postgres-proxy.ts';
import { insertTrader } from '../support/trading.ts';

const main = fileURLToPath(new URL('../../server/main.ts', import.meta.url));
const chain = 'evm-dev';
const chainId = 31_337;
/** Where everything is killed that a run of all tests draws from. */
const isSoak = process.env.PARLEY_FAULTS === 'all';
const seed = Number(process.env.PARLEY_CRASH_SEED ?? Date.now() % 100_000);

/** The settings of a market on a chain of its own, without those of the dev network. */
async function settingsFor(t: TestContext): Promise<Record<string, string>> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-crash-'));
  const devnet = await startDevnet({
    dir,
    log: pino({ level: 'silent' }),
    bitcoin: false,
    tron: false,
    solana: false,
    evmChains: [{ key: chain, chainId }],
    moveClock: () => {},
  });
  t.after(async () => {
    await devnet.stop();
    await rm(dir, { recursive: true, force: true });
  });
  const rpcUrls = [devnet.chains[0]?.rpcUrl ?? ''];
  return {
    PARLEY_ENCRYPTION_KEY: '42'.repeat(32),
    PARLEY_CHAINS: JSON.stringify([{ family: 'evm', chain, chainId, rpcUrls }]),
  };
}

async function rowsOf({ db }: TestDatabase): Promise<unknown> {
  const text = `select (select array_agg(name order by name) from migrations) as migrations,
    (select array_agg(concat_ws(' ', chain, symbol, state) order by chain, symbol) from assets)
      as assets`;
  return (await db.rows({ name: '', text, values: [] }))[0];
}

test('a start that is killed on an empty database is made whole by the next one', async (t) => {
  const settings = await settingsFor(t);
  const chance = chanceOf(seed);
  const empty = { url: 'postgres:///template0' };
  const wholes: unknown[] = [];
  const kills = isSoak
    ? (['before', 'after'] as const)
    : [chance.pick(['before', 'after'] as const)];
  for (const when of [null, ...kills]) {
    const database = await testDatabase({ of: empty });
    const proxy = await postgresProxy(database.url);
    t.after(async () => {
      await proxy.close();
      await database.drop();
    });
    const home = await newHome(t);
    if (when !== null) {
      const nth = chance.int(1, 50);
      t.diagnostic(`killed ${when} statement ${nth} of its start, seed ${seed}`);
      const env = { ...process.env, ...settings, DATABASE_URL: proxy.url, PARLEY_HOME: home };
      const reached = proxy.stopAt({ nth, when });
      const dying = spawn(process.execPath, [main], {
        env: { ...env, PORT: '0' },
        stdio: 'ignore',
      });
      const ended = once(dying, 'exit');
      await Promise.race([reached, ended.then(() => assert.fail('it ended by itself'))]);
      dying.kill('SIGKILL');
      await ended;
    }
    const market = await startMarketProcess(t, home, { ...settings, DATABASE_URL: database.url });
    wholes.push(await rowsOf(database));
    assert.equal(await market.stop(), 0);
  }
  assert.equal(wholes.length, kills.length + 1);
  for (const whole of wholes) assert.deepEqual(whole, wholes[0]);
});

test('what a market has under way when it is killed, or killed while it stops, happens once', async (t) => {
  const settings = await settingsFor(t);
  const database = await testDatabase();
  const proxy = await postgresProxy(database.url);
  t.after(async () => {
    await proxy.close();
    await database.drop();
  });
  const start = async (url: string) =>
    startMarketProcess(t, await newHome(t), { ...settings, DATABASE_URL: url });
  const other = await start(database.url);
  const { key } = await insertTrader(testDeps({ db: database.db }), ['read'], []);
  const send = async (url: string, once: string) => {
    const reply = await fetch(`${url}/v1/webhooks`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': once,
      },
      body: JSON.stringify({ url: `https://hooks.example.org/${once}` }),
    });
    return { status: reply.status, body: await reply.text() };
  };
  const cases = [
    { once: 'before', when: 'before', stops: false },
    { once: 'after', when: 'after', stops: false },
    { once: 'stopping', when: 'after', stops: true },
  ] as const;
  const chosen = isSoak ? cases : [chanceOf(seed).pick(cases)];
  for (const { once: name, when, stops } of chosen) {
    t.diagnostic(`killed ${name}, seed ${seed}`);
    const victim = await start(proxy.url);
    const reached = proxy.stopAt({ statement: 'commit', having: 'webhooks_insert', when });
    const cut = assert.rejects(send(victim.ready.url, name));
    await reached;
    if (stops) victim.child.kill('SIGTERM');
    await victim.kill();
    await cut;
    const answer = await send(other.ready.url, name);
    assert.equal(answer.status, 201, answer.body);
    assert.deepEqual(await send(other.ready.url, name), answer);
    const text = `select count(*) from webhooks where url like '%/' || $1`;
    const rows = await database.db.rows<{ count: number }>({ name: '', text, values: [name] });
    assert.equal(rows[0]?.count, 1);
  }
});
