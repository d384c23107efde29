// How commands understand their arguments, and end: 0 with how to use it where that is asked for, 2
// where what was asked for is not understood, with one sentence that has the wrong part in it.

import { type ParseArgsConfig, parseArgs } from 'node:util';

export class Misused extends Error {}

/**
 * Text of strangers for a terminal: a character that moves its cursor, changes its title or shows
 * other words than there are is escaped, as JSON escapes it. Lines stay.
 */
export const harmless = (text: string) =>
  text.replaceAll(/[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);

/** The same of a part of a line: it cannot make up a line of its own. */
export const onOneLine = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);

function escaped(character: string): string {
  const units = character.split('').map((each) => each.charCodeAt(0));
  return units.map((each) => `\\u${each.toString(16).padStart(4, '0')}`).join('');
}

type Config = ParseArgsConfig & { readonly args: string[] };

export function parsed<const Given extends Config>(
  config: Given,
): ReturnType<typeof parseArgs<Given>> {
  mustHaveValues(config);
  try {
    return parseArgs(config);
  } catch (error) {
    // The rest is about positional arguments that begin with a dash.
    const [sentence = ''] = (error as Error).message.split('. To specify ');
    throw new Misused(sentence);
  }
}

/** Node says of these that they are ambiguous, in three lines without the value. */
function mustHaveValues({ args, options = {} }: Config): void {
  for (const [at, arg] of args.entries()) {
    const next = args[at + 1];
    if (arg === '--') return;
    if (options[arg.slice(2)]?.type !== 'string' || !arg.startsWith('--')) continue;
    if (next === undefined) throw new Misused(`${arg} wants a value`);
    if (next.startsWith('-')) throw new Misused(`"${next}" is no value for ${arg}`);
  }
}

type Commanded = {
  optsWithGlobals(): object;
  error(sentence: string): never;
};

/**
 * The hook before an action of commander, which reads `--profile --json` as a profile of the name
 * "--json", and `halt --reason --asset X` as a reason, and X as the thing to halt.
 */
export function mustTakeValues(_: unknown, command: Commanded): void {
  const values: unknown[] = Object.values(command.optsWithGlobals()).flat();
  const taken = values.find((value) => typeof value === 'string' && value.startsWith('--'));
  if (taken !== undefined) command.error(`error: '${taken}' stands in the place of a value`);
}

export function wholeNumber(
  option: string,
  given: string,
  { least = 1, most }: { readonly least?: number; readonly most: number },
): number {
  const value = /^(0|[1-9]\d{0,15})$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Misused(`${option} is a whole number from ${least} to ${most}, not "${given}"`);
}

export type Command<Asked> = {
  readonly usage: string;
  /** Null: how to use it is asked for. Throws `Misused`. */
  understand(args: string[]): Asked | null;
  run(asked: Asked): Promise<number>;
};

/** Its exit status is the process's; an error about arguments comes with the usage. */
export async function runCommand<Asked>(command: Command<Asked>): Promise<void> {
  process.exitCode = await statusOf(command);
}

async function statusOf<Asked>({ usage, understand, run }: Command<Asked>): Promise<number> {
  leaveWithReader(0);
  try {
    const asked = understand(process.argv.slice(2));
    if (asked !== null) return await run(asked);
    process.stdout.write(`${usage}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(said(error, usage));
    return error instanceof Misused ? 2 : 1;
  }
}

/** The arguments of a program that goes on by itself; else the process ends here. */
export function understood<Asked>({ usage, understand }: Omit<Command<Asked>, 'run'>): Asked {
  try {
    const asked = understand(process.argv.slice(2));
    if (asked !== null) return asked;
  } catch (error) {
    if (!(error instanceof Misused)) throw error;
    process.stderr.write(said(error, usage));
    process.exit(2);
  }
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}

function said(error: unknown, usage: string): string {
  const sentence = error instanceof Error ? error.message : String(error);
  const lines = [sentence, ...(error instanceof Misused ? [usage] : [])];
  return harmless(`${lines.filter(Boolean).join('\n')}\n`);
}

/** A reader that leaves, such as `head`, ends the program without a word. */
export function leaveWithReader(status: number): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(status);
    throw error;
  });
}
