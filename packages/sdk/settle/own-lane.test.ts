// A lane that the payee lends: its own driver signs for it, and the funder's takes no other word for
// it. On paper chains.

import assert from 'node:assert/strict';
import { typedDataToSign } from '@parley/chains/escrows/typed-data.ts';
import type { TypedData } from '@parley/chains/interface/material.ts';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { ParleyApiError } from '../errors.ts';
import { withChain } from '../testing/honest.ts';
import { walletOn } from '../testing/paper-chains.ts';
import { type PaperScene, paperScene, recordOf, run, says, sent } from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';
import type { EvmWallet } from '../wallets/wallet.ts';

type Text = (text: TypedData) => Promise<string>;
const signerFor = (key: `0x${string}`): Text => {
  const account = privateKeyToAccount(key);
  return (text) => account.signTypedData(typedDataToSign(text));
};

/** The maker's side, which leg b pays, with a key that signs texts. */
async function lending(more: Partial<EvmWallet> = {}) {
  const ownKey = generatePrivateKey();
  const scene = await paperScene('maker', { ownKey });
  const { key } = scene.chains.b;
  const wallet = { ...walletOn(scene.chains.b, ownKey), signTypedData: signerFor(ownKey), ...more };
  const source = { source: scene.chains.b.source, wallet };
  return { scene, own: { chains: withChain(scene.input.chains, key, source) } };
}
const opened = ({ market }: PaperScene) => market.calls.filter((each) => each === 'maker open b');

timed('a key that signs alone lends its lane, and signs for its own terms of it', async () => {
  const { scene, own } = await lending();
  assert.equal((await run(scene, own))?.end, 'received');
  const { terms } = scene.watched.b;
  scene.chains.b.others.adapter.lanes?.mustOpen(terms, scene.market.lent.b ?? '');
  assert.equal(terms.lane?.number[0], 'f');
  assert.equal(opened(scene).length, 1);
  assert.equal((await recordOf(scene)).laneOpened, scene.watched.b.address);
});

timed('a person is not asked for it, nor a key that is not paid', async () => {
  const asks = { withinMs: 0, isWanted: () => true, over: () => {} };
  const theirs = walletOn((await paperScene('maker')).chains.b, generatePrivateKey());
  for (const more of [{ asks }, { address: theirs.address }]) {
    const { scene, own } = await lending(more);
    await run(scene, own, () => says(scene, 'follow from your own trade'));
    assert.deepEqual([scene.market.lent.b, opened(scene)], [undefined, []]);
  }
});

timed('a signature that the market did not hear is given again, also after a restart', async () => {
  const { scene, own } = await lending();
  const { client } = scene.input;
  assert.ok(client);
  let times = 0;
  const openLane = async () => {
    times += 1;
    throw new ParleyApiError({ status: 0, code: 'no_answer', message: 'cut' });
  };
  const cut = { ...own, client: { ...client, openLane } as typeof client };
  await run(scene, cut, () => times > 2);
  assert.equal((await recordOf(scene)).laneOpened, undefined);
  assert.equal((await run(scene, own))?.end, 'received');
  assert.equal(opened(scene).length, 1);
});

/** The taker's side, which funds leg b in a lane of the maker's. */
async function borrowing() {
  const theirKey = generatePrivateKey();
  const scene = await paperScene('taker', { theirKey });
  scene.market.lend('b', null);
  const text = scene.chains.b.others.adapter.lanes?.consent(scene.watched.b.terms);
  assert.ok(text);
  return { scene, theirKey, sign: (key = theirKey) => signerFor(key)(text) };
}

timed('a leg is funded in a lane that its payee has signed for', async () => {
  const { scene, sign } = await borrowing();
  scene.market.lend('b', await sign());
  assert.equal((await run(scene))?.end, 'received');
  assert.equal(sent(scene, 'b', 'fund')[0]?.call.of.lane.toString(16)[0], 'f');
});

timed('where the payee never signs, the leg is funded in the lane that it moves to', async () => {
  const { scene } = await borrowing();
  await run(
    scene,
    {},
    () => scene.market.calls.filter((each) => each === 'taker fund b').length > 2,
  );
  assert.deepEqual(sent(scene, 'b', 'fund'), []);
  scene.market.lend('b');
  assert.equal((await run(scene))?.end, 'received');
  assert.ok(says(scene, 'a leg moved to another escrow: checked again'));
});

timed('another key’s word for the lane, or the market’s alone, funds nothing', async () => {
  const { scene, sign } = await borrowing();
  const { client } = scene.input;
  assert.ok(client);
  const right = await sign();
  const wrong = await sign(generatePrivateKey());
  for (const said of [wrong, null]) {
    scene.market.lend('b', right);
    scene.market.lie((swap) => {
      const { a, b } = swap.legs;
      return { ...swap, legs: { a, b: { ...b, laneSignature: said } } };
    });
    await assert.rejects(run(scene), { name: 'VerificationError', field: 'laneSignature' });
  }
  assert.deepEqual(sent(scene, 'b', 'fund'), []);
});
