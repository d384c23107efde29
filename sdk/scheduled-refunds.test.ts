// Refunds signed beforehand, by the settle driver and by hand, on a real bitcoind: final from the
// timelock on and not before, made again when there is other money, and never in a swap's way.

import assert from 'node:assert/strict';
import test from 'node:test';
import { scheduleRefunds, signedRefunds, worthOf } from './scheduled-refunds.ts';
import type { Progress } from './settle.ts';
import { onChains } from './testing/evm-account.ts';
import type { FourChains } from './testing/four-chains.ts';
import { coreOf, hastySide, running, until, withAdapter } from './testing/sides.ts';
import { timed } from './testing/timed.ts';
import { outputsOf } from './verify-material.ts';
import { sleep } from './waiting.ts';

const bitcoinKey = 'bitcoin-regtest';
let chains: FourChains;
let core: Awaited<ReturnType<typeof coreOf>>;

onChains(async (on) => {
  chains = on.chains;
  core = await coreOf(chains);
});

type Tried = { allowed: boolean; 'reject-reason'?: string };
const tried = async (raw: string) => (await core<Tried[]>('testmempoolaccept', [[raw], 0]))[0];
const isScheduled = ({ step }: Progress) => step === 'scheduled';
const isRefused = ({ step, text }: Progress) => step === 'market_refused' && /not kept/.test(text);

timed(
  'a funder that signs alone leaves refunds that a node takes from the timelock on',
  async () => {
    const scene = chains.swap();
    const input = await hastySide(scene, 'taker');
    const told = await until(input, isScheduled);
    assert.match(
      told.text,
      /keeps \d+ signed refunds of 1000000 sats at 1 to \d+(\.\d+)? sat per vbyte/,
    );
    const rungs = scene.market.refunds();
    assert.ok(rungs.length >= 8, `${rungs.length} rungs`);
    for (const { raw } of rungs) {
      assert.equal((await tried(raw))?.['reject-reason'], 'non-final');
    }
    const asked = () => scene.market.calls.filter((each) => each === 'taker refunds b').length;
    assert.equal(asked(), 1);
    // A restart, and the same funding in another block, change nothing.
    await chains.dev.mining(bitcoinKey, false);
    const tip = await core<string>('getbestblockhash');
    await core('invalidateblock', [tip]);
    await chains.dev.mining(bitcoinKey, true);
    const gone = new AbortController();
    const side = running({ ...input, signal: gone.signal });
    await side.next('seen', 1, 'b');
    assert.equal(asked(), 1);
    gone.abort();
    await assert.rejects(side.end);
    // As much, of another payment: what is kept spends one that a reorganisation took.
    const record = await input.store.getSwap(input.swapId);
    assert.ok(record?.scheduled);
    assert.equal(record.scheduledOf, 1_000_000n);
    const other = { ...record, scheduled: `${'0'.repeat(64)}:0`, scheduledUpTo: 300 };
    await input.store.putSwap(other);
    await until(input, isScheduled);
    assert.equal(asked(), 2);
    // Fees are low now; the one in its place reaches as high.
    const { scheduledUpTo = 0 } = (await input.store.getSwap(input.swapId)) ?? {};
    assert.ok(scheduledUpTo > 299, `up to ${scheduledUpTo}`);

    const { timelock } = scene.market.watched('b').terms;
    await chains.dev.mining(bitcoinKey, false);
    await chains.move(timelock - chains.now() + 30);
    for (const { raw } of rungs) {
      assert.equal((await tried(raw))?.allowed, true);
    }
    await core('sendrawtransaction', [rungs.at(-1)?.raw, 0]);
    await chains.dev.mining(bitcoinKey, true);
    const outcome = await running(input).end;
    assert.deepEqual([outcome.end, outcome.txids.b.refund], ['refunded', rungs.at(-1)?.txid]);
  },
);

timed('a ladder is of what is as deep as the leg wants, and of nothing shallower', async () => {
  const scene = chains.swap();
  const { requiredConfirmations: wanted, address } = scene.market.watched('b');
  assert.equal(wanted, 2);
  await chains.dev.mining(bitcoinKey, false);
  try {
    let shallow = 0;
    const input = await hastySide(scene, 'taker', { marketPollMs: 10 });
    const side = running(
      withAdapter(input, bitcoinKey, ({ readEscrow }) => ({
        readEscrow: async (...about) => {
          const facts = await readEscrow(...about);
          if (facts.funded?.confirmations === 1) shallow += 1;
          return facts;
        },
      })),
    );
    await side.next('funded');
    await chains.dev.mine(bitcoinKey, 1);
    // By the second look the pass of the first one is over.
    while (shallow < 2) await sleep(50);
    const asked = () => scene.market.calls.filter((each) => each === 'taker refunds b').length;
    assert.equal(asked(), 0);
    // In a block of its own, which makes the funding deep.
    await chains.dev.faucet({ chain: bitcoinKey, address, amount: 30_000n });
    await side.next('scheduled');
    const inputs = async () =>
      (await core<{ vin: unknown[] }>('decoderawtransaction', [scene.market.refunds()[0]?.raw])).vin
        .length;
    assert.equal(await inputs(), 1);
    await chains.dev.mine(bitcoinKey, 1);
    await side.next('scheduled', 2);
    assert.equal(await inputs(), 2);
    await chains.dev.mining(bitcoinKey, true);
    await chains.move(scene.market.watched('b').terms.timelock - chains.now() + 30);
    assert.equal((await side.end).end, 'refunded');
  } finally {
    await chains.dev.mining(bitcoinKey, true);
  }
});

timed('a ladder that fees have come near to is signed again, and another is not', async () => {
  const scene = chains.swap();
  const fees = { times: 1, asked: 0 };
  const input = await hastySide(scene, 'taker', { marketPollMs: 5 });
  const side = running(
    withAdapter(input, bitcoinKey, ({ buildRefund }) => ({
      buildRefund: async (...about) => {
        const built = await buildRefund(...about);
        fees.asked += 1;
        if (built.sign !== 'btc-sighash') return built;
        const dearer = (rate: number) => rate * fees.times;
        const ladder = built.ladder.map((step, at) =>
          at === 0 ? step : { ...step, feeRateSatPerVbyte: dearer(step.feeRateSatPerVbyte) },
        );
        return { ...built, ladder };
      },
    })),
  );
  await side.next('scheduled');
  const first = scene.market.refunds().at(-1)?.feeRateSatPerVbyte ?? 0;
  const asked = () => scene.market.calls.filter((each) => each === 'taker refunds b').length;
  fees.times = 1.9;
  const before = fees.asked;
  while (fees.asked < before + 2) await sleep(50);
  assert.equal(asked(), 1);
  fees.times = 2.1;
  await side.next('scheduled', 2);
  const last = scene.market.refunds().at(-1)?.feeRateSatPerVbyte ?? 0;
  assert.ok(last >= 2 * first, `${first} and then ${last}`);
  scene.market.die();
  await chains.move(scene.market.watched('b').terms.timelock - chains.now() + 30);
  assert.equal((await side.end).end, 'refunded');
});

timed(
  'further money in the escrow is signed for as well, and dust of a stranger is not',
  async () => {
    const scene = chains.swap();
    const side = running(await hastySide(scene, 'taker', { marketPollMs: 50 }));
    await side.next('scheduled');
    const before = scene.market.refunds();
    const { address } = scene.market.watched('b');
    await chains.dev.faucet({ chain: bitcoinKey, address, amount: 1_000n });
    const told = await side.next('scheduled', 2);
    assert.match(told.text, /^refund by hand .*: \w{64}:\d+ \(1000 sats\)$/);
    const asked = () => scene.market.calls.filter((each) => each === 'taker refunds b').length;
    assert.equal(asked(), 1, 'the ladder stays');
    await chains.dev.faucet({ chain: bitcoinKey, address, amount: 30_000n });
    await side.next('scheduled', 3);
    type Decoded = { vin: unknown[]; vout: { value: number }[] };
    const decoded = (raw = '') => core<Decoded>('decoderawtransaction', [raw]);
    assert.equal((await decoded(before[0]?.raw)).vin.length, 1);
    const { vin, vout } = await decoded(scene.market.refunds()[0]?.raw);
    assert.equal(vin.length, 2);
    assert.ok((vout[0]?.value ?? 0) > 0.0102, `${vout[0]?.value} BTC`);
    const { sources, wallets } = scene.input('taker');
    const [source, wallet] = [sources.get(bitcoinKey), wallets.get(bitcoinKey)];
    assert.ok(source && wallet?.family === 'bitcoin');
    const signal = AbortSignal.timeout(20_000);
    const escrow = scene.market.watched('b');
    const client = scene.market.client('taker');
    const about = { client, swapId: scene.input('taker').swapId, leg: 'b' } as const;
    const kept = await scheduleRefunds({ ...about, escrow, source, wallet, signal });
    const [left, ...more] = kept.leftOut;
    assert.ok(left !== undefined && more.length === 0);
    assert.equal(left.sats, 1_000n);
    assert.ok(left.notWorthFrom > 2 && left.notWorthFrom <= kept.highestFeeRate, 'and above that');
    const spentAt = async (feeRateSatPerVbyte: number) => {
      const input = { escrow, feeRateSatPerVbyte, isPublic: false };
      const built = await source.adapter.buildRefund(input, signal);
      assert.ok(built.sign === 'btc-sighash');
      return outputsOf(built.psbtBase64).map(({ txid, vout }) => `${txid}:${vout}`);
    };
    assert.ok((await spentAt(left.notWorthFrom - 1)).includes(left.outpoint), 'by the builder');
    assert.ok(!(await spentAt(left.notWorthFrom + 1)).includes(left.outpoint), 'if it is worth it');
    scene.market.die();
    await chains.move(scene.market.watched('b').terms.timelock - chains.now() + 30);
    assert.equal((await side.end).end, 'refunded');
  },
);

timed(
  'a wallet that asks a person signs none unasked, and a market that keeps fewer is told',
  async () => {
    const scene = chains.swap();
    scene.market.keepsRefunds(3);
    const input = await hastySide(scene, 'taker');
    const told = await until(input, isRefused);
    assert.match(told.text, /scheduledRefunds\.count/);
    const own = input.wallets.get(bitcoinKey);
    assert.ok(own?.family === 'bitcoin');
    const asking = new Map(input.wallets).set(bitcoinKey, { ...own, signsAlone: false });
    scene.market.keepsRefunds(Infinity);
    const quiet = running({ ...input, wallets: asking });
    await quiet.next('seen', 1, 'b');
    assert.equal(scene.market.calls.filter((each) => each === 'taker refunds b').length, 1);
    const wanted = until({ ...input, wallets: asking, scheduleRefunds: true }, isScheduled);
    assert.equal((await wanted).leg, 'b');
    await chains.move(scene.market.watched('b').terms.timelock - chains.now() + 30);
    assert.equal((await quiet.end).end, 'refunded');
  },
);

timed('nothing is signed for an escrow that no block shows a payment to', async () => {
  const scene = chains.swap();
  const { sources, wallets } = scene.input('taker');
  const [source, wallet] = [sources.get(bitcoinKey), wallets.get(bitcoinKey)];
  assert.ok(source && wallet?.family === 'bitcoin');
  const signal = AbortSignal.timeout(20_000);
  const escrow = scene.market.watched('b');
  await assert.rejects(signedRefunds({ escrow, source, wallet, signal }), /holds nothing/);
});

test('payments that bring less than it costs to spend them are left out, but never all', () => {
  const sats = (...amounts: bigint[]) => amounts.map((amount) => ({ amount }));
  assert.deepEqual(worthOf(sats(90_000n, 7_001n, 7_000n, 546n), 7_000n), sats(90_000n, 7_001n));
  assert.deepEqual(worthOf(sats(546n, 546n), 7_000n), sats(546n));
});
