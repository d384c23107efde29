import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, afterEach, type TestContext, test } from 'node:test';
import type { Hex } from 'viem';
import type { ReadTransaction } from '../interface/sending.ts';
import { type Answer, type Lie, lyingNode, type TestNode } from '../testing/nodes.ts';
import { type EvmAdapter, evmAdapter } from './adapter.ts';
import { claimCall, evmDeployment } from './plan.ts';
import { evmChains } from './policy.ts';
import { startAnvil } from './testing/anvil.ts';
import { fund, type Leg, newLeg, receiver } from './testing/swap.ts';

const { policy } = evmChains['evm-dev'];
const signal = () => AbortSignal.timeout(60_000);
const chain = await startAnvil();
after(() => chain.stop());
const nodes: TestNode[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((each) => each.stop()));
});

function adapterOf(...rpcUrls: string[]): EvmAdapter {
  const rpc = { attemptTimeoutMs: 1_000, rounds: 1 };
  return evmAdapter({ chain: 'evm-dev', chainId: 31_337, rpcUrls, policy, rpc });
}

async function sentTo(lie: (raw: string) => Answer | undefined): Promise<string> {
  const all: Lie = ({ method, params }, forward) =>
    method === 'eth_sendRawTransaction' ? lie(String(params[0])) : forward();
  const node = await lyingNode(chain.rpcUrl, all);
  nodes.push(node);
  return node.url;
}

const refusing = (message: string) => () => ({ error: { code: -32_000, message } });

async function claimOf(adapter: EvmAdapter): Promise<{ leg: Leg; read: ReadTransaction }> {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  adapter.watch([leg.escrow]);
  const { to, data } = claimCall(leg.terms, evmDeployment(31_337), leg.secret);
  const raw = await receiver.signTransaction({
    to: to as Hex,
    data: data as Hex,
    chainId: 31_337,
    nonce: await chain.client.getTransactionCount({ address: receiver.address }),
    gas: 300_000n,
    maxFeePerGas: 10n ** 10n,
  });
  return { leg, read: await adapter.readSigned(raw, signal()) };
}

async function isMined(txid: string): Promise<boolean> {
  await chain.client.mine({ blocks: 1 });
  const receipt = await chain.client.getTransactionReceipt({ hash: txid as Hex }).catch(() => null);
  return receipt?.status === 'success';
}

test('what one node has already is sent, whatever the others say of it', async () => {
  const low = await sentTo(refusing('nonce too low'));
  const blind = await lyingNode(chain.rpcUrl, ({ method }, forward) => {
    if (method === 'eth_sendRawTransaction') return refusing('nonce too low')();
    return method === 'eth_getTransactionByHash' ? { result: null } : forward();
  });
  nodes.push(blind);
  const { read } = await claimOf(adapterOf(chain.rpcUrl));
  await adapterOf(chain.rpcUrl).broadcast(read, signal());
  assert.equal(await isMined(read.txid), true);
  assert.equal(await adapterOf(blind.url, low).broadcast(read, signal()), read.txid);
  const known = await sentTo(refusing('already known'));
  assert.equal(await adapterOf(blind.url, known).broadcast(read, signal()), read.txid);
  await assert.rejects(adapterOf(blind.url).broadcast(read, signal()), { code: 'refused_by_node' });
});

/** An honest node that refuses what it is sent, and is gone from then on. */
async function dyingNode(context: TestContext): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { id, method } = JSON.parse(body);
    if (method === 'eth_sendRawTransaction') {
      server.close();
      // Whatever else is asked needs another connection.
      response.setHeader('connection', 'close');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...refusing('nonce too low')() }));
      return;
    }
    const headers = { 'content-type': 'application/json' };
    const real = await fetch(chain.rpcUrl, { method: 'POST', headers, body });
    response.end(await real.text());
  });
  context.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a node that refuses it and dies before it is asked whether it has it may have it', async (context) => {
  const { read } = await claimOf(adapterOf(chain.rpcUrl));
  const late = { code: 'chain_timeout', message: /may have it$/ };
  const alone = adapterOf(await dyingNode(context));
  await assert.rejects(alone.broadcast(read, signal()), late);
  const poor = await sentTo(refusing('insufficient funds for gas'));
  const both = adapterOf(await dyingNode(context), poor);
  const words = /may have it; .*insufficient funds for gas$/;
  await assert.rejects(both.broadcast(read, signal()), { ...late, message: words });
});
