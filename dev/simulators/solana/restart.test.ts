// The state of the dev chain that survives its process, and the state that a change of fork takes
// back.

import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { getBase64EncodedWireTransaction, type Signature } from '@solana/kit';
import { newDir, signed, signer, startChain, type TestChain, transfer } from './testing/chain.ts';

const SOL = 1_000_000_000n;

async function paid(chain: TestChain, lamports: bigint): Promise<Signature> {
  const [from, to] = await Promise.all([signer('from'), signer('to')]);
  const transaction = await signed(chain, from, [transfer(from.address, to.address, lamports)]);
  const id = await chain.rpc
    .sendTransaction(getBase64EncodedWireTransaction(transaction), {
      encoding: 'base64',
      preflightCommitment: 'processed',
    })
    .send();
  await chain.mine(1);
  return id;
}

async function start(context: TestContext, dir: string): Promise<TestChain> {
  const chain = await startChain(context, { dir });
  const { address: of } = await signer('from');
  if ((await balanceOf(chain, 'from')) === 0n) {
    await chain.give({ address: of, token: null, amount: 10n * SOL });
  }
  return chain;
}

async function balanceOf({ rpc }: TestChain, name: string): Promise<bigint> {
  const { address: of } = await signer(name);
  return (await rpc.getBalance(of, { commitment: 'processed' }).send()).value;
}

test('a restart keeps accounts, transactions, genesis and port, a cut line or not; slots only grow', async (context) => {
  const dir = newDir(context);
  const first = await start(context, dir);
  const id = await paid(first, SOL);
  const slot = await first.rpc.getSlot({ commitment: 'processed' }).send();
  const { blockhash } = (await first.rpc.getLatestBlockhash({ commitment: 'processed' }).send())
    .value;
  await first.stop();
  // As a process leaves it that is killed while it writes.
  appendFileSync(join(dir, 'chain.jsonl'), '{"kind":"transaction","transa');
  const again = await start(context, dir);
  assert.equal(again.info.rpcUrl, first.info.rpcUrl);
  assert.equal(again.info.genesisHash, first.info.genesisHash);
  assert.equal(await balanceOf(again, 'to'), SOL);
  assert.ok((await again.rpc.getSlot({ commitment: 'processed' }).send()) > slot);
  assert.equal((await again.rpc.isBlockhashValid(blockhash).send()).value, true);
  const status = await again.rpc.getSignatureStatuses([id]).send();
  assert.equal(status.value[0]?.confirmationStatus, 'finalized');
  const { address: to } = await signer('to');
  const list = await again.rpc.getSignaturesForAddress(to).send();
  assert.deepEqual(
    list.map(({ signature }) => signature),
    [id],
  );
  const shown = await again.rpc
    .getTransaction(id, { encoding: 'base64', maxSupportedTransactionVersion: 0 })
    .send();
  assert.equal(shown?.meta?.fee, 5_000n);
  await again.give({ address: to, token: null, amount: SOL });
  await again.stop();
  assert.equal(await balanceOf(await startChain(context, { dir }), 'to'), 2n * SOL);
});

test('blocks that are taken back take their transactions along, also through a restart', async (context) => {
  const dir = newDir(context);
  const chain = await start(context, dir);
  await paid(chain, SOL);
  await chain.mine(10);
  const id = await paid(chain, 2n * SOL);
  await chain.mine(1);
  const slot = await chain.rpc.getSlot({ commitment: 'processed' }).send();
  await chain.takeBack(3);
  assert.equal(await balanceOf(chain, 'to'), SOL);
  assert.equal((await chain.rpc.getSignatureStatuses([id]).send()).value[0], null);
  const { address: to } = await signer('to');
  const list = () => chain.rpc.getSignaturesForAddress(to, { commitment: 'confirmed' }).send();
  assert.equal((await list()).length, 1);
  await chain.mine(1);
  assert.equal(await chain.rpc.getSlot({ commitment: 'processed' }).send(), slot + 1n);
  await chain.stop();
  const again = await startChain(context, { dir });
  assert.equal(await balanceOf(again, 'to'), SOL);
  assert.equal((await again.rpc.getSignatureStatuses([id]).send()).value[0], null);
});
