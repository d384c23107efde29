import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EscrowFacts, legStatus, nothingSeen } from '@parley/core/facts.ts';
import { freshLane } from '@parley/core/testing.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { TronAdapter } from './adapter.ts';
import { bareAddress, fundCalls } from './plan.ts';
import {
  adapterOn,
  anyone,
  claim,
  fund,
  type Leg,
  newLeg,
  post,
  quoting,
  refund,
  signal,
  solidityLag,
} from './testing/chain.ts';
import { tronWorld } from './testing/world.ts';

const { chain, adapterOf, adapterOver } = await tronWorld();

/** Over a node without an index of events. */
const blindTo = (log: string[]) => {
  const sources = [{ url: chain.url, jsonRpcUrl: `${chain.url}/nowhere` }];
  return adapterOn(chain, [], { sources, log: (event) => log.push(event) });
};

function legsInLane(): [Leg, Leg] {
  const { number } = freshLane();
  return [1, 2].map((counter) => newLeg(chain, { lane: { number, counter } })) as [Leg, Leg];
}

const read = (adapter: TronAdapter, { escrow }: Leg, stored?: EscrowFacts) =>
  adapter.readEscrow(stored === undefined ? escrow : { ...escrow, stored }, signal());

const unknown: EscrowFacts = { ...nothingSeen, outcome: 'unknown' };

async function settle(leg: Leg, verb: 'claim' | 'refund'): Promise<string> {
  if (verb === 'refund') await chain.pass(7_300);
  return (verb === 'claim' ? claim : refund)(chain, leg);
}

for (const verb of ['claim', 'refund'] as const) {
  test(`after a ${verb} and another escrow in its lane, logs that were followed tell of it`, async () => {
    const adapter = adapterOf();
    const [first, second] = legsInLane();
    adapter.watch([first.escrow]);
    await adapter.changes(signal());
    const fundTx = await fund(chain, first);
    await adapter.changes(signal());
    const settleTx = await settle(first, verb);
    // The word tells of the settling alone.
    assert.equal((await read(blindTo([]), first)).funded?.txid, 'unknown');
    await fund(chain, newLeg(chain, { lane: second.terms.lane ?? freshLane() }));
    await adapter.changes(signal());
    const outcome = ({ claimed, refunded }: EscrowFacts) =>
      verb === 'claim' ? [claimed, refunded] : [refunded, claimed];
    const early = await read(adapter, first);
    const [before, none] = outcome(early);
    assert.deepEqual([before?.txid, before?.deep, none], [settleTx, false, null]);
    assert.equal(early.empty, false);
    // Deep once is deep for ever, whatever this node says.
    const deep = { txid: 'aa', confirmations: 30, deep: true };
    const known = await read(adapter, first, { ...nothingSeen, funded: deep, claimed: deep });
    assert.deepEqual([known.funded, known.claimed, known.refunded], [deep, deep, null]);
    await chain.solidify();
    const late = await read(adapter, first);
    const [after, other] = outcome(late);
    assert.deepEqual([after?.txid, after?.deep, other], [settleTx, true, null]);
    assert.deepEqual([late.funded?.txid, late.funded?.deep], [fundTx, true]);
    assert.deepEqual([late.balance, late.empty], [0n, true]);
    assert.equal(late.secret, verb === 'claim' ? first.secret : null);
    // Confirmed as often as its escrow wants, or it is not deep.
    const wanting = { ...first, escrow: { ...first.escrow, requiredConfirmations: 1_000 } };
    assert.equal(outcome(await read(adapter, wanting))[0]?.deep, false);
  });
}

test('a stored fact stays while the solid word has its escrow, and when it has the later one', async () => {
  const [first, second] = legsInLane();
  await fund(chain, first);
  await claim(chain, first);
  await chain.solidify();
  const stored = await read(adapterOf(), first);
  await fund(chain, second);
  const log: string[] = [];
  for (const blocks of [0, solidityLag]) {
    await chain.dev.mine(blocks);
    assert.deepEqual(await read(adapterOf(), first, stored), { ...stored, empty: true });
    assert.deepEqual(await read(blindTo(log), first, stored), { ...stored, empty: true });
  }
  assert.deepEqual(await read(blindTo(log), first), unknown);
  assert.deepEqual(log.slice(-2), ['no_events', 'unknown_outcome']);
});

for (const how of ['504', 'a refusal', 'never']) {
  test(`an index of events that answers a wide question with ${how} is asked about fewer blocks`, async () => {
    const [first, second] = legsInLane();
    await chain.dev.mine(20);
    await fund(chain, first);
    await claim(chain, first);
    await fund(chain, second);
    await chain.solidify();
    const asked: number[] = [];
    const refusal = { error: { code: -32_602, message: 'exceed max block range: 10' } };
    const adapter = await adapterOver(
      ({ body }, forward) => {
        if (body.method !== 'eth_getLogs') return forward();
        const [{ fromBlock, toBlock }] = body.params as [{ fromBlock: string; toBlock: string }];
        const blocks = Number(toBlock) - Number(fromBlock) + 1;
        asked.push(blocks);
        if (blocks <= 10) return forward();
        if (how === 'never') return undefined;
        return how === '504' ? { status: 504, body: {} } : { body: refusal };
      },
      { http: { attemptTimeoutMs: 3_000, rounds: 1 } },
    );
    // One look waits 2 s for a search, which goes on; a busy machine may find the claim otherwise.
    const told = await waitUntil(async () => {
      const facts = await read(adapter, first);
      return facts.claimed && asked.some((blocks) => blocks <= 10) ? facts : null;
    });
    assert.deepEqual([told.claimed?.deep, told.secret], [true, first.secret], `${asked}`);
    const wide = asked.filter((blocks) => blocks > 10).length;
    assert.ok(wide < 8 && wide < asked.length, `it learns the limit: ${asked}`);
  });
}

test('a funding whose block was taken back proves nothing once the lane has a later escrow', async () => {
  const [first, second] = legsInLane();
  const adapter = adapterOf();
  adapter.watch([first.escrow]);
  await adapter.changes(signal());
  await fund(chain, first);
  await adapter.changes(signal());
  const stored = await read(adapter, first);
  assert.equal(legStatus(stored), 'seen');
  await chain.dev.simulator.chain.takeBack(1);
  // Somebody quotes it in the block that comes in the place of its own.
  const [call] = fundCalls(first.terms, chain.deployment, 0n);
  const contract = bareAddress(chain.deployment.contract).slice(2);
  await post(chain, quoting(chain, anyone, contract + call?.data));
  await chain.dev.mine(1);
  const other = newLeg(chain, { lane: first.terms.lane ?? freshLane() });
  await fund(chain, other);
  await claim(chain, other);
  await fund(chain, second);
  await chain.solidify();
  assert.deepEqual(await read(adapter, first), unknown);
  await adapter.changes(signal());
  assert.deepEqual(await read(adapter, first), unknown);
  assert.equal((await read(adapterOf(), first, stored)).funded?.deep, false);
});

test("an escrow's outcome is solid although a later one waits for a block in its lane", async () => {
  const [first, second] = legsInLane();
  await fund(chain, first);
  await settle(first, 'refund');
  await chain.solidify();
  await fund(chain, newLeg(chain, { lane: second.terms.lane ?? freshLane() }));
  // A claim that was stored is none where the solid word says refunded.
  const stored = { ...nothingSeen, claimed: { txid: 'aa', confirmations: 1, deep: false } };
  for (const known of [undefined, stored]) {
    const facts = await read(adapterOf(), first, known);
    assert.deepEqual([legStatus(facts), facts.empty], ['refunded', true]);
    assert.deepEqual([facts.funded?.deep, facts.claimed, facts.outcome], [true, null, undefined]);
  }
});

test('a claim that gets solid while a node is asked view by view stays claimed', async () => {
  const leg = newLeg(chain);
  await fund(chain, leg);
  await chain.solidify();
  const claimTx = await claim(chain, leg);
  const adapter = await adapterOver(async ({ path, body }, forward) => {
    if (!path.endsWith('/triggerconstantcontract')) return forward();
    // It runs no code of a contract that is never made.
    if (body.contract_address === undefined) return { body: {} };
    const said = await forward();
    if (path.startsWith('walletsolidity/')) await chain.dev.mine(1);
    return said;
  });
  assert.equal((await read(adapter, leg)).claimed?.txid, claimTx);
});
