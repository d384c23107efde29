// An adapter's knowledge of the tokens of its chain.

import type { Inspection, PowerRules } from '@parley/tokens/inspection.ts';
import type { LaunchReader } from '@parley/tokens/launches.ts';
import type { FundWays } from './fund-ways.ts';
import type { EvmCall } from './material.ts';

/** EVM: the questions of a funder to its own node before it signs a funding. All of the best
 * block. */
export type SigningReads = {
  /** DOMAIN_SEPARATOR() of a token, hex with 0x; null: it has none. */
  separator(token: string, signal: AbortSignal): Promise<string | null>;
  /** nonces() of a token with permits; null: it has none. */
  permitNonce(token: string, owner: string, signal: AbortSignal): Promise<bigint | null>;
  /** null where the call works now, without a value; else why not. */
  trial(call: EvmCall, from: string, signal: AbortSignal): Promise<string | null>;
};

/** All of it is absent where a chain has no tokens. */
export type Tokens = {
  /**
   * Throws `not_a_token`. It throws where the node cannot answer, which says nothing of the token.
   */
  inspect?(token: string, rules: PowerRules, signal: AbortSignal): Promise<Inspection>;

  /** As the token itself says. A node that cannot answer throws. */
  decimals?(token: string, signal: AbortSignal): Promise<number>;

  /** The tokens that launchpads launch. Absent where a chain has no tokens. */
  readonly launches?: LaunchReader;

  /** Fundings by signature. Absent where no token takes them. */
  readonly ways?: FundWays;

  /** Absent where no token is funded by a signature alone. */
  readonly signing?: SigningReads;
};
