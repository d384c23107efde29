// Nodes that are checked before they are used, and again after they were gone.

import { ParleyError } from '@parley/core/errors.ts';

export type Opened = <A extends unknown[], T>(
  work: (...args: [...A, AbortSignal]) => Promise<T>,
) => (...args: [...A, AbortSignal]) => Promise<T>;

type Work<Of> = (of: Of, ...args: never[]) => Promise<unknown>;
/** Members that take the value that they work on. */
export type Works<Of, Members> = Members & { readonly [Name in keyof Members]: Work<Of> };

/** The same members, told of what they work on. */
export type Told<Members> = {
  readonly [Name in keyof Members]: Members[Name] extends (of: never, ...args: infer A) => infer R
    ? (...args: A) => R
    : never;
};

/** Each is told of `of`, and begins when the check has passed. */
export function told<Of, Members extends object>(
  of: Of,
  opened: Opened,
  members: Works<Of, Members>,
): Told<Members> {
  const all = Object.entries<Work<Of>>(members);
  const bound = all.map(([name, work]) => {
    return [name, opened((...args: unknown[]) => work(of, ...(args as never[])))];
  });
  return Object.fromEntries(bound) as Told<Members>;
}

export function opening(check: (signal: AbortSignal) => Promise<void>): {
  readonly open: (signal: AbortSignal) => Promise<void>;
  readonly opened: Opened;
} {
  let checked: Promise<void> | null = null;
  /** Checked until the node is gone; a failed check is repeated by the next call. */
  const open = (signal: AbortSignal): Promise<void> => {
    checked ??= check(signal).catch((error: unknown) => {
      checked = null;
      throw error;
    });
    return checked;
  };
  const opened: Opened =
    (work) =>
    async (...args) => {
      await open(args.at(-1) as AbortSignal);
      try {
        return await work(...args);
      } catch (error) {
        // The server that answers there the next time may be another chain.
        if (error instanceof ParleyError && error.kind === 'unavailable') checked = null;
        throw error;
      }
    };
  return { open, opened };
}
