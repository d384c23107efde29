// One command, from its arguments to its exit status. Every failure is reported in one sentence.

import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { misused, statuses, type Told, toldOf } from '@parley/trader/failures.ts';
import { failed, type Io, note } from '@parley/trader/io.ts';
import { grammar } from './grammar.ts';

export async function runParley(args: readonly string[], io: Io): Promise<number> {
  let status: number = statuses.done;
  const done = (result: unknown) => {
    if (typeof result === 'number') status = result;
  };
  const program = grammar({ cli: io, done });
  try {
    await program.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    const isMisused = error instanceof CommanderError;
    if (isMisused && error.exitCode === 0) return statuses.done;
    const told: Told = io.signal.aborted
      ? { class: 'interrupted', code: 'interrupted', sentence: 'interrupted' }
      : toldOf(isMisused ? misused(sentenceOf(error)) : error);
    const json = args.includes('--json');
    failed({ err: io.err, json }, told);
    if (told.class === 'usage' && !json) note(io, usageOf(program, args));
    return statuses[told.class];
  }
}

/** Without a command the program's help is the error: its first line says as much. */
function sentenceOf({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'name a command';
  return message.replace(/^error: /, '').replaceAll('\n', ' ');
}

/** The usage of the command that the arguments name, else of the program. */
function usageOf(program: CommandUnknownOpts, args: readonly string[]): string {
  let named = program;
  for (const word of args) named = named.commands.find((each) => each.name() === word) ?? named;
  return `usage: ${named.createHelp().commandUsage(named)}`;
}
