// TRON and Solana over HTTP, as traders with ordinary wallets meet them: tronweb and kit sign
// what the market builds; it is sent, watched, refused, warned about, and taken back.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { base64 } from '@scure/base';
import { TronWeb } from 'tronweb';
import type { SignedTron, SolanaMaterial, TronMaterial } from '../chains/interface/material.ts';
import { signTronTransaction } from '../chains/tron/signed.ts';
import { parleyClient } from '../sdk/client.ts';
import { ParleyApiError } from '../sdk/errors.ts';
import { linkWallet } from '../sdk/keys.ts';
import { solanaMessageSigner } from '../sdk/wallets/solana.ts';
import { tronMessageSigner } from '../sdk/wallets/tron.ts';
import {
  agree,
  asMaterial,
  assetOf,
  bothLegs,
  type Coin,
  reaches,
  sendAll,
  units,
  useLane,
} from './families/deals.ts';
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

for (const [b, a] of [
  [
    ['tron', 'token'],
    ['solana', 'token'],
  ],
  [
    ['solana', 'native'],
    ['tron', 'native'],
  ],
] as const satisfies readonly (readonly [Coin, Coin])[]) {
  test(`${b.join(' ')} for ${a.join(' ')} settles, signed by tronweb and kit`, limits, async () => {
    const [taker, maker] = [await newTrader(place, 'tron'), await newTrader(place, 'solana')];
    const deal = await agree(place, taker, maker, b, a);
    const { swapId, secret } = deal;
    const funding = asMaterial(await taker.client.fund(swapId, 'b'));
    assert.equal(funding.family, b[0]);
    assert.deepEqual(await refusal(maker.client.fund(swapId, 'a')), [409, 'not_fundable_yet']);
    await sendAll(place, taker, funding);
    await reaches(maker, deal, 'initiator_funded');
    await sendAll(place, maker, asMaterial(await maker.client.fund(swapId, 'a')));
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
}

test(
  'what is altered, unsigned, or signed by another is 400, and money stays where it is',
  limits,
  async () => {
    const [taker, maker] = [await newTrader(place, 'tron'), await newTrader(place, 'solana')];
    const { swapId } = await agree(place, taker, maker, ['tron', 'native'], ['solana', 'native']);
    const material = asMaterial(await taker.client.fund(swapId, 'b')) as TronMaterial;
    const signed = await taker.signTron(material);
    const hex = signed.raw_data_hex;
    const altered = `${hex.slice(0, -2)}${hex.endsWith('00') ? '01' : '00'}`;
    // tronweb itself refuses to sign with another key than the owner's.
    const [unsigned] = material.transactions;
    assert.ok(unsigned);
    const foreign = signTronTransaction(randomBytes(32), unsigned);
    const wrong: [string, SignedTron][] = [
      ['altered bytes', { ...signed, raw_data_hex: altered }],
      ['altered bytes, no id', { raw_data_hex: altered, signature: signed.signature }],
      ['another id', { ...signed, txID: 'ab'.repeat(32) }],
      ['no signature', { ...signed, signature: ['00'.repeat(65)] }],
      ['no bytes', { ...signed, raw_data_hex: 'zz' }],
      ['another signer', foreign],
    ];
    for (const [what, lie] of wrong) {
      assert.deepEqual(
        await refusal(taker.client.broadcast('tron', lie)),
        [400, 'bad_transaction'],
        what,
      );
    }
    const built = asMaterial(await taker.client.fund(swapId, 'b'));
    assert.equal(built.family, 'tron');
    for (const text of ['AAAA', 'not base64 at all', base64.encode(randomBytes(2_000))]) {
      assert.deepEqual(await refusal(taker.client.broadcast('solana', text)), [
        400,
        'bad_transaction',
      ]);
    }
    const { legs } = await taker.client.swap(swapId);
    assert.equal(legs.b.status, 'unfunded');
  },
);

test('a Solana transaction that another key signed, or nobody, is 400', limits, async () => {
  const [taker, maker] = [await newTrader(place, 'solana'), await newTrader(place, 'tron')];
  const { swapId } = await agree(place, taker, maker, ['solana', 'token'], ['tron', 'native']);
  const material = asMaterial(await taker.client.fund(swapId, 'b')) as SolanaMaterial;
  const unsigned = base64.decode(material.transaction);
  const signed = base64.decode(await taker.signSolana(material));
  const forged = Uint8Array.from(signed);
  forged[5] = (forged[5] ?? 0) ^ 1;
  const other = Uint8Array.from(signed);
  other[signed.length - 1] = (other[signed.length - 1] ?? 0) ^ 1;
  for (const bytes of [unsigned, forged, other]) {
    const sending = taker.client.broadcast('solana', base64.encode(bytes));
    assert.deepEqual(await refusal(sending), [400, 'bad_transaction']);
  }
  const { txid } = await taker.client.broadcast('solana', base64.encode(signed));
  const again = await taker.client.broadcast(place.solana.chain, base64.encode(signed));
  assert.equal(again.txid, txid, 'sent twice, it is the same transaction');
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

test(
  'a TRON claimer that was never used, or cannot pay, is warned about before anyone funds',
  limits,
  async () => {
    for (const [sun, code, words] of [
      [null, 'not_activated', /was never used on tron-dev.*sun/],
      // 1.3 times 16 000 energy at 100 sun, and bandwidth of its own
      [2_079_999n, 'energy_poor', /has 2079999 sun on tron-dev, and .* may take 2080000 sun/],
      [2_080_000n, null, null],
    ] as const) {
      const taker = await newTrader(place, 'tron');
      const maker = await newcomer(place, 'tron');
      await linkWallet(maker.client, maker.solana, maker.tron);
      // The maker gives SOL and is to be paid on TRON.
      await place.dev.faucet({ chain: place.solana.chain, address: maker.solana.address });
      const { address } = maker.tron;
      if (sun !== null) await place.dev.faucet({ chain: place.tron.chain, address, amount: sun });
      const coins = [
        ['tron', 'native'],
        ['solana', 'native'],
      ] as const;
      const { swapId } = await agree(place, taker, maker, ...coins);
      const { next } = await maker.client.swap(swapId);
      const warned = next.filter(({ warnings }) => warnings !== undefined);
      assert.deepEqual(
        warned.map(({ by, action }) => `${by} ${action}`).sort(),
        code === null ? [] : ['counterparty wait', 'initiator fund'],
        JSON.stringify(next),
      );
      for (const { warnings = [] } of warned) {
        assert.deepEqual(
          warnings.map((each) => each.code),
          [code],
        );
        assert.match(warnings[0]?.text ?? '', words ?? /never/);
        assert.ok(warnings[0]?.text.startsWith(address));
      }
    }
  },
);

for (const isOpen of [true, false]) {
  const what = isOpen ? 'holds money' : 'was used';
  test(
    `a lane that ${what} elsewhere moves its leg: 409, and the next funding counts`,
    limits,
    async () => {
      const [taker, maker] = [await newTrader(place, 'tron'), await newTrader(place, 'solana')];
      const deal = await agree(place, taker, maker, ['tron', 'native'], ['solana', 'native']);
      const { swapId } = deal;
      const before = (await taker.client.swap(swapId)).legs.b;
      const { lane } = before;
      assert.ok(lane);
      await useLane(place, taker, { lane, isOpen });
      assert.deepEqual(await refusal(taker.client.fund(swapId, 'b')), [409, 'escrow_moved']);
      const moved = (await taker.client.swap(swapId)).legs.b;
      assert.notEqual(moved.escrow, before.escrow);
      if (isOpen) assert.notEqual(moved.lane?.number, lane.number);
      else assert.deepEqual(moved.lane, { ...lane, counter: 2 });
      await sendAll(place, taker, asMaterial(await taker.client.fund(swapId, 'b')));
      await reaches(maker, deal, 'initiator_funded');
      const { legs } = await maker.client.swap(swapId);
      assert.equal(legs.b.escrow, moved.escrow);
    },
  );
}

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

test(
  'without a wallet on the chain of what is given, no request and no quote',
  limits,
  async () => {
    const [onTron, onSolana] = [await newcomer(place, 'tron'), await newcomer(place, 'solana')];
    const request = async (by: Trader, give: Coin, want: Coin) =>
      by.client.createRfq({
        direction: 'sell_base',
        baseAssetId: await assetOf(place, give),
        baseAmount: units[give[0]].toString(),
        quoteAssetId: await assetOf(place, want),
        ttlSeconds: 600,
      });
    const sol: Coin = ['solana', 'native'];
    const trx: Coin = ['tron', 'native'];
    const [status] = await refusal(request(onTron, sol, trx));
    assert.equal(status, 403);
    const rfq = await request(onTron, trx, sol);
    const quote = (by: Trader) => by.client.quote(rfq.id, units.solana.toString());
    const alsoOnTron = await newcomer(place, 'tron');
    assert.equal((await refusal(quote(alsoOnTron)))[0], 403);
    assert.equal((await quote(onSolana)).rfqId, rfq.id);
  },
);

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
  const purses = await Promise.all(
    ['taker', 'maker'].map(async (name) => {
      const file = join(market.home, `${name}.json`);
      await wallet(['join', file, place.url]);
      const purse = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
      const { apiKey: key = '', tronAddress = '', solanaAddress = '' } = purse;
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
  const [taker, maker] = purses as [(typeof purses)[0], (typeof purses)[0]];
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

// Last: it moves the clocks by hours.
test('both legs go back to their funders after the timelocks, and not before', limits, async () => {
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
  await sendAll(place, maker, asMaterial(await maker.client.refund(swapId, 'a')));
  await sendAll(place, taker, asMaterial(await taker.client.refund(swapId, 'b')));
  assert.equal((await bothLegs(taker, deal, 'refunded')).status, 'refunded');
});
