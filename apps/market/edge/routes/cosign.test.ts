// Claims and refunds that both sides of a Taproot escrow sign, over HTTP and on a real node.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { addressesOfPubkey } from '@parley/chains/bitcoin/keys.ts';
import * as musig from '@parley/chains/bitcoin/musig.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { nonceStore } from '@parley/chains/bitcoin/testing/swaps.ts';
import type { CosignAnswer, CosignRequest } from '@parley/chains/interface/cosigning.ts';
import { atAStretch } from '@parley/chains/interface/turns.ts';
import { swapById } from '../../db/swaps.ts';
import { keepCosigning, mostRequests, prepareCosigning } from '../../settle/cosigning.ts';
import { currentEscrow } from '../../settle/escrows.ts';
import { togetherSeconds } from '../../settle/reconcile.ts';
import { createScheduledSpends } from '../../settle/scheduled-spends.ts';
import { ladderOf } from '../../settle/testing/ladders.ts';
import { sharedWorld } from '../../settle/testing/shared.ts';
import {
  agree,
  agreeTaproot,
  bitcoin,
  claimShort,
  type Deal,
  deepen,
  fundBoth,
  fundLong,
  give,
  moveTo,
  must,
  type Party,
  refund,
  send,
  swapOf,
} from '../../settle/testing/world.ts';
import { refused } from '../testing/edge.ts';

const world = sharedWorld();

type Verb = CosignRequest['verb'];
type Answer = CosignAnswer & { readonly id: string };
const payee = { claim: 'counterparty', refund: 'initiator' } as const;
const payer = { claim: 'initiator', refund: 'counterparty' } as const;

const pathOf = ({ id, long }: Deal, name = long) => `/v1/swaps/${id}/legs/${name}/cosign`;
const cosign = (deal: Deal, by: Party, body: object = {}) => by.post(pathOf(deal), body);

async function escrowOf(deal: Deal) {
  const swap = await swapById(world.deps.db, deal.id);
  const escrow = swap && currentEscrow(swap, deal.long);
  assert.ok(escrow);
  return escrow;
}

async function signerOf(deal: Deal, { btcKey: privateKey }: Party): Promise<musig.Cosigner> {
  const { terms } = await escrowOf(deal);
  return { terms, network: bitcoinNetworks.regtest, privateKey };
}

/** Planned and asked for by the side that is paid; the market has not heard of it. */
async function planned(deal: Deal, verb: Verb, feeRateSatPerVbyte: number | null = null) {
  const escrow = await escrowOf(deal);
  const adapter = world.deps.adapters.get(bitcoin);
  assert.ok(adapter?.planTogether);
  const input = { escrow, feeRateSatPerVbyte, isPublic: verb === 'claim' };
  const spend = await adapter.planTogether(input, verb, AbortSignal.timeout(60_000));
  const store = nonceStore();
  const own = await signerOf(deal, deal[payee[verb]]);
  const asked = await musig.ask(own, spend, store, () => new Uint8Array(randomBytes(32)));
  const outputs = asked.outputs.map((each) => ({ ...each, amount: `${each.amount}` }));
  const request = { ...asked, escrow: escrow.address, outputs, feeSats: `${asked.feeSats}` };
  const finish = (given: CosignAnswer) => musig.finish(own, asked, given, store);
  return { asked, request, finish };
}

const ask = (deal: Deal, verb: Verb, request: object) =>
  cosign(deal, deal[payee[verb]], { request });

async function answerTo(deal: Deal, asked: CosignRequest) {
  return musig.answer(await signerOf(deal, deal[payer[asked.verb]]), asked);
}

const answering = (deal: Deal, verb: Verb, answer: object) =>
  cosign(deal, deal[payer[verb]], { answer });

/** An answer that has passed the market's gates, and is not kept yet. */
function prepared({ id: swapId, long: leg }: Deal, { accountId }: Party, answer: Answer) {
  const signal = AbortSignal.timeout(60_000);
  const asked = { accountId, swapId, leg, body: { answer }, inTurns: atAStretch, signal };
  return prepareCosigning(world.deps, asked);
}

/** From the request to the transaction, each side by what the market tells it. */
async function together(deal: Deal, verb: Verb): Promise<string> {
  const { asked, request, finish } = await planned(deal, verb);
  const { exchange } = must(await ask(deal, verb, request));
  const { id, at, answer: none, ...told } = exchange[verb];
  assert.deepEqual([told, none], [request, null]);
  assert.equal(exchange[verb === 'claim' ? 'refund' : 'claim'], null);
  assert.ok((await steps(deal)).includes(`${payer[verb]} cosign ${deal.long}`));
  assert.deepEqual(must(await cosign(deal, deal[payer[verb]])), { exchange });
  const given = await answerTo(deal, asked);
  must(await answering(deal, verb, { id, ...given }));
  const answered = must(await cosign(deal, deal[payee[verb]])).exchange[verb];
  const { at: answeredAt, ...answer } = answered.answer;
  assert.deepEqual([answered.id, answered.at, answer], [id, at, given]);
  assert.equal(new Date(answeredAt).toISOString(), answeredAt);
  assert.ok(!(await steps(deal)).some((each) => each.includes('cosign')));
  const { raw, txid } = await finish(answer);
  assert.equal(must(await send(deal[payee[verb]], bitcoin, raw)).txid, txid);
  return txid;
}

const steps = async (deal: Deal): Promise<string[]> =>
  (await swapOf(deal)).next.map(
    (each: { by: string; action: string; leg: string }) => `${each.by} ${each.action} ${each.leg}`,
  );

const wish = async (deal: Deal) =>
  must(await deal.counterparty.post(`/v1/swaps/${deal.id}/legs/${deal.long}/release`));

/** The long leg is funded at depth, and its payee has given the swap up. */
async function givenUp(): Promise<Deal> {
  const deal = await agreeTaproot(world);
  await give(world, deal);
  await fundLong(world, deal);
  await deepen(world);
  await wish(deal);
  return deal;
}

/** Both legs are funded, and the secret is public. */
async function revealed(): Promise<Deal> {
  const deal = await agreeTaproot(world);
  await fundBoth(world, deal);
  await claimShort(world, deal);
  await deepen(world);
  return deal;
}

test('once the secret is public both sides sign the claim, and the claims that were left end', async () => {
  const deal = await agreeTaproot(world);
  await fundBoth(world, deal);
  const { fundTx } = (await swapOf(deal)).legs[deal.long];
  const left = await ladderOf(world, deal, [fundTx], [2, 40], 'claim');
  const transactions = left.map(({ raw }) => raw);
  must(
    await deal.counterparty.post(`/v1/swaps/${deal.id}/legs/${deal.long}/claim/scheduled`, {
      transactions,
    }),
  );
  await claimShort(world, deal);
  await deepen(world);
  const txid = await together(deal, 'claim');
  await deepen(world, 12);
  await world.dev.time(togetherSeconds);
  const { status, legs, next } = await swapOf(deal);
  assert.deepEqual([status, legs[deal.long].claimTx], ['counterparty_claimed', txid]);
  assert.deepEqual(next, []);
  assert.equal(await createScheduledSpends(world.deps).pass(), 0);
  const jobs = await world.deps.db.rows({
    name: '',
    text: `select from jobs where about ->> 'swapId' = $1`,
    values: [deal.id],
  });
  assert.deepEqual(jobs, []);
});

test('a payee that gave its leg up signs the refund, which comes before the timelock', async () => {
  const deal = await agreeTaproot(world);
  await fundBoth(world, deal);
  await moveTo(world, (await swapOf(deal)).legs[deal.short].timelock);
  await deepen(world);
  await refund(world, deal, deal.short);
  await deepen(world);
  assert.ok((await steps(deal)).includes(`counterparty release ${deal.long}`));
  const wished = await wish(deal);
  assert.deepEqual([wished.material, wished.swap.legs[deal.long].release.at], [null, null]);
  assert.ok((await steps(deal)).includes(`counterparty wait ${deal.long}`));
  const path = `/v1/swaps/${deal.id}/legs/${deal.long}/release`;
  const signed = deal.counterparty.post(path, { signature: '0x01' });
  refused(await signed, '409 not_releasable', /both sides sign/);
  const lost = await planned(deal, 'refund');
  const { id } = must(await ask(deal, 'refund', lost.request)).exchange.refund;
  must(await answering(deal, 'refund', { id, ...(await answerTo(deal, lost.asked)) }));
  assert.notEqual((await swapOf(deal)).legs[deal.long].release.at, null);
  // The funder has lost its nonces, and asks anew.
  const again = await planned(deal, 'refund');
  must(await ask(deal, 'refund', again.request));
  assert.ok((await steps(deal)).includes(`counterparty cosign ${deal.long}`));
  const txid = await together(deal, 'refund');
  await deepen(world);
  const { status, legs } = await swapOf(deal);
  assert.deepEqual([status, legs[deal.long].refundTx], ['refunded', txid]);
  const told = await world.deps.db.rows<{ payload: object }>({
    name: '',
    text: `select payload from outbox where topic = 'swap.cosign' and account_id = $1
      and payload ->> 'swapId' = $2 order by id`,
    values: [deal.initiator.accountId, deal.id],
  });
  const about = { swapId: deal.id, status: 'refunded', leg: deal.long, verb: 'refund' };
  assert.deepEqual(
    told.map(({ payload }) => payload),
    [false, true, false, false, true].map((answered) => ({ ...about, answered })),
  );
});

test('neither side signs where it could lose by it', async () => {
  const plain = await agree(world);
  refused(await cosign(plain, plain.initiator), '400 bad_field', /no Taproot escrow/);
  refused(await plain.initiator.post(pathOf(plain, plain.short)), '400 bad_field', /no Taproot/);

  const deal = await agreeTaproot(world);
  await fundBoth(world, deal);
  const early = await planned(deal, 'claim');
  refused(await ask(deal, 'claim', early.request), '409 not_releasable', /not public/);
  const unwished = await planned(deal, 'refund');
  refused(await ask(deal, 'refund', unwished.request), '409 not_releasable', /not given it up/);
  for (const verb of ['claim', 'refund'] as const) {
    const { request } = verb === 'claim' ? early : unwished;
    refused(await cosign(deal, deal[payer[verb]], { request }), '403 not_your_leg');
  }
  // The initiator may still claim what the counterparty has funded.
  await wish(deal);
  const { id } = must(await ask(deal, 'refund', unwished.request)).exchange.refund;
  const given = { id, ...(await answerTo(deal, unwished.asked)) };
  assert.ok(!(await steps(deal)).some((each) => each.includes('cosign')));
  refused(await answering(deal, 'refund', given), '409 not_releasable', /may still be claimed/);
  refused(await cosign(deal, deal.initiator, { answer: given }), '403 not_your_leg');
  await claimShort(world, deal);
  await deepen(world);
  refused(await answering(deal, 'refund', given), '409 not_releasable', /secret is public/);
  assert.equal(must(await cosign(deal, deal.initiator)).exchange.refund.answer, null);

  const claim = must(await ask(deal, 'claim', early.request)).exchange.claim;
  const signed = { id: claim.id, ...(await answerTo(deal, early.asked)) };
  refused(await cosign(deal, deal.counterparty, { answer: signed }), '403 not_your_leg');
  refused(
    await cosign(deal, deal.counterparty, { request: early.request, answer: signed }),
    '400 bad_field',
  );
  const { timelock } = (await swapOf(deal)).legs[deal.long];
  await moveTo(world, timelock + 7_200);
  await deepen(world, 12);
  refused(await answering(deal, 'claim', signed), '409 not_releasable', /timelock has passed/);
  await refund(world, deal, deal.long);
  refused(await ask(deal, 'claim', early.request), '409 already_refunded');
});

test('a request takes payments of the escrow as they are, within the bounds of fees', async () => {
  const deal = await revealed();
  const { request } = await planned(deal, 'claim');
  const [output] = request.outputs;
  assert.ok(output);
  const pubkey = (await escrowOf(deal)).terms.payout.pubkey ?? assert.fail();
  const former = (await escrowOf(await agreeTaproot(world))).address;
  const wrong: readonly (readonly [object, string])[] = [
    [{ outputs: [{ ...output, amount: '999999' }] }, '400 bad_field'],
    [{ outputs: [{ ...output, vout: output.vout + 1 }] }, '400 bad_field'],
    [
      { outputs: [output, output], nonces: [...request.nonces, ...request.nonces] },
      '400 bad_field',
    ],
    [{ outputs: [] }, '400 bad_field'],
    [{ outputs: [{ ...output, vout: -1 }] }, '400 bad_field'],
    [{ outputs: [{ ...output, height: 1 }] }, '400 bad_field'],
    [{ outputs: [{ ...output, amount: '01000000' }] }, '400 bad_field'],
    [{ feeSats: '98' }, '400 bad_fee_rate'],
    [{ feeSats: '960000' }, '400 bad_fee_rate'],
    [{ nonces: ['05'.repeat(66)] }, '400 bad_signature'],
    [{ nonces: ['00'.repeat(66)] }, '400 bad_signature'],
    [{ nonces: [...request.nonces, ...request.nonces] }, '400 bad_signature'],
    [{ nonces: ['ff'] }, '400 bad_field'],
    [{ verb: 'fund' }, '400 bad_field'],
    [{ paysTo: addressesOfPubkey(pubkey, bitcoinNetworks.mainnet).p2tr }, '400 wrong_network'],
    [{ paysTo: 'bcrt1' }, '400 bad_address'],
    [{ paysTo: request.escrow }, '400 bad_address'],
    [{ paysTo: undefined }, '400 bad_field'],
    [{ escrow: former }, '409 escrow_moved'],
  ];
  for (const [change, code] of wrong) {
    refused(await ask(deal, 'claim', { ...request, ...change }), code);
  }
  assert.equal(must(await cosign(deal, deal.counterparty)).exchange.claim, null);
  must(await ask(deal, 'claim', { ...request, feeSats: '99' }));
});

test('an answer that does not fit is kept nowhere, and the first that does stays', async () => {
  const deal = await revealed();
  const { asked, request, finish } = await planned(deal, 'claim');
  const { id } = must(await ask(deal, 'claim', request)).exchange.claim;
  const given = await answerTo(deal, asked);
  const [signature = ''] = given.signatures;
  const changed = `${signature.slice(0, -1)}${signature.endsWith('0') ? '1' : '0'}`;
  const other = await answerTo(deal, { ...asked, feeSats: asked.feeSats + 1n });
  const wrong = [
    { ...given, signatures: [changed] },
    { ...given, nonces: asked.nonces },
    { ...given, nonces: ['05'.repeat(66)] },
    { ...given, signatures: [signature, signature] },
    other,
  ];
  const lie = async () => {
    for (const each of wrong) {
      refused(await answering(deal, 'claim', { id, ...each }), '400 bad_signature');
    }
  };
  await lie();
  assert.equal(must(await cosign(deal, deal.counterparty)).exchange.claim.answer, null);
  const first = must(await answering(deal, 'claim', { id, ...given })).exchange.claim;
  await lie();
  assert.deepEqual(must(await answering(deal, 'claim', { id, ...given })).exchange.claim, first);
  await finish(first.answer);
});

test('the newest request stands: an answer to a former one is refused, however close they come', async () => {
  const deal = await revealed();
  const before = await planned(deal, 'claim', 2);
  const { id } = must(await ask(deal, 'claim', before.request)).exchange.claim;
  const given = { id, ...(await answerTo(deal, before.asked)) };
  must(await answering(deal, 'claim', given));
  const after = await planned(deal, 'claim', 3);
  const late = await prepared(deal, deal.initiator, given);
  const replaced = must(await ask(deal, 'claim', after.request)).exchange.claim;
  assert.deepEqual([replaced.id === id, replaced.answer], [false, null]);
  refused(await answering(deal, 'claim', given), '409 nothing_there');
  const keeping = world.deps.db.transaction((tx) => keepCosigning(tx, world.deps, deal.id, late));
  await assert.rejects(keeping, { code: 'nothing_there' });
  assert.equal(must(await cosign(deal, deal.initiator)).exchange.claim.answer, null);
  // Two at once: one of them stands whole.
  const both = await Promise.all([planned(deal, 'claim', 4), planned(deal, 'claim', 5)]);
  const answers = await Promise.all(both.map(({ request }) => ask(deal, 'claim', request)));
  for (const each of answers) must(each);
  const stands = must(await cosign(deal, deal.initiator)).exchange.claim;
  assert.ok(both.some(({ request }) => request.nonces[0] === stands.nonces[0]));
});

test('a refund that passed its gates is not kept once the secret is public', async () => {
  const deal = await givenUp();
  const { asked, request } = await planned(deal, 'refund');
  const { id } = must(await ask(deal, 'refund', request)).exchange.refund;
  const given = { id, ...(await answerTo(deal, asked)) };
  const late = await prepared(deal, deal.counterparty, given);
  const { db } = world.deps;
  await db.rows({
    name: '',
    text: 'update swaps set secret = $2 where id = $1',
    values: [deal.id, deal.secret],
  });
  const keeping = db.transaction((tx) => keepCosigning(tx, world.deps, deal.id, late));
  await assert.rejects(keeping, { code: 'not_releasable' });
});

test(`a spend is asked for ${mostRequests} times at the most, and the same again is no other`, async () => {
  const deal = await revealed();
  const { request } = await planned(deal, 'claim');
  const at = (fee: number) => ask(deal, 'claim', { ...request, feeSats: `${200 + fee}` });
  for (let fee = 0; fee < mostRequests; fee += 1) must(await at(fee));
  must(await at(mostRequests - 1));
  refused(await at(mostRequests), '409 too_many_open');
});
