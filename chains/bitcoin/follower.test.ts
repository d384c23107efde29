// The index against a real node: reorganisations, replacements, evictions, restarts.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { legStatus } from '../../core/facts.ts';
import type { ChainAdapter } from '../adapter.ts';
import type { BtcSighash } from '../interface/material.ts';
import { bitcoinAdapter } from './adapter.ts';
import type { BitcoinBackend } from './backend.ts';
import { coreBackend } from './core-backend.ts';
import { bitcoinNetworks } from './networks.ts';
import { type Regtest, startRegtest } from './testing/regtest.ts';
import { signed, type TestSwap, testSwap } from './testing/swaps.ts';

const signal = () => AbortSignal.timeout(60_000);
let node: Regtest;

before(async () => {
  node = await startRegtest();
});
after(async () => {
  await node?.stop();
});

function newAdapter(): ChainAdapter {
  const source = { coreUrl: node.rpcUrl };
  return bitcoinAdapter({ chain: 'bitcoin', network: 'regtest', source, now: node.now });
}

function newSwap(lockSeconds = 90_000): TestSwap {
  return testSwap({ timelock: node.now() + lockSeconds, since: node.now() });
}

async function touched(adapter: ChainAdapter): Promise<readonly string[]> {
  return (await adapter.changes(signal())).touched;
}

const read = (adapter: ChainAdapter, swap: TestSwap) => adapter.readEscrow(swap.escrow, signal());

async function claim(adapter: ChainAdapter, swap: TestSwap, rate: number | null = null) {
  const input = { escrow: swap.escrow, feeRateSatPerVbyte: rate, isPublic: false };
  const material = (await adapter.buildClaim(input, swap.secret, signal())) as BtcSighash;
  return adapter.readSigned(signed(material, swap.claimer, swap.secret), signal());
}

async function refund(adapter: ChainAdapter, swap: TestSwap, rate: number | null = null) {
  const input = { escrow: swap.escrow, feeRateSatPerVbyte: rate, isPublic: false };
  const material = (await adapter.buildRefund(input, signal())) as BtcSighash;
  return adapter.readSigned(signed(material, swap.funder), signal());
}

describe('changes', () => {
  it('catches up over many blocks in bounded passes', async () => {
    const adapter = newAdapter();
    const swap = newSwap();
    adapter.watch([swap.escrow]);
    await touched(adapter);
    const txid = await node.pay(swap.escrow.address, swap.terms.amount);
    await node.mine(100);
    const found = await read(adapter, swap);
    assert.deepEqual(found.funded, { txid, confirmations: 100, deep: true });
  });
});

describe('a restart', () => {
  it('finds the past of an escrow that is watched late, while others are followed', async () => {
    const adapter = newAdapter();
    await read(adapter, newSwap());
    // Long followed by then: only the blocks since the agreement are read again.
    await node.moveClock(1_000);
    const late = newSwap();
    await node.mine(3);
    await node.pay(late.escrow.address, late.terms.amount);
    await node.mine(5);
    await touched(adapter);
    adapter.watch([late.escrow]);
    assert.deepEqual(await touched(adapter), [late.escrow.address]);
    assert.equal((await read(adapter, late)).funded?.confirmations, 5);
  });
});

describe('an escrow watched late', () => {
  it('shows a payment that was in the mempool before', async () => {
    const adapter = newAdapter();
    await read(adapter, newSwap());
    const late = newSwap();
    const txid = await node.pay(late.escrow.address, late.terms.amount);
    await touched(adapter);
    assert.deepEqual((await read(adapter, late)).funded, { txid, confirmations: 0, deep: false });
  });
});

/** Takes back the last `blocks` and mines one more than that to another address. */
async function reorganise(blocks: number): Promise<void> {
  const height = await node.rpc<number>('getblockcount');
  const hash = await node.rpc<string>('getblockhash', [height - blocks + 1]);
  await node.rpc('invalidateblock', [hash]);
}

describe('a reorganisation', () => {
  it('to a chain of the same length or longer is walked as well', async () => {
    const adapter = newAdapter();
    const swap = newSwap();
    adapter.watch([swap.escrow]);
    await node.pay(swap.escrow.address, swap.terms.amount);
    await node.mine(5);
    await read(adapter, swap);
    await reorganise(4);
    await node.mine(7);
    assert.equal((await read(adapter, swap)).funded?.confirmations, 8);
  });

  it('that undoes a payment for good leaves nothing, and a claim leaves its secret', async () => {
    const adapter = newAdapter();
    const swap = newSwap();
    adapter.watch([swap.escrow]);
    // A payment from a coin of its own, so that it can be spent twice.
    const coin = await node.pay(await node.wallet('getnewaddress', ['', 'bech32']), 3_000_000n);
    await node.mine(1);
    const inputs = await coinInputs(coin);
    const pay = await sign(inputs, { [swap.escrow.address]: '0.0299' });
    const elsewhere = await node.wallet<string>('getnewaddress', ['', 'bech32']);
    const double = await sign(inputs, { [elsewhere]: '0.0298' });
    await node.rpc('sendrawtransaction', [pay]);
    await node.mine(2);
    assert.equal(legStatus(await read(adapter, swap)), 'funded');
    const paid = await claim(adapter, swap);
    await adapter.broadcast(paid, signal());
    await node.mine(1);
    assert.equal((await read(adapter, swap)).secret, swap.secret);
    await reorganise(3);
    // The miner of the other chain takes the double spend instead.
    const miner = await node.wallet<string>('getnewaddress', ['', 'bech32']);
    await node.moveClock(1);
    await node.rpc('generateblock', [miner, [double]]);
    await node.mine(4);
    const facts = await read(adapter, swap);
    assert.deepEqual(
      [facts.funded, facts.claimed, facts.balance, facts.empty],
      [null, null, 0n, true],
    );
    assert.equal(facts.secret, swap.secret, 'a secret seen is seen for ever');
  });

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

type Input = { txid: string; vout: number };

async function coinInputs(txid: string): Promise<Input[]> {
  const unspent = await node.wallet<(Input & { amount: number })[]>('listunspent', []);
  return unspent.filter((each) => each.txid === txid && each.amount === 0.03);
}

async function sign(inputs: Input[], outputs: Record<string, string>): Promise<string> {
  const replaceable = inputs.map((input) => ({ ...input, sequence: 0xffff_fffd }));
  const raw = await node.rpc<string>('createrawtransaction', [replaceable, outputs]);
  return (await node.wallet<{ hex: string }>('signrawtransactionwithwallet', [raw])).hex;
}

describe('the mempool', () => {
  it('forgets a payment that was replaced by another', async () => {
    const adapter = newAdapter();
    const swap = newSwap();
    adapter.watch([swap.escrow]);
    const coin = await node.pay(await node.wallet('getnewaddress', ['', 'bech32']), 3_000_000n);
    await node.mine(1);
    const inputs = await coinInputs(coin);
    await node.rpc('sendrawtransaction', [await sign(inputs, { [swap.escrow.address]: '0.0299' })]);
    assert.equal((await read(adapter, swap)).funded?.confirmations, 0);
    await touched(adapter);
    const elsewhere = await node.wallet<string>('getnewaddress', ['', 'bech32']);
    await node.rpc('sendrawtransaction', [await sign(inputs, { [elsewhere]: '0.0290' })]);
    assert.deepEqual(await touched(adapter), [swap.escrow.address]);
    const facts = await read(adapter, swap);
    assert.deepEqual([facts.funded, facts.empty], [null, true]);
  });

  it('shows a claim that replaces a refund, and keeps the secret of a replaced one', async () => {
    const adapter = newAdapter();
    const swap = newSwap(2_000);
    adapter.watch([swap.escrow]);
    await node.pay(swap.escrow.address, swap.terms.amount);
    await node.mine(2);
    await node.moveMedianTo(swap.terms.timelock + 1);
    const back = await refund(adapter, swap, 2);
    await adapter.broadcast(back, signal());
    assert.equal((await read(adapter, swap)).refunded?.txid, back.txid);
    // The claimer may still bid more, until one of them is mined.
    const paid = await claim(adapter, swap, 10);
    await adapter.broadcast(paid, signal());
    const claimed = await read(adapter, swap);
    assert.deepEqual([claimed.claimed?.txid, claimed.refunded], [paid.txid, null]);
    // The funder mines its refund itself, against the mempool.
    const miner = await node.wallet<string>('getnewaddress', ['', 'bech32']);
    await node.moveClock(1);
    await node.rpc('generateblock', [miner, [back.raw]]);
    await node.mine(1);
    const refunded = await read(adapter, swap);
    assert.equal(legStatus(refunded), 'refunded');
    assert.deepEqual([refunded.claimed, refunded.secret], [null, swap.secret]);
  });
});

/** An adapter whose backend lets the test act just before or after one of its calls. */
function interrupted(change: (real: BitcoinBackend) => Partial<BitcoinBackend>): ChainAdapter {
  const network = bitcoinNetworks.regtest;
  const real = coreBackend({ url: node.rpcUrl, network, now: node.now });
  const source = { backend: { ...real, ...change(real) } };
  return bitcoinAdapter({ chain: 'bitcoin', network: 'regtest', source, now: node.now });
}

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
      blockHash: async (height, within) => {
        await act();
        return real.blockHash(height, within);
      },
    }));
    adapter.watch([swap.escrow]);
    await read(adapter, swap);
    await node.pay(swap.escrow.address, swap.terms.amount);
    await node.mine(3);
    let calls = 0;
    act = async () => {
      calls += 1;
      // Two of the three blocks were read from a chain that is gone when the third is asked for.
      if (calls !== 4) return;
      await reorganise(3);
      await node.mine(5);
    };
    const facts = await read(adapter, swap);
    assert.equal(facts.funded?.confirmations, 5);
    await node.mine(1);
    assert.equal((await read(adapter, swap)).funded?.confirmations, 6);
  });

  it('that takes blocks back after their hashes were read leaves what stands', async () => {
    const swap = newSwap();
    await node.pay(swap.escrow.address, swap.terms.amount);
    await node.mine(5);
    let [asked, blocks] = [0, 0];
    const adapter = interrupted(({ past, block }) => {
      assert.ok(past.kind === 'by_block');
      const { firstHeight } = past;
      const blockHashes: typeof past.blockHashes = async (heights, within) => {
        const hashes = await past.blockHashes(heights, within);
        asked += 1;
        if (heights.length < 5 || blocks > 0) return hashes;
        await reorganise(5);
        await node.mine(2);
        return hashes;
      };
      const counted: typeof block = (hash, within) => {
        blocks += 1;
        return block(hash, within);
      };
      return { past: { kind: 'by_block', firstHeight, blockHashes }, block: counted };
    });
    adapter.watch([swap.escrow]);
    await read(adapter, swap);
    assert.equal((await read(adapter, swap)).funded?.confirmations, 2);
    assert.ok(asked <= 1 + blocks / 40, `${asked} requests for the hashes of ${blocks} blocks`);
    await node.mine(4);
    assert.equal((await read(adapter, swap)).funded?.confirmations, 6);
  });
});
