// The files that the maker writes and reads: keys that nobody else may read, a journal through
// crashes, and a log without the keys of its nodes.

import assert from 'node:assert/strict';
import { appendFile, chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, test } from 'node:test';
import { modeOf } from './control.ts';
import { type Deal, openJournal, readJournal } from './journal.ts';
import { readKey } from './keys.ts';
import { openLog } from './log.ts';
import { dealOf } from './testing/stage.ts';

let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-maker-files-'));
});
after(() => rm(dir, { recursive: true, force: true }));

test('a key is read from a file that is its owner’s alone, and is in no error', async () => {
  const hex = 'ab'.repeat(32);
  const file = join(dir, 'key');
  for (const [text, family, mode, found] of [
    [`0x${hex}\n`, 'evm', 0o600, hex],
    [hex, 'bitcoin', 0o400, hex],
    [hex, 'solana', 0o600, Uint8Array.from(Buffer.from(hex, 'hex'))],
    [JSON.stringify(Array(64).fill(7)), 'solana', 0o600, new Uint8Array(64).fill(7)],
    [hex, 'evm', 0o640, /has mode 0640, and others may read it/],
    [hex, 'evm', 0o604, /has mode 0604/],
    [`${hex}00`, 'tron', 0o600, /must hold 64 hex digits/],
    [JSON.stringify(Array(64).fill(256)), 'solana', 0o600, /holds no key of Solana/],
  ] as const) {
    await writeFile(file, text);
    await chmod(file, mode);
    const reading = readKey(file, family);
    if (!(found instanceof RegExp)) assert.deepEqual(await reading, found);
    else {
      await assert.rejects(reading, (error: Error) => {
        assert.match(error.message, found);
        return !error.message.includes(hex);
      });
    }
    await rm(file);
  }
  await assert.rejects(readKey(join(dir, 'none'), 'evm'), /is not there/);
});

const deal: Deal = { ...dealOf('t1', '', 100), base: 10n ** 30n, quote: 5n, swapId: null };

test('the journal has the last line of each deal, and no half one', async () => {
  const first = await openJournal(dir, () => 200);
  await Promise.all([first.keep(deal), first.keep({ ...deal, threadId: 't2' })]);
  await first.keep({ ...deal, swapId: 's1' });
  await first.close();
  const file = join(dir, 'deals.jsonl');
  await appendFile(file, (await readFile(file, 'utf8')).slice(0, 40));
  const again = await openJournal(dir, () => 200);
  assert.deepEqual(
    [...again.deals.values()],
    [
      { ...deal, swapId: 's1' },
      { ...deal, threadId: 't2' },
    ],
  );
  await again.keep({ ...deal, swapId: 's1', end: 'received', endedAt: 300 });
  await again.close();
  const week = 7 * 86_400;
  const kept = await openJournal(dir, () => 300 + week);
  assert.equal(kept.deals.size, 2);
  await kept.close();
  const later = await openJournal(dir, () => 301 + week);
  assert.deepEqual([...later.deals.keys()], ['t2'], 'one that is open is never forgotten');
  await later.keep({ ...deal, end: 'received', endedAt: 300, remainsFrom: 400 });
  await later.close();
  const still = await openJournal(dir, () => 400 + week);
  assert.equal(still.deals.size, 2, 'nor one before a week after what is left may be refunded');
  await still.close();
  await writeFile(file, 'nonsense\n{}\n');
  await assert.rejects(
    openJournal(dir, () => 0),
    /line 1 of deals\.jsonl is no deal/,
  );
});

test('the journal loses nothing where it is written anew, nor to a disk that was full', async () => {
  const own = await mkdtemp(join(dir, 'journal-'));
  const file = join(own, 'deals.jsonl');
  const journal = await openJournal(own, () => 200);
  const large = { ...deal, pair: 'x'.repeat(9_000_000) };
  await journal.keep(large);
  assert.equal(readJournal(await readFile(file, 'utf8')).size, 1, 'at once');
  await journal.keep({ ...large, threadId: 't2' });
  assert.equal(readJournal(await readFile(file, 'utf8')).size, 2);
  // Stands in the way of the file that takes the journal's place.
  await rm(file);
  await mkdir(join(file, 'full'), { recursive: true });
  await assert.rejects(journal.keep({ ...deal, threadId: 't3' }));
  await rm(file, { recursive: true });
  await journal.keep({ ...deal, threadId: 't4' });
  await journal.close();
  const found = readJournal(await readFile(file, 'utf8'));
  assert.deepEqual([...found.keys()], ['t1', 't2', 't4']);
});

test('a switch that cannot be read is on', async () => {
  assert.equal(await modeOf(dir), 'open');
  const file = join(dir, 'no-folder');
  await writeFile(file, '');
  assert.equal(await modeOf(file), 'killed');
});

test('a line of the log is JSON, and of an address it has the host alone', () => {
  const out = new PassThrough();
  const log = openLog(out, () => 0);
  const lineOf = (text: string) => {
    log.warn('node', { text, amount: 5n, swapId: null });
    return JSON.parse(String(out.read())) as { text: string };
  };
  assert.deepEqual(lineOf('no answer'), {
    at: '1970-01-01T00:00:00.000Z',
    level: 'warn',
    event: 'node',
    text: 'no answer',
    amount: '5',
    swapId: null,
  });
  for (const [text, shown] of [
    ['from http://me:hunter2@node.example:8332/x: none', 'from http://node.example:8332/… none'],
    ['at https://node.example/v2/hunter2', 'at https://node.example/…'],
    ['"wss://node.example?key=hunter2" fell', '"wss://node.example/…" fell'],
    ['(https://node.example/) and http://[::1]:80', '(https://node.example/) and http://[::1]:80'],
    ['http://a:b@hunter2@node.example/', 'http://node.example/'],
    [`${'x'.repeat(990)} http://hunter2:x@node.example/`, `${'x'.repeat(990)} http://no…`],
  ] as const) {
    assert.equal(lineOf(text).text, shown);
  }
});
