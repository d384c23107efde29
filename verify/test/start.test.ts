// `npm start` as an operator sees it: ready, stopped, killed and refused.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { readSettings } from '@parley/market/settings/config.ts';
import { startMarket } from '@parley/market/start/boot.ts';
import { parleyClient } from '@parley/sdk/client.ts';
import { mintKey } from '@parley/sdk/keys.ts';
import { evmWallet } from '@parley/sdk/wallets/evm.ts';
import { pino } from 'pino';
import { newHome, processesIn, type RunningMarket, startMarketProcess } from './support/market.ts';
import { waitUntil } from './support/waiting.ts';

const evmKey = `0x${'42'.repeat(32)}`;

async function signIn(market: RunningMarket) {
  const { url, chains } = market.ready;
  const evm = chains.find(({ family }) => family === 'evm');
  const wallet = evmWallet({
    rpcUrl: evm?.rpcUrl ?? 'http://127.0.0.1:1',
    chainId: evm?.chainId ?? 0,
    privateKey: evmKey,
  });
  const { key } = await mintKey({ baseUrl: url }, wallet);
  return parleyClient({ baseUrl: url, key });
}

async function postRfq(client: Awaited<ReturnType<typeof signIn>>): Promise<string> {
  const { assets } = await client.assets({});
  const idOf = (symbol: string) => assets.find((each) => each.symbol === symbol)?.id ?? '';
  const rfq = await client.createRfq({
    direction: 'buy_base',
    baseAssetId: idOf('BTC'),
    baseAmount: '1000000',
    quoteAssetId: idOf('USDD'),
    ttlSeconds: 3_600,
  });
  return rfq.id;
}

const npmStart = ['npm', 'run', '-s', 'start', '--', '--json'];

/** By npm, whatever Node the machine has: the market collects its garbage early. */
async function startByNpm(t: TestContext, home: string): Promise<RunningMarket> {
  const market = await startMarketProcess(t, home, {}, npmStart);
  const nodes = descendantsOf(market.child.pid).filter((each) => each.includes('launch.mjs'));
  assert.ok(nodes.length > 0);
  for (const each of nodes) assert.match(each, / --max-old-space-size=1024 /);
  return market;
}

/** Told to stop, it says that it is not ready, and serves on meanwhile. */
async function mustDrain({ ready: { url }, child }: RunningMarket): Promise<void> {
  const status = async (path: string) => (await fetch(`${url}${path}`)).status;
  assert.equal(await status('/readyz'), 200);
  child.kill('SIGTERM');
  await waitUntil(async () => (await status('/readyz')) === 503);
  for (const path of ['/livez', '/status', '/v1/keys/nonce']) {
    assert.equal(await status(path), 200, path);
  }
}

/** The processes that still run there after as long as a stop may take. */
async function leftIn(home: string): Promise<string[]> {
  let left = await processesIn(home);
  for (let waited = 0; waited < 25_000 && left.length > 0; waited += 250) {
    await sleep(250);
    left = await processesIn(home);
  }
  return left;
}

/** Command lines of the processes that descend from this one. */
function descendantsOf(pid: number | undefined): string[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' });
  const rows = [...stdout.matchAll(/^ *(\d+) +(\d+) (.*)$/gm)];
  const below = new Set([String(pid)]);
  for (const [, child = '', parent = ''] of [...rows, ...rows]) {
    if (below.has(parent)) below.add(child);
  }
  return rows.filter(([, , parent = '']) => below.has(parent)).map(([, , , args = '']) => args);
}

/** One JSON line says what runs where. */
async function mustRun({ ready, home }: RunningMarket): Promise<void> {
  assert.equal(ready.ready, true);
  assert.match(ready.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual(ready.chains.map(({ chain }) => chain).sort(), [
    'bitcoin-regtest',
    'evm-dev',
    'solana-dev',
    'tron-dev',
  ]);
  for (const { family, gasKey = '' } of ready.chains) {
    assert.equal(gasKey === '', family === 'bitcoin', `the gas key of ${family}: "${gasKey}"`);
  }
  for (const { rpcUrl } of ready.chains) assert.match(rpcUrl ?? '', /@?127\.0\.0\.1:\d+/);
  const { dev, inbox, identityProvider } = ready;
  const settings = `${identityProvider}/.well-known/openid-configuration`;
  for (const url of [`${dev}/status`, `${inbox}`, settings]) {
    assert.equal((await fetch(url)).status, 200, url);
  }
  assert.deepEqual(JSON.parse(readFileSync(join(home, 'ready.json'), 'utf8')), ready);
}

/** A market whose dev node is gone ends, and says so. */
async function mustEndWithItsNode(t: TestContext, home: string): Promise<void> {
  const { child, log } = await startMarketProcess(t, home);
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const node = (await processesIn(home)).find((each) => / --dump-state=/.test(each));
  process.kill(Number.parseInt(node ?? '', 10), 'SIGKILL');
  const [status] = await ended;
  assert.equal(status, 1);
  assert.match(log(), /the node of evm-dev has ended, and the market ends with it: start it again/);
  assert.deepEqual(await leftIn(home), []);
}

test('the next market has what was committed, whether npm, kill -9 or its dev node ended one, and SIGTERM ends all', async (t) => {
  const home = await newHome(t);
  const first = await startByNpm(t, home);
  const rfqId = await postRfq(await signIn(first));
  // Npm alone is killed: the market notices, and ends what it started.
  await first.kill();
  assert.deepEqual(await leftIn(home), []);
  await assert.rejects(fetch(first.ready.url));
  const second = await startMarketProcess(t, home, { PARLEY_DRAIN_SECONDS: '600' });
  await mustRun(second);
  assert.equal((await (await signIn(second)).rfq(rfqId)).status, 'open');
  await mustDrain(second);
  // Its children are left behind, and ended by the next.
  await second.kill();
  await mustEndWithItsNode(t, home);
  const third = await startByNpm(t, home);
  const client = await signIn(third);
  assert.equal((await client.rfq(rfqId)).status, 'open');
  assert.equal((await client.rfqs({})).rfqs.length, 1);
  third.child.kill('SIGTERM');
  assert.deepEqual(await leftIn(home), []);
});

test('a start that is refused names no secret', async (t) => {
  const password = 'fade5ace'.repeat(4);
  const short = password.slice(0, 6);
  const login = `user:${password}@127.0.0.1:1`;
  const evm = { family: 'evm', chain: 'e', chainId: 31_337 };
  const valid = JSON.stringify([{ ...evm, rpcUrls: ['http://127.0.0.1:1'] }]);
  const home = await newHome(t);
  let logged = '';
  const write = (line: string) => {
    logged += line;
  };
  const log = pino({ level: 'trace' }, { write });
  const started = async (env: Record<string, string>) =>
    startMarket(
      readSettings({ DATABASE_URL: 'postgres://127.0.0.1:1/none', PARLEY_CHAINS: valid, ...env }),
      log,
    );
  for (const env of [
    { DATABASE_URL: `postgres://${login}/parley` },
    { DATABASE_URL: `postgres://user:${password}@127.0.0.1:99999/parley` },
    { DATABASE_URL: `${password}` },
    { PARLEY_ENCRYPTION_KEY: password },
    { PARLEY_ENCRYPTION_KEY: `${password}${password},${password}` },
    { PARLEY_CHAINS: `[{"rpcUrls": ["http://${login}"]` },
    { PARLEY_CHAINS: `http://${login}` },
    // A parser that quotes the text around a fault would show this one whole.
    { PARLEY_CHAINS: `["http://u:${short}@h",x]` },
    { PARLEY_CHAINS: JSON.stringify([{ ...evm, rpcUrls: [`ftp://${login}`] }]) },
    { PARLEY_CHAINS: JSON.stringify([{ ...evm, rpcUrls: [`http://${login}`] }]) },
    { PARLEY_CHAINS: JSON.stringify([{ ...evm, rpcUrls: [`http://user:${password}@`] }]) },
    { VALKEY_URL: `redis://:${password}@127.0.0.1:99999` },
    { VALKEY_URL: `http://:${password}@127.0.0.1:1` },
  ]) {
    await assert.rejects(started({ ...env, PARLEY_HOME: home }), (error: Error) => {
      const wrote = `${error.message} ${error.stack} ${inspect(error.cause)}`;
      assert.ok(!wrote.includes(short), `${Object.keys(env)} ${wrote}`);
      return true;
    });
  }
  assert.ok(!logged.includes(short), logged);
});
