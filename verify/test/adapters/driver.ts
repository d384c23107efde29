// One family behind the same few handles: its real dev node (TRON and Solana: simulators), adapters
// over it, two wallets with money, and what a test does to the chain.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { GasAccount } from '@parley/chains/gas/account.ts';
import type { Material, Signed } from '@parley/chains/interface/material.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import type { ReadTransaction } from '@parley/chains/interface/sending.ts';
import type { Family } from '@parley/core/families.ts';
import type { Destination } from '@parley/core/terms.ts';
import type { DevChain } from '@parley/dev/devnet/dev-chain.ts';

/** A request: the path, and the body's text. */
export type Asked = { readonly path: string; readonly text: string };
// biome-ignore lint/suspicious/noExplicitAny: answers of four protocols
export type Alter = (asked: Asked, answer: any) => unknown;

export type Side = 'funder' | 'receiver';
/** `tether` answers nothing and wants its allowances reset, `false` answers false; both move. */
export type CoinKind = 'native' | 'token' | 'tether' | 'false';
/** The contracts of the dev chains of EVM and TRON. */
export const contractOf = { token: 'DevDollar', tether: 'DevTether', false: 'ReturnsFalse' };

export type Money = {
  /** A fresh gas key with coins for anything, on these nodes. */
  gasAccount(urls?: readonly string[]): Promise<GasAccount>;
  /** Base units that the newest block shows of an address. */
  held(kind: CoinKind, address: string): Promise<bigint>;
  /** An address that was never used. */
  newcomer(): string;
  /** Sends what a node that tries it first would refuse. */
  force?(transaction: ReadTransaction): Promise<unknown>;
};

export type Driver = {
  readonly family: Family;
  readonly dev: DevChain;
  /** The URL of the node; adapters take it, or others, in order. */
  readonly url: string;
  /** Where it has another address for some of its paths. */
  urlOf?(path: string): string;
  readonly coins: readonly CoinKind[];
  /** Contract or mint; null for the chain's own coin. */
  token(kind: CoinKind): string | null;
  amount(kind: CoinKind): bigint;
  readonly parties: Readonly<Record<Side, Destination>>;
  /** Depth that the policy wants. */
  readonly depth: number;
  adapter(urls?: readonly string[], attemptMs?: number): ChainAdapter;
  /**
   * By the wallet of that side: the transaction of the material, the first of several. A Bitcoin
   * claim takes the secret here.
   */
  sign(by: Side, material: Material, secret?: string): Promise<Signed>;
  /** Unix seconds, of the market's clock. */
  now(): number;
  /** Moves clock and chain. */
  pass(seconds: number): Promise<void>;
  /** Blocks until what was sent is shown, by far not deep yet. */
  show(): Promise<void>;
  /** Blocks until what is in the newest block is as deep as the policy wants. */
  deepen(): Promise<void>;
  /**
   * Takes the newest blocks back, as a change of fork does; their transactions wait, or are gone.
   */
  takeBack(blocks: number): Promise<void>;
  /** Absent: the family has no gas keys, or nobody here can give them coins. */
  readonly money?: Money;
  /** A busy node: the id of a transaction may take longer than a read waits for it. */
  readonly isSlow?: boolean;
  /** An address where there is no token. */
  readonly noToken: string;
  /**
   * Second nodes: one with another state of this escrow, where it has one, and one of another
   * chain.
   */
  differ(escrow: WatchedEscrow): { readonly state?: Alter; readonly chain: Alter };
  /** Makes of the node one of another network. */
  readonly otherNetwork: Alter;
  /** Whether a node is asked to send something, and how one refuses that. */
  isSending(asked: Asked): boolean;
  readonly refusal: Said;
  /** How one answers that it has too much to do for now, or lags behind others. */
  readonly busy: readonly Said[];
  /** An address of another network or family, and one spelt in an uncommon way with its canon. */
  readonly foreign: string;
  readonly spelt: readonly [uncommon: string, canonical: string];
  stop(): Promise<void>;
};

type Said = { readonly status?: number; readonly body: object };

/** One promise of every adapter. */
export type AdapterPromise = {
  readonly name: string;
  run(driver: Driver): Promise<void>;
  /** Families that cannot keep it, and why. */
  readonly except?: Readonly<Partial<Record<Family, string>>>;
};
