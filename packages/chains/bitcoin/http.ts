// An exchange with a node or an Esplora. No message quotes the address, which may hold credentials.

import { ParleyError } from '@parley/core/errors.ts';
import { exchangeWith } from '#transport';
import {
  AnswerTooLong,
  type NodeLimits,
  type NodeReply,
  type NodeRequest,
  NothingReadable,
  NotNow,
} from '../nodes/exchange.ts';

/** Throws `chain_timeout` or `chain_unavailable`, naming `source`. */
export async function exchange(
  source: string,
  request: NodeRequest,
  limits: NodeLimits,
  signal: AbortSignal,
): Promise<NodeReply> {
  try {
    return await exchangeWith(request, limits, signal);
  } catch (cause) {
    if (cause instanceof AnswerTooLong) {
      throw unavailable(source, `its answer is over ${limits.bytes} bytes`);
    }
    if (signal.aborted || isLate(cause)) throw timedOut(source, cause);
    throw unavailable(source, reasonOf(cause), cause);
  }
}

const isLate = (cause: unknown) => cause instanceof Error && cause.name === 'TimeoutError';

export function timedOut(source: string, cause?: unknown): ParleyError {
  const sentence = `the ${source} did not answer in time; the request changed nothing`;
  return new ParleyError('chain_timeout', sentence, { source }, { cause });
}

export function unavailable(source: string, reason: string, cause?: unknown): ParleyError {
  const sentence = `the ${source} is not available: ${reason}`;
  return new ParleyError('chain_unavailable', sentence, { source }, { cause });
}

/** For bytes: it may have heard them, and is offered them again for some seconds. */
export function busy(source: string, reason: string): ParleyError {
  return unavailable(source, reason, new NotNow(reason));
}

/** Such as ECONNREFUSED; never a text with the address in it. */
function reasonOf(cause: unknown): string {
  if (cause instanceof NothingReadable) return cause.message;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return code === '' ? 'the connection failed' : `the connection failed (${code})`;
}
