// The doctor on many open swaps: how long it takes for one of them, and how much memory, where
// there are ten times as many. None of them differs, or all do. PostgreSQL is real; the chains are
// stubs that answer at once.

import { randomBytes } from 'node:crypto';
import type { ChainAdapter } from '../chains/adapter.ts';
import type { ChainKey } from '../core/families.ts';
import type { Database } from '../server/db/database.ts';
import { escrowsOfSwap, termsOf } from '../server/db/escrows.ts';
import { uuidv7 } from '../server/ports/ids.ts';
import { insertAccount } from '../server/settle/testing/account.ts';
import { insertAgreed, insertAsset, someWallets } from '../server/settle/testing/rows.ts';
import { type TestDeps, testDeps } from '../test/support/deps.ts';
import { startChild } from './children.ts';
import { type Look, type Looked, stubChains } from './doctor-look.ts';
import { atMost, inRounds, median, type Row } from './report.ts';
import { freshDatabase } from './stage.ts';

export const doctorStage = 'real PostgreSQL, stubs of the chains';

const lookLimitMs = 3_600_000;
/** Swaps written at once. */
const batch = 1_000;

export async function benchDoctor(
  { rounds }: { readonly rounds: number },
  swaps: number,
): Promise<Row[]> {
  const sizes = [Math.round(swaps / 10), swaps] as const;
  const { url, db, stop } = await freshDatabase({ statementMs: 120_000 });
  try {
    const fill = await createFilling(db);
    const small = await measure(sizes[0], { url, fill, rounds });
    const large = await measure(sizes[1], { url, fill, rounds });
    return rowsOf(sizes, small, large);
  } finally {
    await stop();
  }
}

type Measured = { readonly none: Looked; readonly all: Looked };

function rowsOf([few, many]: readonly [number, number], small: Measured, large: Measured): Row[] {
  const kinds = [
    ['none', 'none differing'],
    ['all', 'all differing, each read twice'],
  ] as const;
  const against = `the same with ${few} of them`;
  return kinds.flatMap(([kind, words]) => {
    const [ours, theirs] = [large[kind], small[kind]];
    const row = (what: string, unit: string, bar: number, of: Pair, how: string) =>
      atMost(
        `doctor: the doctor on ${many} open swaps, ${words}: ${what}`,
        { value: of[0], unit, limit: of[1], bar },
        `${against}${how}`,
      );
    const each = (key: 'seconds' | 'busy'): Pair => [
      ours[key] * (1_000 / many),
      theirs[key] * (1_000 / few),
    ];
    const resident = `; resident ${Math.round(ours.resident)} MiB at most`;
    return [
      // Whatever else the machine does is in it.
      row('time of one', 'ms', 2, each('seconds'), `; ${ours.seconds.toFixed(1)} s in all`),
      row('processor time of one', 'ms', 1.5, each('busy'), ", without PostgreSQL's"),
      row('live heap at most', 'MiB', 1.5, [ours.heap, theirs.heap], resident),
    ];
  });
}

type Pair = readonly [number, number];

type Stage = {
  readonly url: string;
  readonly fill: Awaited<ReturnType<typeof createFilling>>;
  readonly rounds: number;
};

async function measure(swaps: number, { url, fill, rounds }: Stage): Promise<Measured> {
  const now = await fill(swaps);
  const looks = async (isDiffering: boolean) => {
    const all = await inRounds(rounds, () => look(isDiffering));
    const of = (which: keyof Looked) => median(all.map((each) => each[which]));
    const [seconds, busy] = [of('seconds'), of('busy')];
    return { seconds, busy, heap: of('heap'), resident: of('resident'), found: of('found') };
  };
  const look = async (isDiffering: boolean) => {
    const child = startChild('doctor-look.ts', { limitMs: lookLimitMs });
    try {
      const asked: Look = { url, now, isDiffering, swaps };
      const looked = await child.ask<Looked>(asked);
      if (looked.found < swaps === isDiffering) throw new Error(`${looked.found} differences`);
      return looked;
    } finally {
      await child.stop();
    }
  };
  return { none: await looks(false), all: await looks(true) };
}

/** Agreed swaps like one another but for their hashlock; answers the clock that they are of. */
async function createFilling(db: Database): Promise<(swaps: number) => Promise<number>> {
  const adapters = new Map(stubChains().map((each) => [each.chain, each]));
  const deps = testDeps({ db, adapters });
  deps.freeze();
  const first = await firstSwap(db, deps);
  const rows = await escrowsOfSwap(db, first);
  let made = 1;
  return async (swaps) => {
    while (made < swaps) {
      const count = Math.min(batch, swaps - made);
      const copies = Array.from({ length: count }, () => copyOf(deps, adapters, rows));
      await insertCopies(db, first, copies);
      made += count;
    }
    await db.rows({ name: 'bench_analyze', text: 'analyze', values: [] });
    return deps.now();
  };
}

async function firstSwap(db: Database, deps: TestDeps): Promise<string> {
  const btc = await insertAsset(deps, 'bitcoin', null, null);
  const eth = await insertAsset(deps, 'evm-dev', null, null);
  const trader = async () => {
    const { bitcoin, evm } = someWallets();
    return (await insertAccount(deps, [bitcoin, evm])).accountId;
  };
  const [makerId, takerId] = [await trader(), await trader()];
  const amounts = { baseAmount: 1_000_000n, quoteAmount: 10n ** 17n };
  const terms = { direction: 'sell_base', base: btc, quote: eth, ...amounts } as const;
  return db.transaction((tx) => insertAgreed(tx, deps, terms, { makerId, takerId }));
}

type Copy = {
  readonly id: string;
  readonly thread: string;
  readonly rfq: string;
  readonly hashlock: string;
  readonly a: string;
  readonly b: string;
};

function copyOf(
  deps: TestDeps,
  adapters: ReadonlyMap<ChainKey, ChainAdapter>,
  rows: Awaited<ReturnType<typeof escrowsOfSwap>>,
): Copy {
  const id = () => uuidv7(deps.now(), deps.randomBytes);
  const hashlock = randomBytes(32).toString('hex');
  const escrow = (leg: string) => {
    const row = rows.find((each) => each.leg === leg)!;
    return adapters.get(row.chain)!.plan({ ...termsOf(row.terms), hashlock }).address;
  };
  return { id: id(), thread: id(), rfq: id(), hashlock, a: escrow('a'), b: escrow('b') };
}

/** Rows of each table as the first swap has them, with what is a copy's own. */
async function insertCopies(db: Database, first: string, copies: readonly Copy[]): Promise<void> {
  const copy =
    'json_to_recordset($2) n (id uuid, thread uuid, rfq uuid, hashlock text, a text, b text)';
  const own = (leg: string) => `case ${leg} when 'a' then n.a else n.b end`;
  const ids = `'id', n.id, 'thread_id', n.thread, 'rfq_id', n.rfq`;
  const tables: [table: string, row: string, changed: string][] = [
    ['rfqs', 'r.id = s.rfq_id', `'id', n.rfq`],
    ['threads', 'r.id = s.thread_id', `'id', n.thread, 'rfq_id', n.rfq`],
    ['hashlocks', 'r.hashlock = s.hashlock', `'hashlock', n.hashlock, 'thread_id', n.thread`],
    ['swaps', 'r.id = s.id', `${ids}, 'hashlock', n.hashlock`],
    ['legs', 'r.swap_id = s.id', `'swap_id', n.id, 'escrow', ${own('r.leg')}`],
    [
      'escrows',
      'r.swap_id = s.id',
      `'swap_id', n.id, 'address', ${own('r.leg')},
        'terms', r.terms || jsonb_build_object('hashlock', n.hashlock)`,
    ],
  ];
  await db.transaction(async (tx) => {
    for (const [table, row, changed] of tables) {
      await tx.rows({
        name: `bench_copy_${table}`,
        text: `insert into ${table} select
          (jsonb_populate_record(r, jsonb_build_object(${changed}))).*
          from ${table} r, swaps s, ${copy} where s.id = $1 and ${row}`,
        values: [first, JSON.stringify(copies)],
      });
    }
  });
}
