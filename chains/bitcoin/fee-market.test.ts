// Fees on a real bitcoind whose mempool takes nothing cheap, and through an Esplora server: floors,
// replacements of claims and refunds, and a funding that sticks.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { ParleyError } from '../../core/errors.ts';
import type { ChainAdapter } from '../adapter.ts';
import type { BtcSighash } from '../interface/material.ts';
import type { Rung } from '../interface/scheduled.ts';
import { bitcoinAdapter } from './adapter.ts';
import { coreBackend } from './core-backend.ts';
import { feeAt } from './fees.ts';
import { bitcoinNetworks } from './networks.ts';
import { fundingPatienceSeconds } from './stuck-funding.ts';
import { coins, type Regtest, startRegtest } from './testing/regtest.ts';
import { esploraServer, type TestServer } from './testing/servers.ts';
import { signed, type TestSwap, testSwap } from './testing/swaps.ts';

const signal = () => AbortSignal.timeout(30_000);
let node: Regtest;
let esplora: TestServer;
before(async () => {
  node = await startRegtest();
  esplora = await esploraServer(node.rpc);
});
after(async () => {
  await esplora?.close();
  await node?.stop();
});

const common = { chain: 'bitcoin', network: 'regtest' } as const;
const byCore = () => bitcoinAdapter({ ...common, source: { coreUrl: node.rpcUrl }, now: node.now });
const byEsplora = () =>
  bitcoinAdapter({ ...common, source: { esploraUrl: esplora.url }, now: node.now });

async function fundedSwap(lockSeconds = 90_000): Promise<TestSwap> {
  const swap = testSwap({ timelock: node.now() + lockSeconds, since: node.now() });
  await node.pay(swap.escrow.address, swap.terms.amount);
  await node.mine(2);
  return swap;
}

async function build(
  by: ChainAdapter,
  swap: TestSwap,
  verb: 'claim' | 'refund',
  rate: number | null,
) {
  const input = { escrow: swap.escrow, feeRateSatPerVbyte: rate, isPublic: false };
  const claims = verb === 'claim';
  const material = (
    claims
      ? await by.buildClaim(input, swap.secret, signal())
      : await by.buildRefund(input, signal())
  ) as BtcSighash;
  const key = claims ? swap.claimer : swap.funder;
  const read = await by.readSigned(
    signed(material, key, claims ? swap.secret : undefined),
    signal(),
  );
  return { material, send: () => by.broadcast(read, signal()) };
}

for (const [name, source] of [
  ['a Core node', byCore],
  ['an Esplora server', byEsplora],
] as const) {
  for (const verb of ['claim', 'refund'] as const) {
    it(`a ${verb} that waits is replaced by building again, through ${name}`, async () => {
      const by = source();
      const swap = await fundedSwap(verb === 'refund' ? 60 : 90_000);
      if (verb === 'refund') await node.moveMedianTo(swap.terms.timelock + 1);
      const first = await build(by, swap, verb, 20);
      const txid = await first.send();
      const low = build(by, swap, verb, 20);
      const refusal = await low.catch((error: unknown) => error);
      assert.ok(refusal instanceof ParleyError && refusal.code === 'bad_fee_rate', String(refusal));
      assert.match(refusal.message, new RegExp(`do not replace ${txid}$`));
      const second = await build(by, swap, verb, null);
      const [was, is] = [first, second].map(({ material }) => Number(material.feeSats));
      assert.ok(was !== undefined && is !== undefined && is > was);
      assert.equal(second.material.ladder[0]?.feeSats, second.material.feeSats);
      const replaced = await second.send();
      assert.deepEqual(await node.rpc('getrawmempool'), [replaced]);
      await node.mine(1);
    });
  }
}

it('what the mempool takes at least is the floor of what is built, and named in a refusal', async () => {
  const swap = await fundedSwap();
  const core = coreBackend({ url: node.rpcUrl, network: bitcoinNetworks.regtest, now: node.now });
  const quiet = await core.feeEstimate(0, signal());
  assert.deepEqual(
    [quiet?.fast, typeof quiet?.least],
    [null, 'number'],
    'no estimate, but a floor',
  );
  const backend = {
    ...core,
    feeEstimate: async () => ({ fast: null, least: 7.5, at: node.now() }),
  };
  const by = bitcoinAdapter({ ...common, source: { backend }, now: node.now });
  const { material } = await build(by, swap, 'claim', null);
  assert.ok(material.feeRateSatPerVbyte >= 7.5, String(material.feeRateSatPerVbyte));
  const low = build(by, swap, 'claim', 7);
  await assert.rejects(low, /from 7.5 to \d+(\.\d+)? sat per vbyte; got 7: mempools take no less/);
});

it('a refund and a ladder are hurried by a secret that this chain has not shown', async () => {
  const core = coreBackend({ url: node.rpcUrl, network: bitcoinNetworks.regtest, now: node.now });
  const feeEstimate = async () => ({ fast: 20, medium: 5, slow: 2, least: 1, at: node.now() });
  const by = bitcoinAdapter({
    ...common,
    source: { backend: { ...core, feeEstimate } },
    now: node.now,
  });
  const swap = await fundedSwap(60);
  const { escrow } = swap;
  await node.moveMedianTo(escrow.terms.timelock + 1);
  const rungs: Rung[] = [];
  for (const feeRateSatPerVbyte of [2, 5, 10, 20, 40]) {
    const { material } = await build(by, swap, 'refund', feeRateSatPerVbyte);
    const { txid, raw } = await by.readSigned(signed(material, swap.funder), signal());
    rungs.push({ txid, raw, feeSats: BigInt(material.feeSats), feeRateSatPerVbyte });
  }
  const rateWhere = async (isPublic: boolean) => {
    const input = { escrow, feeRateSatPerVbyte: null, isPublic };
    const built = (await by.buildRefund(input, signal())) as BtcSighash;
    const next = await by.scheduledRefunds?.next(
      escrow,
      { rungs, tried: null, isPublic },
      signal(),
    );
    assert.ok(next?.kind === 'send');
    return [built.feeRateSatPerVbyte, rungs[next.from]?.feeRateSatPerVbyte].map(Number);
  };
  const [calm, hurried] = [await rateWhere(false), await rateWhere(true)];
  assert.ok(
    calm.every((rate) => rate < 20),
    `half a day is left: ${calm}`,
  );
  assert.ok(
    hurried.every((rate) => rate >= 20),
    `the receiver may claim at any moment: ${hurried}`,
  );
});

/** A payment of the wallet's own at 1 sat/vB, and from its output one to this address. */
async function payFromUnconfirmed(address: string, sats: bigint): Promise<string> {
  const own = await node.wallet<string>('getnewaddress', ['', 'bech32']);
  const parent = await node.pay(own, 2n * sats, 1);
  const { vout } = await node.rpc<{ vout: { scriptPubKey: { address: string } }[] }>(
    'decoderawtransaction',
    [await node.rawTransaction(parent)],
  );
  const input = { txid: parent, vout: vout.findIndex((each) => each.scriptPubKey.address === own) };
  const outputs = { [address]: coins(sats), [own]: coins(sats - 200n) };
  const raw = await node.rpc('createrawtransaction', [[input], outputs]);
  const { hex } = await node.wallet<{ hex: string }>('signrawtransactionwithwallet', [raw]);
  return node.rpc<string>('sendrawtransaction', [hex]);
}

it('an Esplora server’s hint comes after twenty minutes, and counts what waits below', async () => {
  const by = byEsplora();
  const swap = testSwap({ timelock: node.now() + 90_000, since: node.now() });
  const txid = await payFromUnconfirmed(swap.escrow.address, swap.terms.amount);
  const sendBy = node.now() + 3_000;
  const ask = () => by.stuckFunding?.(swap.escrow, sendBy, signal());
  await by.readEscrow(swap.escrow, signal());
  await node.moveClock(60);
  assert.equal(await ask(), null, 'it was seen the first time');
  await node.moveClock(fundingPatienceSeconds - 61);
  assert.equal(await ask(), null, 'it has waited for less');
  await node.moveClock(1);
  const found = await ask();
  const core = coreBackend({ url: node.rpcUrl, network: bitcoinNetworks.regtest, now: node.now });
  const entry = await core.mempoolEntry(txid, signal());
  assert.ok(entry?.withAncestorsFeeSats !== undefined && entry.withAncestorsVsize !== undefined);
  assert.ok(entry.withAncestorsFeeSats > entry.feeSats, 'its parent waits too');
  const { wantedFeeRateSatPerVbyte: wanted = 0, childVsize = 0 } = found?.stuck ?? {};
  assert.equal(
    found?.stuck?.childFeeSats,
    String(feeAt(entry.withAncestorsVsize + childVsize, wanted) - entry.withAncestorsFeeSats),
  );
  assert.doesNotMatch(found?.sentence ?? '', /more where what it spends waits too/);
  await node.mine(1);
});

it('a funding that no block takes is told, with a child that the node then mines', async () => {
  const by = byCore();
  const swap = testSwap({ timelock: node.now() + 90_000, since: node.now() });
  const txid = await node.pay(swap.escrow.address, swap.terms.amount, 1);
  const sendBy = node.now() + 3_000;
  const ask = () => by.stuckFunding?.(swap.escrow, sendBy, signal());
  assert.equal(await ask(), null, 'it has only begun to wait');
  await node.moveClock(fundingPatienceSeconds);
  const found = await ask();
  assert.deepEqual([found?.code, found?.stuck?.txid], ['fund_stuck', txid]);
  const { changeOutputs = [], childFeeSats = '0', childVsize = 0 } = found?.stuck ?? {};
  // The change of this wallet is of the old kind, so its child is larger.
  const more = BigInt(
    Math.ceil((190 - childVsize) * (found?.stuck?.wantedFeeRateSatPerVbyte ?? 0)),
  );
  const fee = BigInt(childFeeSats) + more;
  const [vout] = changeOutputs;
  const { vout: outputs } = await node.rpc<{ vout: { value: number }[] }>('decoderawtransaction', [
    await node.rawTransaction(txid),
  ]);
  const value = BigInt(Math.round((outputs[vout ?? 0]?.value ?? 0) * 1e8)) - fee;
  const back = await node.wallet<string>('getnewaddress', ['', 'bech32']);
  const raw = await node.rpc('createrawtransaction', [[{ txid, vout }], { [back]: coins(value) }]);
  const { hex } = await node.wallet<{ hex: string }>('signrawtransactionwithwallet', [raw]);
  await node.rpc('sendrawtransaction', [hex]);
  assert.equal(await ask(), null, 'the child pays for it');
  await node.mine(1);
  assert.equal((await by.readEscrow(swap.escrow, signal())).funded?.confirmations, 1);
});
