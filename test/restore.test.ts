// An hour-old backup is restored, over chains that went on: every swap in it ends right, later ones
// end by the SDK alone, nothing of the missing hour can be used twice, and nothing is agreed before
// it was read back. The real server, database, bitcoind and anvil; TRON and Solana are simulators.

import assert from 'node:assert/strict';
import { chmod, cp, mkdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { hashlockOf } from '../core/hashlock.ts';
import { checkBackup } from '../host/postgres/backup.ts';
import { runningPostgres } from '../host/postgres/postgres.ts';
import type { CoinName } from '../scripts/demo/place.ts';
import { parleyClient } from '../sdk/client.ts';
import { mintKey, mintMessage } from '../sdk/keys.ts';
import { openFeed } from '../server/edge/testing/feed-client.ts';
import { type Commands, startCommands } from './support/commands.ts';
import { type Customer, newCustomer } from './support/customers.ts';
import {
  agreed,
  type Deal,
  deep,
  finish,
  fund,
  heard,
  type Offer,
  offer,
  refusal,
  run,
  runUntil,
  shows,
  until,
} from './support/deals.ts';
import { type Server, type Stage, startStage } from './support/stage.ts';
import { waitUntil } from './support/waiting.ts';

const limits = { timeout: 240_000 };
/** A command is loaded anew each time it is asked. */
const rarely = { everyMs: 1_000, mostMs: 100_000 };
/** What happens on no chain, and yet has to be done with: every clock moves by it. */
const hourSeconds = 3_600;
const env = {
  // Each home has a database of its own.
  DATABASE_URL: '',
  PARLEY_ENCRYPTION_KEY: '',
  // What waits to be accepted still stands after the missing hour.
  PARLEY_ACCEPT_TTL: '86400',
};

let stage: Stage;
let commands: Commands;
let alice: Customer;
let bob: Customer;
let old: Server;
let restored: Server;
let homes: Record<'old' | 'fresh' | 'second' | 'never' | 'backup' | 'damaged', string>;
let keyFile = '';

/** Swaps of before the backup, by what state they are in by then; and of the hour after it. */
const deals = new Map<string, Deal>();
let standing: Offer;
let oldNonce = '';
/** Of the market that died. */
let heardBefore = 0;
const feed = { before: 0, within: 0, after: 0 };

const of = (name: string) => deals.get(name) ?? assert.fail(name);

async function make(name: string, gives: CoinName, gets: CoinName, isBobs = false) {
  deals.set(name, await agreed(stage, isBobs ? [bob, alice] : [alice, bob], gives, gets));
}

/** The types of what Bob's receiver was told of a swap. */
const told = (name: string, from = 0) =>
  heard(stage, bob, of(name).id, from).map(({ type }) => type);
const settled = (name: string) => told(name).filter((type) => type === 'swap.settled').length;

/** The market alone knows how it ends. */
const ended = (name: string, status: string) =>
  shows(of(name), `${name} is ${status}`, (swap) => swap.status === status);

type Answer = { readonly status: number; readonly code: string; readonly text: string };

/** Without the SDK, which tries again by itself. */
async function post(url: string, path: string, key: string, body: object): Promise<Answer> {
  const reply = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const code = reply.headers.get('x-parley-error') ?? '';
  return { status: reply.status, code, text: await reply.text() };
}

/** After a restore: keys of before are void. */
async function signIn(): Promise<void> {
  for (const person of [alice, bob]) {
    const login = person === alice ? person.evm : person.bitcoin;
    const { key } = await mintKey({ baseUrl: stage.url }, login);
    Object.assign(person, { key, client: parleyClient({ baseUrl: stage.url, key }) });
  }
}

const acceptWith = (url: string, { threadId, price }: Offer, hashlock: string) =>
  post(url, `/v1/threads/${threadId}/accept`, alice.key, { quoteAmount: `${price}`, hashlock });

type Held = {
  readonly held: readonly string[];
  readonly gaps: readonly {
    readonly readings: readonly { readonly chain: string; readonly readAt: string | null }[];
  }[];
};

async function gaps(): Promise<Held> {
  const more = { PARLEY_HOME: homes.fresh };
  const said = await commands.run('scripts/ops.ts', ['gaps', 'list', '--json'], more);
  assert.equal(said.code, 0, said.err);
  return JSON.parse(said.out) as Held;
}

/** What operators did, newest first. */
async function acted(home: string): Promise<string[]> {
  const said = await commands.run('scripts/ops.ts', ['audit', '--json'], { PARLEY_HOME: home });
  assert.equal(said.code, 0, said.err);
  return said.out.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line).command));
}

const restore = (home: string, ...more: readonly string[]) =>
  commands.run('scripts/ops.ts', ['restore', homes.backup, '--home', home, ...more]);

/** Where the feed stands for who begins, or goes on from, a position. */
async function resume(url: string, since?: number) {
  const socket = await openFeed(url);
  socket.send({ apiKey: bob.key, resume: true, ...(since === undefined ? {} : { since }) });
  const ready = await socket.of('ready');
  const types = socket.frames.map(({ type }) => String(type));
  socket.close();
  return { seq: Number(ready.seq), types };
}

before(async () => {
  commands = startCommands();
  stage = await startStage({ env });
  const at = (name: string) => join(stage.dir, name);
  homes = {
    old: at('old'),
    fresh: at('fresh'),
    second: at('second'),
    never: at('never'),
    backup: at('backup'),
    damaged: at('damaged'),
  };
  keyFile = join(stage.dir, 'keys', 'server.key');
  old = await stage.startServer({ home: homes.old });
  alice = await newCustomer(stage, 'Alice');
  bob = await newCustomer(stage, 'Bob', 'bitcoin');
}, limits);
after(async () => {
  await stage?.close();
  await commands.stop();
}, limits);

describe('a market whose last hour is lost', { concurrency: false }, () => {
  test('swaps in every state, a backup, and an hour that goes on', limits, async () => {
    await make('agreed', 'BTC', 'EVM dollar');
    await make('initiatorFunded', 'SPL dollar', 'ETH', true);
    await make('bothFunded', 'TRX', 'SOL');
    await make('abandoned', 'SOL', 'TRON dollar', true);
    await make('settled', 'ETH', 'SPL dollar');
    await make('shown', 'BTC', 'ETH');
    await Promise.all([
      fund(stage, of('initiatorFunded'), 'initiator'),
      ...['bothFunded', 'abandoned', 'shown'].map((each) => fund(stage, of(each), 'both')),
      finish(stage, of('settled')),
    ]);
    await ended('settled', 'counterparty_claimed');
    standing = await offer(stage, [alice, bob], 'ETH', 'TRX');
    await standing.accept(alice);
    oldNonce = (await alice.client.mintNonce()).nonce;
    feed.before = (await resume(old.url)).seq;

    const said = await commands.run('scripts/ops.ts', ['backup', homes.backup, '--key', keyFile], {
      PARLEY_HOME: homes.old,
    });
    assert.deepEqual([said.code, said.err], [0, '']);
    assert.deepEqual(await acted(homes.old), ['backup']);
    await stage.move(hourSeconds);

    assert.ok((await standing.accept(bob)).swapId, 'what waited is agreed in the hour');
    await make('laterBitcoinTron', 'BTC', 'TRON dollar');
    await make('laterEvmSolana', 'ETH', 'SOL', true);
    await make('onEvm', 'ETH', 'TRX');
    await Promise.all([
      finish(stage, of('bothFunded')),
      // It shows its secret with that, and nobody else acts.
      runUntil(stage, of('shown'), 'taker', deep('a', 'claim')),
      ...['laterBitcoinTron', 'laterEvmSolana'].map((each) => fund(stage, of(each), 'both')),
      fund(stage, of('onEvm'), 'initiator'),
    ]);
    feed.within = (await resume(old.url)).seq;
    assert.ok(feed.within > feed.before);
    // What its receiver had not heard, only the restored market tells.
    await until('the end was told', async () => settled('bothFunded') === 1);
    await old.kill();
    heardBefore = stage.receiver.received.length;
  });

  test('what is damaged, incomplete, newer, or has no key is not restored', limits, async () => {
    const { backup, damaged: copy } = homes;
    const manifest = JSON.parse(await readFile(join(backup, 'manifest.json'), 'utf8')) as {
      files: { path: string; bytes: number }[];
    };
    const table = manifest.files.find(({ path, bytes }) => path.includes('base/') && bytes > 0);
    assert.ok(table);
    const file = join(copy, table.path);
    const list = join(copy, 'manifest.json');
    const faults: [RegExp, () => Promise<void>][] = [
      [/is damaged: .* is missing/, () => rm(file)],
      [/is damaged: .* bytes, not/, () => truncate(file, table.bytes - 1)],
      [/is not as it was written/, () => writeFile(file, Buffer.alloc(table.bytes))],
      [/was not finished: it has no manifest/, () => rm(list)],
      [/its manifest was changed/, () => writeFile(list, '{"format":1}')],
    ];
    await cp(backup, copy, { recursive: true });
    for (const [sentence, damage] of faults) {
      await damage();
      await assert.rejects(checkBackup(copy), sentence);
      for (const path of [table.path, 'manifest.json']) {
        await cp(join(backup, path), join(copy, path));
      }
    }
    await checkBackup(copy);
    await rm(copy, { recursive: true });
    const otherKey = join(stage.dir, 'other.key');
    await writeFile(otherKey, 'ab'.repeat(32));
    for (const [sentence, home, ...key] of [
      [/the server's own key is not in the backup/, homes.never],
      [/not the key of the market that was backed up/, homes.never, '--key', otherKey],
      [/There is a database in .* already/, homes.old, '--key', keyFile],
    ] as const) {
      const { code, err } = await restore(home, ...key);
      assert.match(err, sentence);
      assert.equal(code, 1);
    }
  });

  test('nothing is agreed while one chain is not read, and all else goes on', limits, async () => {
    // As many a place keeps it; the market would not start with one like that.
    await chmod(keyFile, 0o644);
    const done = await restore(homes.fresh, '--key', keyFile);
    assert.equal(done.code, 0, done.err);
    assert.equal((await stat(join(homes.fresh, 'server.key'))).mode & 0o777, 0o600);
    for (const way of stage.nodes.bitcoin) way.fail({ kind: 'cut' });
    const first = await stage.startServer({ home: homes.fresh });
    assert.deepEqual(await acted(homes.fresh), ['restore']);
    const { status, code } = await refusal(bob.client.me());
    assert.deepEqual([status, code], [401, 'key_invalid'], 'with a key of before');
    await signIn();
    const { address } = alice.evm;
    const message = mintMessage({ address, nonce: oldNonce });
    const signature = await alice.evm.signMessage(message);
    const proof = { rail: 'evm', address, message, signature };
    const nonce = await post(first.url, '/v1/keys', '', proof);
    assert.deepEqual([nonce.status, nonce.code], [400, 'bad_nonce'], nonce.text);

    const made = await offer(stage, [alice, bob], 'ETH', 'SOL');
    const fresh = 'ab'.repeat(32);
    const readAt = ({ gaps: [gap] }: Held) => gap?.readings.map((each) => each.readAt) ?? [];
    const isRead = (each: string | null) => each !== null;
    await waitUntil(async () => readAt(await gaps()).filter(isRead).length === 3, rarely);
    const waits = await acceptWith(first.url, made, fresh);
    assert.deepEqual([waits.status, waits.code], [503, 'restoring'], waits.text);
    assert.match(waits.text, /bitcoin-regtest does not answer/);
    assert.doesNotMatch(waits.text, /evm-dev|tron-dev|solana-dev/);

    const before = await gaps();
    await first.kill();
    restored = await stage.startServer({ home: homes.fresh });
    const again = await gaps();
    assert.equal(again.gaps.length, 1, 'a quick restart is no gap');
    assert.deepEqual(readAt(again), readAt(before), 'what was read is not read again');
    await signIn();
    const second = await secondServer();
    for (const { url } of [restored, second]) {
      assert.equal((await acceptWith(url, made, fresh)).code, 'restoring');
    }
    // A swap that is in the backup goes on meanwhile.
    assert.deepEqual(await finish(stage, of('initiatorFunded')), ['received', 'received']);
    await mustKnowSecret(of('shown'));

    for (const way of stage.nodes.bitcoin) way.heal();
    await waitUntil(async () => (await gaps()).held.length === 0, rarely);
    for (const name of ['laterEvmSolana', 'onEvm', 'laterBitcoinTron']) {
      const refused = await acceptWith(restored.url, made, of(name).hashlock);
      assert.deepEqual([refused.status, refused.code], [409, 'hashlock_used'], name);
    }
    const given = await acceptWith(second.url, made, fresh);
    assert.equal(given.status, 200, given.text);
    const { swap } = await bob.client.accept(made.threadId, { quoteAmount: `${made.price}` });
    assert.ok(swap, 'and so is a swap');
    feed.after = (await resume(restored.url)).seq;
  });

  test('the feed begins anew for positions of before and of the hour', limits, async () => {
    const { url } = restored;
    for (const since of [feed.before, feed.within, feed.within + 5]) {
      const { types, seq } = await resume(url, since);
      assert.deepEqual(types.slice(0, 3), ['reset', 'snapshot', 'ready'], `since ${since}`);
      assert.ok(seq > feed.within + 1_000_000);
    }
    assert.deepEqual((await resume(url, feed.after)).types.slice(0, 1), ['resumed']);
  });

  test('an acceptance that waited has ended, and nothing comes of it', limits, async () => {
    const thread = await bob.client.thread(standing.threadId);
    assert.deepEqual([thread.takerAccepted, thread.status], [false, 'open']);
  });

  test('every swap of the backup ends right, and later ones by the SDK alone', limits, async () => {
    await ended('settled', 'counterparty_claimed');
    // Claimed on both chains in the hour that is missing.
    await ended('bothFunded', 'counterparty_claimed');
    for (const name of ['laterBitcoinTron', 'laterEvmSolana', 'onEvm']) {
      const { status, code } = await refusal(alice.client.swap(of(name).id));
      assert.deepEqual([status, code], [404, 'unknown_swap'], name);
    }
    const [received, ...others] = await Promise.all([
      run(stage, of('shown'), 'maker'),
      ...['agreed', 'laterBitcoinTron', 'laterEvmSolana'].map((each) => finish(stage, of(each))),
    ]);
    for (const ends of others) assert.deepEqual(ends, ['received', 'received']);
    assert.equal(received.end, 'received', 'by the secret of the missing hour');
    for (const name of ['agreed', 'shown', 'initiatorFunded']) {
      await ended(name, 'counterparty_claimed');
    }
    await stage.move(12 * hourSeconds);
    const alone = run(stage, of('onEvm'), 'taker');
    const [both, refund] = await Promise.all([finish(stage, of('abandoned')), alone]);
    assert.deepEqual(both, ['refunded', 'refunded']);
    assert.equal(refund.end, 'refunded');
    await ended('abandoned', 'refunded');
  });

  test('a receiver hears how they ended, of what it had not heard', limits, async () => {
    // Each swap has its own deliveries: one that is told says nothing of the others.
    for (const [name, isTold] of [
      ['agreed', () => settled('agreed') > 0],
      ['initiatorFunded', () => settled('initiatorFunded') > 0],
      ['abandoned', () => told('abandoned').includes('swap.refunded')],
      ['shown', () => told('shown', heardBefore).includes('secret.revealed')],
      ['bothFunded', () => settled('bothFunded') > 1],
    ] as const) {
      await until(`the end of ${name} was told`, async () => isTold());
    }
    // Once by the market that died, and once by the one that found it on the chains.
    assert.deepEqual([settled('bothFunded'), settled('settled')], [2, 1]);
  });
});

/** Its secret was shown in the missing hour, and the leg that it opens is there to be claimed. */
async function mustKnowSecret(deal: Deal): Promise<void> {
  const is = ({ status }: { status: string }) => status === 'initiator_claimed';
  const { secret } = await shows(deal, 'the secret is known', is);
  assert.equal(hashlockOf(secret ?? ''), deal.hashlock, 'read from the chain');
  const { next } = await bob.client.swap(deal.id);
  const own = next.filter(({ by }) => by === 'counterparty');
  assert.deepEqual(
    own.map(({ action, leg }) => [action, leg]),
    [['claim', 'b']],
  );
}

/** Another process on the restored database. */
async function secondServer(): Promise<Server> {
  const url = await runningPostgres(homes.fresh);
  assert.ok(url);
  await mkdir(homes.second);
  const key = (await readFile(keyFile, 'utf8')).trim();
  const own = { DATABASE_URL: url, PARLEY_ENCRYPTION_KEY: key };
  return stage.startServer({ home: homes.second, env: own });
}
