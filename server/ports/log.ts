// The log, on standard error. Of an error it tells where and what, never the values it carries: the
// database's details quote whole rows, and facts are for the caller.

import { type Logger, pino } from 'pino';

/** An error wraps another, and that one a third; deeper ones say nothing new. */
const deepest = 3;
const longest = 1_000;

export function createLog(level: string): Logger {
  const serializers = { err: (error: unknown) => faultOf(error) };
  return pino({ level, base: null, serializers }, pino.destination(2));
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
