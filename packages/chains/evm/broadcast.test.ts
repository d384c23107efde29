import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Hex, keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { refuses } from '../testing/refusals.ts';
import { chainIdOfRaw, readRaw } from './broadcast.ts';

const isNone = (words: RegExp) => refuses('bad_transaction', words);

// the worked example of EIP-155
const example = {
  raw:
    '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a7640000' +
    '8025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f76' +
    '1aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83',
  from: '0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F',
  to: '0x3535353535353535353535353535353535353535',
};

const account = privateKeyToAccount(`0x${'46'.repeat(32)}`);

const to = account.address;

test('the example of EIP-155 reads back', async () => {
  const read = await readRaw(example.raw);
  assert.deepEqual([read.chainId, read.from, read.to], [1, example.from, example.to]);
  assert.equal(read.txid, keccak256(example.raw as Hex));
  assert.equal(chainIdOfRaw(example.raw.slice(2).toUpperCase()), 1);
});

test('legacy, EIP-2930 and EIP-1559 transactions are read; blobs and delegations are not', async () => {
  const common = { to, chainId: 5, gas: 21_000n, nonce: 1, data: '0x1234' } as const;
  const fees = { maxFeePerGas: 9n, maxPriorityFeePerGas: 1n };
  const served = [
    await account.signTransaction({ ...common, type: 'legacy', gasPrice: 9n }),
    await account.signTransaction({ ...common, type: 'eip2930', gasPrice: 9n }),
    await account.signTransaction({ ...common, type: 'eip1559', ...fees }),
  ];
  for (const raw of served) {
    const { chainId, data, from } = await readRaw(raw);
    assert.deepEqual([chainId, data, from], [5, '0x1234', account.address]);
  }
  const authorization = await account.signAuthorization({ address: to, chainId: 5, nonce: 0 });
  const delegation = await account.signTransaction({
    ...common,
    ...fees,
    type: 'eip7702',
    authorizationList: [authorization],
  });
  await assert.rejects(readRaw(delegation), isNone(/type 4 is not served/));
  await assert.rejects(readRaw(`0x03${served[2]?.slice(4)}`), isNone(/type 3 is not served/));
  await assert.rejects(readRaw('0x05c0'), isNone(/type 5 is unknown/));
});

test('an access list is read up to 200 addresses and storage keys', async () => {
  const of = (keys: number) => {
    const storageKeys = Array.from({ length: keys }, () => keccak256(to));
    const fees = { maxFeePerGas: 9n, maxPriorityFeePerGas: 1n };
    const accessList = [{ address: to, storageKeys }];
    return account.signTransaction({ to, chainId: 5, gas: 21_000n, accessList, ...fees });
  };
  assert.equal((await readRaw(await of(199))).from, account.address);
  const more = await of(200);
  await assert.rejects(readRaw(more), isNone(/names 201 addresses and keys; 200 are the most/));
});

test('a transaction without chain id, and one without signature, are refused', async () => {
  // Signed before EIP-155: v is 27.
  const old = await account.signTransaction({ to, gasPrice: 9n, gas: 21_000n, type: 'legacy' });
  await assert.rejects(readRaw(old), isNone(/names no chain id/));
  assert.throws(() => chainIdOfRaw(old), isNone(/names no chain id/));
  const unsigned =
    '0xec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080';
  await assert.rejects(readRaw(unsigned), isNone(/signed|signature/));
});
