// The dependencies of the server's rooms. boot.ts makes one; tests make their own.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Rpc } from '@parley/chains/nodes/rpc.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { Desk } from '@parley/watchtower/port.ts';
import type { Logger } from 'pino';
import type { Purpose } from '../db/ceremonies.ts';
import type { Database, Tx } from '../db/database.ts';
import type { Settings } from '../settings/config.ts';
import type { RandomBytes } from './ids.ts';
import type { Markets } from './markets.ts';
import type { Metrics } from './metrics.ts';

export type Deps = {
  readonly settings: Settings;
  readonly db: Database;
  /** Lists that everybody sees may be read here, some seconds old; absent = `db`. */
  readonly reads?: Tx;
  /** Milliseconds since the epoch; dev networks move it. */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  readonly adapters: ReadonlyMap<ChainKey, ChainAdapter>;
  /** Nodes that can tell whether a contract wallet signed; absent = key signatures only. */
  readonly evmNodes?: readonly Rpc[];
  /** The reports of markets on a token that is to be listed; absent = those checks are off. */
  readonly markets?: Markets;
  /** Prices of coins in a currency; absent = the operator has no source. */
  readonly fiat?: () => FiatPrices | null;
  /** Sends what customers ask for; absent = parties send everything themselves. */
  readonly watchtower?: Desk;
  /** The sender of messages to people; absent = no messages. */
  readonly messaging?: Messaging;
  readonly log: Logger;
  /**
   * The knowledge of this process about time that may be missing; absent where it is not counted.
   */
  readonly presence?: Presence;
  /**
   * The number of this process among those that share the following of chains, 0 where it follows
   * none; absent = it follows all of them, whoever else does.
   */
  readonly follower?: number;
  readonly metrics: Metrics;
};

/** The dependencies that make new rows. */
export type Making = Pick<Deps, 'settings' | 'now' | 'randomBytes'>;

export type CodeMail = {
  readonly address: string;
  readonly code: string;
  readonly expiresAt: Date;
  /** The purpose of the code: the reader decides by it whether to type it in. */
  readonly purpose: Purpose;
};

/** Mail and messages to people, as the ways in need it. */
export type Messaging = {
  readonly sendCode: ((tx: Tx, mail: CodeMail) => Promise<void>) | null;
  /** Whether mail was not taken when this process last tried, not long ago. */
  mailIsDown(): boolean;
};

/** Prices of coins in a currency, by a source of the operator. */
export type FiatPrices = {
  /** ISO 4217, such as USD. */
  readonly currency: string;
  /** The host that told them. */
  readonly source: string;
  readonly at: Date;
  readonly prices: readonly FiatPrice[];
};

export type FiatPrice = {
  readonly chain: string;
  /** Hex in lower case; '' is the chain's own coin. */
  readonly token: string;
  /** One whole coin's, decimal. */
  readonly price: string;
};

/** The knowledge of a process that its database may have lost. */
export type Presence = {
  beat(): number | null;
};
