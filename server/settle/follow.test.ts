// Following, restarts and faults: each ends where an undisturbed run would, and tells each event
// once.

import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { addressesOfPubkey } from '../../chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import { escrowsOfSwap } from '../db/escrows.ts';
import { swapById } from '../db/swaps.ts';
import { escrowOfRow } from './escrows.ts';
import { createSettlement, type Settlement } from './follow.ts';
import { hangingNode } from './testing/gate.ts';
import {
  addWallet,
  agree,
  bitcoin,
  claimLong,
  claimShort,
  type Deal,
  deepen,
  evm,
  freshAdapters,
  fundBoth,
  fundLong,
  fundShort,
  give,
  look,
  must,
  newParty,
  send,
  signedSpend,
  startWorld,
  swapOf,
  told,
  type World,
} from './testing/world.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(async () => {
  await world?.close();
});

const whole = [
  'swap.funded initiator_funded',
  'swap.funded counterparty_funded',
  'secret.revealed initiator_claimed',
  'swap.settled counterparty_claimed',
];

/** As another process, or this one after a crash: nothing remembered but the database. */
function anotherProcess(t: TestContext): Settlement {
  const adapters = freshAdapters(world.infos, world.deps.now);
  const settlement = createSettlement({ ...world.deps, adapters });
  t.after(() => settlement.stop());
  return settlement;
}

/** The same over a bitcoin node that hangs on command. */
async function withHangingBitcoin(t: TestContext) {
  const node = await hangingNode(world.infos.bitcoin.rpcUrl);
  const infos = { ...world.infos, bitcoin: { ...world.infos.bitcoin, rpcUrl: node.url } };
  const settlement = createSettlement({
    ...world.deps,
    adapters: freshAdapters(infos, world.deps.now),
    settings: { ...world.deps.settings, followIntervalMs: 50, chainTimeoutMs: 1_000 },
  });
  t.after(async () => {
    node.hang(null);
    await settlement.stop();
    await node.close();
  });
  return { node, settlement };
}

test('a swap whose follower dies at every step still settles, each event told once', async (t) => {
  const deal = await agree(world);
  await give(world, deal);
  const steps = [
    () => fundLong(world, deal),
    () => fundShort(world, deal),
    () => claimShort(world, deal),
    () => claimLong(deal),
  ];
  for (const step of steps) {
    await step();
    await world.dev.mine(bitcoin, 3);
    await world.dev.mine(evm, 3);
    const settlement = anotherProcess(t);
    await look(world, settlement);
  }
  assert.equal((await swapOf(deal)).status, 'counterparty_claimed');
  assert.deepEqual(await told(world, deal), whole);
});

test('what happened while nothing followed is told in order when found at once', async (t) => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  // From here on nothing looks until all of it has happened.
  const before = await told(world, deal);
  await claimShort(world, deal);
  await world.dev.mine(evm, 3);
  const claim = `/v1/swaps/${deal.id}/legs/${deal.long}/claim`;
  const { secret, counterparty } = deal;
  const built = must(await counterparty.post(claim, { secret }));
  must(await send(counterparty, bitcoin, signedSpend(counterparty, built, secret)));
  await world.dev.mine(bitcoin, 3);
  const settlement = anotherProcess(t);
  await look(world, settlement);
  assert.deepEqual((await told(world, deal)).slice(before.length), whole.slice(2));
});

test('two followers on one database tell each event once', async (t) => {
  const deals = [await agree(world), await agree(world, { taker: 'counterparty' })];
  const [one, two] = [anotherProcess(t), anotherProcess(t)];
  const both = async () => {
    await world.dev.mine(bitcoin, 3);
    await world.dev.mine(evm, 3);
    const chains = [bitcoin, evm];
    await Promise.all(
      [one, two].flatMap((each) => [...chains.map((chain) => each.pass(chain)), each.passDue()]),
    );
    // A change that met another one is left to the next pass.
    await look(world, one);
  };
  for (const deal of deals) await give(world, deal);
  for (const deal of deals) await fundLong(world, deal);
  await both();
  for (const deal of deals) await fundShort(world, deal);
  await both();
  for (const deal of deals) await claimShort(world, deal);
  await both();
  for (const deal of deals) await claimLong(deal);
  await both();
  for (const deal of deals) assert.deepEqual(await told(world, deal), whole);
});

test('started, it follows by itself; stopped, it stops', async (t) => {
  const settlement = createSettlement({
    ...world.deps,
    adapters: freshAdapters(world.infos, world.deps.now),
    settings: { ...world.deps.settings, followIntervalMs: 50 },
  });
  t.after(() => settlement.stop());
  settlement.start();
  const deal = await agree(world);
  await fundLong(world, deal);
  await world.dev.mine(bitcoin, 3);
  await until(async () => (await swapOf(deal)).status === 'initiator_funded');
  await settlement.stop();
  await assert.rejects(settlement.pass(bitcoin));
});

test('a chain that hangs does not hold up the other, nor what time changes', async (t) => {
  const { node, settlement } = await withHangingBitcoin(t);
  const deal = await agree(world);
  await give(world, deal);
  await fundLong(world, deal);
  await deepen(world);
  node.hang(/./);
  settlement.start();
  await fundShort(world, deal);
  await world.dev.mine(evm, 3);
  await until(async () => (await swapOf(deal)).status === 'counterparty_funded');
  // Nothing planned, so nothing to ask: expiry needs no chain.
  const counterparty = await newParty(world, { bitcoin: 'taproot' });
  const unplanned = await agree(world, { counterparty });
  await world.deps.db.rows({
    name: 'test_unplan',
    text: `update legs set escrow = null where swap_id = $1`,
    values: [unplanned.id],
  });
  await world.deps.db.rows({
    name: 'test_forget_escrows',
    text: `delete from escrows where swap_id = $1`,
    values: [unplanned.id],
  });
  const { expiresAt } = (await swapOf(unplanned)).deadlines;
  world.deps.advance((expiresAt + 1) * 1000 - world.deps.now());
  await until(async () => (await swapOf(unplanned)).status === 'expired');
  await world.dev.time(1);
});

test('a swap on a silent chain neither expires nor is forgotten', async (t) => {
  const { node, settlement } = await withHangingBitcoin(t);
  const deal = await agree(world);
  // Funded in the last minute, while the market cannot see it.
  node.hang(/./);
  await fundLong(world, deal);
  await world.dev.mine(bitcoin, 3);
  const { expiresAt } = (await swapOf(deal)).deadlines;
  world.deps.advance((expiresAt + 1) * 1000 - world.deps.now());
  await settlement.passDue();
  assert.equal((await swapOf(deal)).status, 'agreed');
  node.hang(null);
  world.deps.advance(60_000);
  settlement.start();
  await until(async () => (await swapOf(deal)).status === 'initiator_funded');
  await world.dev.time(1);
});

test('a claim of a former escrow reveals the secret, at first sight and for ever', async () => {
  const deal = await agree(world);
  const { initiator, counterparty, long, secret } = deal;
  const former = (await swapOf(deal)).legs[long].escrow;
  await world.dev.faucet({ chain: bitcoin, address: former, amount: 5_000n });
  const { pubkey } = await newParty(world);
  const { p2wpkh: address } = addressesOfPubkey(pubkey, bitcoinNetworks.regtest);
  await addWallet(world, counterparty.accountId, { family: 'bitcoin', address, authorised: true });
  const path = `/v1/swaps/${deal.id}/address`;
  must(await counterparty.post(path, { chain: bitcoin, address: pubkey }));
  await fundLong(world, deal);
  await deepen(world);
  await give(world, deal);
  await fundShort(world, deal);
  await deepen(world);
  // Someone who knows the secret takes the dust in the former escrow, past the market.
  const swap = (await swapById(world.deps.db, deal.id))!;
  const rows = await escrowsOfSwap(world.deps.db, deal.id);
  const row = rows.find((each) => each.address === former)!;
  const adapter = world.deps.adapters.get(bitcoin)!;
  const escrow = { ...escrowOfRow(swap, row) };
  const terms = { ...escrow.terms, amount: 5_000n };
  const built = await adapter.buildClaim(
    { escrow: { ...escrow, terms }, feeRateSatPerVbyte: 2, isPublic: false },
    secret,
    AbortSignal.timeout(5_000),
  );
  assert.ok(built.sign === 'btc-sighash');
  const { psbtBase64, sighashHexes } = built;
  const material = { psbtBase64, sighashHexes: [...sighashHexes] };
  const signed = signedSpend(counterparty, material, secret);
  must(await send(counterparty, bitcoin, signed));
  await look(world);
  const seen = await swapOf(deal);
  assert.equal(seen.secret, secret);
  assert.equal(seen.status, 'initiator_claimed');
  assert.equal((await told(world, deal)).at(-1), 'secret.revealed initiator_claimed');
  assert.ok(initiator.accountId);
});

test('a settled swap is followed six blocks further: a claim that is taken back then is told', async () => {
  const deal = await agree(world);
  await fundBoth(world, deal);
  await claimShort(world, deal);
  await look(world);
  assert.deepEqual(await doneOf(deal), { done: false, due: false, open: 2 });
  await claimLong(deal);
  await world.dev.mine(bitcoin, 1);
  const claiming = await world.bitcoinRpc<string>('getbestblockhash');
  await deepen(world, 4);
  assert.equal((await swapOf(deal)).status, 'counterparty_claimed');
  assert.equal((await doneOf(deal))?.done, false);
  await world.bitcoinRpc('invalidateblock', [claiming]);
  const elsewhere = await world.faucetRpc<string>('getnewaddress');
  for (let at = 0; at < 6; at += 1) await world.bitcoinRpc('generateblock', [elsewhere, []]);
  await look(world);
  const { status, next } = await swapOf(deal);
  assert.equal(status, 'initiator_claimed');
  const open = next.map((each: { by: string; action: string }) => `${each.by} ${each.action}`);
  assert.ok(open.includes('counterparty claim'), open.join());
  // The depth of the dev chain and six blocks, of which the last is missing.
  await deepen(world, 7);
  assert.equal((await swapOf(deal)).status, 'counterparty_claimed');
  assert.equal((await doneOf(deal))?.done, false);
  await deepen(world, 1);
  assert.deepEqual(await doneOf(deal), { done: true, due: false, open: 0 });
  assert.deepEqual((await told(world, deal)).slice(3), [
    'swap.settled counterparty_claimed',
    'swap.reorged initiator_claimed',
    'swap.settled counterparty_claimed',
  ]);
});

test('an escrow is followed as soon as it is stored, however rare looks at its chain are', async (t) => {
  const watched = new Set<string>();
  const adapters = new Map(
    [...freshAdapters(world.infos, world.deps.now)].map(([chain, each]) => {
      const watch: typeof each.watch = (escrows) => {
        for (const { address } of escrows) watched.add(address);
        each.watch(escrows);
      };
      return [chain, { ...each, watch }] as const;
    }),
  );
  const settings = { ...world.deps.settings, followIntervalMs: 600_000 };
  const settlement = createSettlement({ ...world.deps, adapters, settings });
  t.after(() => settlement.stop());
  settlement.start();
  await sleep(1_000);
  const deal = await agree(world);
  await give(world, deal);
  const own = (await escrowsOfSwap(world.deps.db, deal.id)).map(({ address }) => address);
  assert.equal(own.length, 2);
  // Far sooner than the poll.
  for (let tries = 0; tries < 400 && !own.every((each) => watched.has(each)); tries += 1) {
    await sleep(10);
  }
  assert.deepEqual(
    own.filter((each) => !watched.has(each)),
    [],
  );
});

test('a pass with nothing new reconciles nothing', async (t) => {
  const settlement = anotherProcess(t);
  await look(world, settlement);
  await world.dev.mine(bitcoin, 1);
  await world.dev.mine(evm, 1);
  await look(world, settlement);
  await world.dev.mine(evm, 1);
  const pass = await settlement.pass(evm);
  assert.deepEqual([pass.touched, pass.reconciled], [0, 0]);
});

async function doneOf(deal: Deal) {
  const [row] = await world.deps.db.rows<{ done: boolean; due: boolean; open: number }>({
    name: 'test_done_of',
    text: `select done, due_at is not null as due,
        (select count(*) from escrows where swap_id = swaps.id and not done)::int as open
      from swaps where id = $1`,
    values: [deal.id],
  });
  return row;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await holds()) return;
    await sleep(100);
  }
  assert.fail('it did not happen in 30 s');
}
