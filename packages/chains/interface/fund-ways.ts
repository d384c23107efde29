// Fundings of a token by its funder's signature instead of an approval. Only EVM chains have them.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { FundAlternative, TokenDomain, TypedData } from './material.ts';
import type { WatchedEscrow } from './reading.ts';

/** How much a funder lets the contract take: the amount it funds now, or any number of fundings. */
export type Allowance = 'exact' | 'standing';

/** Which signatures of its holders a token takes, and under which domain. */
export type TokenAbilities = {
  /** EIP-2612. */
  readonly permit: TokenDomain | null;
  /** EIP-3009 `receiveWithAuthorization`. */
  readonly authorization: TokenDomain | null;
};

export type WaysInput = {
  readonly escrow: WatchedEscrow;
  readonly abilities: TokenAbilities;
  /** Whether they were found just now, so that they need not be tried again. */
  readonly isFresh: boolean;
  /** Whether the contract may not take the amount yet, so that a permit saves an approval. */
  readonly needsAllowance: boolean;
  readonly allowance: Allowance;
  /** Whether the text of an authorization is given. From then on the leg must not move. */
  readonly authorizes: boolean;
  /** The payee's, for a lane of its own. */
  readonly laneSignature?: string;
  readonly deadline: UnixSeconds;
};

export type FundWays = {
  /** Found by trying with a throw-away key. It throws where the node cannot answer. */
  abilities(token: string, signal: AbortSignal): Promise<TokenAbilities>;
  /** Whether its key alone signs for an account. One with code is offered no way to sign. */
  signsByKey(account: string, signal: AbortSignal): Promise<boolean>;
  /** For the refund address to sign; null where there is nothing to sign. Pure. */
  authorization(terms: EscrowTerms, abilities: TokenAbilities): TypedData | null;
  /** null: the token is not any more as the abilities have it, and is to be tried anew. */
  alternatives(input: WaysInput, signal: AbortSignal): Promise<readonly FundAlternative[] | null>;
  /** Whether a signature may still open it: not past its fund-by at depth, nor its counter used. */
  mayOpen(escrow: WatchedEscrow, signal: AbortSignal): Promise<boolean>;
};
