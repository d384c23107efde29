// Many escrows settled at once, on a real anvil and the TRON dev chain: with public secrets alone,
// and without what would revert the others.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before } from 'node:test';
import { startAnvil, type TestChain } from '@parley/chains/evm/testing/anvil.ts';
import {
  claim,
  deployToken,
  fund,
  funder,
  type Leg,
  later,
  mint,
  newLeg,
} from '@parley/chains/evm/testing/swap.ts';
import {
  anyone,
  fund as fundOnTron,
  newLeg as newTronLeg,
  startTron,
} from '@parley/chains/tron/testing/chain.ts';
import { parseEther } from 'viem';
import type { ChainSource } from './chains.ts';
import type { SettleInput } from './settle.ts';
import { settleMany } from './settle-many.ts';
import { devPolicies, evmSource, tronSource } from './sources.ts';
import { memoryStore } from './stores/memory.ts';
import type { Store, SwapRecord } from './stores/store.ts';
import { keptRecord } from './testing/honest.ts';
import { limits, timed } from './testing/timed.ts';
import { evmWallet } from './wallets/evm.ts';
import { tronWallet } from './wallets/tron.ts';

const chainKey = 'evm-dev';
let chain: TestChain;
let source: ChainSource;
before(async () => {
  chain = await startAnvil();
  const rpcUrls = [chain.rpcUrl];
  source = evmSource({ chain: chainKey, chainId: chain.chainId, rpcUrls });
}, limits);
after(async () => {
  await source?.adapter.close();
  await chain?.stop();
}, limits);

/** The record of who is paid by this leg (taker) or funds it (maker), on leg `a`. */
function recordOf(leg: Leg, party: 'maker' | 'taker', more: Partial<SwapRecord>): SwapRecord {
  const { trade, swap, ...rest } = keptRecord(party, more);
  const { terms, escrow } = leg;
  const { a, b } = swap.legs;
  const own = { ...a, amount: terms.amount, timelock: terms.timelock, requiredConfirmations: 1 };
  const legs = { b, a: { ...own, escrow: { address: escrow.address, redeemScript: null, terms } } };
  const id = crypto.randomUUID();
  return {
    trade: { ...trade, threadId: id },
    swap: { ...swap, id, hashlock: terms.hashlock, agreedAt: escrow.since, legs },
    ...rest,
  };
}

/** Its leg `b` on the same chain, where everybody can see it. */
function withOther(record: SwapRecord, { terms, escrow }: Leg): SwapRecord {
  const { a } = record.swap.legs;
  const b = {
    ...a,
    leg: 'b' as const,
    escrow: { address: escrow.address, redeemScript: null, terms },
  };
  return { ...record, swap: { ...record.swap, legs: { a, b } } };
}

/** A stranger with gas, whoever the receivers are, and what it keeps. */
async function side(records: readonly SwapRecord[], store: Store = memoryStore()) {
  const privateKey = `0x${randomBytes(32).toString('hex')}`;
  const wallet = evmWallet({ rpcUrl: chain.rpcUrl, chainId: chain.chainId, privateKey });
  const address = wallet.address as `0x${string}`;
  await chain.client.setBalance({ address, value: parseEther('1') });
  for (const record of records) await store.putSwap(record);
  const input: Pick<SettleInput, 'chains' | 'store' | 'pollMs'> = {
    chains: { [chainKey]: { source, wallet } },
    store,
    pollMs: 50,
  };
  const count = () => chain.client.getTransactionCount({ address });
  return { ...input, chain: chainKey, count };
}

const stateOf = async (leg: Leg) => {
  const facts = await source.adapter.readEscrow(leg.escrow, AbortSignal.timeout(60_000));
  return facts.claimed ? 'claimed' : facts.refunded ? 'refunded' : facts.funded ? 'open' : 'none';
};
const statesOf = (legs: readonly Leg[]) => Promise.all(legs.map(stateOf));
const idOf = ({ swap }: SwapRecord) => swap.id;
const claimable = (leg: Leg) => recordOf(leg, 'taker', { publicSecret: leg.secret });
const shown = ({ batches }: Awaited<ReturnType<typeof settleMany>>) =>
  batches.map(({ verb, swapIds, state }) => [verb, swapIds.toSorted(), state]);

async function fundedLegs(count: number, over: Parameters<typeof newLeg>[1] = {}) {
  const legs: Leg[] = [];
  for (let at = 0; at < count; at += 1) {
    const leg = await newLeg(chain, over);
    await fund(chain, leg);
    legs.push(leg);
  }
  return legs;
}

timed('public secrets claim in one transaction, and a kept one in none until shown', async () => {
  const legs = await fundedLegs(4);
  const kept = legs.slice(0, 3).map(claimable);
  const leg = legs[3] as Leg;
  const other = await newLeg(chain, { hashlock: leg.terms.hashlock });
  await fund(chain, other);
  const own = withOther(recordOf(leg, 'taker', {}), other);
  const store = memoryStore();
  await store.putSecret(own.swap.hashlock, leg.secret);
  const many = await side([...kept, own], store);
  const told: unknown[] = [];
  const onSigned = async (batch: object) => {
    told.push([await many.count(), { ...batch, state: 'mined' }]);
    throw new Error('the disk is full, which stops no claim');
  };
  const first = await settleMany({ ...many, onSigned });
  assert.deepEqual(first.left, []);
  assert.deepEqual(told, [[0, first.batches[0]]], 'before it is sent');
  assert.deepEqual(shown(first), [['claim', kept.map(idOf).toSorted(), 'mined']]);
  assert.equal(await many.count(), 1);
  assert.deepEqual(await statesOf(legs), ['claimed', 'claimed', 'claimed', 'open']);
  const hash = first.batches[0]?.txid as `0x${string}`;
  const { input } = await chain.client.getTransaction({ hash });
  assert.ok(!input.includes(leg.secret));
  assert.deepEqual(await settleMany(many), { batches: [], left: [] });
  assert.equal(await many.count(), 1);
  await claim(chain, { ...other, secret: leg.secret });
  assert.deepEqual(shown(await settleMany(many)), [['claim', [own.swap.id], 'mined']]);
  assert.equal(await stateOf(leg), 'claimed');
});

timed('one payment that fails is left out and told, and the others are paid', async () => {
  const token = await deployToken(chain, 'DevDollar');
  await mint(chain, token, funder.address, 10_000n);
  const good = [...(await fundedLegs(2, { token })), ...(await fundedLegs(1))];
  // A contract that takes no coins.
  const bad = await fundedLegs(1, { payout: { address: token, pubkey: null } });
  const all = [good[0], bad[0], good[1], good[2]] as Leg[];
  const records = all.map(claimable);
  const many = await side(records);
  const { batches, left } = await settleMany(many);
  assert.deepEqual(
    left.map(({ swapId: id }) => id),
    [records[1]?.swap.id],
  );
  assert.match(left[0]?.why ?? '', /or its payment fails/);
  assert.equal(batches.length, 1);
  assert.deepEqual(await statesOf(good), ['claimed', 'claimed', 'claimed']);
  assert.deepEqual(await statesOf(bad), ['open']);
});

timed('refunds wait for their timelock; no batch has what was claimed or sent', async () => {
  const { timestamp } = await chain.client.getBlock();
  const soon = Number(timestamp) + 2_000;
  const due = await fundedLegs(3, { timelock: soon, fundBefore: soon - 1_000 });
  const early = await fundedLegs(1);
  await claim(chain, due[1] as Leg);
  await later(chain, 2_100);
  const refund = { txid: `0x${'11'.repeat(32)}`, raw: '0x' };
  const records = [...due, ...early].map((leg, at) =>
    recordOf(leg, 'maker', at === 2 ? { refund } : {}),
  );
  const done = await settleMany(await side(records));
  assert.deepEqual(shown(done), [['refund', [records[0]?.swap.id], 'mined']]);
  const why = 'its own refund was sent: settle looks after it';
  assert.deepEqual(done.left, [{ swapId: records[2]?.swap.id, leg: 'a', why }]);
  assert.deepEqual(await statesOf([...due, ...early]), ['refunded', 'claimed', 'open', 'open']);
});

timed('on TRON many claims are one transaction too', async () => {
  const tron = await startTron();
  const key = 'tron-dev';
  const sources = [{ url: tron.url }];
  const { deployment } = tron;
  const own = tronSource({ chain: key, deployment, sources, policy: devPolicies.tron });
  try {
    const legs = [newTronLeg(tron), newTronLeg(tron, { token: tron.token('DevDollar') })];
    for (const leg of legs) await fundOnTron(tron, leg);
    const store = memoryStore();
    for (const leg of legs) {
      const record = claimable(leg);
      const { a } = record.swap.legs;
      const onTron = { ...a, chain: key, family: 'tron' } as const;
      const legsOf = { ...record.swap.legs, a: onTron };
      await store.putSwap({ ...record, swap: { ...record.swap, legs: legsOf } });
    }
    const privateKey = Buffer.from(anyone.key).toString('hex');
    const wallet = tronWallet({ chain: key, sources, privateKey });
    await tron.dev.setAutomatic(true);
    const { batches, left } = await settleMany({
      chain: key,
      store,
      pollMs: 50,
      chains: { [key]: { source: own, wallet } },
    });
    assert.deepEqual(left, []);
    assert.deepEqual(
      batches.map(({ swapIds, state }) => [swapIds.length, state]),
      [[2, 'mined']],
    );
    for (const { escrow } of legs) {
      const facts = await own.adapter.readEscrow(escrow, AbortSignal.timeout(60_000));
      assert.equal(facts.claimed?.txid, batches[0]?.txid);
    }
  } finally {
    await own.adapter.close();
    await tron.stop();
  }
});
