// A transaction in flight where nodes hang, are behind, swallow or refuse it, and where fees rise:
// it lands, and costs no more for a fault of others. The verdict of several nodes of one chain is
// tested in packages/chains/evm.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { must } from '@parley/market/settle/testing/world.ts';
import { countMs, mostReplacements, unknownSeconds } from './bounds.ts';
import { noteWanted } from './db/keys.ts';
import type { Gas } from './port.ts';
import { nextNonce } from './sign.ts';
import type { Loose } from './testing/desk.ts';
import { type Deal, onMarket, short } from './testing/market.ts';
import { gwei } from './testing/memory.ts';

const m = onMarket();
let gas: Loose;
let account: Gas['account'];
beforeEach(() => {
  gas = m.key();
  ({ account } = gas);
});

async function relayed(): Promise<Deal> {
  const deal = await m.funded();
  must(await m.relay(deal));
  return deal;
}

/** The nonces that are taken by nothing. */
async function freed(): Promise<number[]> {
  const rows = await m.run(
    `select distinct nonce from keeper_attempts where verb = 'void' order by nonce`,
  );
  return rows.map(({ nonce }) => Number(nonce));
}

function blockAt(wei: bigint): void {
  m.baseFee(wei);
  m.mine();
}

/** Each after what a fee is offered for where something waits behind it. */
async function polls(count: number, between = () => {}): Promise<void> {
  for (let poll = 0; poll < count; poll += 1) {
    between();
    m.deps.advance(21_000);
    await m.turn();
  }
}

const reserveOf = async (deal: Deal) => BigInt((await m.job(deal))?.reserve ?? 0);
const outcomes = async (deal: Deal) => (await m.attempts(deal)).map(({ outcome }) => outcome);
/** A request was refused for what is in flight: it pays more at every poll. */
const hurries = () => noteWanted(m.deps.db, short, new Date('2100-01-01'));

async function lands(...deals: Deal[]): Promise<void> {
  await m.deepen();
  await polls(1);
  await m.deepen();
  for (const deal of deals) assert.equal((await m.swap(deal)).legs.a.claimedBy, 'keeper');
}

test('nodes have so long to say the nonce of a key that was used before, and one may hang', async () => {
  const deal = await m.funded();
  m.short.state.used.set(account.address, 100);
  const asked: unknown[] = [];
  const minedNonce: Gas['account']['minedNonce'] = async (_, of) => {
    asked.push(of);
    return 100;
  };
  gas.account = { ...account, minedNonce };
  must(await m.relay(deal));
  assert.equal((await m.attempts(deal))[0]?.nonce, 100);
  assert.deepEqual(asked.slice(0, 2), [undefined, { most: 0, answerMs: countMs }]);
});

test('a transaction found to be final meanwhile has used its nonce', async () => {
  const deal = await relayed();
  await polls(1);
  m.mine(9);
  // Those that are asked first are behind.
  gas.account = { ...account, minedNonce: async () => 0 };
  const next = await nextNonce(m.parts(), { gas, signal: AbortSignal.timeout(60_000) });
  assert.deepEqual([await outcomes(deal), next], [['deep'], 1]);
});

test('a failure in a block keeps its nonce where one node is behind, not where none has it', async () => {
  const elsewhere = await m.funded();
  const deal = await m.funded();
  must(await m.relay(deal));
  await m.turn();
  const takeBack = m.short.fork();
  m.short.state.refusing.add(deal.taker.address);
  m.mine();
  m.short.state.refusing.clear();
  // One of two nodes has not seen that block.
  const behind = { minedNonce: async () => 0, pendingNonces: async () => [0, 2] };
  await m.turn();
  gas.account = { ...account, ...behind };
  m.deps.advance(30_000);
  await m.turn();
  assert.deepEqual(
    (await m.attempts(deal)).map(({ nonce }) => nonce),
    [0, 1],
  );
  assert.deepEqual(await freed(), []);
  // A reorganisation takes its block, and nothing has it any more.
  takeBack();
  const asked: bigint[] = [];
  const sign: typeof account.sign = (work, slot, signal) => {
    if (work.verb === 'void') asked.push(slot.mostCost);
    return account.sign(work, slot, signal);
  };
  gas.account = { ...account, sign };
  // Its cap is for what nobody was promised.
  const { dailyCap } = gas;
  gas.dailyCap = 0n;
  m.deps.advance(1_000);
  await m.turn();
  assert.deepEqual(await freed(), [], 'all nodes may be behind');
  m.deps.advance(unknownSeconds * 1_000);
  // Not for a relay that waits elsewhere.
  const become = (purpose: string) =>
    m.run('update keeper_jobs set purpose = $2 where swap_id = $1 and chain = $3', [
      deal.id,
      purpose,
      short,
    ]);
  await become('secret');
  await m.run(
    `insert into keeper_jobs (chain, escrow, verb, purpose, swap_id, leg, state, due_at,
        created_at, reserve)
      select chain, $2, verb, 'relay', swap_id, leg, 'open', 'infinity', created_at, 1
      from keeper_jobs where swap_id = $1 and chain = $3`,
    [deal.id, (await m.escrowOn(elsewhere)).address, short],
  );
  await m.keeper.pass(short);
  assert.deepEqual(await freed(), []);
  await become('relay');
  await m.run(`delete from keeper_jobs where due_at = 'infinity'`);
  await m.turn();
  gas.dailyCap = dailyCap;
  assert.deepEqual(await freed(), [0]);
  const usual = await account.reserve({ verb: 'void' }, AbortSignal.timeout(60_000));
  assert.ok(asked.length === 1 && (asked[0] ?? 0n) <= usual, `${asked} of ${usual}`);
  await lands(deal);
});

test('a swallowed transaction pays more so many times, within what is kept for it', async () => {
  const deal = await relayed();
  await hurries();
  // Where no block comes it is signed once, however long it waits.
  await polls(10);
  assert.equal((await m.attempts(deal)).length, 1);
  assert.deepEqual(await freed(), [], 'it is no gap');
  const held = await reserveOf(deal);
  await polls(mostReplacements + 2, () => {
    m.short.drop();
    m.mine(3);
  });
  const { length } = await m.attempts(deal);
  assert.ok(length > 3 && length <= mostReplacements, `${length} versions`);
  assert.equal(await reserveOf(deal), held);
  await lands(deal);
});

test('a relay whose replacement is refused is voided for nobody', async () => {
  const deal = await relayed();
  await polls(1);
  const sign: typeof account.sign = (work, slot, signal) => {
    if (work.verb === 'void') return account.sign(work, slot, signal);
    return Promise.reject(new ParleyError('fee_above_limit', 'of a test', {}));
  };
  gas.account = { ...account, sign };
  await hurries();
  blockAt(40n * gwei);
  await polls(2);
  assert.deepEqual(
    (await m.attempts(deal)).map(({ verb }) => verb),
    ['claim'],
  );
});

test('a replaced transaction counts until the other one is kept, and is charged if it lands', async () => {
  const deal = await relayed();
  await polls(1);
  blockAt(40n * gwei);
  m.deps.advance(900_000);
  const sign: typeof account.sign = async (...about) => {
    const signed = await account.sign(...about);
    // The lease has run out: this is not kept.
    await m.run('update keeper_turns set holder = null where chain = $1', [short]);
    return signed;
  };
  gas.account = { ...account, sign };
  await polls(1);
  gas.account = account;
  assert.deepEqual(await outcomes(deal), ['pending']);
  m.baseFee(gwei);
  await lands(deal);
  const [row] = await m.run('select sum(charged) as charged from keeper_attempts');
  const spent = m.short.state.mined.filter(({ sent }) => sent.by === account.address);
  assert.deepEqual(
    [BigInt(String(row?.charged)), spent.length],
    [spent.reduce((sum, { cost }) => sum + cost, 0n), 1],
  );
});

test('a transaction that nodes refuse for its fee, whatever it is, is not signed for ever', async () => {
  const deal = await relayed();
  const held = await reserveOf(deal);
  let refused = 0;
  const broadcast: ChainAdapter['broadcast'] = () => {
    refused += 1;
    return Promise.reject(new ParleyError('refused_by_node', 'transaction underpriced', {}));
  };
  m.show({ broadcast });
  await polls(mostReplacements + 2);
  const { length } = await m.attempts(deal);
  assert.ok(length > 3 && length <= mostReplacements, `${length} versions`);
  assert.equal(await reserveOf(deal), held);
  assert.ok(refused > mostReplacements + 2, 'it is sent at every poll');
  m.show({});
  await polls(1);
  await lands(deal);
});

test('fees that rise far beyond what was reserved are followed, and no further', async () => {
  const deal = await relayed();
  const held = await reserveOf(deal);
  await polls(1);
  const allowed: bigint[] = [];
  const sign: typeof account.sign = (work, slot, signal) => {
    if (slot.above !== null) allowed.push(slot.mostCost);
    return account.sign(work, slot, signal);
  };
  gas.account = { ...account, sign };
  for (let fee = 4n * gwei; fee <= 256n * gwei; fee *= 4n) {
    blockAt(fee);
    m.deps.advance(900_000);
    await polls(1);
  }
  const usual = await account.reserve({ verb: 'void' }, AbortSignal.timeout(60_000));
  assert.ok((await reserveOf(deal)) > held);
  // A claim takes more gas than a payment of nothing, and less than ten times as much.
  assert.ok(allowed.length > 3 && allowed.every((each) => each < 10n * usual), `${allowed}`);
  const { length } = await m.attempts(deal);
  assert.ok(length > 1 && length < 8, `${length} versions`);
  await lands(deal);
});

test('a job does not end while a node owes the word of one that left', async () => {
  const deal = await relayed();
  await polls(1);
  blockAt(40n * gwei);
  m.deps.advance(900_000);
  await polls(1);
  const [older, ...newer] = await m.attempts(deal);
  assert.equal(newer.length, 1);
  // Its receiver refuses what is mined, and claims for itself.
  m.short.state.refusing.add(deal.taker.address);
  m.mine();
  m.short.state.refusing.clear();
  await m.claim(deal);
  await m.deepen();
  const outcome: typeof account.outcome = (sent, signal) => {
    if (sent.txid !== older?.txid) return account.outcome(sent, signal);
    return Promise.reject(new ParleyError('chain_unavailable', 'of a test', {}));
  };
  gas.account = { ...account, outcome };
  await polls(1);
  assert.deepEqual(
    [await outcomes(deal), (await m.job(deal))?.state],
    [['pending', 'failed'], 'open'],
  );
  gas.account = account;
  await polls(1);
  assert.deepEqual(
    [await outcomes(deal), (await m.job(deal))?.state],
    [['gone', 'failed'], 'done'],
  );
});
