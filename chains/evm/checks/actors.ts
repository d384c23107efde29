// Who plays in a trial. Drawn anew each time and used by nobody else: a token that knew them ahead
// could be kind to them alone.

import { randomBytes } from 'node:crypto';

const addressBytes = 20;

export type Actors = {
  /** Begins with what a trial moves. */
  readonly holder: string;
  readonly second: string;
  readonly spender: string;
  /** A contract that holds tokens, as a market does. */
  readonly contract: string;
  /** Paid by a claim. */
  readonly payout: string;
  /** Paid by a refund; no code is ever lent to it. */
  readonly last: string;
  /** Sends what an actor need not. */
  readonly origin: string;
  readonly director: string;
};

export function freshAddress(): string {
  return `0x${randomBytes(addressBytes).toString('hex')}`;
}

export function newActors(): Actors {
  return {
    holder: freshAddress(),
    second: freshAddress(),
    spender: freshAddress(),
    contract: freshAddress(),
    payout: freshAddress(),
    last: freshAddress(),
    origin: freshAddress(),
    director: freshAddress(),
  };
}
