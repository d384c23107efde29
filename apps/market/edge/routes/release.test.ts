// Giving a swap up, over HTTP on two real EVM chains: the wish, the release by a signature, and the
// refund before the timelock.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { typedDataToSign } from '@parley/chains/escrows/typed-data.ts';
import type { ReleaseText } from '@parley/chains/interface/consent.ts';
import { atAStretch } from '@parley/chains/interface/turns.ts';
import { ParleyError } from '@parley/core/errors.ts';
import {
  agree,
  claimOwn,
  type Deal,
  deepen,
  ether,
  fundBoth,
  fundedDeal,
  legOf,
  relay,
  sendOwn,
  sharedDesk,
  swapOf,
} from '@parley/watchtower/testing/desk.ts';
import { escrowAt, noteSent, takeBackSent } from '../../db/escrows.ts';
import { broadcast } from '../../settle/broadcast.ts';
import { showSecret } from '../../settle/builders.ts';
import { keepRelease, prepareRelease } from '../../settle/releases.ts';
import { evm, must, newParty, type Party, signEvm } from '../../settle/testing/world.ts';
import { refused } from '../testing/edge.ts';

const desk = sharedDesk();

type Side = 'taker' | 'maker';
/** The leg that pays: `a` is short, and pays the taker, who is the initiator. */
const pays = { taker: 'a', maker: 'b' } as const;
const gives = { taker: 'b', maker: 'a' } as const;

const releaseBy = (deal: Deal, by: Side, body: object = {}) =>
  deal[by].post(legOf(deal, pays[by], 'release'), body);

async function signed(by: Party, { typedData }: ReleaseText): Promise<string> {
  return by.evmAccount.signTypedData(typedDataToSign(typedData));
}

async function given(deal: Deal, by: Side): Promise<string> {
  const { material } = must(await releaseBy(deal, by));
  const signature = await signed(deal[by], material);
  const { swap } = must(await releaseBy(deal, by, { signature }));
  assert.equal(swap.legs[pays[by]].release.signature, signature);
  return signature;
}

async function refundEarly(deal: Deal, by: Side): Promise<void> {
  await sendOwn(desk, deal[by], must(await deal[by].post(legOf(deal, gives[by], 'refund'))));
  await deepen(desk);
}

const steps = async (deal: Deal) =>
  (await swapOf(deal)).next
    .filter((each: { action: string }) => each.action !== 'wait')
    .map(
      (each: { by: string; action: string; leg: string }) =>
        `${each.by} ${each.action} ${each.leg}`,
    );

test('both legs of a swap that is given up are back at once, long before any timelock', async () => {
  const deal = await fundedDeal(desk);
  assert.deepEqual(await steps(deal), ['initiator claim a']);
  const wished = must(await releaseBy(deal, 'taker'));
  assert.equal(wished.material.escrow, wished.swap.legs.a.escrow);
  assert.ok(wished.material.validUntil <= wished.swap.legs.a.timelock);
  assert.deepEqual(await steps(deal), ['initiator release a']);
  // The secret is told no more, and its own leg waits for the other side.
  refused(
    await deal.taker.post(legOf(deal, 'a', 'claim'), { secret: deal.secret }),
    '409 given_up',
  );
  refused(await announce(deal), '409 given_up');
  refused(await deal.maker.post(legOf(deal, 'a', 'refund')), '409 too_early_to_refund');
  await given(deal, 'taker');
  assert.deepEqual(await steps(deal), ['counterparty refund a']);
  await refundEarly(deal, 'maker');
  assert.equal((await swapOf(deal)).legs.a.status, 'refunded');
  assert.deepEqual(await steps(deal), ['counterparty release b']);
  await given(deal, 'maker');
  await refundEarly(deal, 'taker');
  const { status, legs, next } = await swapOf(deal);
  assert.deepEqual([status, legs.b.status, next], ['refunded', 'refunded', []]);
});

const announce = (deal: Deal, by: Side = 'taker') =>
  deal[by].post(legOf(deal, pays[by], 'claim/announce'));

/** As if the market had given out nothing of the swap. */
const forget = (deal: Deal) =>
  desk.deps.db.rows({
    name: '',
    text: 'update legs set shown_at = null where swap_id = $1',
    values: [deal.id],
  });

test('a claim that was given, sent or relayed with its secret keeps the leg from a release', async () => {
  const mustKeep = async (deal: Deal, what: string) => {
    assert.equal((await swapOf(deal)).secret, null, what);
    refused(await releaseBy(deal, 'taker'), '409 not_releasable');
    assert.deepEqual(await steps(deal), ['initiator claim a'], what);
  };
  const deal = await fundedDeal(desk);
  const text = must(await releaseBy(await fundedDeal(desk), 'taker')).material;
  const claim = () => deal.taker.post(legOf(deal, 'a', 'claim'), { secret: deal.secret });
  const built = must(await claim());
  await mustKeep(deal, 'given');
  const signature = await signed(deal.taker, text);
  refused(await releaseBy(deal, 'taker', { signature }), '409 not_releasable');

  await forget(deal);
  const evmClient = desk.client('evm-dev-2');
  const { address } = deal.taker.evmAccount;
  await desk.dev.faucet({ chain: 'evm-dev-2', address, amount: ether / 20n });
  const [raw] = await signEvm({ ...desk, evmClient }, deal.taker.evmAccount, built);
  // Another transaction has its nonce by then.
  const chain = { ...built, txs: [{ to: address, data: '0x', value: '0' }] };
  const [other] = await signEvm({ ...desk, evmClient }, deal.taker.evmAccount, chain);
  await desk.rpc('evm-dev-2')('eth_sendRawTransaction', [other]);
  await deepen(desk);
  const sent = await deal.taker.post('/v1/tx/broadcast', { chain: 'evm-dev-2', signed: raw });
  assert.match(JSON.stringify(sent.body), /nonce/);
  await mustKeep(deal, 'refused by the node');

  const announced = await fundedDeal(desk);
  must(await announce(announced));
  await mustKeep(announced, 'announced');

  const relayed = await fundedDeal(desk);
  must(await relay(relayed));
  await mustKeep(relayed, 'relayed');

  const early = await agree(desk);
  const tells = early.taker.post(legOf(early, 'a', 'claim'), { secret: early.secret });
  refused(await tells, '409 not_both_funded');
  refused(await releaseBy(early, 'taker'), '409 not_releasable');
});

test('a claim that passed its gates before a wish leaves the market no more', async () => {
  const deal = await fundedDeal(desk);
  must(await releaseBy(deal, 'taker'));
  const of = { swapId: deal.id, leg: 'a' } as const;
  const leaving = desk.deps.db.transaction((tx) => showSecret(tx, desk.deps, of));
  await assert.rejects(leaving, { code: 'given_up' });
});

test('a wish or release that passed its gates before the claim was handed out is not kept', async () => {
  const deal = await fundedDeal(desk);
  const prepare = (signature: string | null) => {
    const { accountId } = deal.taker;
    const signal = AbortSignal.timeout(60_000);
    return prepareRelease(desk.deps, { accountId, swapId: deal.id, leg: 'a', signature, signal });
  };
  const wish = await prepare(null);
  const { material } = wish;
  assert.equal(material?.sign, 'typed-data');
  const release = await prepare(await signed(deal.taker, material));
  must(await deal.taker.post(legOf(deal, 'a', 'claim'), { secret: deal.secret }));
  for (const each of [wish, release]) {
    const keeping = desk.deps.db.transaction((tx) => keepRelease(tx, desk.deps, deal.id, each));
    await assert.rejects(keeping, { code: 'not_releasable' });
  }
  assert.equal((await swapOf(deal)).legs.a.release, null);
});

test('a chain that is silent is no reason to give nothing to sign', async () => {
  const deal = await agree(desk);
  const prepared = async (code: 'chain_unavailable' | 'sources_disagree') => {
    const mustAgree = async () => {
      throw new ParleyError(code, 'not now');
    };
    const adapters = new Map(
      [...desk.deps.adapters].map(([key, adapter]) => [key, { ...adapter, mustAgree }]),
    );
    const { accountId } = deal.maker;
    const asked = { accountId, swapId: deal.id, leg: 'b', signature: null };
    const signal = AbortSignal.timeout(60_000);
    return prepareRelease({ ...desk.deps, adapters }, { ...asked, signal });
  };
  await assert.rejects(prepared('chain_unavailable'), { code: 'chain_unavailable' });
  assert.equal((await prepared('sources_disagree')).material, null);
});

test('a funding that passed its gates before a wish leaves the market no more', async () => {
  const deal = await agree(desk);
  const { address } = deal.taker.evmAccount;
  await desk.dev.faucet({ chain: evm, address, amount: ether });
  const built = must(await deal.taker.post(legOf(deal, 'b', 'fund')));
  const evmClient = desk.client(built.chain);
  const [raw = ''] = await signEvm({ ...desk, evmClient }, deal.taker.evmAccount, built);
  const { db } = desk.deps;
  const wishesFirst: typeof db.transaction = async (work) => {
    must(await releaseBy(deal, 'maker'));
    return db.transaction(work);
  };
  const deps = { ...desk.deps, db: { ...db, transaction: wishesFirst } };
  const signal = AbortSignal.timeout(60_000);
  const sent = { chain: built.chain, signed: raw, inTurns: atAStretch, signal };
  const sending = broadcast(deps, async () => {}, sent);
  await assert.rejects(sending, { code: 'given_up' });
});

test('a counterparty with its own leg open wishes, and releases nothing', async () => {
  const deal = await fundedDeal(desk);
  const { swap, material } = must(await releaseBy(deal, 'maker'));
  assert.equal(material, null);
  assert.equal(swap.legs.b.release.at, null);
  const text = must(await releaseBy(await fundedDeal(desk), 'taker')).material;
  const signature = await signed(deal.maker, text);
  refused(await releaseBy(deal, 'maker', { signature }), '409 not_releasable');
  // The initiator may go on.
  assert.deepEqual(await steps(deal), ['initiator claim a']);
  await claimOwn(desk, deal);
  await deepen(desk);
  refused(await releaseBy(deal, 'maker'), '409 not_releasable');
});

test("only the payee's own signature of this very escrow releases it, once and for ever", async () => {
  const deal = await fundedDeal(desk);
  const other = await fundedDeal(desk);
  refused(await deal.maker.post(legOf(deal, 'a', 'release')), '403 not_your_leg');
  const { material } = must(await releaseBy(deal, 'taker'));
  const theirs = must(await releaseBy(other, 'taker')).material;
  const wrong = [
    await signed(deal.maker, material),
    await signed(deal.taker, theirs),
    '0x',
    '0xzz',
  ];
  for (const signature of wrong) {
    refused(await releaseBy(deal, 'taker', { signature }), '400 bad_signature');
  }
  const key = { 'idempotency-key': randomUUID() };
  const path = legOf(deal, 'a', 'release');
  const signature = await signed(deal.taker, material);
  const first = must(await deal.taker.post(path, { signature }, key));
  assert.deepEqual(must(await deal.taker.post(path, { signature }, key)), first);
  const again = must(await releaseBy(deal, 'taker', { signature }));
  assert.deepEqual(again.swap.legs.a.release, first.swap.legs.a.release);
  const { rows } = {
    rows: await desk.deps.db.rows<{ payload: object }>({
      name: '',
      text: `select payload from outbox where topic = 'swap.release' and account_id = $1
      and payload ->> 'swapId' = $2 order by id`,
      values: [deal.maker.accountId, deal.id],
    }),
  };
  const status = 'counterparty_funded';
  const event = (isGiven: boolean) => ({ swapId: deal.id, status, leg: 'a', given: isGiven });
  assert.deepEqual(
    rows.map(({ payload }) => payload),
    [event(false), event(true)],
  );
});

test('from the first wish on nothing is built, sent or moved to fund the swap', async () => {
  const deal = await agree(desk);
  const { address } = deal.taker.evmAccount;
  await desk.dev.faucet({ chain: evm, address, amount: ether });
  const key = { 'idempotency-key': randomUUID() };
  const path = legOf(deal, 'b', 'fund');
  const built = must(await deal.taker.post(path, {}, key));
  must(await releaseBy(deal, 'maker'));
  refused(await deal.taker.post(path, {}, key), '409 given_up');
  refused(await deal.taker.post(path), '409 given_up');
  await assert.rejects(sendOwn(desk, deal.taker, built), /given_up/);
  const { address: elsewhere } = (await newParty(desk)).evmAccount;
  const moved = { chain: evm, address: elsewhere };
  refused(await deal.taker.post(`/v1/swaps/${deal.id}/address`, moved), '409 given_up');
});

test('the long leg is released by a side that knows it has not funded, and next says so to none', async () => {
  const deal = await agree(desk);
  await desk.dev.faucet({ chain: evm, address: deal.taker.evmAccount.address, amount: ether });
  await sendOwn(desk, deal.taker, must(await deal.taker.post(legOf(deal, 'b', 'fund'))));
  await deepen(desk);
  assert.deepEqual(await steps(deal), ['counterparty fund a']);
  must(await releaseBy(deal, 'maker'));
  // A funding that it made without the market may be on its way.
  assert.deepEqual(await steps(deal), []);
  await given(deal, 'maker');
  assert.deepEqual(await steps(deal), ['initiator refund b']);
  await refundEarly(deal, 'taker');
  assert.equal((await swapOf(deal)).status, 'refunded');
});

test('a funding that the market has sent keeps the other leg from being released', async () => {
  const deal = await agree(desk);
  await fundBoth(desk, deal);
  await desk.deps.db.rows({
    name: '',
    text: `update escrows set facts = jsonb_set(facts, '{funded}', 'null') where swap_id = $1
      and leg = 'a'`,
    values: [deal.id],
  });
  const { material } = must(await releaseBy(deal, 'maker'));
  assert.equal(material, null);
});

test('bytes that a node refuses take no note of a funding away that was sent before', async () => {
  const deal = await agree(desk);
  const { taker, maker, id } = deal;
  const gift = { chain: evm, address: taker.evmAccount.address, amount: ether };
  await desk.dev.faucet(gift);
  await sendOwn(desk, taker, must(await taker.post(legOf(deal, 'b', 'fund'))));
  await deepen(desk);
  const built = must(await maker.post(legOf(deal, 'a', 'fund')));
  // Another process has sent it, and no node shows it so far.
  await desk.deps.db.rows({
    name: '',
    text: "update escrows set sent_at = now() where swap_id = $1 and leg = 'a'",
    values: [id],
  });
  const evmClient = desk.client(built.chain);
  const poor = await newParty(desk);
  const [signed] = await signEvm({ ...desk, evmClient }, poor.evmAccount, built);
  const sent = await poor.post('/v1/tx/broadcast', { chain: built.chain, signed });
  refused(sent, '400 refused_by_node');
  const { material } = must(await releaseBy(deal, 'maker'));
  assert.equal(material, null);
});

test('two fundings that are sent in the same millisecond are noted apart', async () => {
  const deal = await agree(desk);
  const { chain, escrow: address } = (await swapOf(deal)).legs.a;
  const { db } = desk.deps;
  const note = { chain, address, at: new Date() };
  const refusedAt = (await noteSent(db, note)) ?? assert.fail();
  const sentAt = await noteSent(db, note);
  await takeBackSent(db, { ...note, at: refusedAt, before: null });
  assert.deepEqual((await escrowAt(db, chain, address))?.sentAt, sentAt);
});
