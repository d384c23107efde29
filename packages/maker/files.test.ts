// The files that the maker writes and reads: keys that nobody else may read, a journal through
// crashes, and a log without the keys of its nodes.

import assert from 'node:assert/strict';
import {
  chmod,
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readFile,
  readlink,
  rm,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, test } from 'node:test';
import { fileStore } from '@parley/sdk/stores/file.ts';
import { keptRecord } from '@parley/sdk/testing/honest.ts';
import { modeOf } from './control.ts';
import { type Deal, type OpenedJournal, openJournal } from './journal.ts';
import { readKey } from './keys.ts';
import { openLog } from './log.ts';
import { mendDeals } from './mending.ts';
import { keyFor } from './session.ts';
import { btc, dealOf, pair, sol } from './testing/stage.ts';

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

const first = 'https://one.example';
const deal: Deal = { ...dealOf('t1', '', 100), base: 10n ** 30n, quote: 5n, swapId: null };

test('a power cut takes neither a deal that was kept nor a folder above it', async (t) => {
  const handle = await open(dir);
  const synced: string[] = [];
  const { prototype } = handle.constructor as { prototype: { sync(): Promise<void> } };
  t.mock.method(prototype, 'sync', async function (this: FileHandle) {
    synced.push(await readlink(`/proc/self/fd/${this.fd}`));
  });
  await handle.close();
  const own = join(dir, 'a', 'b');
  await (await openJournal(own, () => 200, first)).keep(deal);
  const file = synced.findIndex((each) => each.startsWith(join(own, 'deals', '.')));
  assert.ok(file >= 0 && synced.lastIndexOf(join(own, 'deals')) > file, synced.join('\n'));
  for (const folder of [own, join(dir, 'a'), dir])
    assert.ok(synced.includes(folder), synced.join('\n'));
});

test('the journal has each deal as it was kept last, until a week after its end', async () => {
  const early = await openJournal(dir, () => 200, first);
  await Promise.all([early.keep(deal), early.keep({ ...deal, threadId: 't2' })]);
  await early.keep({ ...deal, swapId: 's1' });
  await assert.rejects(early.keep({ ...deal, threadId: '../t3' }));
  const market = 'https://other.example';
  await assert.rejects(early.keep({ ...deal, market }), /thread t1 of .*other.* is one of .*one/);
  const taken = { ...deal, threadId: 't3', market, swapId: 's1' };
  await assert.rejects(early.keep(taken), /swap s1 of .*other.* is one of .*one/);
  await early.close();
  const again = await openJournal(dir, () => 200, first);
  const both = [
    { ...deal, swapId: 's1' },
    { ...deal, threadId: 't2' },
  ];
  assert.deepEqual(new Set(again.deals.values()), new Set(both));
  await again.keep({ ...deal, swapId: 's1', end: 'received', endedAt: 300 });
  await again.close();
  // As it was written when a maker had one market.
  const { market: _, base, quote, ...before } = deal;
  const written = { ...before, base: `${base}`, quote: `${quote}` };
  await writeFile(join(dir, 'deals', 't9.json'), JSON.stringify({ ...written, threadId: 't9' }));
  const other = await openJournal(dir, () => 200, first);
  assert.equal(other.deals.get('t9')?.market, first);
  await rm(join(dir, 'deals', 't9.json'));
  const week = 7 * 86_400;
  assert.equal((await openJournal(dir, () => 300 + week, first)).deals.size, 2);
  const later = await openJournal(dir, () => 301 + week, first);
  assert.deepEqual([...later.deals.keys()], ['t2'], 'one that is open is never forgotten');
  await later.keep({ ...deal, end: 'received', endedAt: 300, remainsFrom: 400 });
  await later.close();
  const still = await openJournal(dir, () => 400 + week, first);
  assert.equal(still.deals.size, 2, 'nor one before a week after what is left may be refunded');
});

test('a damaged deal is put together again by the ledger or the trade, and any other stops new ones', async (t) => {
  const own = await mkdtemp(join(tmpdir(), 'parley-maker-mending-'));
  t.after(() => rm(own, { recursive: true }));
  const deals = join(own, 'deals');
  const store = await fileStore(own);
  const opened = () => openJournal(own, () => 1_000, first);
  const ended: Deal = { ...deal, threadId: 'ended', swapId: 's9', end: 'received', endedAt: 900 };
  const journal = await opened();
  await journal.keep(ended);
  await journal.close();
  // As the taker of one that sells SOL for a bitcoin, which the pair has the other way around.
  const pinned = { id: 'x', token: null, decimals: 8, highValueFrom: null };
  const { trade } = keptRecord('maker', {});
  await store.putTrade({
    ...trade,
    threadId: 'open',
    direction: 'sell_base',
    base: { ...pinned, chain: 'solana' },
    baseAmount: 40n,
    quote: { ...pinned, chain: 'bitcoin' },
    quoteAmount: 2n,
  });
  await writeFile(join(deals, 'ended.json'), '');
  // As an older version has named it.
  await store.putTrade({ ...trade, threadId: 'Older' });
  await writeFile(join(deals, 'Older.json'), '');
  await writeFile(join(deals, 'open.json'), '{"threadId":"op');
  await mkdir(join(deals, 'folder.json'));
  await writeFile(join(deals, 'zeros.json'), '\0'.repeat(4_096));
  const some = { store: own, assets: [btc, sol], pairs: [pair], markets: [{ url: first }] };
  const config = { ...some, hedge: {} };
  const log = openLog(new PassThrough().resume(), () => 0);
  const mend = (of: OpenedJournal) =>
    mendDeals({ config: config as never, store, journal: of, log });
  const killed = { ...(await opened()), keep: () => Promise.reject(new Error('killed')) };
  assert.equal(await mend(killed), 5);
  const mended = await opened();
  assert.equal(mended.damaged.length, 5, 'a full disk forgets no deal');
  assert.equal(await mend(mended), 2);
  const again = await opened();
  assert.deepEqual(again.deals.get('ended'), ended);
  assert.equal(again.deals.get('Older')?.rfqId, trade.rfqId);
  const { takerId, rfqId, acceptedAt } = trade;
  assert.deepEqual(again.deals.get('open'), {
    market: first,
    threadId: 'open',
    rfqId,
    takerId,
    pair: 'btc/sol',
    gives: 'base',
    base: 2n,
    quote: 40n,
    acceptedAt,
    swapId: null,
    end: null,
    endedAt: null,
    hedged: true,
  });
  assert.equal(await readFile(join(deals, 'open.json.damaged'), 'utf8'), '{"threadId":"op');
  assert.deepEqual(
    again.damaged.map(({ file }) => file).sort(),
    ['folder', 'zeros'].map((name) => join(deals, `${name}.json`)),
  );
});

test('an API key that cannot be read is none, and one that others may read is refused', async (t) => {
  const own = await mkdtemp(join(tmpdir(), 'parley-maker-key-'));
  t.after(() => rm(own, { recursive: true }));
  const file = join(own, 'market-key.json');
  const written = JSON.stringify({ key: 'k', url: first, expiresAt: '' });
  for (const [text, mode, found] of [
    [written, 0o600, 'k'],
    [written.slice(0, 9), 0o600, null],
    ['null', 0o600, null],
    [written, 0o644, /has mode 0644/],
  ] as const) {
    await writeFile(file, text);
    await chmod(file, mode);
    if (found instanceof RegExp) await assert.rejects(keyFor(own, first), found);
    else assert.equal(await keyFor(own, first), found);
  }
  await rm(file);
  await mkdir(file);
  assert.equal(await keyFor(own, first), null);
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
