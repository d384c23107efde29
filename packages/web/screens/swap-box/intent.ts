// A press on "Get live quotes" that waits for a sign-in, in this tab alone: afterwards the same order is
// posted without another press. One order has one key, so that a request that is sent again, for
// example after no answer came, makes no second order.

import { ParleyApiError } from '@parley/sdk/errors.ts';
import { recalled, remember } from '../../texts/remembered.ts';

const kept = 'parley.asking';

/** A sign-in by e-mail takes minutes; what is older is not what a person has in mind. */
export const longestMs = 15 * 60_000;

type Intent = {
  /** The request for quotes, as it is sent. */
  readonly said: string;
  readonly key: string;
  readonly atMs: number;
  /** The account that pressed; null: nobody was signed in. */
  readonly by: string | null;
  /** Posted as soon as somebody is signed in. */
  readonly waits: boolean;
};

function intentNow(): Intent | null {
  return JSON.parse(recalled('sessionStorage', kept) ?? 'null');
}

/** The idempotency key of this order: the same one for as long as the form says the same. */
export function pressed(
  said: string,
  nowMs: number,
  { waits, by }: Pick<Intent, 'waits' | 'by'>,
): string {
  const former = intentNow();
  const key = former?.said === said ? former.key : crypto.randomUUID();
  const intent: Intent = { said, key, atMs: nowMs, waits, by };
  remember('sessionStorage', kept, JSON.stringify(intent));
  return key;
}

/** Once for one press, where the form still says what it said then, and not in another account. */
export function takesUp(said: string, nowMs: number, by: string): boolean {
  const intent = intentNow();
  if (intent === null || !intent.waits || intent.said !== said) return false;
  remember('sessionStorage', kept, JSON.stringify({ ...intent, waits: false }));
  return nowMs - intent.atMs < longestMs && (intent.by ?? by) === by;
}

/** Sends the order. A refusal is the answer to its key: the next press asks anew. */
export async function posted<T>(send: () => Promise<T>): Promise<T> {
  try {
    const made = await send();
    forget();
    return made;
  } catch (error) {
    if (error instanceof ParleyApiError && !error.unreachable) forget();
    throw error;
  }
}

/** The order is there, or nobody wants it: the next one, even with the same words, is another. */
export function forget(): void {
  remember('sessionStorage', kept, null);
}
