// A public Esplora is several machines, any of which may be behind, and a node that is restarted
// may have lost its blocks: an answer of theirs hides nothing for good and takes nothing back. On a
// real node with a server of Esplora's shape before it, some of whose answers the tests replace.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { ParleyError } from '@parley/core/errors.ts';
import type { EscrowFacts } from '@parley/core/facts.ts';
import { nodeOf, type Reply, untilTested } from '../testing/nodes.ts';
import type { BitcoinAdapter } from './adapter.ts';
import type { BitcoinBackend } from './backend.ts';
import { adapterOn, coreOf, fundedOn, read, signal, spend, swapOn } from './testing/lab.ts';
import { copyBlocks, startRegtest } from './testing/regtest.ts';
import { esploraServer } from './testing/servers.ts';
import type { TestSwap } from './testing/swaps.ts';

const [node, restarted] = await Promise.all([startRegtest(), startRegtest()]);
const server = await esploraServer(node.rpc);
await copyBlocks(node, restarted);
after(async () => {
  await server.close();
  await Promise.all([node.stop(), restarted.stop()]);
});

type Instead = (path: string) => Reply | null | Promise<Reply | null>;
type Forward = (path: string) => Promise<Reply>;

const forward: Forward = async (path) => {
  const reply = await fetch(`${server.url}${path}`);
  return { status: reply.status, text: new Uint8Array(await reply.arrayBuffer()) };
};

/** The server, but for the answers that `instead` gives, and an adapter over it. */
const serverBut = untilTested((instead: Instead) =>
  nodeOf(async (body, { url: path = '/', method }) => {
    if (method === 'GET') return (await instead(path)) ?? forward(path);
    const reply = await fetch(`${server.url}${path}`, { method: 'POST', body });
    return { status: reply.status, text: await reply.text() };
  }),
);
const adapterBut = async (instead: Instead): Promise<BitcoinAdapter> => {
  const { url: esploraUrl } = await serverBut(instead);
  return adapterOn(node, { esploraUrl });
};

const of = ({ funded, claimed, balance, secret }: EscrowFacts) => ({
  funded: funded?.confirmations ?? null,
  claimed: claimed?.confirmations ?? null,
  balance,
  secret,
});
const shown = async (adapter: BitcoinAdapter, swap: TestSwap) => of(await read(adapter, swap));

const isCount = (path: string) => /^\/address\/[^/]+$/.test(path);
const isMined = (path: string) => /^\/address\/[^/]+\/txs\/chain/.test(path);
/** The answers of a machine that has not got the blocks in which something was. */
const behind = (path: string): Reply | null => {
  if (isCount(path)) return { text: JSON.stringify({ chain_stats: { tx_count: 0 } }) };
  return isMined(path) ? { text: '[]' } : null;
};
const notFound = { status: 404, text: 'not found' };

async function claimedOn(): Promise<TestSwap> {
  const swap = await fundedOn(node);
  await node.mine(1);
  const other = adapterOn(node);
  await other.broadcast(await spend(other, swap, 'claim'), signal());
  await node.mine(2);
  return swap;
}

describe('the past of an escrow that a restarted adapter asks for', () => {
  it('is found at once where one machine is behind, whatever it is asked', async () => {
    const funded = await fundedOn(node);
    const claimed = await claimedOn();
    for (const swap of [funded, claimed]) {
      // As the node itself shows it.
      const right = await shown(adapterOn(node), swap);
      assert.equal(right.claimed !== null, swap === claimed);
      for (const isAsked of [isCount, isMined]) {
        for (const stale of [1, 2]) {
          let left = stale;
          const adapter = await adapterBut((path) => {
            if (!isAsked(path) || left === 0) return null;
            left -= 1;
            return behind(path);
          });
          adapter.watch([swap.escrow]);
          assert.deepEqual(await shown(adapter, swap), right);
          assert.equal(left, 0);
        }
      }
    }
  });

  it('is found with the next block where every answer about it was of a machine behind', async () => {
    const swap = await claimedOn();
    let isBehind = true;
    const adapter = await adapterBut((path) => (isBehind ? behind(path) : null));
    adapter.watch([swap.escrow]);
    assert.equal((await shown(adapter, swap)).funded, null);
    isBehind = false;
    await node.mine(1);
    const { funded, claimed, secret } = await shown(adapter, swap);
    assert.deepEqual([funded, claimed, secret], [6, 3, swap.secret]);
  });

  it('counts in blocks of the chain that is followed, not in those of another', async () => {
    const swap = await fundedOn(node);
    let isForked = true;
    const adapter = await adapterBut(async (path) => {
      if (!isMined(path) || !isForked) return null;
      const page = Buffer.from((await forward(path)).text).toString();
      const other = `"block_hash":"${'0'.repeat(64)}"`;
      return { text: page.replaceAll(/"block_hash":"[^"]*"/g, other) };
    });
    const reading = adapter.readEscrow(swap.escrow, signal(1_500));
    await assert.rejects(reading, { code: 'chain_timeout' });
    isForked = false;
    assert.equal((await shown(adapter, swap)).funded, 2);
  });
});

describe('a machine that is behind', () => {
  /** Knows no block above this. */
  const below = (height: number): Instead => {
    const answer = async (path: string): Promise<Reply | null> => {
      if (path === '/blocks/tip/hash') {
        return { text: await node.rpc<string>('getblockhash', [height]) };
      }
      const [, at] = /^\/block-height\/(\d+)$/.exec(path) ?? [];
      return at !== undefined && Number(at) > height ? notFound : null;
    };
    return answer;
  };

  it('takes nothing back: another one is asked, and if all are behind it is silence', async () => {
    const swap = await fundedOn(node);
    await node.mine(2);
    const height = await node.rpc<number>('getblockcount');
    let left = 0;
    const adapter = await adapterBut((path) => {
      if (left === 0) return null;
      left -= 1;
      return below(height - 3)(path);
    });
    adapter.watch([swap.escrow]);
    const before = await shown(adapter, swap);
    assert.equal(before.funded, 4);
    for (left of [1, 2, 5]) assert.deepEqual(await shown(adapter, swap), before, `${left}`);
    left = Number.POSITIVE_INFINITY;
    await assert.rejects(read(adapter, swap), (error: ParleyError) => {
      assert.match(error.message, new RegExp(`best block is ${height - 3}, and it has shown`));
      return error.code === 'chain_unavailable';
    });
    left = 0;
    await node.mine(1);
    for (left of [1, 2, 3, 4]) assert.equal((await shown(adapter, swap)).funded, 5, `${left}`);
  });

  it('that lacks a payment of the mempool is not believed once, but when it is missed again', async () => {
    const swap = swapOn(node);
    let missing = 0;
    const adapter = await adapterBut((path) => {
      if (missing === 0) return null;
      if (/\/txs\/mempool$/.test(path)) return { text: '[]' };
      if (!/^\/tx\/[^/]+\/status$/.test(path)) return null;
      missing -= 1;
      return notFound;
    });
    adapter.watch([swap.escrow]);
    await node.pay(swap.escrow.address, swap.terms.amount);
    assert.equal((await shown(adapter, swap)).funded, 0);
    for (let once = 0; once < 2; once += 1) {
      missing = 1;
      assert.equal((await shown(adapter, swap)).funded, 0);
      assert.equal((await shown(adapter, swap)).funded, 0);
    }
    missing = 2;
    await read(adapter, swap);
    assert.equal((await shown(adapter, swap)).funded, null);
    await node.mine(1);
    assert.equal((await shown(adapter, swap)).funded, 1);
  });
});

it('a node that was restarted with fewer blocks is silence until it has them again', async () => {
  const swap = await fundedOn(node);
  const whole = coreOf(node);
  const fewer = coreOf(restarted);
  let backend = whole;
  const by = new Proxy(whole, {
    get: (_, name: keyof BitcoinBackend) => backend[name],
  });
  const adapter = adapterOn(node, { backend: by });
  adapter.watch([swap.escrow]);
  assert.equal((await shown(adapter, swap)).funded, 2);
  await adapter.changes(signal());
  backend = fewer;
  const unavailable = { code: 'chain_unavailable' };
  await assert.rejects(adapter.changes(signal()), unavailable);
  await assert.rejects(read(adapter, swap), unavailable);
  backend = whole;
  assert.deepEqual((await adapter.changes(signal())).touched, []);
  assert.equal((await shown(adapter, swap)).funded, 2);
});
