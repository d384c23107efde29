import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bytesToHex } from '@noble/hashes/utils.js';
import { ParleyError } from '../../core/errors.ts';
import { legStatus } from '../../core/facts.ts';
import type { ChainAdapter } from '../adapter.ts';
import type { BtcSighash } from '../interface/material.ts';
import { refuses } from '../testing/refusals.ts';
import { bitcoinAdapter } from './adapter.ts';
import type { BitcoinBackend } from './backend.ts';
import { coreBackend } from './core-backend.ts';
import { bitcoinNetworks, parseBitcoinAddress } from './networks.ts';
import { buildSpend } from './plan.ts';
import { parseTx } from './raw-transaction.ts';
import { type Regtest, startRegtest } from './testing/regtest.ts';
import { withoutTxindex } from './testing/servers.ts';
import { signed, type TestSwap, testSwap } from './testing/swaps.ts';

const signal = () => AbortSignal.timeout(30_000);

const unasked = { escrow: '', feeSats: '0', feeRateSatPerVbyte: 0, ladder: [] };

let node: Regtest;
let adapter: ChainAdapter;

before(async () => {
  node = await startRegtest();
  adapter = newAdapter();
});
after(async () => {
  await node?.stop();
});

function newAdapter(): ChainAdapter {
  return bitcoinAdapter({
    chain: 'bitcoin',
    network: 'regtest',
    source: { coreUrl: node.rpcUrl },
    now: node.now,
  });
}

function newSwap(values: { amount?: bigint; lockSeconds?: number } = {}): TestSwap {
  const { amount, lockSeconds = 90_000 } = values;
  const base = { timelock: node.now() + lockSeconds, since: node.now() };
  return testSwap(amount === undefined ? base : { ...base, amount });
}

async function fund(swap: TestSwap, sats = swap.terms.amount): Promise<string> {
  return node.pay(swap.escrow.address, sats);
}

const read = (swap: TestSwap, by = adapter) => by.readEscrow(swap.escrow, signal());

async function claimOf(swap: TestSwap, rate: number | null = null, by = adapter) {
  const input = { escrow: swap.escrow, feeRateSatPerVbyte: rate, isPublic: false };
  const material = (await by.buildClaim(input, swap.secret, signal())) as BtcSighash;
  return by.readSigned(signed(material, swap.claimer, swap.secret), signal());
}

async function refundOf(swap: TestSwap, rate: number | null = null) {
  const input = { escrow: swap.escrow, feeRateSatPerVbyte: rate, isPublic: false };
  const material = (await adapter.buildRefund(input, signal())) as BtcSighash;
  return adapter.readSigned(signed(material, swap.funder), signal());
}

describe('several payments', () => {
  it('are never summed, and the funder gets back what the claimer does not take', async () => {
    const swap = newSwap({ amount: 100_000n, lockSeconds: 4_000 });
    await fund(swap, 60_000n);
    await node.mine(1);
    await fund(swap, 60_000n);
    await node.mine(2);
    const dust = await read(swap);
    assert.deepEqual([dust.funded, dust.balance, dust.empty], [null, 120_000n, false]);
    await assert.rejects(claimOf(swap), refuses('nothing_there'));
    const main = await fund(swap, 150_000n);
    await node.mine(2);
    const funded = await read(swap);
    assert.deepEqual([funded.funded?.txid, funded.balance], [main, 270_000n]);

    const claim = await claimOf(swap);
    await adapter.broadcast(claim, signal());
    await node.mine(2);
    const claimed = await read(swap);
    assert.equal(legStatus(claimed), 'claimed');
    assert.deepEqual([claimed.balance, claimed.empty], [120_000n, false]);
    const received = await paidTo(claim.txid, swap.terms.payout.address);
    assert.ok(received > 149_000n && received < 150_000n, 'the overpayment goes to the claimer');

    await node.moveMedianTo(swap.terms.timelock + 1);
    const refund = await refundOf(swap);
    await adapter.broadcast(refund, signal());
    await node.mine(8);
    const done = await read(swap);
    assert.deepEqual([legStatus(done), done.balance, done.empty], ['claimed', 0n, true]);
    const back = await paidTo(refund.txid, swap.terms.refund.address);
    assert.ok(back > 118_000n && back < 120_000n);
  });

  it('of dust that is not worth its own input stay behind in a refund', async () => {
    const swap = newSwap({ amount: 100_000n, lockSeconds: 3_000 });
    await fund(swap, 100_000n);
    await fund(swap, 330n);
    await node.mine(2);
    await node.moveMedianTo(swap.terms.timelock + 1);
    const refund = await refundOf(swap, 20);
    await adapter.broadcast(refund, signal());
    await node.mine(2);
    const facts = await read(swap);
    assert.deepEqual([legStatus(facts), facts.balance, facts.empty], ['refunded', 330n, false]);
    await assert.rejects(refundOf(swap), refuses('nothing_there'));
  });
});

async function paidTo(txid: string, address: string): Promise<bigint> {
  const tx = parseTx(await node.rawTransaction(txid));
  const script = parseBitcoinAddress(address, bitcoinNetworks.regtest).script;
  const paid = tx.outputs.filter((output) => bytesToHex(output.script) === bytesToHex(script));
  return paid.reduce((sum, { amount }) => sum + amount, 0n);
}

describe('fees', () => {
  const feeOf = async (swap: TestSwap, rate: number | null) => {
    const input = { escrow: swap.escrow, feeRateSatPerVbyte: rate, isPublic: false };
    const material = (await adapter.buildClaim(input, swap.secret, signal())) as BtcSighash;
    return BigInt(material.feeSats);
  };

  it('follow the caller within bounds, and are refused outside', async () => {
    const swap = newSwap();
    await fund(swap);
    await node.mine(1);
    const one = await feeOf(swap, 1);
    assert.equal(await feeOf(swap, 10), 10n * one);
    for (const rate of [0, 0.99, 500.1, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await assert.rejects(feeOf(swap, rate), refuses('bad_fee_rate'), String(rate));
    }
  });

  it('never take more than a quarter of the value', async () => {
    const swap = newSwap({ amount: 20_000n });
    await fund(swap);
    await node.mine(1);
    const refusal = await feeOf(swap, 400).catch((error: ParleyError) => error);
    assert.ok(refusal instanceof ParleyError && refusal.code === 'bad_fee_rate');
    const { most, mostFeeSats } = refusal.facts;
    assert.equal(mostFeeSats, 5_000n);
    assert.match(refusal.message, /may pay 5000 sats of 20000$/);
    const highest = await feeOf(swap, Number(most));
    assert.ok(highest <= 5_000n && highest > 4_998n, String(highest));
  });

  it('rise for a claim near its timelock', async () => {
    const swap = newSwap({ lockSeconds: 90_000 });
    await fund(swap);
    await node.mine(1);
    const early = await feeOf(swap, null);
    await node.moveClock(89_000);
    assert.equal(await feeOf(swap, null), 2n * early);
    await node.moveClock(-89_000);
  });

  it('of a rebuilt claim are enough to replace the one in the mempool', async () => {
    const swap = newSwap();
    await fund(swap);
    await node.mine(1);
    const first = await claimOf(swap, 3);
    await adapter.broadcast(first, signal());
    const input = (rate: number) => ({
      escrow: swap.escrow,
      feeRateSatPerVbyte: rate,
      isPublic: false,
    });
    const refusal = await adapter
      .buildClaim(input(3), swap.secret, signal())
      .catch((cause) => cause);
    assert.ok(refusal instanceof ParleyError && refusal.code === 'bad_fee_rate');
    assert.match(refusal.message, new RegExp(`sats do not replace ${first.txid}$`));
    const least = Number(refusal.facts.least);
    assert.ok(least > 3.9 && least < 4.1, refusal.message);
    await assert.rejects(claimOf(swap, least - 0.01), refuses('bad_fee_rate'));
    const second = await claimOf(swap, least);
    assert.notEqual(second.txid, first.txid);
    await adapter.broadcast(second, signal());
    assert.deepEqual(await node.rpc('getrawmempool'), [second.txid]);
    const third = await claimOf(swap, 50);
    await adapter.broadcast(third, signal());
    assert.equal((await read(swap)).claimed?.txid, third.txid);
    await node.mine(1);
    await assert.rejects(claimOf(swap), refuses('nothing_there'), 'mined');
  });
});

describe('checkAmount', () => {
  it('refuses what a claim could not pay for, and what is no amount of Bitcoin', async () => {
    const check = (amount: bigint, token: string | null = null) =>
      adapter.checkAmount(token, amount, signal());
    // 4 sat/vB (the fallback in its last hour) over a quarter of the value.
    const error = await check(1n).catch((cause: ParleyError) => cause);
    assert.ok(error instanceof ParleyError);
    const least = BigInt(String(error.facts.least));
    await check(least);
    await assert.rejects(check(least - 1n), refuses('amount_too_small'));
    await assert.rejects(check(2_100_000_000_000_001n), refuses('bad_amount'));
    await assert.rejects(check(1_000_000n, '0xtoken'), refuses('bad_asset'));
    const swap = newSwap({ amount: least - 1n });
    await assert.rejects(
      adapter.preflight(swap.terms, 'payout', signal()),
      refuses('payout_would_fail'),
    );
    await adapter.preflight(newSwap().terms, 'funding', signal());
  });
});

describe('readSigned and broadcast', () => {
  it('name every escrow that a transaction touches', async () => {
    const [a, b] = [newSwap(), newSwap()];
    adapter.watch([a.escrow, b.escrow]);
    const outputs = { [a.escrow.address]: '0.01', [b.escrow.address]: '0.02' };
    const raw = await node.rpc<string>('createrawtransaction', [[], outputs]);
    type Funded = { hex: string };
    const complete = await node.wallet<Funded>('fundrawtransaction', [raw]);
    const { hex } = await node.wallet<Funded>('signrawtransactionwithwallet', [complete.hex]);
    const { touches, txid } = await adapter.readSigned(hex.toUpperCase(), signal());
    assert.deepEqual(
      new Set(touches),
      new Set([
        { escrow: a.escrow.address, verb: 'fund', secret: null },
        { escrow: b.escrow.address, verb: 'fund', secret: null },
      ]),
    );
    assert.equal(await adapter.broadcast({ txid, raw: hex, touches }, signal()), txid);
    assert.equal(await adapter.broadcast({ txid, raw: hex, touches }, signal()), txid, 'again');
    await node.mine(2);
    const stranger = newAdapter();
    assert.equal(await stranger.broadcast({ txid, raw: hex, touches }, signal()), txid, 'mined');
  });

  it('know bytes in the mempool and in a block, with txindex and without, and no others', async () => {
    const plain = await withoutTxindex(node.rpcUrl, node.rpc);
    const bare = bitcoinAdapter({
      chain: 'bitcoin',
      network: 'regtest',
      source: { coreUrl: plain.url },
      now: node.now,
    });
    try {
      const swap = newSwap();
      await fund(swap);
      await node.mine(1);
      await read(swap, bare);
      const claim = await claimOf(swap);
      // The same txid: it does not commit to the witness.
      const other = { ...claim, raw: claim.raw.replace(swap.secret, 'ab'.repeat(32)) };
      assert.equal(parseTx(other.raw).txid(), claim.txid);
      const knowing = (by: ChainAdapter) =>
        Promise.all([by.isKnown(claim, signal()), by.isKnown(other, signal())]);
      for (const by of [adapter, bare]) assert.deepEqual(await knowing(by), [false, false]);
      await adapter.broadcast(claim, signal());
      for (const by of [adapter, bare]) assert.deepEqual(await knowing(by), [true, false]);
      // A node that has the id already takes them without a word: nothing of them may be believed.
      assert.equal(await bare.broadcast(other, signal()), claim.txid);
      const shown = await read(swap, bare);
      assert.deepEqual([shown.claimed?.txid, shown.refunded], [claim.txid, null]);
      await node.mine(3);
      for (const by of [adapter, bare]) assert.deepEqual(await knowing(by), [true, false]);
    } finally {
      await plain.close();
    }
  });

  it('make the secret of a claim public at once, also before the mempool shows it', async () => {
    const core = coreBackend({ url: node.rpcUrl, network: bitcoinNetworks.regtest, now: node.now });
    const backend: BitcoinBackend = {
      ...core,
      mempool: async ({ unmined }, limit) => {
        const { hash: tipHash } = await core.tip(limit);
        return { transactions: [], gone: [...unmined], tipHash };
      },
    };
    const source = { backend };
    const blind = bitcoinAdapter({ chain: 'bitcoin', network: 'regtest', source, now: node.now });
    const swap = newSwap();
    blind.watch([swap.escrow]);
    await fund(swap);
    await node.mine(2);
    const claim = await claimOf(swap, null, blind);
    await blind.changes(signal());
    assert.deepEqual((await blind.changes(signal())).touched, []);
    assert.equal((await read(swap, blind)).secret, null, 'only read');
    await blind.broadcast(claim, signal());
    assert.equal((await read(swap, blind)).secret, swap.secret);
    assert.deepEqual((await blind.changes(signal())).touched, [swap.escrow.address]);
  });

  it('keep the words of the node', async () => {
    const swap = newSwap();
    const unknown = { txid: '11'.repeat(32), vout: 0, amount: 1_000_000n };
    const built = buildSpend(swap.terms, bitcoinNetworks.regtest, 'claim', [unknown], 1_000n);
    const material = {
      ...built,
      chain: 'bitcoin',
      family: 'bitcoin',
      sign: 'btc-sighash',
    } as const;
    const claim = signed({ ...material, ...unasked }, swap.claimer, swap.secret);
    const read = await adapter.readSigned(claim, signal());
    await assert.rejects(adapter.broadcast(read, signal()), (error: ParleyError) => {
      assert.match(error.message, /missing-?or-?spent|missing inputs/i);
      return refuses('refused_by_node')(error);
    });
  });

  it('see a claim of an escrow whose payment was never seen', async () => {
    const swap = newSwap();
    adapter.watch([swap.escrow]);
    const unknown = { txid: '22'.repeat(32), vout: 7, amount: 1_000_000n };
    const built = buildSpend(swap.terms, bitcoinNetworks.regtest, 'claim', [unknown], 1_000n);
    const material = {
      ...built,
      chain: 'bitcoin',
      family: 'bitcoin',
      sign: 'btc-sighash',
    } as const;
    const claim = signed({ ...material, ...unasked }, swap.claimer, swap.secret);
    const { touches } = await adapter.readSigned(claim, signal());
    assert.deepEqual(touches, [
      { escrow: swap.escrow.address, verb: 'claim', secret: swap.secret },
    ]);
  });
});

describe('funding', () => {
  it('is one payment of the exact amount, by BIP 21', async () => {
    const swap = newSwap({ amount: 123_456n });
    const input = { escrow: swap.escrow, feeRateSatPerVbyte: null, isPublic: false };
    const { address } = swap.escrow;
    assert.deepEqual(await adapter.buildFund(input, signal()), {
      chain: 'bitcoin',
      family: 'bitcoin',
      sign: 'btc-payment',
      payTo: address,
      amountSats: '123456',
      uri: `bitcoin:${address}?amount=0.00123456`,
      escrow: address,
    });
  });

  it('of an address that is not that of its terms is never followed', async () => {
    const [a, b] = [newSwap(), newSwap()];
    const wrong = { ...a.escrow, address: b.escrow.address };
    assert.throws(() => adapter.watch([wrong]), refuses('unknown_escrow'));
  });
});
