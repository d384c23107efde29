// The log, on standard error. The entry of an error has its place and kind, never the values it
// carries: the database's details quote whole rows, and facts are for the caller.

import { type DestinationStream, type Logger, pino } from 'pino';
import { causeNow } from './cause.ts';

/** An error wraps another, and that one a third; deeper ones say nothing new. */
const deepest = 3;
const longest = 1_000;

/** `out`: instead of standard error. */
export function createLog(level: string, out: DestinationStream = pino.destination(2)): Logger {
  const serializers = { err: (error: unknown) => faultOf(error) };
  // pino writes into what it is given.
  const mixin = () => ({ ...causeNow() });
  return pino({ level, base: null, serializers, mixin }, out);
}

export type Fault = {
  readonly name: string;
  readonly message?: string;
  readonly stack?: string;
  readonly code?: string;
  readonly cause?: Fault;
};

export function faultOf(error: unknown, depth = 1): Fault {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    name,
    message: message.slice(0, longest),
    ...(stack === undefined ? {} : { stack: framesOf(stack) }),
    ...(typeof code === 'string' ? { code } : {}),
    ...(cause instanceof Error && depth < deepest ? { cause: faultOf(cause, depth + 1) } : {}),
  };
}

/** Without the message, which a stack repeats. */
function framesOf(stack: string): string {
  const frames = stack.split('\n').filter((line) => /^ {4}at /.test(line));
  return frames.join('\n').slice(0, 4 * longest);
}
