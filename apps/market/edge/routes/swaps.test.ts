// Swaps over HTTP: the right to read and build, every refusal, the rules of addresses, and that a
// claim's secret is not kept in clear.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { addressesOfPubkey, signSighashes } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { signKeySignature } from '@parley/chains/bitcoin/testing/swaps.ts';
import { base64 } from '@scure/base';
import { Transaction } from '@scure/btc-signer';
import { sharedSwapsOfCallers } from '../../settle/access.ts';
import { sharedWorld } from '../../settle/testing/shared.ts';
import {
  addWallet,
  agree,
  bitcoin,
  claimShort,
  type Deal,
  deepen,
  evm,
  fundBoth,
  fundLong,
  give,
  look,
  moveTo,
  must,
  newParty,
  refund,
  send,
  signedPayment,
  swapOf,
} from '../../settle/testing/world.ts';
import { refused } from '../testing/edge.ts';

const world = sharedWorld();
const sql = (text: string, ...values: unknown[]) =>
  world.deps.db.rows<Record<string, unknown>>({ name: '', text, values });

function leg(deal: Deal, name: 'a' | 'b', verb: string): string {
  return `/v1/swaps/${deal.id}/legs/${name}/${verb}`;
}

test('to a stranger a swap does not exist', async () => {
  const deal = await agree(world);
  const { id, secret } = deal;
  const stranger = await newParty(world);
  const { address } = stranger.evmAccount;
  for (const answer of [
    await stranger.get(`/v1/swaps/${id}`),
    await stranger.post(leg(deal, 'a', 'fund')),
    await stranger.post(leg(deal, 'a', 'claim'), { secret }),
    await stranger.post(leg(deal, 'a', 'refund')),
    await stranger.post(`/v1/swaps/${id}/address`, { chain: evm, address }),
  ]) {
    refused(answer, '404 unknown_swap');
  }
  assert.deepEqual(must(await stranger.get('/v1/swaps')).swaps, []);
  refused(await deal.initiator.post(`/v1/swaps/${id}/legs/c/fund`), '400 bad_leg');
});

test('reads at once share a question, and to a stranger among them the swap does not exist', async () => {
  const { id, initiator, counterparty } = await agree(world);
  const stranger = await newParty(world);
  const asked: string[] = [];
  const read = sharedSwapsOfCallers({
    rows: (statement) => {
      asked.push(statement.name);
      return world.deps.db.rows(statement);
    },
  });
  const [mine, refusal, other] = await Promise.all([
    read(id, initiator.accountId),
    read(id, stranger.accountId).catch((error: unknown) => error),
    read(id.toUpperCase(), counterparty.accountId),
  ]);
  assert.deepEqual(asked, ['swaps_by_ids']);
  assert.equal((refusal as { code?: string }).code, 'unknown_swap');
  assert.equal(mine.swap.id, id);
  assert.notEqual(mine.party, other.party);
});

test('funding is for its funder, in order, once, and in time', async () => {
  const deal = await agree(world);
  await give(world, deal);
  const { initiator, counterparty, long, short } = deal;
  refused(await initiator.post(leg(deal, short, 'fund')), '403 not_your_leg');
  refused(await counterparty.post(leg(deal, short, 'fund')), '409 not_fundable_yet');
  const built = must(await initiator.post(leg(deal, long, 'fund')));
  const swap = await swapOf(deal);
  assert.deepEqual(
    [built.sign, built.payTo, built.amountSats, built.validUntil],
    ['btc-payment', swap.legs[long].escrow, '1000000', swap.deadlines.initiatorFundBy],
  );
  await fundLong(world, deal);
  refused(await initiator.post(leg(deal, long, 'fund')), '409 already_funded');
  refused(await counterparty.post(leg(deal, short, 'fund')), '409 not_fundable_yet');
  await deepen(world);
  const second = must(await counterparty.post(leg(deal, short, 'fund')));
  assert.equal(second.sign, 'evm-tx');
  assert.equal(second.from, counterparty.evmAccount.address);
  assert.equal(second.validUntil, swap.deadlines.counterpartyFundBy);
  await moveTo(world, swap.deadlines.counterpartyFundBy);
  refused(await counterparty.post(leg(deal, short, 'fund')), '409 too_late_to_fund');
});

test('a claim needs the right secret first, then its recipient, then both fundings', async () => {
  const deal = await agree(world);
  const { initiator, counterparty, long, short, secret } = deal;
  const claim = leg(deal, short, 'claim');
  refused(await initiator.post(claim, { secret: 'ab' }), '400 bad_hex');
  const wrong = randomBytes(32).toString('hex');
  refused(await initiator.post(claim, { secret: wrong }), '400 wrong_secret');
  refused(await counterparty.post(claim, { secret: wrong }), '400 wrong_secret');
  refused(await counterparty.post(claim, { secret }), '403 not_your_leg');
  refused(await initiator.post(claim, { secret }), '409 not_both_funded');
  refused(
    await initiator.post(claim, { secret: `0x${secret.toUpperCase()}` }),
    '409 not_both_funded',
  );
  await fundBoth(world, deal);
  const built = must(await initiator.post(claim, { secret }));
  const swap = await swapOf(deal);
  assert.equal(built.validUntil, swap.deadlines.revealBy);
  assert.equal(built.from, undefined);
  assert.equal(swap.secret, null, 'building a claim publishes nothing');
  const stored = await sql(
    `select exists (select 1 from swaps where secret = $1) as found`,
    secret,
  );
  assert.equal(stored[0]?.found, false);
  refused(await initiator.post(leg(deal, long, 'claim'), { secret }), '403 not_your_leg');
});

test('a refund is for the funder, from the timelock on, and of a known escrow', async () => {
  const deal = await agree(world);
  const { initiator, counterparty, long, short } = deal;
  refused(await counterparty.post(leg(deal, long, 'refund')), '403 not_your_leg');
  refused(await initiator.post(leg(deal, long, 'refund')), '409 too_early_to_refund');
  const swap = await swapOf(deal);
  const query = `?escrow=${swap.legs[short].escrow}`;
  refused(await initiator.post(leg(deal, long, 'refund') + query), '400 unknown_escrow');
  refused(await initiator.post(`${leg(deal, long, 'refund')}?escrow=x`), '400 unknown_escrow');
  const own = `?escrow=${swap.legs[long].escrow}`;
  refused(await initiator.post(leg(deal, long, 'refund') + own), '409 too_early_to_refund');
  await moveTo(world, swap.legs[long].timelock);
  refused(await initiator.post(leg(deal, long, 'refund')), '409 nothing_there');
  refused(await counterparty.post(leg(deal, short, 'refund')), '409 nothing_there');
  const noRate = await initiator.post(`${leg(deal, long, 'refund')}?feeRate=x`);
  refused(noRate, '400 bad_field');
  assert.match(noRate.body.error, /"feeRate" must be number: sat per vbyte, from 1 to 500/);
});

test('an address must be one of its chain; another funder of an EVM leg moves its escrow', async () => {
  const deal = await agree(world);
  const { initiator, counterparty, long, short } = deal;
  const path = `/v1/swaps/${deal.id}/address`;
  const foreign = counterparty.evmAccount.address;
  for (const [body, code] of [
    [{ chain: evm, address: foreign }, '403 not_payable'],
    [{ chain: 'evm', address: foreign }, '400 bad_chain'],
    [{ chain: evm, leg: long, address: foreign }, '400 bad_leg'],
    [{ chain: evm, leg: 'c', address: foreign }, '400 bad_field'],
    [{ chain: evm, leg: short, address: '0x12' }, '400 bad_address'],
    [{ chain: bitcoin, address: initiator.btcAddress }, '400 bad_public_key'],
    [{ chain: bitcoin, address: `02${'ff'.repeat(32)}` }, '400 bad_public_key'],
  ] as const) {
    refused(await initiator.post(path, body), code);
  }
  const funder = (await newParty(world)).evmAccount.address;
  const words = { chain: evm, leg: short, keySignature: null, address: funder.toLowerCase() };
  const moved = must(await counterparty.post(path, words));
  const { refundAddress, formerEscrows } = moved.swap.legs[short];
  assert.deepEqual([refundAddress, formerEscrows.length], [funder, 1]);
  // A Bitcoin key is of the wallet that may receive, in whatever form that was proven.
  const { pubkey } = await newParty(world);
  const { p2shP2wpkh: address } = addressesOfPubkey(pubkey, bitcoinNetworks.regtest);
  const set = () => counterparty.post(path, { chain: bitcoin, address: pubkey });
  refused(await set(), '403 not_payable');
  await addWallet(world, counterparty.accountId, { family: 'bitcoin', address });
  refused(await set(), '403 not_payable', /./);
  await sql('update wallets set web = true where address = $1', address);
  const { payoutAddress, payoutPubkey } = must(await set()).swap.legs[long];
  assert.deepEqual([payoutAddress, payoutPubkey], [address, pubkey]);
});

test('addresses are fixed from the first sight of a funding, before any other rule', async () => {
  const deal = await agree(world);
  await fundLong(world, deal);
  const path = `/v1/swaps/${deal.id}/address`;
  const stranger = await newParty(world);
  const key = { chain: bitcoin, address: stranger.pubkey };
  refused(await deal.initiator.post(path, key), '409 addresses_fixed');
  refused(await deal.counterparty.post(path, key), '409 addresses_fixed');
  const before = await swapOf(deal);
  const { payoutAddress } = before.legs[deal.short];
  for (const [party, chain, address] of [
    [deal.initiator, bitcoin, deal.initiator.pubkey],
    [deal.counterparty, bitcoin, deal.counterparty.pubkey],
    [deal.initiator, evm, payoutAddress.toLowerCase()],
  ]) {
    const same = must(await party.post(path, { chain, address }));
    assert.deepEqual(same.swap.legs[deal.long].escrow, before.legs[deal.long].escrow);
    assert.equal(same.swap.updatedAt, before.updatedAt, 'what is there already moves nothing');
  }
});

test('a Taproot key is taken with a signature by exactly that key', async () => {
  const counterparty = await newParty(world, { bitcoin: 'taproot' });
  const deal = await agree(world, { counterparty });
  const before = await swapOf(deal);
  assert.equal(before.legs[deal.long].payoutAddress, null);
  assert.equal(before.legs[deal.long].escrow, null);
  refused(await deal.initiator.post(leg(deal, deal.long, 'fund')), '409 addresses_missing');
  const step = before.next.find((each: { by: string }) => each.by === 'counterparty');
  assert.deepEqual([step.action, step.leg], ['set_address', deal.long]);
  const path = `/v1/swaps/${deal.id}/address`;
  const { pubkey, btcKey } = counterparty;
  const twin = `${pubkey.startsWith('02') ? '03' : '02'}${pubkey.slice(2)}`;
  const signature = (swapId: string) => signKeySignature({ productName: 'Parley', swapId }, btcKey);
  const set = (address: string, keySignature?: string) =>
    counterparty.post(path, { chain: bitcoin, address, ...(keySignature && { keySignature }) });
  const unsigned = await set(pubkey);
  refused(unsigned, '400 bad_public_key');
  const signs = `"Parley - use this key: ${pubkey} for swap ${deal.id}"`;
  assert.ok(unsigned.body.error.includes(signs), unsigned.body.error);
  refused(await set(pubkey, signature('another')), '400 bad_signature');
  refused(await set(twin, signature(deal.id)), '400 bad_signature');
  const done = must(await set(pubkey, signature(deal.id)));
  assert.equal(done.swap.legs[deal.long].payoutAddress, counterparty.btcAddress);
  assert.equal(done.swap.legs[deal.long].payoutPubkey, pubkey);
  assert.notEqual(done.swap.legs[deal.long].escrow, null);
  const lateBy = () => sql('select named_late_by, maker_id from swaps where id = $1', deal.id);
  assert.equal((await lateBy())[0]?.named_late_by, null);
  // The same, with 14 minutes left to the initiator.
  const unnamed = `update legs set escrow = null, payout_address = null, payout_pubkey = null
    where swap_id = $1 and leg = $2`;
  await sql(unnamed, deal.id, deal.long);
  const soon = Math.floor(world.deps.now() / 1_000) + 14 * 60;
  await sql('update swaps set initiator_fund_by = $2 where id = $1', deal.id, soon);
  must(await set(pubkey, signature(deal.id)));
  const [late] = await lateBy();
  const isMaker = late?.maker_id === counterparty.accountId;
  assert.equal(late?.named_late_by, isMaker ? 'maker' : 'taker');
});

test('a correction moves the escrow; the former one is followed and refunded', async () => {
  const deal = await agree(world);
  const { initiator, counterparty, long } = deal;
  const path = leg(deal, long, 'fund');
  const once = { 'idempotency-key': 'fund-once' };
  const built = must(await initiator.post(path, undefined, once));
  must(await initiator.post(path, undefined, once));
  const payment = await signedPayment(world, built.payTo, deal.sats);
  const { pubkey } = await newParty(world);
  const { p2wpkh: address } = addressesOfPubkey(pubkey, bitcoinNetworks.regtest);
  await addWallet(world, counterparty.accountId, { family: 'bitcoin', address, authorised: true });
  must(
    await counterparty.post(`/v1/swaps/${deal.id}/address`, { chain: bitcoin, address: pubkey }),
  );
  const moved = await swapOf(deal);
  assert.notEqual(moved.legs[long].escrow, built.payTo);
  refused(await initiator.post(path, undefined, once), '409 escrow_moved');
  refused(await send(initiator, bitcoin, payment.hex), '409 escrow_moved');
  // Sent all the same, past the market.
  await world.bitcoinRpc('sendrawtransaction', [payment.hex]);
  await deepen(world);
  const paid = await swapOf(deal);
  assert.equal(paid.status, 'agreed');
  const former = { escrow: built.payTo, balance: String(deal.sats) };
  const untouched = { refundTx: null, refundedBy: null, scheduledRefunds: null };
  assert.deepEqual(paid.legs[long].formerEscrows, [{ ...former, ...untouched }]);
  // One secret opens both: a second payment would be the counterparty's to take.
  refused(await initiator.post(path), '409 former_escrow_funded');
  const steps = async () =>
    (await swapOf(deal)).next.map((step: { by: string; action: string; leg: string }) => {
      assert.ok('why' in step && String(step.why).includes(built.payTo), JSON.stringify(step));
      return `${step.by} ${step.action} ${step.leg}`;
    });
  assert.deepEqual(await steps(), [`initiator wait ${long}`]);
  await moveTo(world, paid.legs[long].timelock);
  await look(world);
  assert.deepEqual(await steps(), [`initiator refund ${long}`]);
  const refundTx = await refund(world, deal, long, built.payTo);
  await deepen(world);
  const again = `${leg(deal, long, 'refund')}?escrow=${built.payTo}`;
  refused(await initiator.post(again), '409 already_refunded');
  const [left] = (await swapOf(deal)).legs[long].formerEscrows;
  assert.deepEqual([left.balance, left.refundTx, left.refundedBy], ['0', refundTx, 'party']);
});

describe('around a claim', () => {
  let deal: Deal;
  before(async () => {
    deal = await agree(world);
    await fundBoth(world, deal);
  });

  test('the stored reply of a claim build holds no secret in clear, and is given again', async () => {
    const { id, initiator, short, secret } = deal;
    const path = `/v1/swaps/${id}/legs/${short}/claim`;
    const headers = { 'idempotency-key': 'claim-once' };
    const built = await initiator.post(path, { secret }, headers);
    assert.ok(JSON.stringify(must(built)).includes(secret), 'the calldata shows the secret');
    const [row] = await sql(`select row_to_json(i)::text || encode(reply, 'escape') ||
        encode(reply, 'hex') as stored from idempotency i order by created_at desc limit 1`);
    const stored = String(row?.stored);
    assert.notEqual(stored, '');
    for (const form of [secret, Buffer.from(secret).toString('hex'), `0x${secret}`]) {
      assert.ok(!stored.toLowerCase().includes(form.toLowerCase()));
    }
    const again = await initiator.post(path, { secret }, headers);
    assert.equal(again.headers['idempotency-replayed'], 'true');
    assert.deepEqual(again.body, built.body);
  });

  test('a PSBT is sent with the signature of its one input, or signed by the wallet itself', async () => {
    const { id, counterparty, long, secret } = deal;
    await claimShort(world, deal);
    await deepen(world);
    const built = must(await counterparty.post(`/v1/swaps/${id}/legs/${long}/claim`, { secret }));
    const unsigned = { psbtBase64: built.psbtBase64, signaturesHex: [], preimageHex: secret };
    const answer = await send(counterparty, bitcoin, unsigned);
    refused(answer, '400 bad_transaction', /the PSBT holds no signature by/);
    assert.deepEqual([built.sighashHex], built.sighashHexes);
    assert.equal(built.preimageHex, secret);
    const [signatureHex] = signSighashes(counterparty.btcKey, [built.sighashHex]);
    const { psbtBase64 } = built;
    refused(await send(counterparty, bitcoin, { ...unsigned, signatureHex }), '400 bad_field');
    const alone = { psbtBase64, signatureHex, preimageHex: secret };
    const sent = must(await send(counterparty, bitcoin, alone));
    const options = { allowUnknownInputs: true };
    const tx = Transaction.fromPSBT(base64.decode(built.psbtBase64), options);
    tx.sign(counterparty.btcKey);
    const signed = { ...unsigned, psbtBase64: base64.encode(tx.toPSBT()) };
    const { txid } = must(await send(counterparty, bitcoin, signed));
    assert.equal(txid, sent.txid);
    await deepen(world);
    const swap = must(await counterparty.get(`/v1/swaps/${id}`));
    assert.equal(swap.legs[long].claimTx, txid);
    assert.equal(swap.status, 'counterparty_claimed');
  });
});
