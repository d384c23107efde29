// What the first look saw is not lost when the second cannot be made: real rows, nodes that answer
// once, a lock, the end of the whole look; and what one page that is not had leaves of the others.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { ParleyError } from '../../core/errors.ts';
import { type EscrowFacts, nothingSeen } from '../../core/facts.ts';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import type { Database } from '../db/database.ts';
import { uuidv7 } from '../ports/ids.ts';
import type { ChainSettings } from '../settings/chains.ts';
import { nodelessAdapters } from '../settle/testing/rows.ts';
import { examine } from './examine.ts';
import { exitStatus, type Finding, gather } from './findings.ts';
import { heldParts } from './held.ts';
import { createParts } from './parts.ts';
import { createReads } from './reads.ts';
import { swapBounds } from './swaps.ts';
import { agreedSwaps } from './testing/agreed.ts';

const swaps = 3;
let database: TestDatabase;
let db: Database;
let home: string;
let ids: string[];

before(async () => {
  database = await testDatabase();
  db = database.db;
  home = await mkdtemp(join(tmpdir(), 'parley-second-'));
  ids = await agreedSwaps(db, swaps);
  const text = `update swaps set secret = '${'ab'.repeat(32)}' where id = '${ids[1]}'`;
  await db.rows({ name: '', text, values: [] });
});
after(async () => {
  await database?.drop();
  await rm(home, { recursive: true, force: true });
});

const deep = (txid: string) => ({ txid, confirmations: 99, deep: true });
/** What no row says. */
const shown: EscrowFacts = {
  ...nothingSeen,
  balance: 0n,
  empty: true,
  funded: deep('bb'),
  claimed: deep('aa'),
};

/** Chains that show it; what becomes of a read once the second look has begun is `then`. */
function answering(
  isSecond: () => boolean,
  then: (chain: string) => Promise<EscrowFacts | undefined>,
) {
  const made = nodelessAdapters().map((each): [string, ChainAdapter] => {
    const heads = async () => {
      return { height: 1, hash: 'h', clock: Math.floor(Date.now() / 1_000) };
    };
    const readEscrow = async () => {
      return isSecond() ? ((await then(each.chain)) ?? shown) : shown;
    };
    return [each.chain, { ...each, heads, readEscrow } as ChainAdapter];
  });
  return new Map(made) as ReadonlyMap<ChainAdapter['chain'], ChainAdapter>;
}

type Case = {
  readonly later?: (chain: string, end: () => void) => Promise<EscrowFacts | undefined>;
  readonly reading?: (isSecond: () => boolean) => Database;
  readonly chains?: readonly ChainSettings[];
};

async function doctor({ later = async () => undefined, reading = () => db, chains }: Case = {}) {
  const found: Finding[] = [];
  const end = new AbortController();
  let second = false;
  const isSecond = () => second;
  const deps = {
    settings: {
      home,
      databaseConnections: 1,
      chainTimeoutMs: 60_000,
      followIntervalMs: 50,
      keeper: 'dev' as const,
    },
    db: reading(isSecond),
    chains: chains ?? [],
    now: Date.now,
    wall: Date.now,
    signal: end.signal,
    limits: { partMs: 60_000, chainMs: 60_000 },
    wait: async () => {
      second = chains === undefined;
    },
    ...(chains === undefined && {
      adapters: answering(isSecond, (chain) => later(chain, () => end.abort())),
    }),
  };
  const wanted = { swap: null, all: false, limit: 10_000 };
  const examined = await examine(deps, wanted, (each) => found.push(each));
  const ours = found.filter(({ where, severity }) => {
    return where.startsWith('swap ') && /danger|differs/.test(severity);
  });
  const once = ours.filter(({ facts }) => facts.seenOnce === true);
  const named = ours.map(({ what, where }) => `${what} ${where}`).sort();
  return { ...examined, found, once, named, code: exitStatus(examined.counts) };
}

const late = (code: string) => Object.assign(new Error('late'), { code });
/** A database that fails a statement of this name when told to. */
function failing(name: string, fails: (values: readonly unknown[]) => boolean): Database {
  return {
    ...db,
    rows: async (statement) => {
      if (statement.name === name && fails(statement.values)) throw late('55P03');
      return db.rows(statement);
    },
  };
}

test('what the first look saw is told although no second can be made, and that it was seen once', async () => {
  const whole = await doctor();
  assert.deepEqual([whole.once, whole.code], [[], 1]);
  assert.ok(whole.named.length > swaps, `${whole.named}`);
  const ways: Record<string, Case> = {
    'the nodes fall silent': {
      later: async () => {
        throw new ParleyError('chain_unavailable', 'away');
      },
    },
    'the whole time is over': {
      later: async (_chain, end) => {
        end();
        return new Promise(() => {});
      },
    },
    'it ends half-way': {
      later: async () => ({
        ...shown,
        get funded(): never {
          throw new Error('of a test');
        },
      }),
    },
    'the database does not give them': {
      reading: (isSecond) => failing(escrowsName, isSecond),
    },
  };
  for (const [way, how] of Object.entries(ways)) {
    const { named, once, found, code } = await doctor(how);
    assert.deepEqual(named, whole.named, way);
    assert.ok(once.length > 0 && once.every(({ says }) => / \(seen once: /.test(says)), way);
    // The rows alone prove it: nobody has to look twice.
    const wrong = found.filter(({ what }) => what === 'secret_wrong');
    assert.deepEqual(
      wrong.map(({ where, facts }) => [where, facts.seenOnce]),
      [[`swap ${ids[1]}`, undefined]],
    );
    assert.equal(code, 1, `a danger was seen, ${way}`);
  }
});

test('a chain that was silent is named though the whole time is over', async () => {
  const { found } = await doctor({
    later: async (chain, end) => {
      if (chain === 'evm-dev') throw new ParleyError('chain_unavailable', 'away');
      await sleep(100);
      end();
      return new Promise(() => {});
    },
  });
  const unread = found.filter(({ what }) => what === 'chain_unread');
  const says = Object.fromEntries(unread.map((each) => [each.where, each.says]));
  assert.match(says['chain evm-dev'] ?? '', /^3 reads were not answered, .*: away/);
  // What was under way is not known either.
  assert.match(says['chain evm-dev-2'] ?? '', /^3 reads .*: the time was over before it answered/);
});

test('of two chains only what rests on the silent one is told as seen once', async () => {
  const { once } = await doctor({
    later: async (chain) => {
      if (chain === 'evm-dev-2') throw new ParleyError('chain_unavailable', 'away');
      // What the first look saw of the other one was of a moment.
      return nothingSeen;
    },
  });
  const behind = once.filter(({ what }) => what === 'facts_behind');
  // The quote, which a maker who sells gets, is on that chain.
  assert.equal(behind.length, swaps);
  assert.ok(behind.every(({ where }) => where.includes(' leg a ')));
});

const escrowsName = 'escrows_of_swaps';

/** Pages of which only one id each is a swap's. */
function paged(lost: readonly number[]): Database {
  const made = () => uuidv7(Date.now(), (size) => new Uint8Array(size).fill(7));
  const page = (id: string) => [id, ...Array.from({ length: swapBounds.page }, made)];
  const pages = [page(ids[0] ?? ''), page(ids[1] ?? ''), [ids[2] ?? '']];
  const of = lost.map((at) => pages[at]?.[0]);
  let next = 0;
  const inner = failing(escrowsName, ([of_]) =>
    of.some((id) => (of_ as string[]).includes(id ?? '')),
  );
  return {
    ...db,
    rows: async (statement) => {
      if (statement.name !== 'doctor_open') return inner.rows(statement);
      next += 1;
      return (pages[next - 1] ?? []).map((id) => ({ id })) as never[];
    },
  };
}

test('a page that the database does not give is left, and the pages after it are looked at', async () => {
  const one = await doctor({ reading: () => paged([0]) });
  assert.ok(one.found.some(({ what }) => what === 'secret_wrong'));
  assert.equal(one.open, swapBounds.page + 1);
  const left = (found: readonly Finding[]) => found.filter(({ what }) => what === 'swaps_left');
  assert.match(left(one.found)[0]?.says ?? '', /^501 open swaps were looked at, 500 were not/);
  // Two in a row are enough.
  const two = await doctor({ reading: () => paged([0, 1]) });
  assert.equal(two.open, 0);
  const lates = two.found.filter(({ what }) => what === 'part_time');
  assert.deepEqual([lates.length, left(two.found).length], [2, 1]);
});

test('a chain whose adapter cannot be made is a finding, and the rest is looked at', async () => {
  const dev = { family: 'evm', chain: 'evm-dev', chainId: 31_337, world: 'dev' } as const;
  const chains = [{ ...dev, rpcUrls: [] }] as unknown as ChainSettings[];
  const { found, open } = await doctor({ chains });
  const where = 'chain evm-dev, its adapter';
  assert.ok(found.some((each) => each.what === 'ended' && each.where === where));
  assert.equal(open, swaps);
});

test("a chain's own limit is named even where a timer comes before it", async (t) => {
  t.mock.method(performance, 'now', () => 0);
  const [adapter] = answering(
    () => true,
    () => new Promise(() => {}),
  );
  assert.ok(adapter !== undefined);
  const signal = new AbortController().signal;
  const limits = { adapters: new Map([adapter]), chainTimeoutMs: 60_000, chainMs: 50, signal };
  const reads = createReads(limits);
  reads.use('all');
  await reads.ask(adapter[0], 'reads', () => new Promise(() => {}));
  const told: Finding[] = [];
  reads.tell(gather((each) => told.push(each)));
  assert.deepEqual(
    told.map(({ what, facts }) => [what, facts.limitMs]),
    [['part_time', 50]],
  );
});

test('a fifth of the time of a chain is kept for second looks', async (t) => {
  let clock = 0;
  t.mock.method(performance, 'now', () => clock);
  const [adapter] = answering(
    () => false,
    async () => undefined,
  );
  assert.ok(adapter !== undefined);
  const signal = new AbortController().signal;
  const adapters = new Map([adapter]);
  const reads = createReads({ adapters, chainTimeoutMs: 60_000, chainMs: 10_000, signal });
  const ask = (takes: number) =>
    reads.ask(adapter[0], 'reads', async () => {
      clock += takes;
      return 'read';
    });
  assert.equal((await ask(8_000)).answer, 'read');
  assert.equal((await ask(1)).answer, null);
  reads.use('all');
  assert.equal((await ask(2_000)).answer, 'read');
  assert.equal((await ask(1)).answer, null);
});

function someParts(heard?: () => number, partMs = 60_000) {
  const told: Finding[] = [];
  const end = new AbortController();
  const findings = gather((each) => told.push(each));
  const parts = createParts({ findings, signal: end.signal, partMs, ...(heard && { heard }) });
  return { parts, told, end };
}

test('a part that was done when the end came is not among those that were left', async () => {
  const { parts, end } = someParts();
  const remove = end.signal.removeEventListener.bind(end.signal);
  end.signal.removeEventListener = (...which: [string, () => void]) => {
    remove(...which);
    end.abort();
  };
  assert.equal(await parts.run('the last', () => {}), 'done');
  for (let at = 0; at < 50; at += 1) await parts.run(`part ${at}`, () => {});
  const { count, names } = parts.left();
  assert.equal(count, 50);
  assert.match(names, /^part 0; .*part 19; and 30 more$/);
});

test('a database that is slow is not taken for a silent one', async () => {
  let statements = 0;
  const slow = someParts(() => statements, 5);
  const silent = someParts(() => statements, 5);
  const never = () => new Promise<void>(() => {});
  for (const each of ['a', 'b', 'c']) {
    await slow.parts.ask(each, () => {
      statements += 1;
      return never();
    });
  }
  for (const each of ['a', 'b', 'c']) await silent.parts.ask(each, never);
  const unasked = (told: readonly Finding[]) => told.filter(({ says }) => /not asked/.test(says));
  assert.deepEqual([unasked(slow.told), unasked(silent.told).length], [[], 1]);
});

test('a database that falls silent within a part is not asked for its other rows', async () => {
  const at = new Date();
  let asked = 0;
  const gap = (id: number) => ({ id, why: 'silence', beganAt: at, endedAt: at });
  const rows = async ({ name }: { name: string }) => {
    if (name !== 'doctor_keys') return [gap(2), gap(1)] as never[];
    asked += 1;
    throw late('08006');
  };
  const work = heldParts['the time that is missing'];
  assert.ok(work !== undefined);
  const { parts } = someParts();
  const tx = { ...db, rows } as Database;
  assert.equal(await parts.ask('gaps', (findings) => work(tx, at, findings)), 'silent');
  assert.equal(asked, 1);
});
