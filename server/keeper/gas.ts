// What the keeper has on a chain: a key that pays for gas, and how much of it a day may cost.

import type { GasAccount } from '../../chains/gas-account.ts';

export type Graces = {
  /** How long a party that could claim is waited for, less as its timelock nears. */
  readonly claimSeconds: number;
  readonly refundSeconds: number;
};

export type Gas = {
  readonly account: GasAccount;
  /** Base units of the native coin that a UTC day may cost, relays not counted; 0 = relays only. */
  readonly dailyCap: bigint;
  /** Base units: below it the log warns. */
  readonly lowBalance: bigint;
  readonly graces: Graces;
};
