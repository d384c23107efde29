// The input of a command, and its description.

import type { Cli } from '@parley/trader/io.ts';

export type Given = {
  readonly args: readonly string[];
  text(option: string): string | undefined;
  all(option: string): readonly string[];
  has(option: string): boolean;
};

/** A number that it resolves to is the exit status; else that is 0. */
export type Run = (cli: Cli, given: Given) => Promise<unknown>;
