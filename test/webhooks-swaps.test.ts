// What both parties of a swap are told of it, on real chains, at a real HTTPS receiver: one leg
// claimed and the other refunded, and a reorganisation.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  agree,
  bitcoin,
  claimShort,
  type Deal,
  deepen,
  fundBoth,
  fundLong,
  look,
  moveTo,
  newParty,
  type Party,
  refund,
  startWorld,
  swapOf,
  type World,
} from '../server/settle/testing/world.ts';
import { createDelivering } from '../server/webhooks/deliver.ts';
import { type Receiver, startReceiver } from '../server/webhooks/testing/receiver.ts';

let world: World;
let receivers: readonly [Receiver, Receiver];
before(async () => {
  receivers = [await startReceiver(), await startReceiver()];
  world = await startWorld({ settings: { webhookNetworks: ['127.0.0.1'] } });
});
after(async () => {
  await world?.close();
  for (const each of receivers) await each.close();
});

async function agreed(): Promise<Deal> {
  const parties: Party[] = [await newParty(world), await newParty(world)];
  for (const [at, party] of parties.entries()) {
    receivers[at]!.received.length = 0;
    answerSlowly(receivers[at]!);
    const made = await party.post('/v1/webhooks', { url: receivers[at]!.url });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  }
  const [initiator, counterparty] = parties as [Party, Party];
  return agree(world, { initiator, counterparty });
}

/** An answer takes time: were two of one swap under way at once, one would show it. */
function answerSlowly(receiver: Receiver): void {
  let underway = 0;
  receiver.answer((_received, response) => {
    underway += 1;
    const status = underway === 1 ? 200 : 409;
    setTimeout(() => {
      underway -= 1;
      response.writeHead(status).end();
    }, 50);
  });
}

/** What each party has heard of the swap after its agreement; both the same. */
async function heard(deal: Deal): Promise<unknown[]> {
  await createDelivering(world.deps).pass();
  const [one, other] = receivers.map(({ received }) =>
    received
      .map(({ body }) => JSON.parse(body) as Record<string, unknown>)
      .filter(({ type }) => String(type).startsWith('swap.') || type === 'secret.revealed')
      .map(({ deliveryId: _id, createdAt: _at, ...said }) => said)
      .filter(({ type }) => type !== 'swap.agreed'),
  );
  assert.deepEqual(one, other);
  const [row] = await world.deps.db.rows<{ refused: number }>({
    name: 'test_refused',
    text: 'select count(*)::int as refused from delivery_attempts where status <> 200',
    values: [],
  });
  assert.equal(row?.refused, 0, 'one at a time, from the agreement on');
  for (const each of one ?? []) assert.equal(each.swapId, deal.id);
  return (one ?? []).map(({ swapId: _swap, ...rest }) => rest);
}

test('swap.half_settled carries swapId and status, and comes last, to both parties', async () => {
  const deal = await agreed();
  await fundBoth(world, deal);
  await claimShort(world, deal);
  await deepen(world);
  const { refundAt } = (await swapOf(deal)).deadlines;
  await moveTo(world, refundAt[deal.long]);
  await refund(world, deal, deal.long);
  await deepen(world);
  assert.deepEqual(await heard(deal), [
    { type: 'swap.funded', status: 'initiator_funded' },
    { type: 'swap.funded', status: 'counterparty_funded' },
    { type: 'secret.revealed', status: 'initiator_claimed' },
    { type: 'swap.refunded', status: 'refunded' },
    { type: 'swap.half_settled', status: 'half_settled' },
  ]);
});

test('A reorganisation that takes a status back sends swap.reorged { swapId, status } to both parties', async () => {
  const deal = await agreed();
  await fundLong(world, deal);
  await world.dev.mine(bitcoin, 1);
  const bottom = await world.bitcoinRpc<string>('getbestblockhash');
  await world.dev.mine(bitcoin, 1);
  await look(world);
  await world.bitcoinRpc('invalidateblock', [bottom]);
  const elsewhere = await world.faucetRpc<string>('getnewaddress');
  for (let at = 0; at < 3; at += 1) await world.bitcoinRpc('generateblock', [elsewhere, []]);
  await look(world);
  assert.deepEqual(await heard(deal), [
    { type: 'swap.funded', status: 'initiator_funded' },
    { type: 'swap.reorged', status: 'agreed' },
  ]);
});
