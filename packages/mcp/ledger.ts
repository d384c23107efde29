// The amounts given within a day, in one file that survives a crash: counted before the act, under
// a lock that holds for every process of the profile. A deal counts once, by its thread.

import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { formatAmount } from '@parley/sdk/people.ts';
import type { Store } from '@parley/sdk/stores/store.ts';
import { Failure } from '@parley/trader/failures.ts';
import { readUpTo, writePrivate } from '@parley/trader/places.ts';
import { type Limits, pairKey } from './limits.ts';
import { Refusal } from './refusal.ts';

/** The amount that one swap gives, for what. */
export type Spend = {
  readonly threadId: string;
  /** Names of the profile. */
  readonly gives: string;
  readonly gets: string;
  readonly units: bigint;
};

type Entry = {
  readonly threadId: string;
  readonly asset: string;
  readonly units: string;
  readonly at: number;
  /** Names the act that counted it. */
  readonly by: string;
};

export type Counted = {
  /** The promise came to nothing: the earlier count stands again. */
  giveBack(): Promise<void>;
};

export type Left = { readonly asset: string; readonly perSwap: bigint; readonly left: bigint };

export type Ledger = {
  /** Throws Refusal `pair_not_allowed`, `over_swap_limit`, `over_day_limit`, `over_day_count`. */
  check(spend: Spend): Promise<void>;
  /** The same, and it counts from now on: on disk when it resolves. */
  count(spend: Spend): Promise<Counted>;
  left(): Promise<readonly Left[]>;
};

const daySeconds = 86_400;
const lockMs = 5_000;
const mostLedgerBytes = 8_388_608;

export function openLedger(
  file: string,
  limits: Limits,
  store: Pick<Store, 'lock'>,
  now: () => number,
): Ledger {
  const read = async (): Promise<Entry[]> => {
    const text = await readUpTo(file, mostLedgerBytes);
    const since = now() - daySeconds;
    return text === null ? [] : parsed(text, file).filter(({ at }) => at > since);
  };
  const locked = async <T>(work: () => Promise<T>): Promise<T> => {
    const lock = await store.lock?.('mcp ledger', AbortSignal.timeout(lockMs));
    if (lock === null) {
      const sentence = `${file} is in use by another process for more than ${lockMs / 1_000} s`;
      throw new Failure('local', 'in_use', sentence);
    }
    try {
      return await work();
    } finally {
      await lock?.release();
    }
  };
  const write = (entries: readonly Entry[]) => writePrivate(file, `${JSON.stringify(entries)}\n`);
  /** Unless another act has counted the deal since: that one may stand. */
  const putBack = async (own: string, before: readonly Entry[]) => {
    const entries = await read();
    const others = entries.filter(({ by }) => by !== own);
    if (others.length < entries.length) await write([...others, ...before]);
  };
  return {
    check: async (spend) => mustFit(limits, await read(), spend),
    count: (spend) =>
      locked(async () => {
        const entries = await read();
        mustFit(limits, entries, spend);
        const { threadId, gives: asset, units } = spend;
        const others = entries.filter((each) => each.threadId !== threadId);
        const by = bytesToHex(randomBytes(8));
        await write([...others, { threadId, asset, units: units.toString(), at: now(), by }]);
        // An acceptance of before may stand.
        const before = entries.filter((each) => each.threadId === threadId);
        return { giveBack: () => locked(() => putBack(by, before)) };
      }),
    left: async () => {
      const entries = await read();
      return [...limits.assets.values()].map(({ own, perSwap, perDay }) => {
        const left = perDay - given(entries, own.name, null);
        return { asset: own.name, perSwap, left: left > 0n ? left : 0n };
      });
    },
  };
}

/** Counts the act from before it. Only a market that heard it and said no has promised nothing. */
export async function counting<T>(
  ledger: Pick<Ledger, 'count'>,
  spend: Spend,
  act: () => Promise<T>,
): Promise<T> {
  const counted = await ledger.count(spend);
  try {
    return await act();
  } catch (error) {
    const isApi = error instanceof ParleyApiError;
    if (isApi && !error.unreachable && error.code !== 'still_running') await counted.giveBack();
    throw error;
  }
}

/** A damaged file must not be a day without limits. */
function parsed(text: string, file: string): Entry[] {
  try {
    const entries = JSON.parse(text) as Entry[];
    for (const { units, at } of entries) if (BigInt(units) < 0n || !(at > 0)) throw new Error('');
    return entries;
  } catch (cause) {
    const sentence = `${file} is damaged: this server spends nothing until a person has looked at it`;
    throw new Failure('local', 'bad_ledger', sentence, { cause });
  }
}

function given(entries: readonly Entry[], asset: string, except: string | null): bigint {
  return entries
    .filter((each) => each.asset === asset && each.threadId !== except)
    .reduce((sum, { units }) => sum + BigInt(units), 0n);
}

function mustFit(limits: Limits, entries: readonly Entry[], spend: Spend): void {
  const { gives, gets, units, threadId } = spend;
  if (!limits.pairs.has(pairKey(gives, gets))) {
    const sentence = `the limits do not allow the pair ${gives} and ${gets}`;
    throw new Refusal('needs_you', 'pair_not_allowed', sentence, { gives, gets });
  }
  const limit = limits.assets.get(gives);
  if (limit === undefined) {
    const sentence = `the limits have no amount for ${gives}, so none of it is given`;
    throw new Refusal('needs_you', 'pair_not_allowed', sentence, { gives, gets });
  }
  const { own, perSwap, perDay } = limit;
  const shown = (amount: bigint) =>
    `${formatAmount(amount, own.decimals, { locale: 'en' })} ${gives}`;
  if (units > perSwap) {
    const sentence = `a swap may give ${shown(perSwap)}, and this one gives ${shown(units)}`;
    const facts = { asset: gives, units: `${units}`, perSwap: `${perSwap}` };
    throw new Refusal('needs_you', 'over_swap_limit', sentence, facts);
  }
  const before = given(entries, gives, threadId);
  if (before + units > perDay) {
    const sentence =
      `within 24 hours ${shown(perDay)} may be given: ${shown(before)} are, ` +
      `and this would be ${shown(units)} more`;
    const facts = { asset: gives, units: `${units}`, given: `${before}`, perDay: `${perDay}` };
    throw new Refusal('needs_you', 'over_day_limit', sentence, facts);
  }
  const swaps = entries.filter((each) => each.threadId !== threadId).length;
  if (swaps < limits.swapsPerDay) return;
  const sentence = `within 24 hours ${limits.swapsPerDay} swaps may be agreed, and ${swaps} are`;
  const facts = { swaps, swapsPerDay: limits.swapsPerDay };
  throw new Refusal('needs_you', 'over_day_count', sentence, facts);
}
