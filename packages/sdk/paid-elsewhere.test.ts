// Bitcoin paid where its key's owner says, with a key that has no coins: paid by hand, through fee
// bumps and with refunds left with the market, on a real bitcoind. Each kind of address:
// packages/chains/bitcoin/real-node.test.ts.

import assert from 'node:assert/strict';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { type Chains, walletIn } from './chains.ts';
import { phraseKeys } from './rescue/derive.ts';
import { writeRescue } from './rescue/file.ts';
import { newPhrase } from './rescue/phrase.ts';
import { rawSpend } from './rescue/raw.ts';
import { restoreFromFile } from './rescue/restore.ts';
import { storeWith } from './rescue/store.ts';
import { memoryStore } from './stores/memory.ts';
import type { Scene } from './testing/four-chains.ts';
import { withChain } from './testing/honest.ts';
import { evmKey, hastySide, onChains, recordOf, running, sideOf } from './testing/sides.ts';
import { timed } from './testing/timed.ts';
import { bitcoinWallet } from './wallets/bitcoin.ts';

const bitcoinKey = 'bitcoin-regtest';
const on = onChains();

const elsewhere = {
  p2pkh: 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn',
  p2sh: '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc',
  p2wsh: 'bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry',
  p2tr: 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6',
};

type Decoded = {
  locktime: number;
  vout: { value: number; scriptPubKey: { address: string } }[];
};
const decoded = (raw: string) => on.core<Decoded>('decoderawtransaction', [raw]);
const paidBy = async (raw = '') =>
  (await decoded(raw)).vout.map(({ scriptPubKey }) => scriptPubKey.address);
const mining = (isOn: boolean) => on.chains.dev.mining(bitcoinKey, isOn);

/** The key of a party and nothing else: it has no coins, and is paid at `payout`. */
function keyAlone(scene: Scene, party: 'maker' | 'taker', payout: string): Chains {
  const { chains } = scene.input(party);
  const { bitcoin: privateKey } = on.chains.keysOf[party];
  const wallet = bitcoinWallet({ privateKey, network: 'regtest', payout });
  return withChain(chains, bitcoinKey, { wallet });
}

const pay = (scene: Scene, amount: bigint) =>
  on.chains.dev.faucet({ chain: bitcoinKey, address: scene.market.watched('b').address, amount });

const pastTimelock = (scene: Scene) =>
  on.chains.move(scene.market.watched('b').terms.timelock - on.chains.now() + 30);

timed('a claim is paid where its key’s owner says, and the escrow is paid by hand', async () => {
  const payout = elsewhere.p2wsh;
  // One side alone asks for Taproot.
  const { form: _, ...bitcoin } = on.chains.walletsOf.taker.bitcoin;
  const scene = on.chains.swap(undefined, { bitcoin });
  const maker = await sideOf(scene, 'maker', { chains: keyAlone(scene, 'maker', payout) });
  const chains = keyAlone(scene, 'taker', elsewhere.p2tr);
  const taker = running(await sideOf(scene, 'taker', { chains }));
  const claiming = running(maker);
  const { address } = scene.market.watched('b');
  assert.match(address, /^bcrt1q/);
  const { text, leg } = await taker.next('pay_by_hand');
  assert.equal(leg, 'b');
  const wanted = new RegExp(
    `^pay exactly 1000000 sats to ${address} in one payment, sent before \\S+$`,
  );
  assert.match(text, wanted);
  await pay(scene, 1_000_000n);
  const ends = await Promise.all([taker.end, claiming.end]);
  assert.deepEqual(
    ends.map(({ end }) => end),
    ['received', 'received'],
  );
  const { claim } = await recordOf(maker);
  assert.deepEqual(await paidBy(claim?.raw), [payout]);
  assert.equal(scene.market.calls.filter((each) => each === 'taker fund b').length, 1);
});

timed('a refund, its fee bumps and those left with the market are paid there too', async () => {
  const payout = elsewhere.p2pkh;
  const scene = on.chains.swap();
  const input = await hastySide(scene, 'taker', { chains: keyAlone(scene, 'taker', payout) });
  // At first they were to be paid elsewhere still.
  const gone = new AbortController();
  const chains = keyAlone(scene, 'taker', elsewhere.p2tr);
  const before = running({ ...input, chains, signal: gone.signal });
  await before.next('pay_by_hand');
  await pay(scene, 1_000_000n);
  await before.next('scheduled');
  gone.abort();
  await assert.rejects(before.end);
  const side = running(input);
  await side.next('scheduled');
  const left = scene.market.left('refund');
  assert.ok(left.length >= 8, `${left.length} refunds`);
  for (const { raw } of left) assert.deepEqual(await paidBy(raw), [payout]);
  scene.market.die();
  await mining(false);
  await pastTimelock(scene);
  const first = await side.next('refunded');
  const second = await side.next('refunded', 2);
  assert.notEqual(first.txid, second.txid);
  assert.match(second.text, /again, with a higher fee/);
  const { refund } = await recordOf(input);
  assert.deepEqual(await paidBy(refund?.raw), [payout]);
  await mining(true);
  const { end, txids } = await side.end;
  assert.equal(end, 'refunded');
  const mined = await on.core<string>('getrawtransaction', [txids.b.refund]);
  assert.deepEqual(await paidBy(mined), [payout]);
});

timed('a refund as text is signed before it is due, and any node takes it then', async () => {
  const scene = on.chains.swap();
  const gone = new AbortController();
  const chains = keyAlone(scene, 'taker', elsewhere.p2wsh);
  const input = await sideOf(scene, 'taker', { chains });
  const side = running({ ...input, signal: gone.signal });
  await side.next('pay_by_hand');
  await pay(scene, 1_000_000n);
  await side.next('scheduled');
  gone.abort();
  await assert.rejects(side.end);
  await assert.rejects(rawSpend(input, 'claim'), { code: 'not_as_text' });
  const text = await rawSpend(input, 'refund');
  assert.ok(text.is === 'signed');
  assert.equal(text.notBefore, scene.market.watched('b').terms.timelock);
  const isTaken = async () => {
    const [{ allowed } = { allowed: false }] = await on.core<{ allowed: boolean }[]>(
      'testmempoolaccept',
      [[text.raw]],
    );
    return allowed;
  };
  assert.equal(await isTaken(), false);
  await pastTimelock(scene);
  assert.equal(await isTaken(), true);
  assert.deepEqual(await paidBy(text.raw), [elsewhere.p2wsh]);
});

timed('words and a rescue file bring a refund of Taproot back without the market', async () => {
  const keys = await phraseKeys(newPhrase(), 'dev');
  const { privateKey } = keys.bitcoinKey(0);
  const lost = storeWith(keys, memoryStore(), on.chains.now);
  const secret = (await lost.getSecret(await lost.newHashlock())) ?? '';
  const wallet = bitcoinWallet({ privateKey, network: 'regtest', payout: elsewhere.p2tr });
  const { bitcoin } = on.chains.walletsOf.taker;
  const scene = on.chains.swap(undefined, { secret, bitcoin: { ...bitcoin, ...wallet } });
  assert.match(scene.market.watched('b').address, /^bcrt1p/);
  const chains = withChain(scene.input('taker').chains, bitcoinKey, { wallet });
  const gone = new AbortController();
  const input = { ...scene.input('taker'), store: lost, chains };
  const side = running({ ...input, scheduleRefunds: false, signal: gone.signal });
  const { text } = await side.next('pay_by_hand');
  assert.match(text, /cannot pay Taproot \(bc1p\)/);
  await pay(scene, 1_000_000n);
  await side.next('seen');
  gone.abort();
  await assert.rejects(side.end);
  scene.market.die();
  const file = await writeRescue(lost, chains);
  const found = storeWith(keys, memoryStore(), on.chains.now);
  const [restored] = await restoreFromFile(found, file, { chains });
  assert.deepEqual([restored?.outcome, restored?.bitcoinKey], ['restored', 0]);
  await pastTimelock(scene);
  const { end, txids } = await running({ ...input, store: found, client: null }).end;
  assert.equal(end, 'refunded');
  const mined = await on.core<string>('getrawtransaction', [txids.b.refund]);
  assert.deepEqual(await paidBy(mined), [elsewhere.p2tr]);
  assert.equal(scene.market.left('refund').length, 0);
});

timed('a double payment is not put at risk, unless its owner says so', async () => {
  const scene = on.chains.swap();
  const chains = keyAlone(scene, 'taker', elsewhere.p2tr);
  const asked: bigint[] = [];
  let gives = false;
  let isAsked = false;
  const isWanted = () => {
    isAsked = true;
    return true;
  };
  const evm = walletIn(chains, evmKey);
  assert.ok(evm.family === 'evm');
  const waiting = { ...evm, asks: { withinMs: 1_000, isWanted, over: () => {} } };
  const taking = withChain(chains, evmKey, { wallet: waiting });
  let takesBack = false;
  const givesExtra = (extra: bigint) => {
    asked.push(extra);
    const gave = takesBack;
    takesBack = false;
    return gave || gives;
  };
  const taker = running(await sideOf(scene, 'taker', { chains: taking, givesExtra }));
  const maker = running(await sideOf(scene, 'maker'));
  await taker.next('pay_by_hand');
  await pay(scene, 1_000_000n);
  await pay(scene, 1_500_000n);
  await waitUntil(() => taker.emitted.some(({ text }) => text.includes('1500000 sats more')));
  const isClaimed = () => taker.emitted.some(({ step }) => step === 'claimed');
  assert.equal(isClaimed(), false);
  assert.equal(isAsked, false, 'a wallet is to be asked before the person has decided');
  // A decision is checked again, right before the secret is sent.
  takesBack = true;
  const had = asked.length;
  await waitUntil(() => asked.length >= had + 3 || isClaimed());
  assert.ok(isAsked);
  assert.equal(isClaimed(), false);
  gives = true;
  const [{ end }] = await Promise.all([maker.end, taker.next('claimed')]);
  assert.deepEqual([end, asked.at(-1)], ['received', 1_500_000n]);
  // The rest after the claim comes back.
  await pastTimelock(scene);
  const { txid } = await taker.next('refunded');
  assert.equal((await taker.end).end, 'received');
  const refund = await decoded(await on.core<string>('getrawtransaction', [txid]));
  assert.deepEqual(refund.vout[0]?.scriptPubKey.address, elsewhere.p2tr);
  assert.ok((refund.vout[0]?.value ?? 0) > 0.0149);
});
