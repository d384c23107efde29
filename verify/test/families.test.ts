// TRON and Solana over HTTP, as traders with ordinary wallets meet them: tronweb, kit and the
// wallet of the tour sign what the market builds; it is sent, watched and refused. And the keeper
// of `npm start` there, which makes its own dev keys: it relays the claim of a receiver without
// any coin, claims for one that sleeps, and refunds.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type {
  SignedTron,
  SolanaMaterial,
  TronMaterial,
} from '@parley/chains/interface/material.ts';
import { type CoinName, placeOf } from '@parley/dev/demo/place.ts';
import { devnetClient } from '@parley/dev/devnet/client.ts';
import { withClient } from '@parley/host/postgres/client.ts';
import { runningPostgres } from '@parley/host/postgres/postgres.ts';
import { linkWallet } from '@parley/sdk/keys.ts';
import type { Swap } from '@parley/sdk/types.ts';
import { solanaMessageSigner } from '@parley/sdk/wallets/solana.ts';
import { tronMessageSigner } from '@parley/sdk/wallets/tron.ts';
import { base64 } from '@scure/base';
import {
  createKeyPairFromPrivateKeyBytes,
  getBase64EncodedWireTransaction,
  getTransactionDecoder,
  partiallySignTransaction,
} from '@solana/kit';
import { TronWeb } from 'tronweb';
import { type Customer, newCustomer } from './support/customers.ts';
import { agreed, type Deal, refusal, shows, until } from './support/deals.ts';
import { type RunningMarket, sharedMarket } from './support/market.ts';
import type { Ground } from './support/stage.ts';

const limits = { timeout: 240_000 };
const opened = sharedMarket();
let market: RunningMarket;
let ground: Ground;
let taker: Customer;
let maker: Customer;
let clockOffset = 0;

before(async () => {
  market = await opened();
  const dev = devnetClient(market.ready.dev ?? '');
  const status = await dev.status();
  const place = placeOf(status);
  clockOffset = status.clockOffsetSeconds;
  const now = () => Math.floor(Date.now() / 1_000) + clockOffset;
  ground = { url: market.ready.url, dev, place, now };
  taker = await newCustomer(ground, 'Taker', 'tron');
  maker = await newCustomer(ground, 'Maker', 'solana');
}, limits);

async function move(seconds: number): Promise<void> {
  clockOffset = (await ground.dev.time(seconds)).clockOffsetSeconds;
}

type Built = (TronMaterial | SolanaMaterial) & { readonly validUntil: number };
type Sign = (who: Customer, material: Built, at: number) => Promise<string | SignedTron>;

const tronOf = ({ keys }: Customer) =>
  new TronWeb({ fullHost: ground.place.tron.rpcUrl, privateKey: keys.tron });

/** As tronweb and kit come from npm, exactly what came over HTTP. */
const byLibrary: Sign = async (who, material, at) => {
  if (material.sign === 'solana-tx') {
    const pair = await createKeyPairFromPrivateKeyBytes(Buffer.from(who.keys.solana, 'hex'));
    const unsigned = getTransactionDecoder().decode(base64.decode(material.transaction));
    return getBase64EncodedWireTransaction(await partiallySignTransaction([pair], unsigned));
  }
  const signed = await tronOf(who).trx.sign(material.transactions[at] as never);
  assert.ok('visible' in signed && 'raw_data' in signed, 'as wallets give it, nothing left out');
  return signed as unknown as SignedTron;
};

/** `npm run wallet`, with this customer's keys and its standard input given. */
async function wallet(who: Customer, [verb, ...args]: readonly string[], input = '') {
  const file = join(market.home, `${who.name}.json`);
  await writeFile(file, JSON.stringify({ apiKey: who.key, keys: who.keys }));
  const script = join(import.meta.dirname, '../..', 'scripts', 'wallet.ts');
  const said = await new Promise<string>((resolve, reject) => {
    const given = [script, verb ?? '', file, ...args];
    const child = execFile(process.execPath, given, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(stderr)),
    );
    child.stdin?.end(input);
  });
  return JSON.parse(said) as Record<string, unknown>;
}

const byTour: Sign = async (who, material, at) => {
  const { rpcUrl } = ground.place[material.sign === 'solana-tx' ? 'solana' : 'tron'];
  const { signed } = await wallet(who, ['sign', rpcUrl, `${at}`], JSON.stringify(material));
  return signed as string | SignedTron;
};

/** Each transaction, on TRON the next one when the one before has succeeded. */
async function send(who: Customer, built: unknown, sign: Sign = byLibrary): Promise<void> {
  const material = built as Built;
  const count = material.sign === 'solana-tx' ? 1 : material.transactions.length;
  for (let at = 0; at < count; at += 1) {
    const signed = await sign(who, material, at);
    const { txid } = await who.client.broadcast(material.chain, signed);
    if (at + 1 === count) return;
    const { trx } = tronOf(who);
    const info = await until('a block has it', async () => {
      const found = await trx.getUnconfirmedTransactionInfo(txid);
      return 'id' in found && found;
    });
    assert.equal(info.receipt.result ?? 'SUCCESS', 'SUCCESS');
  }
}

const reaches = (deal: Deal, wanted: string) =>
  shows(deal, `it is ${wanted}`, ({ status }) => status === wanted);
/** Each at its own chain's depth. */
const bothLegs = (deal: Deal, wanted: string) =>
  shows(deal, `both legs are ${wanted}`, ({ legs: { a, b } }: Swap) =>
    [a, b].every(({ status }) => status === wanted),
  );

/** Every address is named; the taker is paid at another one where it is told. */
async function ready(b: CoinName, a: CoinName, payout?: string): Promise<Deal> {
  const deal = await agreed(ground, [taker, maker], b, a);
  for (const who of [taker, maker]) {
    for (const name of [a, b]) {
      const { chain, family } = ground.place.coins[name];
      const own = who[family].address;
      const address = who === taker && name === a ? (payout ?? own) : own;
      await who.client.setAddress(deal.id, { chain, address });
    }
  }
  return deal;
}

async function funded(b: CoinName, a: CoinName, payout?: string): Promise<Deal> {
  const deal = await ready(b, a, payout);
  await send(taker, await taker.client.fund(deal.id, 'b'));
  await reaches(deal, 'initiator_funded');
  await send(maker, await maker.client.fund(deal.id, 'a'));
  await reaches(deal, 'counterparty_funded');
  return deal;
}

/** By the keeper: from then on its grace runs. */
async function takenUp({ id, coins }: Deal, verb: 'claim' | 'refund', leg: 'a' | 'b') {
  const { chain } = ground.place.coins[coins[leg]];
  const connectionString = (await runningPostgres(market.home)) ?? assert.fail();
  await withClient({ connectionString }, async (client) => {
    const text = 'select from keeper_jobs where (swap_id, verb, chain) = ($1, $2, $3)';
    await until('it is taken up', async () => {
      return (await client.query(text, [id, verb, chain])).rowCount === 1;
    });
  });
}

const secretOf = async (deal: Deal) => (await taker.store.getSecret(deal.hashlock)) ?? '';

test(
  'tokens of TRON and Solana settle, signed by tronweb, kit and the tour’s wallet',
  limits,
  async () => {
    const deal = await ready('TRON dollar', 'SPL dollar');
    const secret = await secretOf(deal);
    await send(taker, await taker.client.fund(deal.id, 'b'), byTour);
    await reaches(deal, 'initiator_funded');
    await send(maker, await maker.client.fund(deal.id, 'a'), byTour);
    await reaches(deal, 'counterparty_funded');
    await send(taker, await taker.client.claim(deal.id, 'a', secret));
    await reaches(deal, 'initiator_claimed');
    await send(maker, await maker.client.claim(deal.id, 'b', secret));
    const { legs } = await bothLegs(deal, 'claimed');
    assert.ok(legs.a.claimTx && legs.b.claimTx && legs.a.fundTx && legs.b.fundTx);
  },
);

test(
  'a leg on Solana is its funder’s at once when the other side gives the swap up',
  limits,
  async () => {
    const deal = await ready('SOL', 'TRX');
    await send(taker, await taker.client.fund(deal.id, 'b'));
    await reaches(deal, 'initiator_funded');
    const funder = await refusal(taker.client.release(deal.id, 'b'));
    assert.equal(funder.code, 'not_your_leg');
    const { material } = await maker.client.release(deal.id, 'b');
    const early = (await refusal(taker.client.refund(deal.id, 'b'))).code;
    assert.equal(early, 'too_early_to_refund');
    await send(maker, material);
    const { legs } = await shows(deal, 'it is back', ({ legs: { b } }) => b.status === 'refunded');
    assert.ok(legs.b.refundTx && (legs.b.rentLeft?.from ?? 0) > ground.now());
    assert.equal((await refusal(maker.client.fund(deal.id, 'a'))).code, 'given_up');
  },
);

for (const [b, a, lives] of [
  ['TRX', 'SOL', 600],
  ['SOL', 'TRX', 30],
] as const) {
  test(
    `unsigned bytes of ${b} live ${lives} s: a stored reply of dead ones is 409`,
    limits,
    async () => {
      const { id } = await ready(b, a);
      const { now } = await ground.dev.status();
      const how = { idempotencyKey: randomBytes(8).toString('hex') };
      const first = (await taker.client.fund(id, 'b', how)) as Built;
      const life = first.validUntil - now;
      assert.ok(life > lives - 30 && life <= lives + 30, `it lives ${life} s`);
      assert.deepEqual(await taker.client.fund(id, 'b', how), first, 'replayed while it lives');
      await move(lives + 60);
      const { status, code } = await refusal(taker.client.fund(id, 'b', how));
      assert.deepEqual([status, code], [409, 'material_expired']);
      const fresh = (await taker.client.fund(id, 'b')) as Built;
      assert.ok(fresh.validUntil > first.validUntil);
    },
  );
}

test(
  'a receiver without a coin has its claim relayed, one that sleeps has it sent',
  limits,
  async () => {
    const privateKey = randomBytes(32).toString('hex');
    const seed = randomBytes(32);
    const poor = {
      tron: tronMessageSigner({ privateKey }),
      solana: solanaMessageSigner({ secretKey: new Uint8Array(seed) }),
    };
    for (const each of Object.values(poor)) await linkWallet(taker.client, each, taker.tron);
    const deals = [
      await funded('SOL', 'TRX', poor.tron.address),
      await funded('TRX', 'SOL', poor.solana.address),
    ];
    const claims = new Map<Deal, unknown>();
    for (const deal of deals) {
      const relay = ['relay', ground.url, deal.id, 'a', await secretOf(deal)];
      const { relayed, txid } = await wallet(taker, relay);
      assert.equal(relayed, true);
      claims.set(deal, txid);
      await reaches(deal, 'initiator_claimed');
    }
    // The other side sleeps: it is taken up, and after its grace the keeper claims for it too.
    for (const deal of deals) await takenUp(deal, 'claim', 'b');
    await move(90);
    for (const deal of deals) {
      const { legs } = await bothLegs(deal, 'claimed');
      assert.deepEqual([legs.a.claimedBy, legs.b.claimedBy], ['keeper', 'keeper']);
      assert.equal(legs.a.claimTx, claims.get(deal));
    }
  },
);

test('the keys are for nobody else to read, and nothing shows them', limits, async () => {
  const { evm, tron, solana } = ground.place;
  for (const { chain } of [evm, tron, solana]) {
    const file = join(market.home, `keeper-${chain}.key`);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const key = (await readFile(file, 'utf8')).trim();
    assert.ok(!market.log().includes(key) && !JSON.stringify(market.ready).includes(key));
  }
});

// Last: it moves the clocks by hours.
test('expired legs go back to funders that sleep', limits, async () => {
  const deal = await funded('SPL dollar', 'TRON dollar');
  const { deadlines } = await taker.client.swap(deal.id);
  await move(Math.max(deadlines.refundAt.a, deadlines.refundAt.b) - ground.now() + 120);
  // Taken up, and after the grace refunded.
  for (const leg of ['a', 'b'] as const) await takenUp(deal, 'refund', leg);
  await move(200);
  const { status, legs } = await bothLegs(deal, 'refunded');
  assert.equal(status, 'refunded');
  assert.deepEqual([legs.a.refundedBy, legs.b.refundedBy], ['keeper', 'keeper']);
});
