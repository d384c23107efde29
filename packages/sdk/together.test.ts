// Spends that both sides sign, by two drivers on a real bitcoind and anvil: claimed and refunded
// together, with a side that is silent or lies, through crashes, a reorganisation and a fee that
// is too low. One side alone: settle/cosigning.test.ts.

import assert from 'node:assert/strict';
import { addressesOfPubkey } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { keyOf } from '@parley/chains/bitcoin/testing/swaps.ts';
import { has } from '@parley/core/families.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { SettleInput } from './settle.ts';
import { type Crashing, throughCrashes } from './testing/crashing.ts';
import type { Scene } from './testing/four-chains.ts';
import type { Exchanges } from './testing/paper-market.ts';
import { onChains, recordOf, running, sideOf, unscheduled } from './testing/sides.ts';
import { timed } from './testing/timed.ts';

const bitcoinKey = 'bitcoin-regtest';
const elsewhere = addressesOfPubkey(keyOf('elsewhere').pubkey, bitcoinNetworks.regtest).p2tr;
const on = onChains();
const received = ['received', 'received'];

type Input = { readonly txid: string; readonly txinwitness?: readonly string[] };
type Output = { readonly scriptPubKey: { readonly address: string } };
type Decoded = { readonly vin: readonly Input[]; readonly vout: readonly Output[] };
type Txid = string | null | undefined;

async function placeOf(txid: Txid): Promise<string[]> {
  const { vout } = await on.core<Decoded>('getrawtransaction', [txid ?? '', true]);
  return vout.map(({ scriptPubKey }) => scriptPubKey.address);
}

/** The input of a side whose Bitcoin is paid elsewhere than the terms name. */
function paidElsewhere({ chains }: SettleInput): Pick<SettleInput, 'chains'> {
  const { [bitcoinKey]: own } = chains;
  const wallet = own?.wallet;
  assert.ok(own && has(wallet, 'coins'));
  const paid = { ...wallet, payout: elsewhere };
  return { chains: { ...chains, [bitcoinKey]: { ...own, wallet: paid } } };
}

/** By the key of both sides one signature; by a leaf its script is beside it. */
async function isByBoth(txid: Txid): Promise<boolean> {
  const { vin } = await on.core<Decoded>('getrawtransaction', [txid ?? '', true]);
  return vin.every(({ txinwitness = [] }) => txinwitness.length === 1);
}

/** The maker claims leg b. Its wait is short where no answer is to come. */
async function begun(of: Scene, waitMs = 20_000, more: Partial<SettleInput> = {}) {
  const taker = running(await sideOf(of, 'taker', unscheduled));
  const claiming = { ...unscheduled, cosignWaitMs: waitMs, ...more };
  const claimer = await sideOf(of, 'maker', claiming);
  const maker = running(claimer);
  const ended = async () => {
    const ends = await Promise.all([taker.end, maker.end]);
    assert.deepEqual(
      ends.map(({ end }) => end),
      received,
    );
    return ends[1].txids.b.claim;
  };
  return { taker, maker, claimer, ended };
}

timed('both sides claim a leg together: one signature on chain, and no script', async () => {
  const of = on.chains.swap();
  // It sees the secret later than the side that asks.
  of.market.refuseWords(2);
  const { ended } = await begun(of, 20_000, paidElsewhere(of.input('maker')));
  const txid = await ended();
  assert.ok(await isByBoth(txid));
  assert.deepEqual(await placeOf(txid), [elsewhere]);
});

const silent: Exchanges = { claim: null, refund: null };
/** The file bitcoin/musig.test.ts refuses another address or fee in a request. */
const lies: Readonly<Record<string, (said: Exchanges) => Exchanges>> = {
  'keeps the request': () => silent,
  'keeps its answer': ({ claim }) => ({ ...silent, claim: claim && { ...claim, answer: null } }),
  'signs another transaction': (said) => {
    const { claim } = said;
    if (!claim?.answer) return said;
    const signatures = claim.answer.signatures.map(() => '11'.repeat(32));
    return { ...said, claim: { ...claim, answer: { ...claim.answer, signatures } } };
  },
};
for (const [what, lie] of Object.entries(lies)) {
  timed(`a claim goes by its leaf where the other side ${what}`, async () => {
    const of = on.chains.swap();
    of.market.lieOfCosigning(lie);
    const { ended } = await begun(of, 2_000);
    assert.equal(await isByBoth(await ended()), false);
  });
}

timed('each side takes the claim up where its process ended', async () => {
  const of = on.chains.swap();
  const crashes = (['taker', 'maker'] as const).map(async (party) => {
    const crashing: Crashing = { at: [], stop: new AbortController() };
    return throughCrashes(await sideOf(of, party), crashing);
  });
  const ends = await Promise.all(crashes);
  assert.deepEqual(
    ends.map(({ end }) => end),
    received,
  );
});

timed(
  'a claim that both signed is there again after a reorganisation, or raised alone',
  async () => {
    const of = on.chains.swap();
    const { maker, taker, claimer, ended } = await begun(of);
    const { dev } = on.chains;
    const pool = () => on.core<string[]>('getrawmempool');
    await taker.next('claimed');
    await dev.mining(bitcoinKey, false);
    try {
      const { txid } = await maker.next('claimed');
      assert.ok(txid !== null && (await recordOf(claimer)).claim?.txid === txid);
      await waitUntil(async () => (await pool()).includes(txid));
      assert.ok(await isByBoth(txid));
      await dev.mine(bitcoinKey, 1);
      assert.deepEqual(await pool(), []);
      await on.core('invalidateblock', [await on.core('getbestblockhash')]);
      await waitUntil(async () => (await pool()).includes(txid));
    } finally {
      await dev.mining(bitcoinKey, true);
    }
    assert.ok(await isByBoth(await ended()));
  },
);

timed('a claim that both signed and no block takes is raised by its leaf', async () => {
  const of = on.chains.swap();
  const { maker, taker, ended } = await begun(of, 20_000, { replaceAfterMs: 1_000 });
  const { dev } = on.chains;
  await taker.next('claimed');
  await dev.mining(bitcoinKey, false);
  let first: Txid;
  try {
    first = (await maker.next('claimed')).txid;
    assert.match((await maker.next('claimed', 2)).text, /again, with a higher fee/);
  } finally {
    await dev.mining(bitcoinKey, true);
  }
  const last = await ended();
  assert.notEqual(last, first);
  assert.equal(await isByBoth(last), false);
});

timed('a leg that the other side gives up is back before its timelock, by both keys', async () => {
  const of = on.chains.swap();
  const taker = running(await sideOf(of, 'taker', paidElsewhere(of.input('taker'))));
  await taker.next('seen', 1, 'b');
  // It hears of the wish at the second try.
  of.market.refuseWords(1);
  const maker = running(await sideOf(of, 'maker', { givesUp: () => true }));
  const ends = await Promise.all([taker.end, maker.end]);
  assert.deepEqual(
    ends.map(({ end }) => end),
    ['refunded', 'nothing'],
  );
  const { refund } = ends[0].txids.b;
  assert.ok(await isByBoth(refund));
  assert.deepEqual(await placeOf(refund), [elsewhere]);
  assert.ok(on.chains.now() < of.market.watched('b').terms.timelock);
  assert.deepEqual(of.market.calls.filter((call) => call.endsWith('answer')).length, 1);
});

timed('a refund that the other side does not sign comes from the timelock on', async () => {
  const of = on.chains.swap();
  of.market.lieOfCosigning((said, party) => (party === 'maker' ? silent : said));
  const side = await sideOf(of, 'taker');
  const taker = running(side);
  await taker.next('seen', 1, 'b');
  const maker = running(await sideOf(of, 'maker', { givesUp: () => true }));
  const asked = ['taker cosign b request', 'maker cosign b '];
  await waitUntil(() => asked.every((call) => of.market.calls.includes(call)));
  assert.equal((await recordOf(side)).refund, null);
  await on.chains.move(of.market.watched('b').terms.timelock - on.chains.now() + 30);
  assert.equal((await maker.end).end, 'nothing');
  const { end, txids } = await taker.end;
  assert.equal(end, 'refunded');
  assert.equal(await isByBoth(txids.b.refund), false);
});
