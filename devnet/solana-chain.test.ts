// The dev chain by way of unmodified @solana/kit clients.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  address,
  assertIsTransactionWithBlockhashLifetime,
  type Base64EncodedWireTransaction,
  compileTransaction,
  createTransactionMessage,
  getAddressDecoder,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getSignatureFromTransaction,
  isSolanaError,
  lamports,
  pipe,
  SOLANA_ERROR__BLOCK_HEIGHT_EXCEEDED,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
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

async function richSigner(chain: TestChain, name: string) {
  const person = await signer(name);
  await chain.give({ address: person.address, token: null, amount: 10n * SOL });
  return person;
}

async function balance({ rpc }: TestChain, of: string, commitment: 'processed' | 'finalized') {
  return (await rpc.getBalance(address(of), { commitment }).send()).value;
}

async function send(
  { rpc }: TestChain,
  transaction: Parameters<typeof getBase64EncodedWireTransaction>[0],
) {
  const wire: Base64EncodedWireTransaction = getBase64EncodedWireTransaction(transaction);
  return rpc.sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'processed' }).send();
}

for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
  test(`kit's sendAndConfirm works unmodified at ${commitment}`, async (context) => {
    const chain = await startChain(context, { automatic: true });
    const [from, to] = await Promise.all([richSigner(chain, 'from'), signer('to')]);
    const transaction = await signed(chain, from, [transfer(from.address, to.address, SOL)]);
    assertIsTransactionWithBlockhashLifetime(transaction);
    const confirm = sendAndConfirmTransactionFactory({
      rpc: chain.rpc,
      rpcSubscriptions: chain.subscriptions,
    });
    await confirm(transaction, { commitment, skipPreflight: true });
    const { value } = await chain.rpc
      .getSignatureStatuses([getSignatureFromTransaction(transaction)])
      .send();
    assert.equal(value[0]?.err, null);
    assert.equal((await chain.rpc.getBalance(to.address, { commitment }).send()).value, SOL);
  });
}

test('a transaction is processed, then confirmed, then finalized, each so many blocks later', async (context) => {
  const chain = await startChain(context, { lags: { processed: 0, confirmed: 2, finalized: 6 } });
  const [from, to] = await Promise.all([richSigner(chain, 'from'), signer('to')]);
  const transaction = await signed(chain, from, [transfer(from.address, to.address, SOL)]);
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
  const chain = await startChain(context);
  const [from, to] = await Promise.all([richSigner(chain, 'from'), signer('to')]);
  const failing = await signed(chain, from, [transfer(from.address, to.address, 100n * SOL)]);
  const wire = getBase64EncodedWireTransaction(failing);
  const id = await chain.rpc
    .sendTransaction(wire, { encoding: 'base64', skipPreflight: true })
    .send();
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
  assert.equal(shown?.transaction[0], wire);
  assert.equal(shown?.meta?.fee, 5_000n);
  assert.equal(await balance(chain, from.address, 'processed'), 10n * SOL - 5_000n);
  await assert.rejects(
    chain.rpc.getTransaction(id, { commitment: 'confirmed', encoding: 'base64' }).send(),
    /not supported/,
  );
});

test('a preflight refuses what would fail, with the program’s logs; nothing is sent', async (context) => {
  const chain = await startChain(context);
  const [from, to] = await Promise.all([richSigner(chain, 'from'), signer('to')]);
  const transaction = await signed(chain, from, [transfer(from.address, to.address, 100n * SOL)]);
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
  const chain = await startChain(context);
  const [from, to] = await Promise.all([richSigner(chain, 'from'), signer('to')]);
  for (const [blocks, works] of [
    [149, true],
    [150, false],
  ] as const) {
    const transaction = await signed(chain, from, [
      transfer(from.address, to.address, SOL + BigInt(blocks)),
    ]);
    await chain.mine(blocks);
    const wire = getBase64EncodedWireTransaction(transaction);
    const id = await chain.rpc
      .sendTransaction(wire, { encoding: 'base64', skipPreflight: true })
      .send();
    await chain.mine(1);
    const status = (await chain.rpc.getSignatureStatuses([id]).send()).value[0];
    assert.equal(status !== null, works, `after ${blocks} blocks`);
  }
});

test('kit is told when a transaction outlived its blockhash', async (context) => {
  const chain = await startChain(context, { automatic: true });
  const [from, to] = await Promise.all([richSigner(chain, 'from'), signer('to')]);
  const transaction = await signed(chain, from, [transfer(from.address, to.address, SOL)]);
  assertIsTransactionWithBlockhashLifetime(transaction);
  await chain.mine(151);
  const confirm = sendAndConfirmTransactionFactory({
    rpc: chain.rpc,
    rpcSubscriptions: chain.subscriptions,
  });
  await assert.rejects(
    confirm(transaction, { commitment: 'confirmed', skipPreflight: true }),
    (error: unknown) => isSolanaError(error, SOLANA_ERROR__BLOCK_HEIGHT_EXCEEDED),
  );
  await assert.rejects(send(chain, transaction), (error: unknown) => {
    const cause = error instanceof Error ? error.cause : error;
    return isSolanaError(cause, SOLANA_ERROR__TRANSACTION_ERROR__BLOCKHASH_NOT_FOUND);
  });
});

test('the same bytes twice are one transaction', async (context) => {
  const chain = await startChain(context);
  const [from, to] = await Promise.all([richSigner(chain, 'from'), signer('to')]);
  const transaction = await signed(chain, from, [transfer(from.address, to.address, SOL)]);
  assert.equal(await send(chain, transaction), await send(chain, transaction));
  await chain.mine(2);
  await assert.rejects(send(chain, transaction));
  const wire = getBase64EncodedWireTransaction(transaction);
  await chain.rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send();
  await chain.mine(1);
  assert.equal(await balance(chain, to.address, 'processed'), SOL);
});

test('the escrow program is there, with no authority to change it', async (context) => {
  const chain = await startChain(context);
  const of = async (at: string) => {
    const { value } = await chain.rpc.getAccountInfo(address(at), { encoding: 'base64' }).send();
    assert.ok(value);
    return { ...value, bytes: getBase64Encoder().encode(value.data[0]) };
  };
  const program = await of(chain.info.program);
  assert.equal(program.executable, true);
  assert.equal(program.owner, 'BPFLoaderUpgradeab1e11111111111111111111111');
  const data = await of(getAddressDecoder().decode(program.bytes, 4));
  assert.deepEqual([...data.bytes.subarray(0, 4)], [3, 0, 0, 0]);
  assert.equal(data.bytes[12], 0, 'no upgrade authority');
});

test('the faucet mints dollars into the owner’s associated account', async (context) => {
  const chain = await startChain(context);
  const owner = (await signer('owner')).address;
  const mint = chain.info.tokens![0]!.address;
  await chain.give({ address: owner, token: mint, amount: 5_000_000n });
  await chain.mine(6);
  const { value } = await chain.rpc
    .getTokenAccountsByOwner(owner, { mint: address(mint) }, { encoding: 'jsonParsed' })
    .send();
  assert.equal(value[0]?.account.data.parsed.info.tokenAmount.uiAmountString, '5');
});

test('requestAirdrop gives SOL', async (context) => {
  const chain = await startChain(context);
  const { address: to } = await signer('poor');
  await chain.rpc.requestAirdrop(to, lamports(3n * SOL)).send();
  await chain.mine(1);
  assert.equal(await balance(chain, to, 'processed'), 3n * SOL);
});

test('simulateTransaction shows accounts as they would be, unsigned and on a new blockhash', async (context) => {
  const chain = await startChain(context);
  const [from, to] = await Promise.all([richSigner(chain, 'from'), signer('to')]);
  const transaction = await signed(chain, from, [transfer(from.address, to.address, SOL)]);
  const unsigned = { ...transaction, signatures: { [from.address]: null } };
  await chain.mine(200);
  const { value } = await chain.rpc
    .simulateTransaction(getBase64EncodedWireTransaction(unsigned as never), {
      encoding: 'base64',
      replaceRecentBlockhash: true,
      accounts: { addresses: [to.address], encoding: 'base64' },
    })
    .send();
  assert.equal(value.err, null);
  assert.equal(value.accounts?.[0]?.lamports, SOL);
  assert.equal(await balance(chain, to.address, 'processed'), 0n);
});

/** The code that a socket ends with after it sent this; what it is told instead of an end. */
async function closedAfter(chain: TestChain, message: string | Uint8Array<ArrayBuffer> | null) {
  const socket = new WebSocket(chain.info.wsUrl);
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  const told = new Promise<unknown>((resolve) => {
    socket.addEventListener('close', ({ code }) => resolve(code));
    socket.addEventListener('message', ({ data }) => resolve(data));
  });
  if (message === null) await chain.stop();
  else socket.send(message);
  return told;
}

test('a socket ends when its message is too long or no text, and when the chain stops', async (context) => {
  const chain = await startChain(context);
  assert.equal(await closedAfter(chain, 'x'.repeat(300_000)), 1_009);
  assert.equal(await closedAfter(chain, new Uint8Array(3)), 1_003);
  assert.equal(await chain.rpc.getHealth().send(), 'ok');
  assert.equal(await closedAfter(chain, null), 1_001);
});

test('subscriptions tell of accounts and slots', async (context) => {
  const chain = await startChain(context, { automatic: true });
  const [from, to] = await Promise.all([richSigner(chain, 'from'), signer('to')]);
  const halt = new AbortController();
  context.after(() => halt.abort());
  const abortSignal = halt.signal;
  const [accounts, slots] = await Promise.all([
    chain.subscriptions
      .accountNotifications(to.address, { commitment: 'confirmed', encoding: 'base64' })
      .subscribe({ abortSignal }),
    chain.subscriptions.slotNotifications().subscribe({ abortSignal }),
  ]);
  const first = async <T>(list: AsyncIterable<T>): Promise<T> => {
    for await (const each of list) return each;
    throw new Error('nothing came');
  };
  await send(chain, await signed(chain, from, [transfer(from.address, to.address, SOL)]));
  const [account, slot] = await Promise.all([first(accounts), first(slots)]);
  assert.equal(account.value.lamports, SOL);
  assert.ok(slot.slot > slot.root);
});

test('blocks, their times, fees and the epoch are told', async (context) => {
  const chain = await startChain(context);
  const [from, to] = await Promise.all([richSigner(chain, 'from'), signer('to')]);
  const transaction = await signed(chain, from, [transfer(from.address, to.address, SOL)]);
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
  const epoch = await rpc.getEpochInfo({ commitment: 'processed' }).send();
  assert.equal(epoch.blockHeight, await rpc.getBlockHeight({ commitment: 'processed' }).send());
  assert.equal(await rpc.getHealth().send(), 'ok');
  assert.equal(await rpc.getGenesisHash().send(), chain.info.genesisHash);
  assert.equal(await rpc.getMinimumBalanceForRentExemption(1n).send(), 897_840n);
  const latest = (await rpc.getLatestBlockhash().send()).value;
  assert.equal((await rpc.isBlockhashValid(latest.blockhash).send()).value, true);
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (tx) => setTransactionMessageFeePayer(from.address, tx),
    (tx) => setTransactionMessageLifetimeUsingBlockhash(latest, tx),
    compileTransaction,
  );
  const text = Buffer.from(message.messageBytes).toString('base64') as never;
  assert.equal((await rpc.getFeeForMessage(text).send()).value, 5_000n);
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

test('calls in one request are answered each by its id', async (context) => {
  const chain = await startChain(context);
  const asked = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'getSlot', params: [] }));
  const answer = await fetch(chain.info.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(asked),
  });
  const replies = (await answer.json()) as { id: number; result: number }[];
  assert.deepEqual(
    replies.map(({ id, result }) => [id, result > 0]),
    asked.map(({ id }) => [id, true]),
  );
});
