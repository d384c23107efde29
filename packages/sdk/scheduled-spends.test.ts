// Claims and refunds signed beforehand, by the settle driver and by hand, on a real bitcoind: final from the
// timelock on and not before, made again when there is other money, and never in a swap's way.

import assert from 'node:assert/strict';
import test from 'node:test';
import { bumpSeconds } from '@parley/chains/bitcoin/signed-spends.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { walletIn } from './chains.ts';
import { scheduleRefunds, worthOf } from './scheduled-spends.ts';
import type { Progress } from './settle.ts';
import type { Scene } from './testing/four-chains.ts';
import { withChain } from './testing/honest.ts';
import {
  hastySide,
  isFunded,
  onChains,
  recordOf,
  running,
  sideOf,
  until,
} from './testing/sides.ts';
import { timed } from './testing/timed.ts';
import { sourceIn } from './trade.ts';
import { outputsOf } from './verify-material.ts';
import { readWatchFile, watchClaims, watchFileOf } from './watch.ts';

const bitcoinKey = 'bitcoin-regtest';
const on = onChains();

type Tried = { allowed: boolean; 'reject-reason'?: string };
const tried = async (raw: string) => (await on.core<Tried[]>('testmempoolaccept', [[raw], 0]))[0];
type Decoded = { vin: unknown[]; vout: { value: number }[] };
const decoded = (raw = '') => on.core<Decoded>('decoderawtransaction', [raw]);
const isScheduled = ({ step }: Progress) => step === 'scheduled';
const isRefused = ({ step, text }: Progress) => step === 'market_refused' && /not kept/.test(text);
const mining = (isOn: boolean) => on.chains.dev.mining(bitcoinKey, isOn);
const pay = (address: string, amount: bigint) =>
  on.chains.dev.faucet({ chain: bitcoinKey, address, amount });

/** A swap, how often its market was given refunds, and its time. */
function newScene() {
  const scene = on.chains.swap();
  const asked = () => scene.market.calls.filter((each) => each === 'taker refunds b').length;
  const pastTimelock = () =>
    on.chains.move(scene.market.watched('b').terms.timelock - on.chains.now() + 30);
  return { scene, asked, pastTimelock, refunds: () => scene.market.left('refund') };
}

function own(scene: Scene) {
  const { chains, swapId } = scene.input('taker');
  const source = sourceIn(chains, bitcoinKey);
  const wallet = walletIn(chains, bitcoinKey);
  assert.ok(wallet.family === 'bitcoin');
  return { source, wallet, swapId, chains };
}

timed('a funder that signs alone leaves refunds that are final from the timelock on', async () => {
  const { scene, asked, pastTimelock } = newScene();
  const input = await hastySide(scene, 'taker');
  const { text } = await until(input, isScheduled);
  assert.match(text, /keeps \d+ signed refunds of 1000000 sats at 1 to \d+(\.\d+)? sat per vbyte/);
  const refunds = scene.market.left('refund');
  assert.ok(refunds.length >= 8, `${refunds.length} refunds`);
  for (const { raw } of refunds) {
    assert.equal((await tried(raw))?.['reject-reason'], 'non-final');
  }
  assert.equal(asked(), 1);
  // A restart, and the same funding in another block, change nothing.
  await mining(false);
  await on.core('invalidateblock', [await on.core<string>('getbestblockhash')]);
  await mining(true);
  const gone = new AbortController();
  const side = running({ ...input, signal: gone.signal });
  await side.next('seen', 1, 'b');
  assert.equal(asked(), 1);
  gone.abort();
  await assert.rejects(side.end);
  // As much, of another payment: the kept refund spends one that a reorganisation took.
  const record = await recordOf(input);
  const { refund: left = assert.fail() } = record.left ?? {};
  assert.equal(left.sats, 1_000_000n);
  const about = `${'0'.repeat(64)}:0`;
  const other = { ...record, left: { refund: { ...left, about, upTo: 300 } } };
  await input.store.putSwap(other);
  await until(input, isScheduled);
  assert.equal(asked(), 2);
  // Fees are low now; the one in its place reaches as high.
  const { upTo = 0 } = (await recordOf(input)).left?.refund ?? {};
  assert.ok(upTo > 299, `up to ${upTo}`);
  await mining(false);
  await pastTimelock();
  for (const { raw } of refunds) assert.equal((await tried(raw))?.allowed, true);
  await on.core('sendrawtransaction', [refunds.at(-1)?.raw, 0]);
  await mining(true);
  const outcome = await running(input).end;
  assert.deepEqual([outcome.end, outcome.txids.b.refund], ['refunded', refunds.at(-1)?.txid]);
});

timed('further money in the escrow is signed for too, and dust of a stranger is not', async () => {
  const { scene, asked, refunds } = newScene();
  const gone = new AbortController();
  const more = { marketPollMs: 50, signal: gone.signal };
  const side = running(await hastySide(scene, 'taker', more));
  await side.next('scheduled');
  const before = refunds();
  const escrow = scene.market.watched('b');
  await pay(escrow.address, 1_000n);
  const { text } = await side.next('scheduled', 2);
  assert.match(text, /^refund by hand .*: \w{64}:\d+ \(1000 sats\)$/);
  assert.equal(asked(), 1, 'what is kept stays');
  await pay(escrow.address, 30_000n);
  await side.next('scheduled', 3);
  assert.equal((await decoded(before[0]?.raw)).vin.length, 1);
  const { vin, vout } = await decoded(refunds()[0]?.raw);
  assert.equal(vin.length, 2);
  assert.ok((vout[0]?.value ?? 0) > 0.0102, `${vout[0]?.value} BTC`);
  gone.abort();
  await assert.rejects(side.end);
  const { source, wallet, swapId } = own(scene);
  const signal = AbortSignal.timeout(60_000);
  const about = { client: scene.market.client('taker'), swapId, leg: 'b' } as const;
  const kept = await scheduleRefunds({ ...about, escrow, source, wallet, signal });
  const [left, ...others] = kept.leftOut;
  assert.ok(left !== undefined && others.length === 0);
  assert.equal(left.sats, 1_000n);
  assert.ok(left.notWorthFrom > 2 && left.notWorthFrom <= kept.highestFeeRate, 'and above that');
  const spentAt = async (feeRateSatPerVbyte: number) => {
    const input = { escrow, feeRateSatPerVbyte, isPublic: false };
    const built = await source.adapter.buildRefund(input, signal);
    assert.ok(built.sign === 'btc-sighash');
    return outputsOf(built.psbtBase64).map((each) => `${each.txid}:${each.vout}`);
  };
  assert.ok((await spentAt(left.notWorthFrom - 1)).includes(left.outpoint), 'by the builder');
  assert.ok(!(await spentAt(left.notWorthFrom + 1)).includes(left.outpoint), 'if it is worth it');
});

timed(
  'a wallet that asks a person signs none unasked; a market that keeps fewer is named',
  async () => {
    const { scene, asked } = newScene();
    scene.market.keepsSpends(3);
    const input = await hastySide(scene, 'taker');
    assert.match((await until(input, isRefused)).text, /scheduled\.count/);
    const { wallet, chains: all } = own(scene);
    const chains = withChain(all, bitcoinKey, { wallet: { ...wallet, signsAlone: false } });
    scene.market.keepsSpends(Infinity);
    await until({ ...input, chains }, ({ step, leg }) => step === 'seen' && leg === 'b');
    assert.equal(asked(), 1);
    assert.equal((await until({ ...input, chains, scheduleRefunds: true }, isScheduled)).leg, 'b');
  },
);

timed(
  'a payee that signs alone leaves claims before it funds, and is paid while it is away',
  async () => {
    const scene = on.chains.swap();
    const left = () => scene.market.left('claim');
    const gone = new AbortController();
    const own = await hastySide(scene, 'maker', { replaceAfterMs: 60_000 });
    const taking = await hastySide(scene, 'taker');
    await until(taking, isFunded);
    const maker = running({ ...own, signal: gone.signal });
    const { text } = await maker.next('scheduled');
    assert.match(text, /keeps \d+ signed claims of 1000000 sats at 1 to \d+(\.\d+)? sat per vbyte/);
    await maker.next('seen', 1, 'a');
    const steps = maker.emitted.map(({ step, leg }) => `${step} ${leg}`);
    assert.ok(steps.indexOf('scheduled b') < steps.indexOf('funded a'), `${steps}`);
    gone.abort();
    await assert.rejects(maker.end);
    const claims = left();
    for (const { raw } of claims) {
      assert.match((await tried(raw))?.['reject-reason'] ?? '', /script-verify|mandatory/i);
    }
    await mining(false);
    const taker = running(taking);
    await taker.next('claimed');
    const { adapter } = sourceIn(own.chains, bitcoinKey);
    const escrow = scene.market.watched('b');
    const { scheduledSpends = assert.fail() } = adapter;
    const { publicSecret } = await recordOf(taking);
    const ladder = { verb: 'claim', bumps: claims, tried: null, secret: publicSecret } as const;
    const signal = AbortSignal.timeout(60_000);
    assert.equal((await scheduledSpends.next(escrow, ladder, signal)).kind, 'send');
    for (const bump of claims) {
      const raw = scheduledSpends.finished(escrow, bump, ladder);
      assert.equal((await tried(raw))?.allowed, true);
    }
    const bump = claims[3] ?? assert.fail();
    await on.core('sendrawtransaction', [scheduledSpends.finished(escrow, bump, ladder)]);
    // Back again, it neither outbids what waits for it nor asks for more.
    let polls = 0;
    const onShown = () => {
      polls += 1;
    };
    const back = running({ ...own, onShown });
    await waitUntil(() => polls > 3);
    assert.deepEqual(await on.core('getrawmempool'), [bump.txid]);
    await mining(true);
    const ends = await Promise.all([back.end, taker.end]);
    assert.deepEqual(
      ends.map(({ end }) => end),
      ['received', 'received'],
    );
    assert.equal(ends[0].txids.b.claim, bump.txid);
  },
);

timed(
  'a watchtower of one’s own claims by its file alone, raises it, and checks it first',
  async () => {
    const scene = on.chains.swap();
    const gone = new AbortController();
    const own = await sideOf(scene, 'maker', { scheduleClaims: false });
    const taking = await sideOf(scene, 'taker');
    await until(taking, isFunded);
    const maker = running({ ...own, signal: gone.signal });
    await maker.next('seen', 1, 'a');
    gone.abort();
    await assert.rejects(maker.end);
    assert.equal(scene.market.left('claim').length, 0, 'it was told not to');
    const { signal } = new AbortController();
    const text = await watchFileOf(await recordOf(own), own.chains, signal);
    for (const secret of [scene.secret, 'privateKey']) assert.ok(!text.includes(secret));
    const file = readWatchFile(text);
    const sourceOf = async (chain: string) => sourceIn(own.chains, chain);
    // As if each claim had waited for so long when it was sent.
    const now = () => on.chains.now() - bumpSeconds;
    const sent: string[] = [];
    const onProgress = (_: string, txid: string | null) => {
      if (txid !== null) sent.push(txid);
    };
    const watching = { sourceOf, now, pollMs: 200, signal, onProgress };
    const [first = '', ...rest] = file.claims.transactions;
    const claims = { ...file.claims, transactions: [...rest, first] };
    const wrong = watchClaims({ ...watching, file: { ...file, claims } });
    await assert.rejects(wrong, { code: 'bad_fee_rate' });
    const { claims: listed, ...others } = JSON.parse(text) as Record<string, object>;
    const altered = (change: object) =>
      JSON.stringify({ ...others, claims: { ...listed, ...change } });
    for (const [bad, why] of [
      ['{', /no JSON/],
      ['null', /`format`/],
      [JSON.stringify(others), /`claims\.transactions`/],
      [altered({ transactions: ['00', 1] }), /`claims\.transactions`/],
      [altered({ escrow: {} }), /`claims\.escrow\.address`/],
    ] as const) {
      assert.throws(() => readWatchFile(bad), { code: 'bad_file', message: why });
    }
    await mining(false);
    const watched = watchClaims({ ...watching, file });
    const taker = running(taking);
    await taker.next('claimed');
    await waitUntil(() => sent.length === 1);
    assert.deepEqual(await on.core('getrawmempool'), sent);
    // A full block went by without it.
    await on.core('generateblock', ['raw(51)#8lvh9jxk', []]);
    await waitUntil(() => sent.length === 2);
    assert.notEqual(sent[0], sent[1]);
    assert.deepEqual(await on.core('getrawmempool'), [sent[1]]);
    await mining(true);
    assert.deepEqual(await watched, { txid: sent[1], isClaimed: true });
    assert.equal((await taker.end).end, 'received');
  },
);

test('payments that bring less than it costs to spend them are left out, but never all', () => {
  const sats = (...amounts: bigint[]) => amounts.map((amount) => ({ amount }));
  assert.deepEqual(worthOf(sats(90_000n, 7_001n, 7_000n, 546n), 7_000n), sats(90_000n, 7_001n));
  assert.deepEqual(worthOf(sats(546n, 546n), 7_000n), sats(546n));
});
