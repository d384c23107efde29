// The wallets of a profile: each asks every node of its chain, so that one may be gone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixedNode, nodeOf, within } from '@parley/chains/testing/nodes.ts';
import { phraseKeys } from '@parley/sdk/rescue/derive.ts';
import { serializeTransaction } from 'viem';
import { coinSourceOf, walletOf } from './chains.ts';

const soon = () => AbortSignal.timeout(60_000);
const privateKey = '11'.repeat(32);
const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

test('a profile asks for Taproot, unless it says otherwise', async () => {
  const keys = { wallets: { bitcoin: privateKey } } as never;
  const escrow = { keys: await phraseKeys(words, 'dev'), index: 0 };
  const formIn = async (form?: 'p2wsh') => {
    const of = { family: 'bitcoin', bitcoin: 'regtest', nodes: ['http://127.0.0.1:1'], form };
    const wallet = await walletOf('bitcoin', of as never, keys, escrow);
    return 'form' in wallet ? wallet.form : null;
  };
  assert.deepEqual([await formIn(), await formIn('p2wsh')], ['p2tr', null]);
});

test('the first node of a profile gone, its wallets and coins ask the second', async (t) => {
  const gone = await within(t, fixedNode('{}', 401));
  const answer = (says: object) =>
    within(
      t,
      nodeOf(async () => ({ text: JSON.stringify(says) })),
    );
  const escrow = { keys: await phraseKeys(words, 'dev'), index: 0 };
  const solana = privateKey.repeat(2);
  const keys = { wallets: { evm: privateKey, solana } } as never;
  const wallet = await walletOf(
    'ethereum',
    { family: 'evm', chainId: 1, nodes: [gone, await answer({ result: '0x7' })] } as never,
    keys,
    escrow,
  );
  assert.ok(wallet.family === 'evm');
  const to = wallet.address as `0x${string}`;
  const raw = serializeTransaction({ type: 'eip1559', chainId: 1, nonce: 9, to });
  assert.equal((await wallet.outcome({ txid: '0x', raw }, soon())).state, 'waiting');
  const coins = await coinSourceOf('bitcoin', { nodes: [gone, await answer({ 3: 7.5 })] });
  assert.equal(await coins.feeRateSatPerVbyte(soon()), 7.5);
});
