// Who plays in a trial. Drawn anew each time: a token could be kind to those that it knows.

import { randomBytes } from 'node:crypto';

const addressBytes = 20;

export type Actors = {
  readonly holder: string;
  readonly second: string;
  readonly spender: string;
  /** A contract that holds tokens, as a market does. */
  readonly contract: string;
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
