// The dev chain by way of unmodified @solana/kit clients.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  address,
  type Base64EncodedWireTransaction,
  getBase64EncodedWireTransaction,
  lamports,
} from '@solana/kit';
import {
  signed,
  signer,
  startChain,
  type TestChain,
  transfer,
} from '../simulators/solana/testing/chain.ts';

const SOL = 1_000_000_000n;
const clockSysvar = address('SysvarC1ock11111111111111111111111111111111');

/** A chain with somebody who has 10 SOL of an airdrop, and somebody who has none. */
async function newScene(context: TestContext, options: Parameters<typeof startChain>[1] = {}) {
  const chain = await startChain(context, options);
  const [from, to] = await Promise.all([signer('from'), signer('to')]);
  await chain.rpc.requestAirdrop(from.address, lamports(10n * SOL)).send();
  await chain.mine(1);
  const pays = (amount: bigint) =>
    signed(chain, from, [transfer(from.address, to.address, amount)]);
  return { chain, from, to, pays };
}

async function balance({ rpc }: TestChain, of: string, commitment: 'processed' | 'finalized') {
  return (await rpc.getBalance(address(of), { commitment }).send()).value;
}

async function send(
  { rpc }: TestChain,
  transaction: Parameters<typeof getBase64EncodedWireTransaction>[0],
  skipPreflight = false,
) {
  const wire: Base64EncodedWireTransaction = getBase64EncodedWireTransaction(transaction);
  const config = { encoding: 'base64', preflightCommitment: 'processed', skipPreflight } as const;
  return rpc.sendTransaction(wire, config).send();
}

test('a transaction is processed, then confirmed, then finalized, each so many blocks later', async (context) => {
  const { chain, to, pays } = await newScene(context, {
    lags: { processed: 0, confirmed: 2, finalized: 6 },
  });
  const transaction = await pays(SOL);
  const id = await send(chain, transaction);
  const status = async () => (await chain.rpc.getSignatureStatuses([id]).send()).value[0];
  assert.equal(await status(), null);
  const levels: string[] = [];
  for (let blocks = 0; blocks < 7; blocks++) {
    await chain.mine(1);
    levels.push((await status())?.confirmationStatus ?? 'none');
    const isFinal = levels.at(-1) === 'finalized';
    assert.equal(await balance(chain, to.address, 'processed'), SOL);
    assert.equal(await balance(chain, to.address, 'finalized'), isFinal ? SOL : 0n);
  }
  const expected = ['processed', 'processed', 'confirmed', 'confirmed', 'confirmed', 'confirmed'];
  assert.deepEqual(levels, [...expected, 'finalized']);
});

test('getSignaturesForAddress and getTransaction show it from confirmed on, failures too', async (context) => {
  const { chain, from, to, pays } = await newScene(context);
  const failing = await pays(100n * SOL);
  const id = await send(chain, failing, true);
  const list = () =>
    chain.rpc.getSignaturesForAddress(to.address, { commitment: 'confirmed' }).send();
  await chain.mine(1);
  assert.deepEqual(await list(), []);
  const since = chain.rpc.getSignaturesForAddress(to.address, { until: id }).send();
  await assert.rejects(since, /Transaction \w+ not found|-32020/);
  await chain.mine(1);
  assert.deepEqual(
    (await list()).map(({ signature }) => signature),
    [id],
  );
  const shown = await chain.rpc
    .getTransaction(id, {
      commitment: 'confirmed',
      encoding: 'base64',
      maxSupportedTransactionVersion: 0,
    })
    .send();
  assert.deepEqual(shown?.meta?.err, { InstructionError: [0n, { Custom: 1n }] });
  assert.equal(shown?.transaction[0], getBase64EncodedWireTransaction(failing));
  assert.equal(shown?.meta?.fee, 5_000n);
  assert.equal(await balance(chain, from.address, 'processed'), 10n * SOL - 5_000n);
  await assert.rejects(
    chain.rpc.getTransaction(id, { commitment: 'confirmed', encoding: 'base64' }).send(),
    /not supported/,
  );
});

test('the clock moves with the dev network, may drift from it, and never goes back', async (context) => {
  let now = 1_800_000_000;
  const chain = await startChain(context, { clock: { now: () => now } });
  const clock = async () => {
    const { value } = await chain.rpc
      .getAccountInfo(clockSysvar, { encoding: 'base64', commitment: 'processed' })
      .send();
    return Buffer.from(value!.data[0], 'base64').readBigInt64LE(32);
  };
  now += 3_600;
  await chain.moveTo(now);
  assert.equal(await clock(), BigInt(now));
  assert.equal((await chain.head()).time, now);
  chain.drift(90);
  await chain.mine(1);
  assert.equal(await clock(), BigInt(now + 90));
  chain.drift(-90);
  await chain.mine(1);
  assert.equal(await clock(), BigInt(now + 90));
  now += 1_000;
  await chain.mine(1);
  assert.equal(await clock(), BigInt(now - 90));
});
