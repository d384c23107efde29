// The tools of a fault of this soak, and what a fault is.

import type { Inbox } from '@parley/dev/devnet/people/inbox.ts';
import type pg from 'pg';
import { type Customer, newCustomer } from '../support/customers.ts';
import type { Pair } from '../support/deals.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import type { Stage } from '../support/stage.ts';
import type { FiringAlert, RunningPrometheus } from './prometheus.ts';

/** As the server has it from its settings: base units of the coin. */
export type Keeper = { readonly chain: string; readonly keyFile: string; dailyCap: string };

export type Scene = {
  readonly stage: Stage;
  readonly prometheus: RunningPrometheus;
  readonly pair: Pair;
  /** To the database, past the way that faults break. */
  readonly admin: pg.Client;
  readonly gas: { readonly address: string };
  readonly keeper: Keeper;
  /** Where people's mail goes, and the way to it. */
  readonly inbox: Inbox;
  readonly mail: FaultProxy;
};

/** Ends what a fault left for the time in which its alerts end. */
type Leaves = () => unknown;

/** Breaks something, and gives what mends it. */
export type Fault = {
  readonly name: string;
  readonly alerts: readonly Partial<FiringAlert>[];
  readonly breaks: (scene: Scene) => Promise<() => Promise<Leaves | unknown>>;
  /** Why nothing can be looked at while it lasts. */
  readonly blind?: string;
};

export const newPair = async (stage: Stage): Promise<Pair> => [
  await newCustomer(stage, 'Cat'),
  await newCustomer(stage, 'Dan'),
];

/** Requests one after the other, whatever they are answered, until the signal. */
export async function asking(signal: AbortSignal, ask: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    await ask().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, askEveryMs));
  }
}
const askEveryMs = 200;

/** A request of a customer, without the SDK's patience. */
export function get(stage: Stage, who: Customer, path: string, signal: AbortSignal) {
  const headers = { authorization: `Bearer ${who.key}` };
  return fetch(`${stage.url}${path}`, { headers, signal }).then((reply) => reply.arrayBuffer());
}
