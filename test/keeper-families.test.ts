// The keeper of `npm start` on TRON and Solana, which makes its own dev keys: it relays the claim
// of a receiver without any coin there, claims for one that sleeps, and refunds.

import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { linkWallet } from '../sdk/keys.ts';
import { agree, asMaterial, bothLegs, type Coin, reaches, sendAll } from './families/deals.ts';
import { newcomer, newTrader, type Place, placeOf, type Trader } from './families/people.ts';
import { newHome, type RunningMarket, startMarketProcess } from './support/market.ts';

const limits = { timeout: 240_000 };
let market: RunningMarket;
let place: Place;
const undo: (() => unknown)[] = [];

before(async () => {
  const context = { after: (step: () => unknown) => undo.unshift(step) } as unknown as TestContext;
  market = await startMarketProcess(context, await newHome(context));
  place = await placeOf(market);
}, limits);
after(async () => {
  for (const step of undo) await step();
}, limits);

type Family = 'tron' | 'solana';
const other = (family: Family): Family => (family === 'tron' ? 'solana' : 'tron');

/** With coins on the chain that it gives on, and none where it is paid. */
async function poorOn(family: Family): Promise<Trader> {
  const gives = other(family);
  const trader = await newcomer(place, gives);
  await linkWallet(trader.client, trader[family], trader[gives]);
  const { chain } = place[gives];
  await place.dev.faucet({ chain, address: trader[gives].address });
  return trader;
}

async function relayed(trader: Trader, path: string, secret: string) {
  const reply = await fetch(`${place.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${trader.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ secret, relay: true }),
  });
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
}

for (const family of ['tron', 'solana'] as const) {
  test(`on ${family}, a receiver without a coin has its claim relayed`, limits, async () => {
    const [taker, maker] = [await poorOn(family), await newTrader(place, family)];
    const [b, a]: [Coin, Coin] = [
      [other(family), 'native'],
      [family, 'native'],
    ];
    const deal = await agree(place, taker, maker, b, a);
    const { swapId, secret } = deal;
    await sendAll(place, taker, asMaterial(await taker.client.fund(swapId, 'b')));
    await reaches(maker, deal, 'initiator_funded');
    await sendAll(place, maker, asMaterial(await maker.client.fund(swapId, 'a')));
    await reaches(taker, deal, 'counterparty_funded');
    const path = `/v1/swaps/${swapId}/legs/a/claim`;
    const answer = await relayed(taker, path, secret);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.equal(answer.body.relayed, true);
    await reaches(maker, deal, 'initiator_claimed');
    // The other side sleeps: it is taken up, and after its grace the keeper claims for it too.
    await sleep(3_000);
    await place.dev.time(90);
    await reaches(taker, deal, 'counterparty_claimed');
    const { legs } = await bothLegs(taker, deal, 'claimed');
    assert.deepEqual(
      [legs.a, legs.b].map((leg) => (leg as unknown as { claimedBy: string }).claimedBy),
      ['keeper', 'keeper'],
    );
    assert.equal((await relayed(taker, path, secret)).body.txid, legs.a.claimTx);
  });
}

test('the keys are for nobody else to read, and nothing shows them', limits, async () => {
  for (const chain of ['evm-dev', place.tron.chain, place.solana.chain]) {
    const file = join(market.home, `keeper-${chain}.key`);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const key = (await readFile(file, 'utf8')).trim();
    assert.ok(!market.log().includes(key) && !JSON.stringify(market.ready).includes(key));
  }
});

// Last: it moves the clocks by hours.
test('expired legs go back to funders that sleep', limits, async () => {
  const [taker, maker] = [await newTrader(place, 'tron'), await newTrader(place, 'solana')];
  const deal = await agree(place, taker, maker, ['solana', 'token'], ['tron', 'token']);
  const { swapId } = deal;
  await sendAll(place, taker, asMaterial(await taker.client.fund(swapId, 'b')));
  await reaches(maker, deal, 'initiator_funded');
  await sendAll(place, maker, asMaterial(await maker.client.fund(swapId, 'a')));
  await reaches(taker, deal, 'counterparty_funded');
  const { deadlines } = await taker.client.swap(swapId);
  const { now } = await place.dev.status();
  await place.dev.time(Math.max(deadlines.refundAt.a, deadlines.refundAt.b) - now + 120);
  // Taken up, and after the grace refunded.
  await sleep(3_000);
  await place.dev.time(200);
  const { status, legs } = await bothLegs(taker, deal, 'refunded');
  assert.equal(status, 'refunded');
  assert.deepEqual(
    [legs.a, legs.b].map((leg) => (leg as unknown as { refundedBy: string }).refundedBy),
    ['keeper', 'keeper'],
  );
});
