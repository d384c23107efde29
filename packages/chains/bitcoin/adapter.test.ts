// The adapter on a real bitcoind, whose mempool takes nothing cheap, and through an Esplora server:
// payments, fees and their floors, replacements, what is sent, and a funding that sticks.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { legStatus } from '@parley/core/facts.ts';
import type { ChainAdapter } from '../adapter.ts';
import type { BtcSighash } from '../interface/material.ts';
import type { Bump } from '../interface/scheduled.ts';
import { atAStretch } from '../interface/turns.ts';
import { refuses } from '../testing/refusals.ts';
import { signLeaves, signSighashes } from './keys.ts';
import { bitcoinNetworks } from './networks.ts';
import { buildSpend } from './plan.ts';
import { parseTx } from './raw-transaction.ts';
import { assemble } from './signed-psbt.ts';
import { fundingPatienceSeconds } from './stuck-funding.ts';
import {
  adapterOn,
  build,
  coreOf,
  fundedOn,
  inputOf,
  read,
  signal,
  signedBy,
  spend,
  swapOn,
  type Verb,
} from './testing/lab.ts';
import { coins, startRegtest } from './testing/regtest.ts';
import { esploraServer, withoutTxindex } from './testing/servers.ts';
import type { TestSwap } from './testing/swaps.ts';

const node = await startRegtest();
const esplora = await esploraServer(node.rpc);
after(async () => {
  await esplora.close();
  await node.stop();
});
const adapter = adapterOn(node);
const byEsplora = () => adapterOn(node, { esploraUrl: esplora.url });

const fund = (swap: TestSwap, sats = swap.terms.amount) => node.pay(swap.escrow.address, sats);
const claimOf = (swap: TestSwap, rate: number | null = null) => spend(adapter, swap, 'claim', rate);
const refundOf = (swap: TestSwap, rate: number | null = null) =>
  spend(adapter, swap, 'refund', rate);

async function paid(lockSeconds?: number, amount?: bigint): Promise<TestSwap> {
  const swap = swapOn(node, lockSeconds, amount);
  await fund(swap);
  await node.mine(1);
  return swap;
}

// First: it learns one from the blocks of the others.
it('a node that has no estimate yet says what its mempool takes at least', async () => {
  const quiet = await coreOf(node).feeEstimate(0, signal());
  assert.deepEqual([quiet?.fast, typeof quiet?.least], [null, 'number']);
});

describe('several payments', () => {
  it('payments of dust that is not worth its own input stay behind in a refund, and count no more', async () => {
    const swap = swapOn(node, 3_000, 100_000n);
    await fund(swap, 100_000n);
    await fund(swap, 330n);
    await node.mine(2);
    await node.moveMedianTo(swap.terms.timelock + 1);
    const refund = await refundOf(swap, 20);
    await adapter.broadcast(refund, signal());
    await node.mine(2);
    const facts = await read(adapter, swap);
    assert.deepEqual([legStatus(facts), facts.balance], ['refunded', 0n]);
    await assert.rejects(refundOf(swap), refuses('nothing_there'));
    await node.mine(6);
    assert.equal((await read(adapter, swap)).empty, true);
    await fund(swap, 330n);
    // Together they pay a refund at the least fee, whatever the rate of now.
    await node.mine(1);
    assert.equal((await read(adapter, swap)).balance, 660n);
    await adapter.broadcast(await refundOf(swap), signal());
    assert.equal((await read(adapter, swap)).balance, 0n);
  });
});

it('what is no amount of Bitcoin is refused', async () => {
  const check = (amount: bigint, token: string | null = null) =>
    adapter.checkAmount(token, amount, signal());
  await assert.rejects(check(2_100_000_000_000_001n), refuses('bad_amount'));
  await assert.rejects(check(1_000_000n, '0xtoken'), refuses('bad_asset'));
  const terms = { ...swapOn(node).terms, amount: 1n };
  await assert.rejects(adapter.preflight(terms, 'payout', signal()), refuses('payout_would_fail'));
});

describe('readSigned and broadcast', () => {
  it('know bytes in the mempool and in a block, with txindex and without, and no others', async () => {
    const plain = await withoutTxindex(node.rpcUrl, node.rpc);
    const bare = adapterOn(node, { coreUrl: plain.url });
    try {
      const swap = await paid();
      bare.watch([swap.escrow]);
      await read(bare, swap);
      const claim = await claimOf(swap);
      // The same txid: it does not commit to the witness.
      const other = { ...claim, raw: claim.raw.replace(swap.secret, 'ab'.repeat(32)) };
      assert.equal(parseTx(other.raw).txid(), claim.txid);
      const knowing = (by: ChainAdapter) =>
        Promise.all([by.isKnown(claim, signal()), by.isKnown(other, signal())]);
      for (const by of [adapter, bare]) assert.deepEqual(await knowing(by), [false, false]);
      await adapter.broadcast(claim, signal());
      for (const by of [adapter, bare]) assert.deepEqual(await knowing(by), [true, false]);
      // A node that has the id already takes them without a word: its answer about them proves
      // nothing.
      assert.equal(await bare.broadcast(other, signal()), claim.txid);
      const shown = await read(bare, swap);
      assert.deepEqual([shown.claimed?.txid, shown.refunded], [claim.txid, null]);
      await node.mine(3);
      await read(bare, swap);
      for (const by of [adapter, bare]) assert.deepEqual(await knowing(by), [true, false]);
    } finally {
      await plain.close();
    }
  });
});

describe('funding', () => {
  it('an escrow with another address than that of its terms is never followed', async () => {
    const a = swapOn(node);
    const b = swapOn(node);
    const wrong = { ...a.escrow, address: b.escrow.address };
    assert.throws(() => adapter.watch([wrong]), refuses('unknown_escrow'));
  });
});

async function built(by: ChainAdapter, swap: TestSwap, verb: Verb, rate: number | null) {
  const material = await build(by, swap, verb, rate);
  const signed = await by.readSigned(signedBy(swap, material, verb), signal());
  return { material, send: () => by.broadcast(signed, signal()) };
}

for (const [verb, name, source] of [
  ['claim', 'a Core node', () => adapterOn(node)],
  ['refund', 'an Esplora server', byEsplora],
] as const) {
  it(`a ${verb} that waits is replaced by building again, through ${name}`, async () => {
    const by = source();
    const swap = await fundedOn(node, verb === 'refund' ? 60 : 90_000);
    if (verb === 'refund') await node.moveMedianTo(swap.terms.timelock + 1);
    const first = await built(by, swap, verb, 20);
    const txid = await first.send();
    const low = built(by, swap, verb, 20);
    const message = new RegExp(`do not replace ${txid}$`);
    await assert.rejects(low, { code: 'bad_fee_rate', message });
    const second = await built(by, swap, verb, null);
    assert.ok(BigInt(second.material.feeSats) > BigInt(first.material.feeSats));
    assert.equal(second.material.ladder[0]?.feeSats, second.material.feeSats);
    const replaced = await second.send();
    assert.deepEqual(await node.rpc('getrawmempool'), [replaced]);
    await node.mine(1);
  });
}

it("the mempool's least fee is the floor of what is built, and named in a refusal", async () => {
  const swap = await fundedOn(node);
  const core = coreOf(node);
  const backend = {
    ...core,
    feeEstimate: async () => ({ fast: null, least: 7.5, at: node.now() }),
  };
  const by = adapterOn(node, { backend });
  const { material } = await built(by, swap, 'claim', null);
  assert.ok(material.feeRateSatPerVbyte >= 7.5, String(material.feeRateSatPerVbyte));
  const low = built(by, swap, 'claim', 7);
  await assert.rejects(low, /from 7.5 to \d+(\.\d+)? sat per vbyte; got 7: mempools take no less/);
});

it('a claim may cost nearly all it takes once its secret is public, and nothing else may', async () => {
  const by = adapterOn(node);
  const swap = swapOn(node, 90_000, 40_000n);
  await node.pay(swap.escrow.address, swap.terms.amount);
  await node.mine(2);
  const claim = (isPublic: boolean) =>
    by.buildClaim(
      { escrow: swap.escrow, feeRateSatPerVbyte: 200, isPublic },
      swap.secret,
      signal(),
    );
  await assert.rejects(claim(false), {
    code: 'bad_fee_rate',
    message: /may pay 10000 sats of 40000/,
  });
  const built = (await claim(true)) as BtcSighash;
  assert.ok(BigInt(built.feeSats) > 25_000n, built.feeSats);
  await node.moveMedianTo(swap.terms.timelock + 1);
  const refund = { escrow: swap.escrow, feeRateSatPerVbyte: 200, isPublic: true };
  await assert.rejects(by.buildRefund(refund, signal()), { code: 'bad_fee_rate' });
});

it('a claim signed beforehand is taken by a node once its secret is in it, in either form', async () => {
  const { scheduledSpends: spends = assert.fail() } = adapter;
  for (const form of [undefined, 'p2tr'] as const) {
    const swap = swapOn(node, undefined, undefined, form);
    const { escrow, terms, secret } = swap;
    await fund(swap);
    await node.mine(2);
    const { payments } = await spends.spendable(escrow, 'claim', signal());
    assert.equal(payments.length, 1);
    const built = buildSpend(terms, bitcoinNetworks.regtest, 'claim', payments, 20_000n);
    const sign = form === undefined ? signSighashes : signLeaves;
    const signaturesHex = sign(swap.claimer.privateKey, built.sighashHexes);
    const { raw, txid } = assemble({ psbtBase64: built.psbtBase64, signaturesHex }, 'claim');
    const asking = { transactions: [raw], known: [], inTurns: atAStretch };
    const bumps = await spends.check(escrow, { verb: 'claim', ...asking }, signal());
    const [bump = assert.fail()] = bumps;
    const ladder = { verb: 'claim', bumps, tried: null, secret } as const;
    const blind = await spends.next(escrow, { ...ladder, secret: null }, signal());
    assert.equal(blind.kind, 'wait');
    assert.equal((await spends.next(escrow, ladder, signal())).kind, 'send');
    await assert.rejects(node.rpc('sendrawtransaction', [raw]), /script|mandatory|empty/i);
    const whole = spends.finished(escrow, bump, ladder);
    assert.equal(await node.rpc('sendrawtransaction', [whole]), txid);
    await node.mine(2);
    const facts = await read(adapter, swap);
    assert.deepEqual([facts.claimed?.txid, facts.secret], [txid, secret]);
    assert.equal((await spends.next(escrow, ladder, signal())).kind, 'over');
  }
});

it('a refund and a fee bump schedule are hurried by a secret that this chain has not shown', async () => {
  const core = coreOf(node);
  const feeEstimate = async () => ({ fast: 20, medium: 5, slow: 2, least: 1, at: node.now() });
  const by = adapterOn(node, { backend: { ...core, feeEstimate } });
  const swap = await fundedOn(node, 60);
  const { escrow } = swap;
  await node.moveMedianTo(escrow.terms.timelock + 1);
  const bumps: Bump[] = [];
  for (const feeRateSatPerVbyte of [2, 5, 10, 20, 40]) {
    const { material } = await built(by, swap, 'refund', feeRateSatPerVbyte);
    const { txid, raw } = await by.readSigned(signedBy(swap, material, 'refund'), signal());
    bumps.push({ txid, raw, feeSats: BigInt(material.feeSats), feeRateSatPerVbyte });
  }
  const rateWhere = async (isPublic: boolean) => {
    const input = { ...inputOf(swap), isPublic };
    const material = (await by.buildRefund(input, signal())) as BtcSighash;
    const secret = isPublic ? swap.secret : null;
    const ladder = { verb: 'refund', bumps, tried: null, secret } as const;
    const next = await by.scheduledSpends?.next(escrow, ladder, signal());
    assert.ok(next?.kind === 'send');
    return [material.feeRateSatPerVbyte, bumps[next.from]?.feeRateSatPerVbyte].map(Number);
  };
  const calm = await rateWhere(false);
  const hurried = await rateWhere(true);
  assert.ok(
    calm.every((rate) => rate < 20),
    `half a day is left: ${calm}`,
  );
  assert.ok(
    hurried.every((rate) => rate >= 20),
    `the receiver may claim at any moment: ${hurried}`,
  );
});

it('a funding that no block takes is reported, with a child that the node then mines', async () => {
  const swap = swapOn(node);
  const txid = await node.pay(swap.escrow.address, swap.terms.amount, 1);
  const ask = () => adapter.stuckFunding?.(swap.escrow, node.now() + 3_000, signal());
  assert.equal(await ask(), null, 'it has only begun to wait');
  await node.moveClock(fundingPatienceSeconds);
  const found = await ask();
  assert.equal(found?.code, 'fund_stuck');
  const words = / where (\S+) are wanted now.*\(output (\d)\) with a fee of (\d+) sats for 122 vb/;
  const [rate = 0, vout = 0, named = 0] = (words.exec(found.sentence) ?? []).slice(1).map(Number);
  const { outputs } = parseTx(await node.rawTransaction(txid));
  // The change of this wallet is of the old kind, so its child is larger.
  const fee = BigInt(named + Math.ceil((190 - 122) * rate));
  const value = (outputs[vout]?.amount ?? 0n) - fee;
  const back = await node.wallet<string>('getnewaddress', ['', 'bech32']);
  const raw = await node.rpc('createrawtransaction', [[{ txid, vout }], { [back]: coins(value) }]);
  const { hex } = await node.wallet<{ hex: string }>('signrawtransactionwithwallet', [raw]);
  await node.rpc('sendrawtransaction', [hex]);
  assert.equal(await ask(), null, 'the child pays for it');
  await node.mine(1);
  assert.equal((await read(adapter, swap)).funded?.confirmations, 1);
});
