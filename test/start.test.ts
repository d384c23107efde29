// `npm start` as an operator sees it: ready, stopped, killed, refused, and on parts of one's own.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parleyClient } from '../sdk/client.ts';
import { mintKey } from '../sdk/keys.ts';
import { evmWallet } from '../sdk/wallets/evm.ts';
import { newHome, processesIn, type RunningMarket, startMarketProcess } from './support/market.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
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

test('one JSON line says what runs where; SIGTERM ends all of it', async (t) => {
  const home = await newHome(t);
  const market = await startMarketProcess(t, home);
  const { ready } = market;
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
  assert.equal(await market.stop(), 0, market.log());
  assert.deepEqual(await processesIn(home), []);
});

test('after kill -9 the next start ends what was left and has everything committed', async (t) => {
  const home = await newHome(t);
  const first = await startMarketProcess(t, home);
  const rfqId = await postRfq(await signIn(first));
  await first.kill();
  const second = await startMarketProcess(t, home);
  const client = await signIn(second);
  assert.equal((await client.rfq(rfqId)).status, 'open');
  assert.equal((await client.rfqs({})).rfqs.length, 1);
  assert.equal(await second.stop(), 0, second.log());
  await sleep(500);
  assert.deepEqual(await processesIn(home), []);
});

const npmStart = ['npm', 'run', '-s', 'start', '--', '--json'];

/** What still runs there after as long as a stop may take. */
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

test('the market that npm starts collects its garbage early, whatever Node the machine has; SIGTERM to npm ends all of it, and so does kill -9', async (t) => {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const home = await newHome(t);
    const market = await startMarketProcess(t, home, {}, npmStart);
    const nodes = descendantsOf(market.child.pid).filter((each) => each.includes('launch.mjs'));
    assert.ok(nodes.length > 0);
    for (const each of nodes) assert.match(each, / --initial-old-space-size=64 /);
    market.child.kill(signal);
    assert.deepEqual(await leftIn(home), [], signal);
    await assert.rejects(fetch(market.ready.url), signal);
  }
});

test('npm run deploy says what it found, and fails on what it did not find', () => {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['run', '-s', 'deploy', '--', '--rpc', 'http://127.0.0.1:9', '--verify'],
    { cwd: root, encoding: 'utf8', timeout: 60_000 },
  );
  assert.equal(status, 1);
  assert.match(stdout + stderr, /127\.0\.0\.1:9/);
});

test('with a database and chains of its own it starts neither', async (t) => {
  const home = await newHome(t);
  const first = await startMarketProcess(t, home);
  const evm = first.ready.chains.find(({ family }) => family === 'evm');
  const own = await newHome(t);
  const chains = [{ family: 'evm', chain: 'evm-dev', chainId: 31_337, rpcUrls: [evm?.rpcUrl] }];
  const second = await startMarketProcess(t, own, {
    DATABASE_URL: databaseOf(home),
    PARLEY_CHAINS: JSON.stringify(chains),
  });
  assert.equal(second.ready.database, 'external');
  assert.equal(second.ready.dev, null);
  assert.deepEqual([second.ready.inbox, second.ready.identityProvider], [undefined, undefined]);
  const { rpcUrl = '' } = evm ?? {};
  const served = { chain: 'evm-dev', family: 'evm', rpcUrl, chainId: 31_337 };
  assert.deepEqual(second.ready.chains, [served]);
  const mine = (await processesIn(own)).filter((each) => !each.includes('main.ts'));
  assert.deepEqual(mine, []);
  const { assets } = await (await signIn(second)).assets({ enabled: true });
  assert.deepEqual(
    assets.map(({ symbol }) => symbol),
    ['ETH'],
  );
  assert.equal(await second.stop(), 0, second.log());
  assert.equal(await first.stop(), 0, first.log());
});

/** The URL of the embedded database that runs under this home. */
function databaseOf(home: string): string {
  const folder = join(home, 'postgres');
  const [, , , port] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n');
  const password = readFileSync(join(folder, 'password'), 'utf8').trim();
  return `postgres://parley:${password}@127.0.0.1:${port}/parley`;
}

function refusedStart(env: Record<string, string>): { status: number | null; stderr: string } {
  const args = ['scripts/launch.mjs', 'server/main.ts'];
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    env: { ...process.env, PARLEY_HOME: '/nonexistent/parley', PORT: '0', ...env },
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { status, stderr };
}

test('worlds do not mix: every wrong setting is named, and nothing is started', () => {
  const regtest = {
    family: 'bitcoin',
    chain: 'b',
    network: 'regtest',
    rpcUrl: 'http://127.0.0.1:1',
  };
  const anvil = { family: 'evm', chain: 'e', chainId: 31_337, rpcUrls: ['http://127.0.0.1:1'] };
  const ethereum = { ...anvil, chain: 'ethereum', chainId: 1 };
  const cases: [Record<string, string>, RegExp][] = [
    [{ PARLEY_NETWORK: 'mainnet' }, /needs PARLEY_CHAINS: dev chains run with dev only/],
    [{ PARLEY_NETWORK: 'moon' }, /must be dev, testnet or mainnet; got "moon"/],
    [{ PARLEY_CHAINS: '{' }, /PARLEY_CHAINS is not JSON/],
    [{ PARLEY_CHAINS: '[]' }, /1 to 100 chains/],
    [
      { PARLEY_NETWORK: 'mainnet', PARLEY_CHAINS: JSON.stringify([regtest, anvil, ethereum]) },
      /"b" belongs to dev[\s\S]*"e" belongs to dev/,
    ],
    [
      { PARLEY_NETWORK: 'testnet', PARLEY_CHAINS: JSON.stringify([ethereum]) },
      /"ethereum" belongs to mainnet, not to PARLEY_NETWORK=testnet/,
    ],
    [{ PARLEY_CHAINS: JSON.stringify([ethereum]) }, /"ethereum" belongs to mainnet/],
    [{ PORT: '70000' }, /PORT must be a whole number from 0 to 65535; got "70000"/],
  ];
  for (const [env, expected] of cases) {
    const { status, stderr } = refusedStart(env);
    assert.equal(status, 1, stderr);
    assert.match(stderr, expected);
  }
});
