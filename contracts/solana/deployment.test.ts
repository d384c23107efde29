// The deployments that the check accepts and refuses, on the VM's own loader accounts. Its command:
// deploy.test.ts.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Address } from '@solana/kit';
import { PROGRAM_FILE } from './compile.ts';
import { type Account, deploymentFault, type ReadAccount } from './deployed.ts';
import { addressOf, bytesOf, PROGRAM, SYSTEM, TOKEN } from './testing/instructions.ts';
import { createWorld, type World } from './testing/vm.ts';

const AUTHORITY_AT = 12;
const CODE_AT = 45;

const readerIn =
  ({ svm }: World): ReadAccount =>
  async (of) => {
    const account = svm.getAccount(of as Address);
    if (!account.exists) return null;
    const { programAddress, executable, data } = account;
    return { owner: programAddress, isExecutable: executable, data };
  };

const read = readerIn(await createWorld());
const head = (await read(PROGRAM))!;
const dataAddress = addressOf(head.data.subarray(4));
const stored = (await read(dataAddress))!;

/** The program as `--final` leaves it, with changes to its two accounts. */
function deployed(
  changeData: (data: Buffer) => Buffer = (data) => data,
  changeProgram: (account: Account) => Account | null = (account) => account,
): ReadAccount {
  const final = Buffer.from(stored.data);
  final.fill(0, AUTHORITY_AT, CODE_AT);
  const data = changeData(final);
  return async (of) => {
    if (of === PROGRAM) return changeProgram(head);
    return of !== dataAddress || data.length === 0 ? null : { ...stored, data };
  };
}

const faultOf = (...changes: Parameters<typeof deployed>): Promise<string | null> =>
  deploymentFault(PROGRAM, deployed(...changes));

test('the committed program without an authority is accepted, room behind it included', async () => {
  assert.equal(await faultOf(), null);
  assert.equal(await faultOf((data) => Buffer.concat([data, Buffer.alloc(100)])), null);
});

test('a program that somebody can replace is refused, and that somebody named', async () => {
  const withAuthority = (data: Buffer) => {
    data[AUTHORITY_AT] = 1;
    bytesOf(TOKEN).copy(data, AUTHORITY_AT + 1);
    return data;
  };
  assert.equal(await faultOf(withAuthority), `${TOKEN} can replace it`);
});

test('any other bytes are refused', async () => {
  const committed = readFileSync(PROGRAM_FILE);
  const change = (at: number) => (data: Buffer) => {
    data[at]! ^= 1;
    return data;
  };
  const wrong = 'it is not the committed program';
  for (const at of [CODE_AT, CODE_AT + 5_000, CODE_AT + committed.length - 1]) {
    assert.equal(await faultOf(change(at)), wrong);
  }
  assert.equal(await faultOf((data) => data.subarray(0, -1)), wrong);
  assert.equal(await faultOf((data) => Buffer.concat([data, Buffer.from([1])])), wrong);
});

test('a missing program, or a closed one, is refused', async () => {
  const noProgram = 'it is no program of the upgradeable loader';
  for (const [fault, changes] of [
    ['there is no account', [undefined, () => null]],
    [noProgram, [undefined, (each) => ({ ...each, owner: SYSTEM })]],
    [noProgram, [undefined, (each) => ({ ...each, isExecutable: false })]],
    [noProgram, [undefined, (each) => ({ ...each, data: each.data.subarray(1) })]],
    ['the program was closed', [() => Buffer.alloc(0)]],
    ['its data is not readable', [(data) => data.subarray(0, 20)]],
    ['its data is not readable', [(data) => Buffer.concat([Buffer.of(1), data.subarray(1)])]],
  ] as readonly (readonly [string, Parameters<typeof deployed>])[]) {
    assert.equal(await faultOf(...changes), fault);
  }
});
