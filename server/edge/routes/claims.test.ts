// What surrounds a claim: its secret is not kept in clear, and its PSBT may carry the signatures.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { base64 } from '@scure/base';
import { Transaction } from '@scure/btc-signer';
import {
  agree,
  bitcoin,
  claimShort,
  type Deal,
  deepen,
  fundBoth,
  must,
  send,
  startWorld,
  type World,
} from '../../settle/testing/world.ts';

let world: World;
let deal: Deal;
before(async () => {
  world = await startWorld();
  deal = await agree(world);
  await fundBoth(world, deal);
});
after(async () => {
  await world?.close();
});

test('the stored reply of a claim build holds no secret in clear, and is given again', async () => {
  const { id, initiator, short, secret } = deal;
  const path = `/v1/swaps/${id}/legs/${short}/claim`;
  const headers = { 'idempotency-key': 'claim-once' };
  const built = await initiator.post(path, { secret }, headers);
  assert.ok(JSON.stringify(must(built)).includes(secret), 'the calldata shows the secret');
  const [row] = await world.deps.db.rows<{ reply: Buffer; whole: string }>({
    name: 'test_stored_reply',
    text: `select reply, row_to_json(i)::text as whole from idempotency i
      order by created_at desc limit 1`,
    values: [],
  });
  assert.ok(row !== undefined);
  const stored = [row.whole, row.reply.toString('latin1'), row.reply.toString('hex')].join(' ');
  for (const form of [secret, Buffer.from(secret).toString('hex'), `0x${secret}`]) {
    assert.ok(!stored.toLowerCase().includes(form.toLowerCase()));
  }
  const again = await initiator.post(path, { secret }, headers);
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.deepEqual(again.body, built.body);
});

test('a PSBT signed by the wallet itself is sent with an empty list of signatures', async () => {
  const { id, counterparty, long, secret } = deal;
  await claimShort(world, deal);
  await deepen(world);
  const built = must(await counterparty.post(`/v1/swaps/${id}/legs/${long}/claim`, { secret }));
  const unsigned = { psbtBase64: built.psbtBase64, signaturesHex: [], preimageHex: secret };
  const refused = await send(counterparty, bitcoin, unsigned);
  assert.deepEqual([refused.status, refused.code], [400, 'bad_transaction']);
  assert.match(refused.body.error, /the PSBT holds no signature by/);
  const options = { allowUnknownInputs: true };
  const tx = Transaction.fromPSBT(base64.decode(built.psbtBase64), options);
  tx.sign(counterparty.btcKey);
  const signed = { ...unsigned, psbtBase64: base64.encode(tx.toPSBT()) };
  const { txid } = must(await send(counterparty, bitcoin, signed));
  await deepen(world);
  const swap = must(await counterparty.get(`/v1/swaps/${id}`));
  assert.equal(swap.legs[long].claimTx, txid);
  assert.equal(swap.status, 'counterparty_claimed');
});

test('what was claimed is neither claimed nor refunded again: the answer names the claim', async () => {
  const { id, initiator, counterparty, long, short, secret } = deal;
  const swap = must(await counterparty.get(`/v1/swaps/${id}`));
  const legs = [
    { name: short, funder: counterparty, recipient: initiator },
    { name: long, funder: initiator, recipient: counterparty },
  ];
  for (const { name, funder, recipient } of legs) {
    const path = `/v1/swaps/${id}/legs/${name}`;
    const refund = await funder.post(`${path}/refund`);
    const claim = await recipient.post(`${path}/claim`, { secret });
    for (const answer of [refund, claim]) {
      assert.deepEqual([answer.status, answer.code], [409, 'already_claimed']);
      assert.equal(answer.body.error, `leg ${name} was claimed by ${swap.legs[name].claimTx}`);
    }
  }
});
