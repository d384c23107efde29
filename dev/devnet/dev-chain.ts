// The facts that the dev network knows of each of its chains. One implementation a family.

import type { Family } from '@parley/core/families.ts';

export type NodeInfo = { readonly name: string; readonly version: string };

/** A token of a dev chain; anyone may mint it. */
export type DevToken = {
  /** The contract's own name in contracts/{evm,tron}/dev/; on Solana `SplDollar`. */
  readonly contract: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly address: string;
};

/** How other programs reach the chain: part of the market's ready line. */
export type ChainInfo = {
  readonly chain: string;
  readonly family: Family;
  /** Bitcoin: with credentials. TRON: base of the HTTP API, `/jsonrpc` and the like too. */
  readonly rpcUrl: string;
  /** The same for pages of this machine, where the node itself answers none. */
  readonly pageUrl?: string;
  readonly chainId?: number;
  readonly node: NodeInfo;
  /** A real node's: it cannot be moved. */
  readonly hasOwnClock?: boolean;
  /** TRON: the contract that holds every escrow of the chain, base58. */
  readonly escrows?: string;
  /** TRON: the transaction that created it, hex. */
  readonly escrowsCreation?: string;
  /** Solana: the escrow program, and the cluster's id. */
  readonly program?: string;
  readonly genesisHash?: string;
  /** Bitcoin: the address of the faucet's wallet, for people who have no address of this chain. */
  readonly ownAddress?: string;
  /** Tokens to trade; Bitcoin has no such tokens. */
  readonly tokens?: readonly DevToken[];
  /** Tokens that misbehave, for tests. */
  readonly hostileTokens?: readonly DevToken[];
};

export type ChainHead = {
  readonly height: number;
  readonly time: number;
  /** Unix seconds that timelocks compare with (BIP 113); on EVM the same as `time`. */
  readonly medianTime: number;
};

export type Gift = {
  readonly address: string;
  /** Null is the native coin, else the contract address of a token of this chain. */
  readonly token: string | null;
  /** Base units; null for the default gift. */
  readonly amount: bigint | null;
};

export type DevChain = {
  readonly info: ChainInfo;
  readonly nativeSymbol: string;
  head(): Promise<ChainHead>;
  /** Sends coins and mines them. Throws RefusedRequest on a bad address or amount. */
  give(gift: Gift): Promise<{ txid: string; amount: bigint }>;
  mine(blocks: number): Promise<void>;
  /**
   * Moves the chain's clock (and its median time) to `now`, Unix seconds; never backwards.
   * `emptyBlocks`: on Bitcoin, whose clock only blocks move, they leave out what waits for one.
   */
  moveTo(now: number, emptyBlocks?: boolean): Promise<void>;
  /** Whether its node is gone; simulators, which are part of this process, have none. */
  hasEnded?(): boolean;
  /** One step of mining by itself; called a few times a second, never twice at once. */
  tick(): Promise<void>;
  /** Off: no block unless `mine` asks for it, so that a test can look between two blocks. */
  setAutomatic(automatic: boolean): Promise<void>;
  /** Simulators alone: forgets the newest blocks, as a fork would; never final ones. */
  takeBack?(blocks: number): void | Promise<void>;
  stop(): Promise<void>;
};
