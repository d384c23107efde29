// How to use it, written from the table of commands.

import { shapeOf } from './arguments.ts';
import { type Command, commands, globals, type Option } from './table.ts';

const width = 24;

/** `null`: the help of the program. */
export function helpOf(command: Command | null): string {
  return command === null ? overview() : page(command);
}

/** Its first line, of the command that the first words name, else of the program. */
export function usageOf(args: readonly string[]): string {
  const named = [2, 1].map((words) =>
    commands.find(({ name }) => name === args.slice(0, words).join(' ')),
  );
  const [line = ''] = helpOf(named.find((each) => each !== undefined) ?? null).split('\n');
  return line;
}

function overview(): string {
  const names = commands.map(({ name, about }) => `  ${name.padEnd(width - 2)}${about}`);
  return [
    'usage: parley COMMAND [ARGUMENTS] [OPTIONS]',
    '       parley help [COMMAND]',
    '',
    ...names,
    '',
    'options of every command:',
    ...optionLines(globals),
    '',
    'An ASSET is CHAIN for its own coin, such as bitcoin; else CHAIN:SYMBOL or CHAIN:CONTRACT.',
    'Exit status: 0 done, 2 usage, 3 refused by the market, 4 market unavailable, 5 not verified,',
    '6 chain unavailable, 7 needs you, 8 not received, 9 a local file, 1 a fault, 130 interrupted.',
  ].join('\n');
}

function page({ name, about, more = [], args, options, examples = [] }: Command): string {
  const own = Object.keys(options).length > 0;
  const shape = [name, shapeOf(args), own ? '[OPTIONS]' : ''].filter(Boolean).join(' ');
  return [
    `usage: parley ${shape}`,
    '',
    `${about}.`,
    ...(more.length > 0 ? ['', ...more] : []),
    ...(own ? ['', 'options:', ...optionLines(options)] : []),
    '',
    'options of every command:',
    ...optionLines(globals),
    ...(examples.length > 0 ? ['', 'examples:', ...examples.map((each) => `  ${each}`)] : []),
  ].join('\n');
}

function optionLines(options: Readonly<Record<string, Option>>): string[] {
  return Object.entries(options).map(([name, { value, choices, many, about }]) => {
    const shown = `--${name}${value === undefined ? '' : ` ${value}`}`;
    const which = choices === undefined ? '' : ` (${choices.join(', ')})`;
    return `  ${shown.padEnd(width)}  ${about}${which}${many ? '; several times' : ''}`;
  });
}
