// What is said of a node that did not answer: how long a call of the doctor may take, and what
// gives it longer. The words of a request's refusal end with what they promise a customer, who
// changed nothing here.

import { ParleyError } from '../../core/errors.ts';

/** Of one call, where the settings give less: nobody waits for the doctor as for a request. */
const patientMs = 20_000;
/** Of a part: a node is asked two or three times in it, and is to be named before it is over. */
const shareOfPart = 1 / 3;

export function callLimitMs(chainTimeoutMs: number, partMs: number): number {
  return Math.max(chainTimeoutMs, Math.min(patientMs, Math.floor(partMs * shareOfPart)));
}

export type Silence = { readonly why: string; readonly todo: string };

const busy = 'see whether its node hangs or this machine is busy';
const away = 'bring its node back, or correct its address in PARLEY_CHAINS, and look again';

/** Never a library's own words, which may name the node's address and the key in it. */
export function silenceOf(error: unknown, limitMs: number): Silence {
  const todo = `${busy} (PARLEY_CHAIN_TIMEOUT_MS above ${limitMs} gives it longer), and look again`;
  const limit = `a call may take ${limitMs} ms; PARLEY_CHAIN_TIMEOUT_MS gives it more`;
  if (error instanceof ParleyError) {
    const isLate = error.kind === 'timeout';
    const words = plainWords(error.message);
    return isLate ? { why: `${words} (${limit})`, todo } : { why: words, todo: away };
  }
  const isLate = (error as Error | null)?.name === 'TimeoutError';
  return isLate
    ? { why: `it did not answer in time (${limit})`, todo }
    : { why: 'its node failed', todo: away };
}

/** Of a node that was asked who it is, which has a limit of its own. */
export function identitySilence(words: string, limitMs: number): Silence {
  return /TimeoutError|in time/.test(words)
    ? { why: `not even who it is was told within ${limitMs} ms`, todo: `${busy}, and look again` }
    : { why: plainWords(words), todo: away };
}

/** Without the promise that a request changed nothing. */
function plainWords(sentence: string): string {
  return sentence.replace(/; nothing changed$/, '');
}
