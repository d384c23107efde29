// The doctor on many open swaps: how long it takes for one of them, and how much memory, where
// there are ten times as many. None of them differs, or all do. PostgreSQL is real; the chains are
// stubs that answer at once.

import type { Database } from '../server/db/database.ts';
import { insertAccount } from '../server/settle/testing/account.ts';
import { insertAgreed, insertAsset, someWallets } from '../server/settle/testing/rows.ts';
import { testDeps } from '../test/support/deps.ts';
import { startChild } from './children.ts';
import { type Looked, stubChains } from './doctor-look.ts';
import { atMost, inRounds, median, type Row } from './report.ts';
import { freshDatabase } from './stage.ts';

export const doctorStage = 'real PostgreSQL, stubs of the chains';

const limitMs = 3_600_000;
/** Swaps written at once. */
const atOnce = 10;

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
    const ours = large[kind];
    const theirs = small[kind];
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
      // The rest of the machine's work is in it.
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
    const seconds = of('seconds');
    const busy = of('busy');
    return { seconds, busy, heap: of('heap'), resident: of('resident'), found: of('found') };
  };
  const look = async (isDiffering: boolean) => {
    const child = startChild<typeof import('./doctor-look.ts')>('doctor-look.ts', { limitMs });
    try {
      const looked = await child.ask('look', { url, now, isDiffering, swaps });
      if (looked.found < swaps === isDiffering) throw new Error(`${looked.found} differences`);
      return looked;
    } finally {
      await child.stop();
    }
  };
  return { none: await looks(false), all: await looks(true) };
}

/** Agreed swaps up to so many; answers the clock that they are of. */
async function createFilling(db: Database): Promise<(swaps: number) => Promise<number>> {
  const adapters = new Map(stubChains().map((each) => [each.chain, each]));
  const deps = testDeps({ db, adapters });
  deps.freeze();
  const base = await insertAsset(deps, 'bitcoin', null, null);
  const quote = await insertAsset(deps, 'evm-dev', null, null);
  const trader = async () => {
    const { bitcoin, evm } = someWallets();
    return (await insertAccount(deps, [bitcoin, evm])).accountId;
  };
  const parties = { makerId: await trader(), takerId: await trader() };
  const amounts = { baseAmount: 1_000_000n, quoteAmount: 10n ** 17n };
  const terms = { direction: 'sell_base', base, quote, ...amounts } as const;
  const one = () => db.transaction((tx) => insertAgreed(tx, deps, terms, parties));
  let made = 0;
  return async (swaps) => {
    while (made < swaps) {
      const count = Math.min(atOnce, swaps - made);
      await Promise.all(Array.from({ length: count }, one));
      made += count;
    }
    await db.rows({ name: 'bench_analyze', text: 'analyze', values: [] });
    return deps.now();
  };
}
