// Two real nodes that are not connected, and what an adapter over both lets through, beside what
// verify/test/adapters/sources.ts has of two sources. A secret that one shows is known. For refunds signed beforehand: a claim that only the
// second has is not replaced, and a second that is gone holds up no refund.

import assert from 'node:assert/strict';
import { after, describe, it, test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import type { Bump, ScheduledSpends } from '../interface/scheduled.ts';
import { atAStretch } from '../interface/turns.ts';
import { type BitcoinAdapter, type BitcoinSource, bitcoinAdapter } from './adapter.ts';
import type { BitcoinBackend } from './backend.ts';
import { unavailable } from './http.ts';
import { adapterOn, coreOf, fundedOn, inputOf, signal, spend, swapOn } from './testing/lab.ts';
import { copyBlocks, type Regtest, startRegtest } from './testing/regtest.ts';
import { esploraServer } from './testing/servers.ts';
import type { TestSwap } from './testing/swaps.ts';

const [one, other] = await Promise.all([startRegtest(), startRegtest()]);
after(() => Promise.all([one.stop(), other.stop()]));

const adapterOver = (source: BitcoinSource, second?: BitcoinSource): BitcoinAdapter =>
  adapterOn(one, source, second);
const first = { coreUrl: one.rpcUrl };

const disagrees = { code: 'sources_disagree' };

describe('two sources of one chain', () => {
  /** It knows `blocks` fewer, and its newest one is as old. */
  const behind = (blocks: number, seconds: number): BitcoinSource => {
    const real = coreOf(one);
    const tip: BitcoinBackend['tip'] = async (until) => {
      const { height, clock } = await real.tip(until);
      const hash = await real.blockHash(height - blocks, until);
      return { height: height - blocks, hash: hash ?? '', clock: clock - seconds };
    };
    const mempool: BitcoinBackend['mempool'] = async (_, until) => {
      return { transactions: [], gone: [], best: await tip(until) };
    };
    return { backend: { ...real, tip, mempool } };
  };
  const tooOld = 6 * 3_600;
  const bad: Record<string, BitcoinSource> = {
    'is gone': { coreUrl: 'http://127.0.0.1:1', timeMs: 400 },
    'stands still for hours': behind(20, tooOld),
  };
  for (const [what, other] of Object.entries(bad)) {
    it(`go on where one ${what}, the first or the second`, async () => {
      for (const [source, second] of [
        [first, other],
        [other, first],
      ] as const) {
        const swap = await fundedOn(one, 2_000);
        const told: string[] = [];
        const log = (event: string) => told.push(event);
        const { now } = one;
        const options = { chain: 'bitcoin', network: 'regtest', source, second, now, log } as const;
        const adapter = bitcoinAdapter(options);
        adapter.watch([swap.escrow]);
        assert.deepEqual((await adapter.changes(signal())).touched, [swap.escrow.address]);
        assert.equal((await adapter.readEscrow(swap.escrow, signal())).funded?.deep, true);
        await adapter.buildFund(inputOf(swap), signal());
        await adapter.mustAgree(swap.escrow, signal());
        await adapter.buildRefund(inputOf(swap), signal());
        const claim = await spend(adapter, swap, 'claim', 5);
        assert.equal(await adapter.broadcast(claim, signal()), claim.txid);
        const { claimed } = await adapter.readEscrow(swap.escrow, signal());
        assert.equal(claimed?.txid, claim.txid);
        assert.ok(told.includes(`source_${source === first ? 1 : 0}_silent`), told.join());
      }
    });
  }

  it('are read on by the second in the very call in which the first is lost', async () => {
    const swap = await fundedOn(one, 2_000);
    const real = coreOf(one);
    let isGone = false;
    const tip: BitcoinBackend['tip'] = async (until) => {
      if (isGone) throw unavailable('first source', 'the connection failed');
      return real.tip(until);
    };
    const adapter = adapterOver({ backend: { ...real, tip } }, first);
    await adapter.readEscrow(swap.escrow, signal());
    isGone = true;
    assert.equal((await adapter.readEscrow(swap.escrow, signal())).funded?.deep, true);
    await adapter.buildClaim(inputOf(swap), swap.secret, signal());
  });

  it('pause a reveal where one stands on another block, or some blocks before the depth', async () => {
    const swap = await fundedOn(one, 2_000);
    const blockHash = async () => 'ab'.repeat(32);
    const liar = { backend: { ...coreOf(one), blockHash } };
    const pauses = async (source: BitcoinSource, second: BitcoinSource) => {
      const adapter = adapterOver(source, second);
      await assert.rejects(adapter.mustAgree(swap.escrow, signal()), disagrees);
      return assert.rejects(adapter.buildClaim(inputOf(swap), swap.secret, signal()), disagrees);
    };
    await Promise.all([liar, behind(1, 0), behind(20, 0)].map((each) => pauses(first, each)));
    const stands = adapterOver(behind(20, 0), first);
    await assert.rejects(stands.mustAgree(swap.escrow, signal()), disagrees);
  });

  it('agree while a new block goes from one to the other', async () => {
    const swap = await fundedOn(one, 2_000);
    const real = coreOf(one);
    const late = behind(1, 0);
    assert.ok('backend' in late);
    const { backend } = late;
    let isAsked = false;
    let isThere = false;
    const tip: BitcoinBackend['tip'] = (until) => (isThere ? real : backend).tip(until);
    const mempool: BitcoinBackend['mempool'] = (about, until) => {
      const shown = (isThere ? real : backend).mempool(about, until);
      // The block comes as soon as it was read without.
      isThere = isAsked;
      return shown;
    };
    const adapter = adapterOver(first, { backend: { ...real, tip, mempool } });
    adapter.watch([swap.escrow]);
    await adapter.readEscrow(swap.escrow, signal());
    isAsked = true;
    await adapter.buildFund(inputOf(swap), signal());
    await adapter.mustAgree(swap.escrow, signal());
    assert.ok(isThere);
  });
});

describe('a signed transaction that is offered to both sources', () => {
  /** A claim, and a funding's touch instead of its own where one is wanted. */
  async function signedClaim() {
    const swap = await fundedOn(one, 2_000);
    const read = await spend(adapterOver(first), swap, 'claim', 5);
    const funds = [{ escrow: swap.escrow.address, verb: 'fund', secret: null }] as const;
    return { swap, read, asFunding: { ...read, touches: funds } };
  }

  /** One that refuses everything, or answers as it is told. */
  function sending(send: BitcoinBackend['send']): BitcoinSource {
    return { backend: { ...coreOf(one), send } };
  }
  const refusing = () =>
    sending(async () => {
      throw new ParleyError('refused_by_node', 'the node refused it: min relay fee', {});
    });

  it('is refused by both, or by the first where the second is silent, but for a funding', async () => {
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
    const early = adapterOver(refusing(), silent);
    const second = adapterOver(silent, refusing());
    const late = { code: 'chain_timeout', message: /one may have it; .*min relay fee/ };
    // Each waits for the silent one for a while.
    await Promise.all([
      assert.rejects(early.broadcast(read, signal()), refused),
      assert.rejects(early.broadcast(asFunding, signal()), late),
      assert.rejects(second.broadcast(read, signal()), late),
    ]);
    await Promise.all([early, second].map((each) => each.close()));
  });
});

describe('a node with a long mempool', () => {
  it('shows spends of watched payments at once, and the rest every few seconds', async () => {
    const adapter = adapterOn(one, { backend: coreOf(one, 0) });
    const paid = swapOn(one);
    const fresh = swapOn(one);
    adapter.watch([paid.escrow, fresh.escrow]);
    await one.pay(paid.escrow.address, paid.terms.amount);
    await one.mine(1);
    // Something else waits in the mempool, so that the list is not empty.
    await one.pay(await one.wallet('getnewaddress', ['', 'bech32']), 50_000n);
    await adapter.readEscrow(paid.escrow, signal());
    const { raw, txid } = await spend(adapter, paid, 'claim', 5);
    await one.rpc('sendrawtransaction', [raw]);
    await one.pay(fresh.escrow.address, fresh.terms.amount);
    const seen = await adapter.readEscrow(paid.escrow, signal());
    assert.deepEqual([seen.claimed?.txid, seen.secret], [txid, paid.secret]);
    assert.equal((await adapter.readEscrow(fresh.escrow, signal())).funded, null, 'not yet listed');
    await one.moveClock(5);
    assert.equal((await adapter.readEscrow(fresh.escrow, signal())).funded?.confirmations, 0);
  });
});

/** By an adapter that follows the escrows of these. */
function refundsOver(second: BitcoinSource, ...deals: readonly Laddered[]): ScheduledSpends {
  const adapter = adapterOver(first, second);
  adapter.watch(deals.map(({ swap }) => swap.escrow));
  const { scheduledSpends } = adapter;
  assert.ok(scheduledSpends);
  return scheduledSpends;
}

type Laddered = { readonly swap: TestSwap; readonly bumps: readonly Bump[]; readonly claim: Sent };
type Sent = { readonly txid: string; readonly raw: string };

/** An escrow that both nodes hold, a ladder of it, and a claim that no node has heard of. */
async function laddered(lockSeconds = 2_000): Promise<Laddered> {
  const swap = await fundedOn(one, lockSeconds);
  await copyBlocks(one, other);
  const alone = adapterOver(first);
  const refunds = [await spend(alone, swap, 'refund', 10), await spend(alone, swap, 'refund', 60)];
  const transactions = refunds.map(({ raw }) => raw);
  const asking = { verb: 'refund', transactions, known: [], inTurns: atAStretch } as const;
  const bumps = (await alone.scheduledSpends?.check(swap.escrow, asking, signal())) ?? [];
  return { swap, bumps, claim: await spend(alone, swap, 'claim', 5) };
}

async function passTimelock({ swap }: Laddered): Promise<void> {
  await one.moveMedianTo(swap.terms.timelock + 1);
  await copyBlocks(one, other);
}

const hand = (to: Regtest, { raw }: Sent) => to.rpc('sendrawtransaction', [raw]);
const ladderOf = ({ bumps }: Laddered) =>
  ({ verb: 'refund', bumps, tried: null, secret: null }) as const;

async function firstToSend(refunds: ScheduledSpends, deal: Laddered): Promise<Bump> {
  const verdict = await refunds.next(deal.swap.escrow, ladderOf(deal), signal());
  assert.equal(verdict.kind, 'send', 'as far as the first source knows');
  return deal.bumps[0] as Bump;
}

test('a claim that only the second source has is given way to; a refund there is not', async () => {
  const claimed = await laddered();
  const forgotten = await laddered();
  await passTimelock(forgotten);
  await hand(other, claimed.claim);
  await hand(other, forgotten.bumps[0] as Bump);
  const esplora = await esploraServer(other.rpc);
  try {
    const gone = refundsOver({ coreUrl: 'http://127.0.0.1:1' }, claimed, forgotten);
    assert.equal(await gone.rival(claimed.bumps[0] as Bump, null, signal()), null);
    for (const second of [{ coreUrl: other.rpcUrl }, { esploraUrl: esplora.url }]) {
      const refunds = refundsOver(second, claimed, forgotten);
      const bump = await firstToSend(refunds, claimed);
      assert.equal(await refunds.rival(bump, null, signal()), claimed.claim.txid);
      const verdict = await refunds.next(claimed.swap.escrow, ladderOf(claimed), signal());
      assert.ok(verdict.kind === 'wait' && verdict.why.includes(claimed.claim.txid), 'it is known');
      // Else a lower refund that the first source has thrown away would stay for ever.
      const higher = forgotten.bumps[1] as Bump;
      assert.equal(await refunds.rival(higher, null, signal()), null);
    }
  } finally {
    await esplora.close();
  }
});

test('a secret that only the second source shows is public, however it ends there', async () => {
  const { swap, claim } = await laddered();
  const adapter = adapterOver(first, { coreUrl: other.rpcUrl });
  adapter.watch([swap.escrow]);
  await adapter.changes(signal());
  assert.equal((await adapter.readEscrow(swap.escrow, signal())).secret, null);
  await hand(other, claim);
  assert.deepEqual((await adapter.changes(signal())).touched, [swap.escrow.address]);
  assert.equal((await adapter.readEscrow(swap.escrow, signal())).secret, swap.secret);
  const late = adapterOver(first, { coreUrl: other.rpcUrl });
  assert.equal((await late.readEscrow(swap.escrow, signal())).secret, swap.secret);
});

test('a claim that the first source throws away is forgotten when the second has none either', async () => {
  const weeks = 15 * 86_400;
  const deal = await laddered(weeks + 50_000);
  const { swap, claim } = deal;
  await Promise.all([one, other].map((node) => hand(node, claim)));
  const down = { coreUrl: 'http://127.0.0.1:1' };
  const both = adapterOver(first, { coreUrl: other.rpcUrl });
  const alone = adapterOver(first);
  const deaf = adapterOver(first, down);
  const claimSeenBy = async (adapter: BitcoinAdapter) =>
    (await adapter.readEscrow(swap.escrow, signal())).claimed?.txid ?? null;
  for (const each of [both, alone, deaf]) each.watch([swap.escrow]);
  for (const each of [both, alone, deaf]) assert.equal(await claimSeenBy(each), claim.txid);
  // A node throws away what has waited for two weeks, when the next transaction comes.
  await one.moveClock(weeks);
  await one.pay(await one.wallet('getnewaddress', ['', 'bech32']), 50_000n);
  const waiting = await one.rpc<string[]>('getrawmempool');
  assert.ok(!waiting.includes(claim.txid));
  assert.equal(await claimSeenBy(both), claim.txid);
  assert.equal(await claimSeenBy(alone), null);
  assert.equal(await claimSeenBy(deaf), null, 'silence is no word of it');
  // The second node's clock has to follow, as it takes no blocks of the future.
  await other.moveClock(weeks + 60_000);
  await passTimelock(deal);
  const verdict = await both.scheduledSpends?.next(swap.escrow, ladderOf(deal), signal());
  assert.deepEqual(
    [verdict?.kind, verdict?.kind === 'wait' && verdict.why],
    ['wait', `the claim ${claim.txid} waits to be mined`],
  );
});
