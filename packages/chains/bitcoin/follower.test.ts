// The index against a real node, and against an Esplora server before it: reorganisations,
// replacements, evictions, restarts.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { ParleyError } from '@parley/core/errors.ts';
import { legStatus } from '@parley/core/facts.ts';
import type { ChainAdapter } from '../adapter.ts';
import { nodeOf } from '../testing/nodes.ts';
import { bitcoinAdapter } from './adapter.ts';
import type { BitcoinBackend } from './backend.ts';
import { blockOf } from './block.ts';
import { esploraBackend } from './esplora-backend.ts';
import { bitcoinNetworks } from './networks.ts';
import { parseTx } from './raw-transaction.ts';
import { adapterOn, build, coreOf, read, signal, signedBy, spend, swapOn } from './testing/lab.ts';
import { startRegtest } from './testing/regtest.ts';
import { before, esploraServer } from './testing/servers.ts';

const node = await startRegtest();
const server = await esploraServer(node.rpc);
after(async () => {
  await server.close();
  await node.stop();
});

const newAdapter = () => adapterOn(node);
const newSwap = (lockSeconds?: number) => swapOn(node, lockSeconds);

/** Takes back the last `blocks` and mines one more than that to another address. */
async function reorganise(blocks: number): Promise<void> {
  const height = await node.rpc<number>('getblockcount');
  const hash = await node.rpc<string>('getblockhash', [height - blocks + 1]);
  await node.rpc('invalidateblock', [hash]);
}

describe('a reorganisation', () => {
  it('deeper than is walked reads everything again', async () => {
    const adapter = newAdapter();
    const swap = newSwap();
    adapter.watch([swap.escrow]);
    await read(adapter, swap);
    await node.pay(swap.escrow.address, swap.terms.amount);
    await node.mine(150);
    assert.equal((await read(adapter, swap)).funded?.confirmations, 150);
    await reorganise(148);
    await node.mine(149);
    const facts = await read(adapter, swap);
    assert.deepEqual([facts.funded?.confirmations, facts.balance], [151, swap.terms.amount]);
  });
});

/** An adapter whose backend lets the test act just before or after one of its calls. */
function interrupted(change: (real: BitcoinBackend) => Partial<BitcoinBackend>): ChainAdapter {
  const real = coreOf(node);
  return adapterOn(node, { backend: { ...real, ...change(real) } });
}

it('an escrow that is watched late has its past in the blocks that were read last', async () => {
  let asked = 0;
  const adapter = interrupted((real) => ({
    block: (...args) => {
      asked += 1;
      return real.block(...args);
    },
  }));
  const early = newSwap();
  adapter.watch([early.escrow]);
  await read(adapter, early);
  const late = newSwap();
  const txid = await node.pay(late.escrow.address, late.terms.amount);
  await node.mine(3);
  await read(adapter, early);
  const before = asked;
  adapter.watch([late.escrow]);
  assert.equal((await read(adapter, late)).funded?.txid, txid);
  assert.equal(asked, before);
});

it('an escrow that is asked about has its own past first, however old another one is', async () => {
  const old = newSwap();
  const paid = await node.pay(old.escrow.address, old.terms.amount);
  await node.mine(100);
  await node.moveMedianTo(node.now() + 4 * 3_600);
  const near = newSwap();
  await node.mine(1);
  const swap = newSwap();
  const txid = await node.pay(swap.escrow.address, swap.terms.amount);
  await node.mine(2);
  let asked = 0;
  const searched: number[] = [];
  const { past } = coreOf(node);
  assert.ok(past.kind === 'by_block');
  const adapter = interrupted(() => ({
    past: {
      ...past,
      firstHeight: (since, within) => {
        searched.push(since);
        return past.firstHeight(since, within);
      },
      blockHashes: (heights, within) => {
        asked += heights.length;
        return past.blockHashes(heights, within);
      },
    },
  }));
  adapter.watch([old.escrow, near.escrow, swap.escrow]);
  await adapter.changes(signal());
  const before = asked;
  assert.equal((await read(adapter, swap)).funded?.txid, txid);
  const own = asked - before;
  assert.ok(own < 30, `${own} blocks`);
  assert.equal((await read(adapter, near)).empty, true);
  assert.equal(asked - before, own, 'one of up to twice its age was read with it');
  const later = newSwap();
  adapter.watch([later.escrow]);
  await read(adapter, later);
  assert.equal(new Set(searched).size, searched.length, 'ten minutes are searched for once');
  assert.equal((await read(adapter, old)).funded?.txid, paid);
});

it('a look hears of another best block with the mempool, and asks for it apart only to begin', async () => {
  let asked = 0;
  const adapter = interrupted((real) => ({
    tip: (within) => {
      asked += 1;
      return real.tip(within);
    },
  }));
  const swap = newSwap();
  adapter.watch([swap.escrow]);
  await read(adapter, swap);
  const before = asked;
  const txid = await node.pay(swap.escrow.address, swap.terms.amount);
  assert.deepEqual((await read(adapter, swap)).funded, { txid, confirmations: 0, deep: false });
  assert.equal(asked, before);
  await node.mine(1);
  assert.equal((await read(adapter, swap)).funded?.confirmations, 1);
  assert.equal(asked, before);
  await reorganise(1);
  const { height } = await adapter.heads(signal());
  assert.equal((await adapter.changes(signal())).heads.height, height);
});

it('a few missed blocks name each other, more are named by one question, and those that were followed by none', async () => {
  const { past } = coreOf(node);
  assert.ok(past.kind === 'by_block');
  const named: (readonly number[])[] = [];
  const adapter = interrupted((real) => ({
    blockHash: (height, within) => {
      named.push([height]);
      return real.blockHash(height, within);
    },
    past: {
      ...past,
      blockHashes: (heights, within) => {
        named.push(heights);
        return past.blockHashes(heights, within);
      },
    },
  }));
  await adapter.catchUp?.(signal());
  const since = node.now() + 120;
  const { escrow, terms } = newSwap();
  const txid = await node.pay(escrow.address, terms.amount);
  await node.mine(4);
  const { heads } = await adapter.changes(signal());
  assert.deepEqual(named, []);
  await node.mine(5);
  await adapter.catchUp?.(signal());
  const missed = [1, 2, 3, 4, 5].map((above) => heads.height + above);
  assert.deepEqual(named, [[heads.height], missed]);
  // Its past begins with the first of them.
  const found = await adapter.readEscrow({ ...escrow, since }, signal());
  assert.equal(found.funded?.txid, txid);
  assert.equal(named.length, 2);
});

it('a new block is read by its hash alone, and by heights where a machine lacks it or it is no child of the last', async () => {
  let asked = 0;
  let lacks = false;
  const adapter = interrupted((real) => ({
    blockHash: (...args) => {
      asked += 1;
      return real.blockHash(...args);
    },
    block: async (...args) => {
      const isThere = !lacks;
      lacks = false;
      return isThere ? real.block(...args) : Promise.reject(new Error());
    },
  }));
  const swap = newSwap();
  adapter.watch([swap.escrow]);
  await read(adapter, swap);
  await node.pay(swap.escrow.address, swap.terms.amount);
  await node.mine(1);
  assert.equal((await read(adapter, swap)).funded?.confirmations, 1);
  assert.equal(asked, 0);
  lacks = true;
  await node.mine(1);
  assert.equal((await read(adapter, swap)).funded?.confirmations, 2);
  await reorganise(2);
  for (let made = 0; made < 3; made += 1) await node.rpc('generateblock', ['raw(51)#8lvh9jxk', []]);
  assert.equal((await read(adapter, swap)).funded?.confirmations, 0);
});

it('the bytes of a block are of the hash, the transactions and the witnesses that it is asked for', async () => {
  const adapter = newAdapter();
  const swap = newSwap();
  adapter.watch([swap.escrow]);
  await node.pay(swap.escrow.address, swap.terms.amount);
  await node.mine(1);
  await adapter.broadcast(await spend(adapter, swap, 'claim'), signal());
  await node.pay(newSwap().escrow.address, 2_000n);
  const [hash = ''] = await node.mine(1);
  const raw = await node.rpc<string>('getblock', [hash, 0]);
  type Shown = { readonly tx: readonly { readonly hex: string }[] };
  const { tx } = await node.rpc<Shown>('getblock', [hash, 2]);
  const [coinbase = '', one = '', two = ''] = tx.map(({ hex }) => hex);
  const header = raw.slice(0, 160);
  const read = (hex: string) => blockOf('node', hash, hexToBytes(hex)).transactions();
  assert.equal((await read(raw)).length, 3);
  for (const [lie, why] of [
    [`${header}04${coinbase}${one}${two}${two}`, /repeats transactions/],
    [`${header}02${coinbase}${one}`, /has the Merkle root [0-9a-f]{64}, and its .* [0-9a-f]{64}$/],
    [`${header}03${one}${coinbase}${two}`, /begins with no coinbase/],
    [raw.replace(swap.secret, 'ab'.repeat(32)), /witnesses of its commitment [0-9a-f]{64}$/],
    [raw.slice(0, -2), /cannot be read/],
  ] as const) {
    await assert.rejects(read(lie), { code: 'chain_unavailable', message: why });
  }
});

it('a sibling under the hash of a block is an error of its node, and is not taken', async (t) => {
  const lie = { hash: '', result: '' };
  const { url, close } = await before(node.rpcUrl, async ({ method, params }) =>
    method === 'getblock' && params?.[0] === lie.hash ? { result: lie.result } : null,
  );
  t.after(close);
  const adapter = adapterOn(node, { coreUrl: url });
  const swap = newSwap();
  adapter.watch([swap.escrow]);
  await read(adapter, swap);
  await node.pay(swap.escrow.address, swap.terms.amount);
  const [hash = ''] = await node.mine(1);
  const raw = await node.rpc<string>('getblock', [hash, 0]);
  // Another nonce, and the same parent.
  lie.result = raw.replace(
    /^(.{152})(..)/,
    (_, start, byte) => start + (byte === '00' ? '01' : '00'),
  );
  lie.hash = hash;
  const message = new RegExp(`asked for block ${hash}, it gave block [0-9a-f]{64}$`);
  await assert.rejects(read(adapter, swap), { code: 'chain_unavailable', message });
  lie.hash = '';
  assert.equal((await read(adapter, swap)).funded?.confirmations, 1);
});

it('a block that is described is the one that was asked for too', async (t) => {
  const asked = 'cd'.repeat(32);
  const described = { id: 'ab'.repeat(32), hash: 'ab'.repeat(32), height: 7, mediantime: 7 };
  const core = await before(node.rpcUrl, async ({ method }) =>
    method === 'getblockheader' ? { result: { ...described, confirmations: -1 } } : null,
  );
  const esplora = await nodeOf(async (_, { url = '' }) => {
    return { text: url.startsWith('/block/') ? JSON.stringify(described) : asked };
  });
  t.after(() => Promise.all([core.close(), esplora.stop()]));
  const { past, tookBack } = coreOf({ ...node, rpcUrl: core.url });
  assert.ok(past.kind === 'by_block');
  const { tip } = esploraBackend({ url: esplora.url, network: bitcoinNetworks.regtest });
  const message = /asked for block (?:cd){32}, it gave block (?:ab){32}$/;
  await assert.rejects(past.firstHeight(0, signal()), { message: /it gave block (?:ab){32}$/ });
  await assert.rejects(async () => tookBack?.(asked, signal()), { message });
  await assert.rejects(tip(signal()), { message });
});

it('a past begins eleven blocks below the first whose median time is not two hours before', async () => {
  const { past } = coreOf(node);
  assert.ok(past.kind === 'by_block');
  const medianAt = async (height: number) => {
    const hash = await node.rpc('getblockhash', [height]);
    return (await node.rpc<{ mediantime: number }>('getblockheader', [hash])).mediantime;
  };
  for (const height of [30, 108, await node.rpc<number>('getblockcount')]) {
    const time = await medianAt(height);
    const first = (await past.firstHeight(time + 7_200, signal())) + 11;
    assert.ok((await medianAt(first)) >= time && (await medianAt(first - 1)) < time, `${height}`);
  }
});

describe('a race', () => {
  it('between a block and the mempool never makes a payment vanish', async () => {
    const swap = newSwap();
    let act = async () => {};
    const adapter = interrupted((real) => ({
      mempool: async (...args) => {
        await act();
        return real.mempool(...args);
      },
    }));
    adapter.watch([swap.escrow]);
    const txid = await node.pay(swap.escrow.address, swap.terms.amount);
    assert.equal((await read(adapter, swap)).funded?.confirmations, 0);
    act = async () => {
      await node.mine(1);
      act = async () => {};
    };
    // The block comes after the blocks were read: the payment is in neither place.
    assert.equal((await read(adapter, swap)).funded?.txid, txid);
    assert.equal((await read(adapter, swap)).funded?.confirmations, 1);
  });

  it('between two chains never mixes their blocks', async () => {
    const swap = newSwap();
    let act = async () => {};
    const adapter = interrupted((real) => ({
      block: async (hash, within) => {
        await act();
        return real.block(hash, within);
      },
    }));
    adapter.watch([swap.escrow]);
    await read(adapter, swap);
    await node.pay(swap.escrow.address, swap.terms.amount);
    await node.mine(3);
    let calls = 0;
    act = async () => {
      calls += 1;
      // The three blocks are of a chain that is gone when the third is read.
      if (calls !== 3) return;
      await reorganise(3);
      await node.mine(5);
    };
    const facts = await read(adapter, swap);
    assert.equal(facts.funded?.confirmations, 5);
    await node.mine(1);
    assert.equal((await read(adapter, swap)).funded?.confirmations, 6);
  });
});

const byEsplora = () => adapterOn(node, { esploraUrl: `${server.url}/` });

describe('an Esplora server', () => {
  it('shows a swap from payment to claim, with the same heads as the node', async () => {
    const adapter = byEsplora();
    const swap = newSwap();
    const txid = await node.pay(swap.escrow.address, swap.terms.amount);
    assert.deepEqual((await read(adapter, swap)).funded, { txid, confirmations: 0, deep: false });
    await node.mine(2);
    assert.deepEqual((await read(adapter, swap)).funded, { txid, confirmations: 2, deep: true });
    const { height, clock } = await adapter.heads(signal());
    assert.equal(height, await node.rpc('getblockcount'));
    assert.equal(clock, await node.medianTime());

    const material = await build(adapter, swap, 'claim');
    const claim = await adapter.readSigned(signedBy(swap, material, 'claim'), signal());
    assert.equal(await adapter.isKnown(claim, signal()), false);
    const backend = esploraBackend({ url: server.url, network: bitcoinNetworks.regtest });
    const spent = parseTx(claim.raw).inputs.map((each) => each.outpoint());
    assert.deepEqual(await backend.spenders(spent, signal()), []);
    assert.equal(await adapter.broadcast(claim, signal()), claim.txid);
    assert.deepEqual(await backend.spenders(spent, signal()), [claim.txid]);
    assert.equal(await adapter.broadcast(claim, signal()), claim.txid, 'known');
    assert.equal(await adapter.isKnown(claim, signal()), true);
    const other = { ...claim, raw: claim.raw.replace(swap.secret, 'ab'.repeat(32)) };
    assert.equal(await adapter.isKnown(other, signal()), false, 'of the same txid');
    await adapter.changes(signal());
    const again = await build(adapter, swap, 'claim');
    assert.ok(BigInt(again.feeSats) > BigInt(material.feeSats), 'a replacement pays more');
    await node.mine(2);
    const claimed = await read(adapter, swap);
    assert.equal(legStatus(claimed), 'claimed');
    assert.deepEqual([claimed.secret, claimed.empty], [swap.secret, false]);
    await node.mine(6);
    assert.equal((await read(adapter, swap)).empty, true);
    assert.deepEqual(await backend.spenders(spent, signal()), [], 'mined');
  });

  it('shows a claim in the mempool by turns, without being asked about that escrow', async () => {
    const adapter = byEsplora();
    const swaps = Array.from({ length: 25 }, () => newSwap());
    adapter.watch(swaps.map(({ escrow }) => escrow));
    const last = swaps.at(-1)!;
    for (let pass = 0; pass < 3; pass += 1) await adapter.changes(signal());
    await node.pay(last.escrow.address, last.terms.amount);
    const seen = new Set<string>();
    for (let pass = 0; pass < 2; pass += 1) {
      for (const address of (await adapter.changes(signal())).touched) seen.add(address);
    }
    assert.ok(seen.has(last.escrow.address));
    const before = server.requests.length;
    await adapter.changes(signal());
    assert.ok(server.requests.length - before < 30, 'requests of a pass are bounded');
  });

  it('a server of another network is not served', async () => {
    const source = { esploraUrl: `${server.url}/` };
    const other = { chain: 'bitcoin', network: 'mainnet', source, now: node.now } as const;
    await assert.rejects(bitcoinAdapter(other).heads(signal()), (error: ParleyError) => {
      assert.match(error.message, /first block is [0-9a-f]{64}, which is not of Bitcoin mainnet/);
      return error.code === 'chain_unavailable';
    });
  });
});
