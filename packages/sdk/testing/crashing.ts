// Tests only: a process that ends at every write of its store, and right after sending.

import type { ParleyClient } from '../client.ts';
import { type Outcome, type SettleInput, settle } from '../settle.ts';
import type { Store, SwapRecord } from '../stores/store.ts';

class Crash extends Error {}
export type Crashing = { readonly at: string[]; stop: AbortController };

/** The process ends here: no line after this one runs. */
function crash(crashing: Crashing, where: string): never {
  crashing.at.push(where);
  const end = new Crash(where);
  crashing.stop.abort(end);
  throw end;
}

/** Crashes before each kind of write once, and after each kind of write once. */
function crashingStore(store: Store, crashing: Crashing): Store {
  const seen = new Map<string, number>();
  const around = async (kind: string, write: () => Promise<void>) => {
    const time = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, time);
    if (time > 2) return write();
    if (time === 2) await write();
    crash(crashing, `${time === 1 ? 'before' : 'after'} ${kind}`);
  };
  const kindOf = (record: SwapRecord) =>
    (['approval', 'funding', 'publicSecret', 'claim', 'refund'] as const)
      .filter((field) => (record[field] ?? null) !== null)
      .join('+') || 'terms';
  return {
    ...store,
    putSwap: (record) => around(kindOf(record), () => store.putSwap(record)),
  };
}

/** A market whose connection breaks right after it has relayed a transaction for the first time. */
function breaking(client: ParleyClient, crashing: Crashing): ParleyClient {
  const relayed = new Set<string>();
  return {
    ...client,
    broadcast: async (...args: Parameters<ParleyClient['broadcast']>) => {
      const answer = await client.broadcast(...args);
      const raw = JSON.stringify(args[1]);
      if (relayed.has(raw)) return answer;
      relayed.add(raw);
      return crash(crashing, 'after sending');
    },
  };
}

/** Settles over and over until nothing crashes any more. */
export async function throughCrashes(input: SettleInput, crashing: Crashing): Promise<Outcome> {
  const store = crashingStore(input.store, crashing);
  const client = input.client === null ? null : breaking(input.client, crashing);
  for (let restarts = 0; restarts < 30; restarts += 1) {
    crashing.stop = new AbortController();
    try {
      return await settle({ ...input, store, client, signal: crashing.stop.signal });
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
    }
  }
  throw new Error(`too many crashes: ${crashing.at.join(', ')}`);
}
