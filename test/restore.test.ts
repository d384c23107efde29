// An hour-old backup is restored, over chains that went on: every swap in it ends right, later ones
// end by the SDK alone, nothing of the missing hour can be used twice, and nothing is agreed before
// it was read back. The real server, database, bitcoind and anvil; TRON and Solana are simulators.

import assert from 'node:assert/strict';
import { chmod, cp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashlockOf } from '../core/hashlock.ts';
import { checkBackup } from '../host/postgres/backup.ts';
import { runningPostgres } from '../host/postgres/postgres.ts';
import { newPerson, type Person } from '../scripts/demo/people.ts';
import type { CoinName } from '../scripts/demo/place.ts';
import { type ParleyClient, parleyClient } from '../sdk/client.ts';
import { mintKey, mintMessage } from '../sdk/keys.ts';
import { openFeed } from '../server/edge/testing/feed-client.ts';
import { type Receiver, startReceiver } from '../server/webhooks/testing/receiver.ts';
import {
  agreed,
  claimAlone,
  type Deal,
  finish,
  fund,
  hasStatus,
  type Offer,
  offer,
  refusal,
  run,
} from './restoring/deals.ts';
import { startWorld, type World } from './restoring/place.ts';
import type { RunningMarket } from './support/market.ts';

const limits = { timeout: 240_000 };
const brand = { productName: 'Parley', shortName: 'parley' };
/** What happens on no chain, and yet has to be done with: every clock moves by it. */
const hourSeconds = 3_600;

let world: World;
let receiver: Receiver;
let people: Record<'alice' | 'bob', Person>;
/** Of the market now; a key is minted anew after the restore. */
let clients: ReadonlyMap<Person, ParleyClient>;
const undo: (() => unknown)[] = [];
const context = { after: (step: () => unknown) => undo.unshift(step) } as unknown as TestContext;
const homes = { old: '', fresh: '' };
let old: RunningMarket;
let restored: RunningMarket;

const client = (person: Person) => clients.get(person) as ParleyClient;
const now = () => world.now();

/** Swaps of before the backup, by what state they are in by then; and of the hour after it. */
const deals: Record<string, Deal> = {};
let standing: Offer;
let oldNonce = '';
/** Of the market that died. */
let heardBefore = 0;
const feed = { before: 0, within: 0, after: 0 };

async function make(gives: CoinName, gets: CoinName, taker: 'alice' | 'bob' = 'alice') {
  const maker = taker === 'alice' ? people.bob : people.alice;
  const made = await offer(world.place, now, [people[taker], gives], [maker, gets]);
  return agreed(made, people[taker], maker);
}

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

const keys = new Map<Person, string>();

async function signIn(url: string): Promise<void> {
  const made = new Map<Person, ParleyClient>();
  for (const person of Object.values(people)) {
    const login = person.name === 'Alice' ? person.evm : person.bitcoin;
    const { key } = await mintKey({ baseUrl: url }, login);
    keys.set(person, key);
    made.set(person, parleyClient({ baseUrl: url, key }));
  }
  clients = made;
}

/** A thread on which the taker may accept, with whatever hashlock, whose two chains are these. */
async function freshThread(gives: CoinName, gets: CoinName): Promise<Offer> {
  const { alice, bob } = people;
  const [taker, maker] = [alice, bob].map((each) => ({ ...each, client: client(each) }));
  assert.ok(taker && maker);
  return offer(world.place, now, [taker, gives], [maker, gets]);
}

async function acceptWith(url: string, { threadId, price }: Offer, hashlock: string) {
  const key = keys.get(people.alice) ?? '';
  return post(url, `/v1/threads/${threadId}/accept`, key, { quoteAmount: price, hashlock });
}

type Held = {
  readonly held: readonly string[];
  readonly gaps: readonly {
    readonly why: string;
    readonly readings: readonly { chain: string; found: number; readAt: string | null }[];
  }[];
};

async function gaps(home: string): Promise<Held> {
  const said = await world.command('scripts/restore-gaps.ts', ['list', '--json'], {
    PARLEY_HOME: home,
  });
  assert.equal(said.status, 0, said.err);
  return JSON.parse(said.out) as Held;
}

const restore = (folder: string, home: string, more: readonly string[] = []) =>
  world.command('scripts/restore.ts', [folder, '--home', home, ...more]);

/** Where the feed stands for who begins, or goes on from, a position. */
async function resume(url: string, since?: number) {
  const socket = await openFeed(url);
  const more = since === undefined ? {} : { since };
  socket.send({ apiKey: keys.get(people.bob), resume: true, ...more });
  const ready = await socket.of('ready');
  const types = socket.frames.map(({ type }) => String(type));
  socket.close();
  return { seq: Number(ready.seq), types };
}

before(async () => {
  receiver = await startReceiver();
  world = await startWorld(receiver.ca);
  homes.old = join(world.dir, 'old');
  homes.fresh = join(world.dir, 'fresh');
  old = await world.market(context, homes.old);
  const market = { url: old.ready.url, brand, dev: world.dev, now };
  const [alice, bob] = await Promise.all([
    newPerson('Alice', 'evm', world.place, market),
    newPerson('Bob', 'bitcoin', world.place, market),
  ]);
  // One whose key is at hand, for what the client does not do.
  const { key } = await mintKey({ baseUrl: old.ready.url }, bob.bitcoin);
  people = { alice, bob: { ...bob, client: parleyClient({ baseUrl: old.ready.url, key }) } };
  keys.set(people.bob, key);
  const made = await post(old.ready.url, '/v1/webhooks', key, { url: receiver.url });
  assert.equal(made.status, 201, made.text);
}, limits);
after(async () => {
  for (const step of undo) await step();
  await world?.stop();
  await receiver?.close();
}, limits);

describe('a market whose last hour is lost', { concurrency: false }, () => {
  test('swaps in every state, a backup, and an hour that goes on', limits, async () => {
    const { alice, bob } = people;
    deals.agreed = await make('BTC', 'EVM dollar');
    deals.initiatorFunded = await make('SPL dollar', 'ETH', 'bob');
    deals.bothFunded = await make('TRX', 'SOL');
    deals.abandoned = await make('SOL', 'TRON dollar', 'bob');
    deals.settled = await make('ETH', 'SPL dollar');
    deals.shown = await make('BTC', 'ETH');
    const own = (person: Person) => person.client;
    await Promise.all([
      fund(now, deals.initiatorFunded, 'initiator'),
      fund(now, deals.bothFunded, 'both'),
      fund(now, deals.abandoned, 'both'),
      fund(now, deals.shown, 'both'),
      finish(now, deals.settled, own),
    ]);
    await hasStatus(alice.client, deals.settled, 'counterparty_claimed');
    standing = await offer(world.place, now, [alice, 'ETH'], [bob, 'TRX']);
    const { trade } = await standing.accept(alice);
    oldNonce = (await alice.client.mintNonce()).nonce;
    feed.before = (await resume(old.ready.url)).seq;

    const said = await world.command(
      'scripts/backup.ts',
      [join(world.dir, 'backup'), '--key', join(world.dir, 'keys', 'server.key')],
      { PARLEY_HOME: homes.old },
    );
    assert.equal(said.status, 0, said.err);
    await world.move(hourSeconds);

    assert.ok((await standing.accept(bob)).swapId, 'what waited is agreed in the hour');
    deals.laterBitcoinTron = await make('BTC', 'TRON dollar');
    deals.laterEvmSolana = await make('ETH', 'SOL', 'bob');
    deals.onEvm = await make('ETH', 'TRX');
    deals.onTron = await make('TRX', 'ETH', 'bob');
    deals.onSolana = await make('SPL dollar', 'EVM dollar');
    const of = (name: string) => deals[name] as Deal;
    await Promise.all([
      finish(now, of('bothFunded'), own),
      claimAlone(now, of('shown')),
      fund(now, of('laterBitcoinTron'), 'both'),
      fund(now, of('laterEvmSolana'), 'both'),
      fund(now, of('onEvm'), 'initiator'),
      fund(now, of('onTron'), 'initiator'),
      fund(now, of('onSolana'), 'initiator'),
    ]);
    assert.ok(trade.hashlock !== null);
    feed.within = (await resume(old.ready.url)).seq;
    assert.ok(feed.within > feed.before);
    await old.kill();
    heardBefore = receiver.received.length;
  });

  test('what is damaged, incomplete, newer, or has no key is not restored', limits, async () => {
    const whole = join(world.dir, 'backup');
    const copy = join(world.dir, 'damaged');
    const target = join(world.dir, 'never');
    const key = ['--key', join(world.dir, 'keys', 'server.key')];
    const manifest = JSON.parse(await readFile(join(whole, 'manifest.json'), 'utf8')) as {
      files: { path: string; bytes: number }[];
    };
    const table = manifest.files.find(({ path, bytes }) => path.includes('base/') && bytes > 0);
    assert.ok(table);
    const faults: [RegExp, () => Promise<void>][] = [
      [/is damaged: .* is missing/, () => rm(join(copy, table.path))],
      [/is damaged: .* bytes, not/, () => truncate(join(copy, table.path), table.bytes - 1)],
      [
        /is not as it was written/,
        () => writeFile(join(copy, table.path), Buffer.alloc(table.bytes)),
      ],
      [/was not finished: it has no manifest/, () => rm(join(copy, 'manifest.json'))],
      [/its manifest was changed/, () => writeFile(join(copy, 'manifest.json'), '{"format":1}')],
    ];
    for (const [sentence, damage] of faults) {
      await cp(whole, copy, { recursive: true });
      await damage();
      await assert.rejects(checkBackup(copy), sentence);
      await rm(copy, { recursive: true });
    }
    const without = await restore(whole, target);
    assert.match(without.err, /the server's own key is not in the backup/);
    await writeFile(join(world.dir, 'other.key'), 'ab'.repeat(32));
    const other = await restore(whole, target, ['--key', join(world.dir, 'other.key')]);
    assert.match(other.err, /not the key of the market that was backed up/);
    const used = await restore(whole, homes.old, key);
    assert.match(used.err, /There is a database in .* already/);
    assert.deepEqual([without.status, other.status, used.status], [1, 1, 1]);
  });

  test('nothing is agreed while one chain is not read, and all else goes on', limits, async (t) => {
    const key = join(world.dir, 'keys', 'server.key');
    // As many a place keeps it; the market would not start with one like that.
    await chmod(key, 0o644);
    const done = await restore(join(world.dir, 'backup'), homes.fresh, ['--key', key]);
    assert.equal(done.status, 0, done.err);
    assert.equal((await stat(join(homes.fresh, 'server.key'))).mode & 0o777, 0o600);
    world.bitcoin.pointTo();
    world.bitcoin.cut();
    const first = await world.market(t, homes.fresh);
    const { alice, bob } = people;
    const { url } = first.ready;
    assert.match(await refusal(client401(url)), /^401 key_invalid/);
    await signIn(url);
    const message = mintMessage({ address: alice.evm.address, nonce: oldNonce });
    const signature = await alice.evm.signMessage(message);
    const proof = { rail: 'evm' as const, address: alice.evm.address, message, signature };
    const nonce = await post(url, '/v1/keys', '', proof);
    assert.deepEqual([nonce.status, nonce.code], [400, 'bad_nonce'], nonce.text);

    const made = await freshThread('ETH', 'SOL');
    const fresh = 'ab'.repeat(32);
    await until('the others were read', async () => {
      const { gaps: found } = await gaps(homes.fresh);
      return found[0]?.readings.filter(({ readAt }) => readAt !== null).length === 3;
    });
    const waits = await acceptWith(url, made, fresh);
    assert.deepEqual([waits.status, waits.code], [503, 'restoring'], waits.text);
    assert.match(waits.text, /bitcoin-regtest does not answer/);
    assert.doesNotMatch(waits.text, /evm-dev|tron-dev|solana-dev/);

    const before = await gaps(homes.fresh);
    await first.kill();
    restored = await world.market(context, homes.fresh);
    const again = await gaps(homes.fresh);
    assert.equal(again.gaps.length, 1, 'a quick restart is no gap');
    const readAt = ({ gaps: [gap] }: Held) => gap?.readings.map((each) => each.readAt);
    assert.deepEqual(readAt(again), readAt(before), 'what was read is not read again');
    const own = restored.ready.url;
    await signIn(own);
    assert.equal((await acceptWith(own, made, fresh)).code, 'restoring');
    const second = await secondServer(t);
    assert.equal((await acceptWith(second, made, fresh)).code, 'restoring');
    // A swap that is in the backup goes on meanwhile.
    const deal = deals.initiatorFunded as Deal;
    assert.deepEqual(await finish(now, deal, client), ['received', 'received']);
    await mustKnowSecret(deals.shown as Deal);

    world.bitcoin.pointTo(world.bitcoinPort);
    await until('all was read', async () => (await gaps(homes.fresh)).held.length === 0);
    for (const name of ['laterEvmSolana', 'onEvm', 'onTron', 'onSolana', 'laterBitcoinTron']) {
      const { hashlock } = deals[name] as Deal;
      const refused = await acceptWith(own, made, hashlock);
      assert.deepEqual([refused.status, refused.code], [409, 'hashlock_used'], name);
    }
    const given = await acceptWith(second, made, fresh);
    assert.equal(given.status, 200, given.text);
    const { swap } = await client(bob).accept(made.threadId, { quoteAmount: made.price });
    assert.ok(swap, 'and so is a swap');
    feed.after = (await resume(own)).seq;
  });

  test('the feed begins anew for positions of before and of the hour', limits, async () => {
    const { url } = restored.ready;
    for (const since of [feed.before, feed.within, feed.within + 5]) {
      const { types, seq } = await resume(url, since);
      assert.deepEqual(types.slice(0, 3), ['reset', 'snapshot', 'ready'], `since ${since}`);
      assert.ok(seq > feed.within + 1_000_000);
    }
    assert.deepEqual((await resume(url, feed.after)).types.slice(0, 1), ['resumed']);
  });

  test('an acceptance that waited has ended, and nothing comes of it', limits, async () => {
    const { bob } = people;
    const thread = await client(bob).thread(standing.threadId);
    assert.deepEqual([thread.takerAccepted, thread.status], [false, 'open']);
  });

  test('every swap of the backup ends right, and later ones by the SDK alone', limits, async () => {
    const { alice, bob } = people;
    const of = (name: string) => deals[name] as Deal;
    await hasStatus(client(alice), of('settled'), 'counterparty_claimed');
    // Claimed on both chains in the hour that is missing.
    await hasStatus(client(bob), of('bothFunded'), 'counterparty_claimed');
    for (const name of ['laterBitcoinTron', 'laterEvmSolana', 'onEvm', 'onTron', 'onSolana']) {
      assert.match(await refusal(client(alice).swap(of(name).swapId)), /^404 unknown_swap/, name);
    }
    const { maker } = of('shown');
    const [received, first, second, third] = await Promise.all([
      run(now, of('shown'), maker, client(maker.person)).ended,
      finish(now, of('agreed'), client),
      finish(now, of('laterBitcoinTron'), client),
      finish(now, of('laterEvmSolana'), client),
    ]);
    for (const ends of [first, second, third]) assert.deepEqual(ends, ['received', 'received']);
    assert.equal(received.end, 'received', 'by the secret of the missing hour');
    for (const name of ['agreed', 'shown']) {
      await hasStatus(client(alice), of(name), 'counterparty_claimed');
    }
    await hasStatus(client(alice), of('initiatorFunded'), 'counterparty_claimed');

    await world.move(12 * hourSeconds);
    const alone = ['onEvm', 'onTron', 'onSolana'].map((name) => {
      const deal = of(name);
      return run(now, deal, deal.taker, client(deal.taker.person)).ended;
    });
    const [both, ...refunds] = await Promise.all([finish(now, of('abandoned'), client), ...alone]);
    assert.deepEqual(both, ['refunded', 'refunded']);
    for (const { end } of refunds) assert.equal(end, 'refunded');
    await hasStatus(client(alice), of('abandoned'), 'refunded');
  });

  test('a receiver hears how they ended, of what it had not heard', limits, async () => {
    const heard = (name: string, from = 0) =>
      receiver.received
        .slice(from)
        .map(({ body }) => JSON.parse(body) as { type: string; swapId?: string })
        .filter(({ swapId }) => swapId === (deals[name] as Deal).swapId)
        .map(({ type }) => type);
    await until('they were told', async () => heard('abandoned').includes('swap.refunded'));
    assert.ok(heard('shown', heardBefore).includes('secret.revealed'));
    assert.ok(heard('agreed').includes('swap.settled'));
    assert.ok(heard('initiatorFunded').includes('swap.settled'));
    // Once by the market that died, and once by the one that found it on the chains.
    const twice = heard('bothFunded').filter((type) => type === 'swap.settled');
    assert.equal(twice.length, 2, heard('bothFunded').join(', '));
    assert.equal(heard('settled').filter((type) => type === 'swap.settled').length, 1);
  });
});

/** Its secret was shown in the missing hour, and the leg that it opens is there to be claimed. */
async function mustKnowSecret(deal: Deal): Promise<void> {
  const bob = client(people.bob);
  await hasStatus(bob, deal, 'initiator_claimed');
  const { secret, next } = await bob.swap(deal.swapId);
  assert.equal(hashlockOf(secret ?? ''), deal.hashlock, 'read from the chain');
  const own = next.filter(({ by }) => by === 'counterparty');
  assert.deepEqual(
    own.map(({ action, leg }) => [action, leg]),
    [['claim', 'b']],
  );
}

/** With the key of before, which was revoked. */
function client401(url: string): Promise<unknown> {
  return parleyClient({ baseUrl: url, key: keys.get(people.bob) ?? '' }).me();
}

/** Another process on the restored database. */
async function secondServer(t: TestContext): Promise<string> {
  const url = await runningPostgres(homes.fresh);
  assert.ok(url);
  const second = await world.market(t, join(world.dir, 'second'), {
    DATABASE_URL: url,
    PARLEY_ENCRYPTION_KEY: (await readFile(join(world.dir, 'keys', 'server.key'), 'utf8')).trim(),
  });
  return second.ready.url;
}

async function until(what: string, is: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 150; tries += 1) {
    if (await is()) return;
    await sleep(200);
  }
  assert.fail(`not so: ${what}`);
}
