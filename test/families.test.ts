// TRON and Solana over HTTP, as traders with ordinary wallets meet them: tronweb and kit sign what
// the market builds; it is sent, watched and refused. And the keeper of `npm start` there, which
// makes its own dev keys: it relays the claim of a receiver without any coin, claims for one that
// sleeps, and refunds.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { base64 } from '@scure/base';
import { TronWeb } from 'tronweb';
import type { SolanaMaterial } from '../chains/interface/material.ts';
import { parleyClient } from '../sdk/client.ts';
import { ParleyApiError } from '../sdk/errors.ts';
import { linkWallet } from '../sdk/keys.ts';
import { solanaMessageSigner } from '../sdk/wallets/solana.ts';
import { tronMessageSigner } from '../sdk/wallets/tron.ts';
import { agree, asMaterial, bothLegs, type Coin, reaches, sendAll } from './families/deals.ts';
import { newcomer, newTrader, type Place, placeOf, type Trader } from './families/people.ts';
import { newHome, type RunningMarket, startMarketProcess } from './support/market.ts';

const limits = { timeout: 240_000 };
let market: RunningMarket;
let place: Place;
const undo: (() => unknown)[] = [];

before(async () => {
  // One market for all tests of the file.
  const context = { after: (step: () => unknown) => undo.unshift(step) } as unknown as TestContext;
  market = await startMarketProcess(context, await newHome(context));
  place = await placeOf(market);
}, limits);
after(async () => {
  for (const step of undo) await step();
}, limits);

async function refusal(work: Promise<unknown>): Promise<[number, string]> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof ParleyApiError, String(error));
    return [error.status, error.code];
  }
  assert.fail('it was not refused');
}

test('tokens of TRON and Solana settle, signed by tronweb and kit', limits, async () => {
  const [taker, maker] = [await newTrader(place, 'tron'), await newTrader(place, 'solana')];
  const deal = await agree(place, taker, maker, ['tron', 'token'], ['solana', 'token']);
  const { swapId, secret } = deal;
  const funding = asMaterial(await taker.client.fund(swapId, 'b'));
  assert.equal(funding.family, 'tron');
  assert.deepEqual(await refusal(maker.client.fund(swapId, 'a')), [409, 'not_fundable_yet']);
  await sendAll(place, taker, funding);
  await reaches(maker, deal, 'initiator_funded');
  const paying = asMaterial(await maker.client.fund(swapId, 'a')) as SolanaMaterial;
  const signed = await maker.signSolana(paying);
  const bytes = Uint8Array.from(base64.decode(signed));
  bytes[5] = (bytes[5] ?? 0) ^ 1;
  const forged = maker.client.broadcast('solana', base64.encode(bytes));
  assert.deepEqual(await refusal(forged), [400, 'bad_transaction']);
  const { txid } = await maker.client.broadcast('solana', signed);
  const again = await maker.client.broadcast(place.solana.chain, signed);
  assert.equal(again.txid, txid, 'sent twice, it is the same transaction');
  await reaches(taker, deal, 'counterparty_funded');
  assert.deepEqual(await refusal(taker.client.refund(swapId, 'b')), [409, 'too_early_to_refund']);
  await sendAll(place, taker, asMaterial(await taker.client.claim(swapId, 'a', secret)));
  await reaches(maker, deal, 'initiator_claimed');
  const seen = (await maker.client.swap(swapId)).secret;
  assert.equal(seen, secret);
  await sendAll(place, maker, asMaterial(await maker.client.claim(swapId, 'b', secret)));
  await reaches(maker, deal, 'counterparty_claimed');
  const { legs } = await bothLegs(taker, deal, 'claimed');
  assert.ok(legs.a.claimTx && legs.b.claimTx && legs.a.fundTx && legs.b.fundTx);
});

test(
  'unsigned bytes live for minutes: validUntil says so, and a stored reply of dead ones is 409',
  limits,
  async () => {
    const [taker, maker] = [await newTrader(place, 'tron'), await newTrader(place, 'solana')];
    for (const [b, lives] of [
      [['tron', 'native'], 600],
      [['solana', 'native'], 60],
    ] as const) {
      const a: Coin = [b[0] === 'tron' ? 'solana' : 'tron', 'native'];
      const { swapId } = await agree(place, taker, maker, b, a);
      const { now } = await place.dev.status();
      const how = { idempotencyKey: randomBytes(8).toString('hex') };
      const first = asMaterial(await taker.client.fund(swapId, 'b', how));
      const life = first.validUntil - now;
      assert.ok(life > lives - 30 && life <= lives + 30, `${b[0]} lives ${life} s`);
      assert.deepEqual(await taker.client.fund(swapId, 'b', how), first, 'replayed while it lives');
      await place.dev.time(lives + 60);
      const dead = await refusal(taker.client.fund(swapId, 'b', how));
      assert.deepEqual(dead, [409, 'material_expired']);
      const fresh = asMaterial(await taker.client.fund(swapId, 'b'));
      assert.ok(fresh.validUntil > first.validUntil);
    }
  },
);

test('who may be paid and who may be refunded where', limits, async () => {
  const [taker, maker] = [await newTrader(place, 'tron'), await newTrader(place, 'solana')];
  const { swapId } = await agree(place, taker, maker, ['tron', 'native'], ['solana', 'native']);
  const { client } = taker;
  const solana = solanaMessageSigner({ secretKey: new Uint8Array(randomBytes(32)) }).address;
  const tron = tronMessageSigner({ privateKey: randomBytes(32).toString('hex') }).address;
  const [onTron, onSolana] = [place.tron.chain, place.solana.chain];
  // The taker funds on TRON: a refund goes to whoever funds, so that any valid address will do.
  const { legs } = await client.setAddress(swapId, {
    chain: onTron,
    address: TronWeb.address.toHex(tron),
  });
  assert.equal(legs.b.refundAddress, tron, 'in canonical form');
  const stranger = client.setAddress(swapId, { chain: onSolana, address: solana });
  assert.deepEqual(await refusal(stranger), [403, 'not_payable']);
  // The maker funds on Solana, where the refund address receives as well.
  const refundTo = maker.client.setAddress(swapId, { chain: onSolana, address: solana });
  assert.deepEqual(await refusal(refundTo), [403, 'not_payable']);
  const payTo = maker.client.setAddress(swapId, { chain: onTron, address: tron });
  assert.deepEqual(await refusal(payTo), [403, 'not_payable']);
  const own = await maker.client.setAddress(swapId, { chain: onTron, address: maker.tron.address });
  assert.equal(own.legs.b.payoutAddress, maker.tron.address);
  for (const address of [solana, 'T', `${tron}1`, `0x${'ab'.repeat(20)}`]) {
    const bad = client.setAddress(swapId, { chain: onTron, address });
    assert.deepEqual(await refusal(bad), [400, 'bad_address'], address);
  }
});

/** `npm run wallet`, its standard input given. */
function wallet(args: string[], input = ''): Promise<string> {
  const script = join(import.meta.dirname, '..', 'scripts', 'wallet.ts');
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [script, ...args], (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(stderr)),
    );
    child.stdin?.end(input);
  });
}

test('the wallet of the tour signs in with, and for, TRON and Solana', limits, async () => {
  const walletsOf = await Promise.all(
    ['taker', 'maker'].map(async (name) => {
      const file = join(market.home, `${name}.json`);
      await wallet(['join', file, place.url]);
      const wallets = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
      const { apiKey: key = '', tronAddress = '', solanaAddress = '' } = wallets;
      const { dev, tron, solana } = place;
      await dev.faucet({ chain: tron.chain, address: tronAddress });
      await dev.faucet({ chain: solana.chain, address: solanaAddress });
      const client = parleyClient({ baseUrl: place.url, key });
      const own = {
        key,
        client,
        tron: { address: tronAddress },
        solana: { address: solanaAddress },
      };
      return { file, trader: own as unknown as Trader };
    }),
  );
  const [taker, maker] = walletsOf as [(typeof walletsOf)[0], (typeof walletsOf)[0]];
  for (const [b, node] of [
    ['tron', place.tron.rpcUrl],
    ['solana', place.solana.rpcUrl],
  ] as const) {
    const a: Coin = [b === 'tron' ? 'solana' : 'tron', 'native'];
    const deal = await agree(place, taker.trader, maker.trader, [b, 'native'], a);
    const built = await taker.trader.client.fund(deal.swapId, 'b');
    const said = await wallet(['sign', taker.file, node], JSON.stringify(built));
    const { chain, signed } = JSON.parse(said) as { chain: string; signed: string };
    await taker.trader.client.broadcast(chain, signed);
    await reaches(maker.trader, deal, 'initiator_funded');
    const relay = ['relay', taker.file, place.url, deal.swapId, 'a', 'ab'.repeat(32)];
    await assert.rejects(wallet(relay), /funded|secret/);
  }
});

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
