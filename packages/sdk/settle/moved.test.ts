// An own leg that moved to another escrow before it was funded: this side reads the swap before it
// asks for a build, whatever moved the leg and whenever. On paper chains.

import assert from 'node:assert/strict';
import { evmDeployment, evmEscrow, fundCalls } from '@parley/chains/evm/plan.ts';
import { shardOf } from '@parley/contracts/escrows/ids.ts';
import type { ParleyClient } from '../client.ts';
import { withChain } from '../testing/honest.ts';
import { type PaperScene, paperScene, run, says } from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';
import type { Built } from '../types.ts';

/** No pause between questions to the market passes within the swap. */
const rarely = { marketPollMs: 600_000 };
const checked = 'a leg moved to another escrow: checked again';
const doubted = 'the leg may have moved';

/** The taker's side, whose lane was used elsewhere: the next question for a build moves the leg. */
async function moving() {
  const scene = await paperScene('taker');
  Object.assign(scene.chains.b.others.adapter.lanes ?? {}, { read: async () => [{ counter: 1 }] });
  const { client, swapId } = scene.input;
  assert.ok(client);
  return { scene, client, move: () => assert.rejects(client.fund(swapId, 'b'), moved) };
}
const moved = { code: 'escrow_moved' };

async function receives(scene: PaperScene, more: object = {}) {
  assert.equal((await run(scene, { ...rarely, ...more }))?.end, 'received');
}

timed('a leg that moved while this side was away is funded where it is now', async () => {
  const { scene, move } = await moving();
  await run(scene, {}, () => says(scene, 'follow from your own trade'));
  await move();
  await receives(scene);
  assert.ok(says(scene, checked) && !says(scene, doubted));
});

timed('where the market says that the leg moved the swap is read at once', async () => {
  const { scene } = await moving();
  await receives(scene);
  assert.ok(says(scene, 'leg b moved to another escrow') && says(scene, checked));
  assert.ok(!says(scene, doubted));
});

timed('a leg that moves between the reading and the build is read again', async () => {
  const { scene, client, move } = await moving();
  let asked = 0;
  const fund: ParleyClient['fund'] = async (...args) => {
    asked += 1;
    if (asked === 1) await move();
    return client.fund(...args);
  };
  await receives(scene, { client: { ...client, fund } });
  assert.ok(says(scene, doubted) && says(scene, checked));
});

timed('a build that does not fit a leg that has not moved ends it', async () => {
  const { scene, client, move } = await moving();
  await move();
  const fund: ParleyClient['fund'] = async (...args) =>
    ({ ...(await client.fund(...args)), chainId: 1 }) as Built;
  await assert.rejects(receives(scene, { client: { ...client, fund } }), {
    name: 'VerificationError',
    field: 'chainId',
  });
  assert.ok(says(scene, doubted));
});

/** The taker's own leg is kept in a contract that takes none now. */
async function inFormer() {
  const scene = await paperScene('taker');
  const { client, store, swapId, chains } = scene.input;
  await run(scene, {}, () => says(scene, 'follow from your own trade'));
  const record = await store.getSwap(swapId);
  const { key, chainId, source } = scene.chains.b;
  const { b } = record?.swap.legs ?? {};
  assert.ok(client && record && b?.escrow && source.view.family === 'evm');
  const former = shardOf(1).address;
  const { address } = evmEscrow(b.escrow.terms, evmDeployment(chainId, { contract: former }));
  const lane = { number: '', counter: 1, ...b.escrow.terms.lane, contract: former };
  const terms = { ...b.escrow.terms, lane };
  const legs = { ...record.swap.legs, b: { ...b, escrow: { ...b.escrow, address, terms } } };
  await store.putSwap({ ...record, swap: { ...record.swap, legs } });
  const deployment = evmDeployment(chainId, { formerContracts: [former] });
  const view = { ...source.view, deployment };
  const own = { chains: withChain(chains, key, { source: { ...source, view } }) };
  /** The market has not moved it. */
  const stay = () =>
    scene.market.lie((swap) => {
      const { a, b: shown } = swap.legs;
      return { ...swap, legs: { a, b: { ...shown, escrow: address, lane } } };
    });
  return { scene, client, own, address, terms, deployment, stay };
}

timed('a leg that left a contract which takes none now is funded in the other', async () => {
  const { scene, own, address, terms, deployment } = await inFormer();
  assert.equal(evmEscrow(terms, deployment).address, address);
  await receives(scene, own);
  assert.ok(says(scene, checked));
});

timed('nothing is funded in a contract that takes none now', async () => {
  const { scene, client, own, stay, terms, deployment } = await inFormer();
  stay();
  const fund: ParleyClient['fund'] = async (...args) => {
    const txs = fundCalls(terms, deployment, 0n);
    const { address: escrow } = evmEscrow(terms, deployment);
    return { ...(await client.fund(...args)), txs, escrow } as Built;
  };
  await assert.rejects(receives(scene, { ...own, client: { ...client, fund } }), {
    name: 'VerificationError',
    field: 'legs.b.lane.contract',
  });
  assert.deepEqual([scene.chains.b.pool.size, scene.chains.b.mined.length], [0, 0]);
});
