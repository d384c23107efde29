// Two EVM chains: a swap between them, and broadcasts that find their chain by its id alone.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createPublicClient, http } from 'viem';
import { hashlockOf } from '../../core/hashlock.ts';
import {
  type EvmCalls,
  evm,
  evm2,
  must,
  newParty,
  type Party,
  send,
  signEvm,
  startWorld,
  type World,
} from './testing/world.ts';

let world: World;
before(async () => {
  world = await startWorld({ secondEvm: true });
  await world.dev.mining(evm2, false);
});
after(async () => {
  await world?.close();
});

async function deepen(): Promise<void> {
  for (const chain of [evm, evm2]) {
    await world.dev.mine(chain, 3);
    await world.settlement.pass(chain);
  }
}

/** Signs for the chain that the material names, and broadcasts to the family. */
async function sendTo(party: Party, material: EvmCalls & { chain: string }): Promise<void> {
  const info = material.chain === evm ? world.infos.evm : world.infos.evm2;
  const evmClient = createPublicClient({ transport: http(info?.rpcUrl), cacheTime: 0 });
  for (const raw of await signEvm({ ...world, evmClient }, party.evmAccount, material)) {
    must(await send(party, 'evm', raw));
  }
}

test('a swap between two EVM chains settles; the taker’s leg is long', async () => {
  const [taker, maker] = [await newParty(world), await newParty(world)];
  for (const chain of [evm, evm2]) {
    for (const { evmAccount } of [taker, maker]) {
      await world.dev.faucet({ chain, address: evmAccount.address, amount: 2n * 10n ** 18n });
    }
  }
  const amount = (10n ** 18n).toString();
  const { rfq } = must(
    await taker.post('/v1/rfqs', {
      direction: 'sell_base',
      baseAssetId: world.assets.eth.id,
      baseAmount: amount,
      quoteAssetId: world.assets.eth2?.id,
      ttlSeconds: 600,
    }),
  );
  const price = { quoteAmount: amount };
  const { thread } = must(await maker.post(`/v1/rfqs/${rfq.id}/quotes`, price));
  assert.equal(thread.initiator, 'taker');
  const secret = randomBytes(32).toString('hex');
  const accept = `/v1/threads/${thread.id}/accept`;
  must(await taker.post(accept, { ...price, hashlock: hashlockOf(secret) }));
  const { swap } = must(await maker.post(accept, price));
  const path = `/v1/swaps/${swap.id}`;
  const status = async () => must(await taker.get(path)).status;

  await sendTo(taker, must(await taker.post(`${path}/legs/b/fund`)));
  await deepen();
  assert.equal(await status(), 'initiator_funded');
  await sendTo(maker, must(await maker.post(`${path}/legs/a/fund`)));
  await deepen();
  assert.equal(await status(), 'counterparty_funded');
  await sendTo(taker, must(await taker.post(`${path}/legs/a/claim`, { secret })));
  await deepen();
  assert.equal(await status(), 'initiator_claimed');
  await sendTo(maker, must(await maker.post(`${path}/legs/b/claim`, { secret })));
  await deepen();
  assert.equal(await status(), 'counterparty_claimed');
});
