// kill -9 of a market between handing a transaction to a node and answering, on a real anvil: sent
// again, to another market and with the same Idempotency-Key or without, it has the same txid, and
// the chain has it once.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { createPublicClient, http, keccak256 } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type DevnetClient, devnetClient } from '../devnet/client.ts';
import { startDevnet } from '../devnet/devnet.ts';
import { testDatabase } from './support/database.ts';
import { testDeps } from './support/deps.ts';
import { newHome, type RunningMarket, startMarketProcess } from './support/market.ts';
import { insertTrader } from './support/trading.ts';

const chain = 'evm-dev';
const chainId = 31_337;

async function startAnvilOnly(t: TestContext): Promise<{ rpcUrl: string; dev: DevnetClient }> {
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
  return { rpcUrl: devnet.chains[0]?.rpcUrl ?? '', dev: devnetClient(devnet.dev) };
}

/** A way to the node that keeps its answer to a transaction back; `handed` when it has one. */
async function silentAfterSending(t: TestContext, rpcUrl: string) {
  const handed = Promise.withResolvers<string>();
  const forward: RequestListener = async (request, reply) => {
    let body = '';
    for await (const part of request) body += part;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(rpcUrl, { method: 'POST', headers, body });
    const text = await answer.text();
    if (body.includes('eth_sendRawTransaction')) handed.resolve(text);
    else reply.writeHead(answer.status, headers).end(text);
  };
  const server = createServer((request, reply) => {
    Promise.resolve(forward(request, reply)).catch(() => reply.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, handed: handed.promise };
}

test('a broadcast killed after the node has it is answered with its txid when sent again', async (t) => {
  const database = await testDatabase();
  t.after(() => database.drop());
  const { rpcUrl, dev } = await startAnvilOnly(t);
  const node = await silentAfterSending(t, rpcUrl);
  const start = async (url: string): Promise<RunningMarket> =>
    startMarketProcess(t, await newHome(t), {
      DATABASE_URL: database.url,
      PARLEY_ENCRYPTION_KEY: '42'.repeat(32),
      PARLEY_CHAINS: JSON.stringify([{ family: 'evm', chain, chainId, rpcUrls: [url] }]),
      PARLEY_CHAIN_TIMEOUT_MS: '60000',
    });
  const [victim, other] = await Promise.all([start(node.url), start(rpcUrl)]);
  const { key } = await insertTrader(testDeps({ db: database.db }), ['read'], []);
  const send = async ({ ready }: RunningMarket, signed: string, idempotencyKey: string | null) => {
    const reply = await fetch(`${ready.url}/v1/tx/broadcast`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify({ chain, signed }),
    });
    const replayed = reply.headers.get('idempotency-replayed');
    return { status: reply.status, replayed, body: (await reply.json()) as { txid: string } };
  };
  const account = privateKeyToAccount(generatePrivateKey());
  await dev.faucet({ chain, address: account.address, amount: 10n ** 18n });
  await dev.mining(chain, false);
  const signed = await account.signTransaction({
    chainId,
    nonce: 0,
    to: account.address,
    value: 1n,
    gas: 21_000n,
    maxFeePerGas: 20_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    type: 'eip1559',
  });
  const txid = keccak256(signed);

  const cut = send(victim, signed, 'once').then(
    (answer) => assert.fail(`answered ${answer.status}`),
    () => null,
  );
  assert.equal((JSON.parse(await node.handed) as { result: string }).result, txid);
  await victim.kill();
  await cut;

  assert.deepEqual(await send(other, signed, 'once'), {
    status: 200,
    replayed: null,
    body: { txid },
  });
  assert.equal((await send(other, signed, 'once')).replayed, 'true');
  await dev.mine(chain, 1);
  for (const name of ['once', 'twice', null]) {
    const { status, body } = await send(other, signed, name);
    assert.deepEqual({ status, body }, { status: 200, body: { txid } });
  }
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 });
  assert.equal(await client.getTransactionCount({ address: account.address }), 1);
});
