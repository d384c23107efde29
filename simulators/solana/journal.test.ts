// A long journal is made short, and says the same.

import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { address } from '@solana/kit';
import { openJournal, type SavedAccount } from './journal.ts';
import { newDir } from './testing/chain.ts';

const of = address('SysvarC1ock11111111111111111111111111111111');
const head = { slot: 7, height: 7, fork: 1, time: 9, ahead: 3 };
const account = (lamports: bigint): SavedAccount => [lamports.toString(), of, 'AQ==', false];

test('a journal of many lines is written anew with the last state only', (context) => {
  const dir = newDir(context);
  const { journal } = openJournal(dir, 'one');
  journal.write([{ kind: 'accounts', accounts: { [of]: account(5n) } }]);
  appendFileSync(
    join(dir, 'chain.jsonl'),
    `${JSON.stringify({ kind: 'head', head: { ...head, slot: 1 } })}\n`.repeat(40_000),
  );
  journal.write([
    { kind: 'accounts', accounts: { [of]: account(2n ** 63n) } },
    { kind: 'head', head },
  ]);
  const long = openJournal(dir, 'two').saved;
  const lines = readFileSync(join(dir, 'chain.jsonl'), 'utf8').split('\n').length - 1;
  assert.equal(lines, 3);
  const short = openJournal(dir, 'three').saved;
  assert.deepEqual(short, long);
  assert.equal(short.genesis, 'one');
  assert.deepEqual(short.head, head);
  assert.equal(short.accounts.get(of)?.[0], (2n ** 63n).toString());
});
