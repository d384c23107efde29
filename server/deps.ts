// What the rooms of the server are given. boot.ts makes one; tests make their own.

import type { Logger } from 'pino';
import type { ChainAdapter } from '../chains/adapter.ts';
import type { Rpc } from '../chains/rpc.ts';
import type { ChainKey } from '../core/families.ts';
import type { Settings } from './config.ts';
import type { Database } from './db/database.ts';
import type { RandomBytes } from './ids.ts';
import type { Gas } from './keeper/gas.ts';
import type { Keeper } from './keeper/passes.ts';
import type { SigningTime } from './keeper/time.ts';
import type { Markets } from './listing/markets.ts';
import type { Messaging } from './messages/messaging.ts';
import type { Metrics } from './metrics.ts';
import type { Presence } from './restore/gate.ts';

export type Deps = {
  readonly settings: Settings;
  readonly db: Database;
  /** Milliseconds since the epoch; dev networks move it. */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  readonly adapters: ReadonlyMap<ChainKey, ChainAdapter>;
  /** Nodes that can tell whether a contract wallet signed; none = key signatures only. */
  readonly evmNodes?: readonly Rpc[];
  /** What markets say of a token that is to be listed; none = those checks are off. */
  readonly markets?: Markets;
  /** Chains with an operator's gas key; none = parties send everything themselves. */
  readonly gas?: ReadonlyMap<ChainKey, Gas>;
  /** Told of relays that wait. */
  readonly keeper?: Pick<Keeper, 'wake'>;
  /** Told of what is to leave at once; knows whether mail can be sent. None where nobody sends. */
  readonly messaging?: Pick<Messaging, 'wake' | 'mailIsDown'>;
  /** None = real time. */
  readonly signingTime?: SigningTime;
  readonly log: Logger;
  /** What this process knows of time that may be missing; none where nobody counts. */
  readonly presence?: Presence;
  readonly metrics: Metrics;
};
