// `npm run ops`: the commands of operators under one name.

import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { harmless, leaveWithReader, Misused } from '@parley/host/command.ts';
import { type Ended, grammar } from './ops/grammar.ts';

const args = process.argv.slice(2);
const checkout = 'npm run ops --';
// The launchers of a release set it: a user of one has no npm. JSON is for programs.
const called = process.env.PARLEY_CALLED_AS || checkout;
const isJson = args.includes('--json');
if (called !== checkout && !isJson) {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (text: unknown, ...more: unknown[]) => boolean;
    stream.write = (text: unknown, ...more: unknown[]) =>
      write(typeof text === 'string' ? text.replaceAll(checkout, called) : text, ...more);
  }
}

const ended: Ended = { status: 0 };
const program = grammar(checkout, ended);
// Where a failure must not read as well, half an answer must not either.
leaveWithReader(args.includes('doctor') ? 2 : 0);
try {
  await program.parseAsync(args, { from: 'user' });
} catch (error) {
  const isMisused = error instanceof CommanderError || error instanceof Misused;
  if (!(error instanceof CommanderError && error.exitCode === 0)) {
    const lines = [sentenceOf(error), ...(isMisused ? [usageOf(program)] : [])];
    process.stderr.write(harmless(`${lines.filter(Boolean).join('\n')}\n`));
    if (isMisused) ended.status = 2;
  }
}
process.exitCode = ended.status;

/** Without a command the program's usage is the error. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof CommanderError)) return error.message;
  if (error.code === 'commander.help') return '';
  return error.message.replace(/^error: /, '').replaceAll('\n', ' ');
}

/** The usage of the command that the arguments name, else of the program. */
function usageOf(named: CommandUnknownOpts): string {
  let of = named;
  for (const word of args) of = of.commands.find((each) => each.name() === word) ?? of;
  return `usage: ${of.createHelp().commandUsage(of)}`;
}
