// Two real nodes that are not connected, and what an adapter over both lets through.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ParleyError } from '../../core/errors.ts';
import type { BtcSighash } from '../interface/material.ts';
import { hangingNode, within } from '../testing/nodes.ts';
import { type BitcoinAdapter, type BitcoinSource, bitcoinAdapter } from './adapter.ts';
import type { BitcoinBackend } from './backend.ts';
import { coreBackend } from './core-backend.ts';
import { bitcoinNetworks } from './networks.ts';
import { copyBlocks, type Regtest, startRegtest } from './testing/regtest.ts';
import { signed, type TestSwap, testSwap } from './testing/swaps.ts';

const signal = () => AbortSignal.timeout(60_000);
let one: Regtest;
let other: Regtest;

before(async () => {
  [one, other] = await Promise.all([startRegtest(), startRegtest()]);
});
after(async () => {
  await Promise.all([one?.stop(), other?.stop()]);
});

const adapterOver = (source: BitcoinSource, second?: BitcoinSource) =>
  bitcoinAdapter({
    chain: 'bitcoin',
    network: 'regtest',
    source,
    ...(second && { second }),
    now: one.now,
  });

const newAdapter = (second = other.rpcUrl): BitcoinAdapter =>
  adapterOver({ coreUrl: one.rpcUrl }, { coreUrl: second, timeMs: 2_000 });

const disagrees = { code: 'sources_disagree' };

const inputOf = ({ escrow }: TestSwap) => ({ escrow, feeRateSatPerVbyte: 5, isPublic: false });

describe('two sources of one chain', () => {
  it('that disagree pause funding and revealing, not refunds nor public claims', async () => {
    const swap = testSwap({ timelock: one.now() + 2_000, since: one.now() });
    await one.pay(swap.escrow.address, swap.terms.amount);
    await one.mine(2);
    const adapter = newAdapter();
    await assert.rejects(adapter.buildFund(inputOf(swap), signal()), disagrees);
    await assert.rejects(adapter.buildClaim(inputOf(swap), swap.secret, signal()), disagrees);
    await assert.rejects(adapter.mustAgree(swap.escrow, signal()), disagrees);
    await adapter.buildRefund(inputOf(swap), signal());

    await copyBlocks(one, other);
    await adapter.buildFund(inputOf(swap), signal());
    await adapter.mustAgree(swap.escrow, signal());
    await adapter.buildClaim(inputOf(swap), swap.secret, signal());

    // The second misses three blocks, then a claim shows the secret on the first.
    await one.mine(3);
    await assert.rejects(adapter.buildClaim(inputOf(swap), swap.secret, signal()), disagrees);
    const alone = adapterOver({ coreUrl: one.rpcUrl });
    const material = await alone.buildClaim(inputOf(swap), swap.secret, signal());
    const claim = signed(material as BtcSighash, swap.claimer, swap.secret);
    await alone.broadcast(await alone.readSigned(claim, signal()), signal());
    const atLeast = { ...inputOf(swap), feeRateSatPerVbyte: null };
    await adapter.buildClaim(atLeast, swap.secret, signal());
  });

  it('pause both as well while the second does not answer', async (context) => {
    const swap = testSwap({ timelock: one.now() + 2_000, since: one.now() });
    await one.pay(swap.escrow.address, swap.terms.amount);
    await one.mine(2);
    const adapter = newAdapter(await within(context, hangingNode()));
    const timedOut = { code: 'chain_timeout' };
    await assert.rejects(adapter.buildFund(inputOf(swap), signal()), timedOut);
    await assert.rejects(adapter.buildClaim(inputOf(swap), swap.secret, signal()), timedOut);
    await adapter.buildClaim({ ...inputOf(swap), isPublic: true }, swap.secret, signal());
    await adapter.buildRefund(inputOf(swap), signal());
  });
});

describe('a signed transaction is offered to both sources', () => {
  /** A claim, and a funding's touch instead of its own where one is wanted. */
  async function signedClaim() {
    const swap = testSwap({ timelock: one.now() + 2_000, since: one.now() });
    await one.pay(swap.escrow.address, swap.terms.amount);
    await one.mine(2);
    const alone = adapterOver({ coreUrl: one.rpcUrl });
    const material = await alone.buildClaim(inputOf(swap), swap.secret, signal());
    const claim = signed(material as BtcSighash, swap.claimer, swap.secret);
    const read = await alone.readSigned(claim, signal());
    const funds = [{ escrow: swap.escrow.address, verb: 'fund', secret: null }] as const;
    return { swap, read, asFunding: { ...read, touches: funds } };
  }

  /** One that refuses everything, or answers as it is told. */
  function sending(send: BitcoinBackend['send']): BitcoinSource {
    const { network, now } = { network: bitcoinNetworks.regtest, now: one.now };
    return { backend: { ...coreBackend({ url: one.rpcUrl, network, now }), send } };
  }
  const refusing = () =>
    sending(async () => {
      throw new ParleyError('refused_by_node', 'the node refused it: min relay fee', {});
    });

  it('and is sent by whichever takes it', async () => {
    const gone = { coreUrl: 'http://127.0.0.1:1' };
    for (const other of [refusing(), gone]) {
      for (const swapped of [false, true]) {
        const { read } = await signedClaim();
        const real = { coreUrl: one.rpcUrl };
        const adapter = swapped ? adapterOver(real, other) : adapterOver(other, real);
        assert.equal(await adapter.broadcast(read, signal()), read.txid);
        const waiting = await one.rpc<string[]>('getrawmempool');
        assert.ok(waiting.includes(read.txid));
        await one.mine(1);
      }
    }
  });

  it('and is refused by both, or by the first where the second is silent, but for a funding', async () => {
    const { read, asFunding } = await signedClaim();
    const refused = { code: 'refused_by_node', message: 'the node refused it: min relay fee' };
    const both = adapterOver(refusing(), refusing());
    await assert.rejects(both.broadcast(read, signal()), refused);
    const silent = sending(
      (_raw, _txid, until) =>
        new Promise((_, reject) => {
          until.addEventListener('abort', () => reject(until.reason));
        }),
    );
    const first = adapterOver(refusing(), silent);
    await assert.rejects(first.broadcast(read, signal()), refused);
    const late = { code: 'chain_timeout', message: /one may have it; .*min relay fee/ };
    await assert.rejects(first.broadcast(asFunding, signal()), late);
    const second = adapterOver(silent, refusing());
    await assert.rejects(second.broadcast(read, signal()), late);
    await Promise.all([first, second].map((each) => each.close()));
  });
});

describe('a node with a long mempool', () => {
  it('shows spends of watched payments at once, and the rest every few seconds', async () => {
    const network = bitcoinNetworks.regtest;
    const backend = coreBackend({ url: one.rpcUrl, network, now: one.now, longList: 0 });
    const source = { backend };
    const options = { chain: 'bitcoin', network: 'regtest', source, now: one.now } as const;
    const adapter = bitcoinAdapter(options);
    const [paid, fresh] = [0, 1].map(() =>
      testSwap({ timelock: one.now() + 90_000, since: one.now() }),
    ) as [TestSwap, TestSwap];
    adapter.watch([paid.escrow, fresh.escrow]);
    await one.pay(paid.escrow.address, paid.terms.amount);
    await one.mine(1);
    // Something else waits in the mempool, so that the list is not empty.
    await one.pay(await one.wallet('getnewaddress', ['', 'bech32']), 50_000n);
    await adapter.readEscrow(paid.escrow, signal());
    const material = await adapter.buildClaim(inputOf(paid), paid.secret, signal());
    const claim = signed(material as BtcSighash, paid.claimer, paid.secret);
    const { raw, txid } = await adapter.readSigned(claim, signal());
    await one.rpc('sendrawtransaction', [raw]);
    await one.pay(fresh.escrow.address, fresh.terms.amount);
    const seen = await adapter.readEscrow(paid.escrow, signal());
    assert.deepEqual([seen.claimed?.txid, seen.secret], [txid, paid.secret]);
    assert.equal((await adapter.readEscrow(fresh.escrow, signal())).funded, null, 'not yet listed');
    await one.moveClock(5);
    assert.equal((await adapter.readEscrow(fresh.escrow, signal())).funded?.confirmations, 0);
  });
});
