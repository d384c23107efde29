// The dev chain by way of unmodified @solana/kit clients.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  address,
  type Base64EncodedWireTransaction,
  getBase64EncodedWireTransaction,
  isSolanaError,
  lamports,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND,
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

test('a preflight refuses what would fail, with the program’s logs; nothing is sent', async (context) => {
  const { chain, from, pays } = await newScene(context);
  const transaction = await pays(100n * SOL);
  await assert.rejects(send(chain, transaction), (error: unknown) => {
    assert.ok(
      isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE),
    );
    assert.ok(error.context.logs?.some((line) => /insufficient lamports/.test(line)));
    return true;
  });
  await chain.mine(1);
  assert.equal(await balance(chain, from.address, 'processed'), 10n * SOL);
});

test('a blockhash is good for 150 blocks, and not for one more', async (context) => {
  const { chain, pays } = await newScene(context);
  for (const [blocks, works] of [
    [149, true],
    [150, false],
  ] as const) {
    const transaction = await pays(SOL + BigInt(blocks));
    await chain.mine(blocks);
    const id = await send(chain, transaction, true);
    await chain.mine(1);
    const status = (await chain.rpc.getSignatureStatuses([id]).send()).value[0];
    assert.equal(status !== null, works, `after ${blocks} blocks`);
    if (works) continue;
    await assert.rejects(send(chain, transaction), ({ cause }: Error) =>
      isSolanaError(cause, SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND),
    );
  }
});

test('the same bytes twice are one transaction', async (context) => {
  const { chain, to, pays } = await newScene(context);
  const transaction = await pays(SOL);
  assert.equal(await send(chain, transaction), await send(chain, transaction));
  await chain.mine(2);
  await assert.rejects(send(chain, transaction));
  await send(chain, transaction, true);
  await chain.mine(1);
  assert.equal(await balance(chain, to.address, 'processed'), SOL);
});

test('simulateTransaction tries what is unsigned and on an old blockhash, and changes nothing', async (context) => {
  const { chain, from, to, pays } = await newScene(context);
  const transaction = await pays(SOL);
  const unsigned = { ...transaction, signatures: { [from.address]: null } };
  await chain.mine(200);
  const { value } = await chain.rpc
    .simulateTransaction(getBase64EncodedWireTransaction(unsigned as never), {
      encoding: 'base64',
      replaceRecentBlockhash: true,
    })
    .send();
  assert.equal(value.err, null);
  assert.equal(await balance(chain, to.address, 'processed'), 0n);
});

test('blocks and their times are served', async (context) => {
  const { chain, pays } = await newScene(context);
  const transaction = await pays(SOL);
  const id = await send(chain, transaction);
  await chain.mine(8);
  const { rpc } = chain;
  const { value } = await rpc.getSignatureStatuses([id]).send();
  const slot = value[0]!.slot;
  const block = await rpc
    .getBlock(slot, { encoding: 'base64', maxSupportedTransactionVersion: 0, rewards: false })
    .send();
  assert.equal(block?.transactions.length, 1);
  assert.equal(block?.blockTime, await rpc.getBlockTime(slot).send());
  const later = slot + 1_000n;
  for (const asked of [rpc.getBlock(later, {}).send(), rpc.getBlockTime(later).send()]) {
    await assert.rejects(asked, /-32004|Block not available for slot/);
  }
  assert.equal(await rpc.getHealth().send(), 'ok');
  assert.equal(await rpc.getGenesisHash().send(), chain.info.genesisHash);
  assert.equal(await rpc.getMinimumBalanceForRentExemption(1n).send(), 897_840n);
  const latest = (await rpc.getLatestBlockhash().send()).value;
  assert.equal((await rpc.isBlockhashValid(latest.blockhash).send()).value, true);
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

test('the largest holdings of a token come first, at each commitment, and of no other account', async (context) => {
  const chain = await startChain(context);
  const dollar = address(chain.info.tokens?.[0]?.address ?? '');
  for (const [name, amount] of [
    ['poor', 5_000_000n],
    ['rich', 9_500_000n],
  ] as const) {
    await chain.give({ address: (await signer(name)).address, token: dollar, amount });
  }
  const held = async (commitment: 'processed' | 'confirmed') => {
    const { value } = await chain.rpc.getTokenLargestAccounts(dollar, { commitment }).send();
    return value.map(({ amount, uiAmountString }) => `${amount} ${uiAmountString}`);
  };
  assert.deepEqual(await held('processed'), ['9500000 9.5', '5000000 5']);
  assert.deepEqual(await held('confirmed'), ['5000000 5']);
  await assert.rejects(chain.rpc.getTokenLargestAccounts(clockSysvar).send(), /find mint/);
});
