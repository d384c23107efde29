// Gifts, blocks and time, on one dev network with a bitcoind, two anvils and the simulators of TRON
// and Solana.
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TronWeb } from 'tronweb';
import type { Hex } from 'viem';
import { type DevnetClient, devnetClient } from './client.ts';
import { type ControlParts, listenForControl } from './control.ts';
import type { ChainInfo } from './dev-chain.ts';
import type { Devnet } from './devnet.ts';
import { type Rpc, rpcTo } from './rpc.ts';
import { ask, eventually, lab, recorder, someoneOn } from './testing/start.ts';

const bitcoinKey = 'bitcoin-regtest';
const someone = someoneOn.evm;
const someBitcoinAddress = someoneOn.bitcoin;
const noBitcoin = 'no bitcoind could be had: install one or set PARLEY_BITCOIND';

let devnet: Devnet;
let client: DevnetClient;
const moves: number[] = [];
const { log } = recorder();

const { start } = await lab(after);

before(async () => {
  devnet = await start({
    log,
    evmChains: [
      { key: 'evm-dev', chainId: 31_337 },
      { key: 'evm-dev-2', chainId: 31_338 },
    ],
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

const hasBitcoin = () => devnet.chains.some(({ chain }) => chain === bitcoinKey);

function bitcoin(): Rpc {
  return rpcTo(chainOf(bitcoinKey).rpcUrl);
}

const solanaRpc = (): Rpc => rpcTo(chainOf('solana-dev').rpcUrl);

/** A wallet of its own, nothing in it. */
function tronWeb(): TronWeb {
  return new TronWeb({ fullHost: chainOf('tron-dev').rpcUrl, privateKey: '11'.repeat(32) });
}

type Balance<Value> = { readonly value: Value };

/** The balance of an account of EVM in the native coin, or in a token, in the words of a node. */
async function heldOn(key: string, token: string | null, who: string = someone): Promise<bigint> {
  const rpc = rpcTo(chainOf(key).rpcUrl);
  if (token === null) return BigInt(await rpc<Hex>('eth_getBalance', [who, 'latest']));
  const data = `0x70a08231${who.slice(2).toLowerCase().padStart(64, '0')}`;
  return BigInt(await rpc<Hex>('eth_call', [{ to: token, data }, 'latest']));
}

async function post(path: string, given: unknown, headers: Readonly<Record<string, string>> = {}) {
  const body = typeof given === 'string' ? given : JSON.stringify(given);
  const { status, text } = await ask(new URL(path, devnet.dev), { method: 'POST', headers, body });
  return { status, error: (JSON.parse(text) as { error: string }).error };
}

const withBitcoin = (t: TestContext) => hasBitcoin() || t.skip(noBitcoin);

test('a token arrives by the id that the market has for it', async () => {
  const before = await heldOn('evm-dev', tokenOf('evm-dev'));
  await client.faucet({ chain: 'evm-dev', address: someone, asset: 'asset-7', amount: 30n });
  assert.equal(await heldOn('evm-dev', tokenOf('evm-dev')), before + 30n);
});

test('gifts asked for all at once all arrive', async () => {
  const address = '0x000000000000000000000000000000000000bEEF';
  const gifts = Array.from({ length: 20 }, () =>
    client.faucet({ chain: 'evm-dev-2', address, amount: 1n }),
  );
  assert.equal(new Set((await Promise.all(gifts)).map(({ txid }) => txid)).size, 20);
  assert.equal(await heldOn('evm-dev-2', null, address), 20n);
});

/** Sends something that is not the faucet's doing; answers whether it is in a block. */
const senders: Readonly<Record<string, () => Promise<() => Promise<boolean>>>> = {
  'evm-dev': async () => {
    const rpc = rpcTo(chainOf('evm-dev').rpcUrl);
    const from = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    const hash = await rpc<Hex>('eth_sendTransaction', [{ from, to: someone, value: '0x1' }]);
    return async () => (await rpc('eth_getTransactionReceipt', [hash])) !== null;
  },
  'tron-dev': async () => {
    const web = tronWeb();
    const address = web.defaultAddress.base58 as string;
    await client.faucet({ chain: 'tron-dev', address });
    const sent = await web.trx.sendTransaction(someoneOn.tron, 1);
    assert.equal(sent.result, true);
    return async () => 'id' in (await web.trx.getUnconfirmedTransactionInfo(sent.transaction.txID));
  },
  'solana-dev': async () => {
    const rpc = solanaRpc();
    const id = await rpc<string>('requestAirdrop', [someoneOn.solana, 1]);
    return async () =>
      (await rpc<Balance<unknown[]>>('getSignatureStatuses', [[id]])).value[0] !== null;
  },
  [bitcoinKey]: async () => {
    const wallet = rpcTo(`${chainOf(bitcoinKey).rpcUrl}/wallet/faucet`);
    const id = await wallet<string>('sendtoaddress', [someBitcoinAddress, '0.1']);
    return async () =>
      ((await bitcoin()<{ confirmations?: number }>('getrawtransaction', [id, true]))
        .confirmations ?? 0) > 0;
  },
};

const heightOf = async (key: string) =>
  (await client.status()).chains.find(({ chain }) => chain === key)!.height;

test('without mining by itself a transaction waits, mine adds so many blocks, and gifts arrive', async (t) => {
  const each = async ({ chain, family }: ChainInfo) => {
    await client.mining(chain, false);
    const isMined = await senders[chain]!();
    const height = await heightOf(chain);
    await sleep(1_200);
    assert.equal(await isMined(), false, chain);
    assert.equal(await heightOf(chain), height);
    await client.faucet({ chain, address: someoneOn[family] });
    assert.equal(await isMined(), true, chain);
    const { height: next } = await client.mine(chain, 1);
    assert.deepEqual(await client.mine(chain, 3), { chain, height: next + 3 });
    await client.mining(chain, true);
  };
  await Promise.all(devnet.chains.filter(({ chain }) => chain in senders).map(each));
  withBitcoin(t);
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

test('moves of time by empty blocks leave what waits for a block of Bitcoin waiting', async (t) => {
  if (!withBitcoin(t)) return;
  await client.mining(bitcoinKey, false);
  const wallet = rpcTo(`${chainOf(bitcoinKey).rpcUrl}/wallet/faucet`);
  const txid = await wallet<string>('sendtoaddress', [someBitcoinAddress, '0.001']);
  const waits = async () => (await bitcoin()<string[]>('getrawmempool')).includes(txid);
  const medianTime = async () =>
    (await client.status()).chains.find(({ chain }) => chain === bitcoinKey)!.medianTime;
  const before = await medianTime();
  await client.time(1_200, true);
  assert.ok((await medianTime()) >= before + 1_200);
  assert.equal(await waits(), true);
  await client.time(60);
  assert.equal(await waits(), false);
  await client.mining(bitcoinKey, true);
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

test('a move of time reaches programs at once, and soon what is solid', async () => {
  const { now } = await client.time(5_000);
  const web = tronWeb();
  await eventually('the solid block is of today', async () => {
    const solid = await web.trx.getConfirmedCurrentBlock();
    assert.ok(Math.abs(solid.block_header.raw_data.timestamp / 1_000 - now) < 60);
  });
  const sysvar = 'SysvarC1ock11111111111111111111111111111111';
  const shown = await solanaRpc()<Balance<{ data: [string] }>>('getAccountInfo', [
    sysvar,
    { commitment: 'processed', encoding: 'base64' },
  ]);
  const clock = Buffer.from(shown.value.data[0], 'base64').readBigInt64LE(32);
  assert.ok(Math.abs(Number(clock) - now) < 60);
});

const refusals: readonly (readonly [string, unknown, number, RegExp])[] = [
  ['/faucet', 'not json', 400, /not JSON/],
  ['/faucet', { address: someone }, 400, /"chain"/],
  ['/faucet', { chain: 'nowhere', address: someone }, 400, /only .*evm-dev/],
  ['/faucet', { chain: 'evm-dev' }, 400, /"address"/],
  ['/faucet', { chain: 'evm-dev', address: '0x12' }, 400, /not an EVM address/],
  ['/faucet', { chain: 'evm-dev', address: someone, amount: 5 }, 400, /"amount"/],
  ['/faucet', { chain: 'evm-dev', address: someone, amount: '9'.repeat(78) }, 400, /at a time/],
  ['/faucet', { chain: 'evm-dev', address: someone, asset: 'XXX' }, 400, /no asset "XXX"/],
  ['/faucet', { chain: 'evm-dev-2', address: someone, asset: 'asset-7' }, 400, /on evm-dev/],
  ['/faucet', { chain: 'evm-dev', address: someone, extra: 1 }, 400, /no field "extra"/],
  ['/faucet', { chain: 'tron-dev', address: someone }, 400, /not a TRON address/],
  ['/faucet', { chain: 'solana-dev', address: someoneOn.tron }, 400, /not a Solana address/],
  [
    '/faucet',
    { chain: 'tron-dev', address: someoneOn.tron, amount: '9'.repeat(30) },
    400,
    /at a time/,
  ],
  ['/mine', { chain: 'evm-dev', blocks: 0 }, 400, /1 to 1000/],
  ['/mine', { chain: 'evm-dev', blocks: 1_001 }, 400, /1 to 1000/],
  ['/time', { seconds: 0 }, 400, /1 to 2592000/],
  ['/time', { seconds: 2_592_001 }, 400, /1 to 2592000/],
  ['/mining', { chain: 'evm-dev', automatic: 'yes' }, 400, /"automatic"/],
  ['/status', {}, 405, /GET/],
  ['/time', { seconds: 1, emptyBlocks: 1 }, 400, /"emptyBlocks" must be true or false/],
  ['/toString', {}, 404, /\/faucet/],
  ...(
    [
      [{ address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' }, /regtest address/],
      [{ address: someBitcoinAddress, amount: '5000000001' }, /at a time/],
    ] as const
  ).map(([gift, sentence]) => ['/faucet', { chain: bitcoinKey, ...gift }, 400, sentence] as const),
];

for (const [path, body, status, sentence] of refusals) {
  const shown = typeof body === 'string' ? body : JSON.stringify(body).slice(0, 70);
  test(`${path} refuses ${shown} with ${status}`, async (t) => {
    if (shown.includes(bitcoinKey) && !withBitcoin(t)) return;
    const answer = await post(path, body);
    assert.equal(answer.status, status, answer.error);
    assert.match(answer.error, sentence);
  });
}

test('a body over the limit is refused and the server goes on', async () => {
  assert.equal((await post('/faucet', 'x'.repeat(20_000))).status, 413);
  assert.ok((await client.status()).now > 0);
});

test('a page of another origin, and any name but this machine, are refused', async () => {
  const { host, origin, port } = new URL(devnet.dev);
  for (const [headers, status] of [
    [{ host: 'evil.example' }, 403],
    [{ host: `evil.example:${port}` }, 403],
    [{ host, origin: 'https://evil.example' }, 403],
    [{ host, origin: 'null' }, 403],
    [{ host, 'sec-fetch-site': 'cross-site' }, 403],
    [{ host, 'sec-fetch-site': 'same-site' }, 403],
    // No blocks are no number of them.
    [{ host: `localhost:${port}` }, 400],
    [{ host, origin }, 400],
  ] as const) {
    const answer = await post('/mine', { chain: 'evm-dev', blocks: 0 }, headers);
    assert.equal(answer.status, status, JSON.stringify(headers));
  }
});
