// Gifts, blocks and time, on one dev network with a bitcoind, an anvil and the simulators of TRON and
// Solana.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import { type DevnetClient, devnetClient } from './client.ts';
import { type ControlParts, listenForControl } from './control.ts';
import type { ChainInfo } from './dev-chain.ts';
import type { Devnet } from './devnet.ts';
import { rpcTo } from './rpc.ts';
import { ask, lab, recorder, someoneOn } from './testing/start.ts';

const someone = someoneOn.evm;

let devnet: Devnet;
let client: DevnetClient;
const moves: number[] = [];
const { log } = recorder();

const { start } = await lab(after);

before(async () => {
  devnet = await start({
    log,
    moveClock: (seconds) => {
      moves.push(seconds);
    },
    resolveAsset: (id) =>
      id === 'asset-7' ? { chain: 'evm-dev', address: tokenOf('evm-dev'), symbol: '' } : null,
  });
  client = devnetClient(devnet.dev);
});

function chainOf(name: string): ChainInfo {
  const found = devnet.chains.find(({ chain }) => chain === name);
  assert.ok(found, `no chain ${name}`);
  return found;
}

function tokenOf(name: string): string {
  return chainOf(name).tokens![0]!.address;
}

/** The balance of an account of EVM in the native coin, or in a token, in the words of a node. */
async function heldBy(who: string, token?: string): Promise<bigint> {
  const rpc = rpcTo(chainOf('evm-dev').rpcUrl);
  if (token === undefined) return BigInt(await rpc<Hex>('eth_getBalance', [who, 'latest']));
  const data = `0x70a08231${who.slice(2).toLowerCase().padStart(64, '0')}`;
  return BigInt(await rpc<Hex>('eth_call', [{ to: token, data }, 'latest']));
}

async function post(path: string, given: unknown, headers: Readonly<Record<string, string>> = {}) {
  const body = typeof given === 'string' ? given : JSON.stringify(given);
  const { status, text } = await ask(new URL(path, devnet.dev), { method: 'POST', headers, body });
  return { status, error: (JSON.parse(text) as { error: string }).error };
}

test('a token arrives by the id that the market has for it', async () => {
  const token = tokenOf('evm-dev');
  const before = await heldBy(someone, token);
  await client.faucet({ chain: 'evm-dev', address: someone, asset: 'asset-7', amount: 30n });
  assert.equal(await heldBy(someone, token), before + 30n);
});

test('gifts asked for all at once all arrive', async () => {
  const address = '0x000000000000000000000000000000000000bEEF';
  const gifts = Array.from({ length: 20 }, () =>
    client.faucet({ chain: 'evm-dev', address, amount: 1n }),
  );
  assert.equal(new Set((await Promise.all(gifts)).map(({ txid }) => txid)).size, 20);
  assert.equal(await heldBy(address), 20n);
});

test('without mining by itself a transaction waits, and mine adds so many blocks', async () => {
  const chain = 'evm-dev';
  const rpc = rpcTo(chainOf(chain).rpcUrl);
  const heightNow = async () =>
    (await client.status()).chains.find((each) => each.chain === chain)?.height ?? 0;
  await client.mining(chain, false);
  const from = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
  const hash = await rpc<Hex>('eth_sendTransaction', [{ from, to: someone, value: '0x1' }]);
  const height = await heightNow();
  await sleep(1_200);
  assert.equal(await rpc('eth_getTransactionReceipt', [hash]), null);
  assert.equal(await heightNow(), height);
  assert.deepEqual(await client.mine(chain, 3), { chain, height: height + 3 });
  assert.notEqual(await rpc('eth_getTransactionReceipt', [hash]), null);
  await client.mining(chain, true);
});

test('moves, blocks and gifts asked for at once happen one after the other, on every chain', async () => {
  moves.length = 0;
  const earlier = await client.status();
  const keys = earlier.chains.map(({ chain }) => chain);
  const [token] = chainOf('solana-dev').tokens!;
  const gift = { chain: 'solana-dev', address: someoneOn.solana, asset: token!.symbol };
  const [last] = await Promise.all([
    client.time(90_000),
    ...[100, 200].map((seconds) => client.time(seconds)),
    ...keys.map((key) => client.mine(key, 5)),
    ...Array.from({ length: 20 }, () => client.faucet(gift)),
  ]);
  assert.ok(last.now >= earlier.now + 90_000);
  const later = await client.status();
  assert.deepEqual(moves, [90_000, 100, 200]);
  assert.equal(later.clockOffsetSeconds, earlier.clockOffsetSeconds + 90_300);
  for (const [at, { chain, time, medianTime, height }] of later.chains.entries()) {
    const was = earlier.chains[at]!;
    assert.ok(medianTime >= was.medianTime + 90_300, `${chain} median time`);
    assert.ok(medianTime >= earlier.now + 90_300, `${chain} is not behind the market`);
    assert.ok(time <= later.now + 60, `${chain} is not far ahead of the market`);
    assert.ok(height >= was.height + 5, chain);
  }
});

test('the parts of the dev network are answered while one of its nodes hangs', async () => {
  const hangs = { info: chainOf('evm-dev'), head: () => new Promise<never>(() => {}) };
  const chains = new Map([['evm-dev', { chain: hangs, queue: (work: () => unknown) => work() }]]);
  const clock = { offsetSeconds: () => 7 };
  const parts = { chains, clock, log } as unknown as ControlParts;
  const control = await listenForControl(parts, 0);
  try {
    const known = await devnetClient(control.url).chains(AbortSignal.timeout(60_000));
    assert.deepEqual(known, { clockOffsetSeconds: 7, chains: [chainOf('evm-dev')] });
    const { chains: all } = await client.chains(AbortSignal.timeout(60_000));
    assert.deepEqual(all, JSON.parse(JSON.stringify(devnet.chains)));
  } finally {
    await control.close();
  }
});

const refusals: readonly (readonly [string, unknown, number, RegExp])[] = [
  ['/faucet', 'not json', 400, /not JSON/],
  ['/faucet', { chain: 'nowhere', address: someone }, 400, /only .*evm-dev/],
  ['/faucet', { chain: 'evm-dev' }, 400, /"address"/],
  ['/faucet', { chain: 'evm-dev', address: '0x12' }, 400, /not an EVM address/],
  ['/faucet', { chain: 'tron-dev', address: someone }, 400, /not a TRON address/],
  ['/faucet', { chain: 'solana-dev', address: someoneOn.tron }, 400, /not a Solana address/],
  ['/faucet', { chain: 'evm-dev', address: someone, amount: 5 }, 400, /"amount"/],
  ['/faucet', { chain: 'evm-dev', address: someone, amount: '9'.repeat(78) }, 400, /at a time/],
  ['/faucet', { chain: 'evm-dev', address: someone, asset: 'XXX' }, 400, /no asset "XXX"/],
  ['/faucet', { chain: 'evm-dev', address: someone, extra: 1 }, 400, /no field "extra"/],
  ['/mine', { chain: 'evm-dev', blocks: 1_001 }, 400, /1 to 1000/],
  ['/time', { seconds: 2_592_001 }, 400, /1 to 2592000/],
  ['/mining', { chain: 'evm-dev', automatic: 'yes' }, 400, /"automatic"/],
  ['/status', {}, 405, /GET/],
  ['/toString', {}, 404, /\/faucet/],
  ['/faucet', 'x'.repeat(20_000), 413, /16384 bytes/],
];

test('what is not understood is refused in a sentence', async () => {
  for (const [path, body, status, sentence] of refusals) {
    const answer = await post(path, body);
    assert.equal(answer.status, status, answer.error);
    assert.match(answer.error, sentence);
  }
});

test('a page of another origin, and any name but this machine, are refused', async () => {
  const { host, origin, port } = new URL(devnet.dev);
  for (const [headers, status] of [
    [{ host: 'evil.example' }, 403],
    [{ host, origin: 'https://evil.example' }, 403],
    [{ host, 'sec-fetch-site': 'cross-site' }, 403],
    // No blocks are no number of them.
    [{ host: `localhost:${port}` }, 400],
    [{ host, origin }, 400],
  ] as const) {
    const answer = await post('/mine', { chain: 'evm-dev', blocks: 0 }, headers);
    assert.equal(answer.status, status, JSON.stringify(headers));
  }
});
