// What the keeper has on a chain: a key that pays for gas, and how much of it a day may cost.

import type { GasAccount } from '../../chains/gas/account.ts';

export type Graces = {
  /** How long a party that could claim is waited for, less as its timelock nears. */
  readonly claimSeconds: number;
  readonly refundSeconds: number;
};

/** What relays may take on a chain in a UTC day; they are outside the cap of everything else. */
export type RelayBounds = {
  /** Base units of the native coin, of all relays; one account may take a quarter. */
  readonly cap: bigint;
  /** How many of one account. */
  readonly perAccount: number;
  /** Solana: receivers' token accounts that relays and claims make; one account has a quarter. */
  readonly tokenAccounts: number;
};

/** What fundings sent for who signed them may take in a UTC day; a cap of their own, too. */
export type FundingBounds = {
  /** Base units of the native coin, of all fundings; one account may take a quarter. 0 = none. */
  readonly cap: bigint;
  readonly perAccount: number;
};

export type Gas = {
  readonly account: GasAccount;
  /** Base units of the native coin that a UTC day may cost, relays not counted; 0 = relays only. */
  readonly dailyCap: bigint;
  /** Base units: below it the log warns. */
  readonly lowBalance: bigint;
  readonly graces: Graces;
  readonly relays: RelayBounds;
  readonly fundings: FundingBounds;
};
