// Arguments into a command and what was given to it. The error names a word that is not understood,
// with the nearest that is.

import { parseArgs } from 'node:util';
import { distanceOf } from '@parley/sdk/rescue/distance.ts';
import { misused } from '@parley/trader/failures.ts';
import type { Globals } from '@parley/trader/io.ts';
import type { Given } from './command.ts';
import { type Command, type CommandName, commands, globals, type Option } from './table.ts';

export type Asked =
  | { readonly is: 'help'; readonly of: Command | null }
  | { readonly is: 'version' }
  | {
      readonly is: 'run';
      readonly command: CommandName;
      readonly given: Given;
      readonly globals: Globals;
    };

type Values = Readonly<
  Record<string, string | boolean | readonly (string | boolean)[] | undefined>
>;

/** Throws Failure `usage`. */
export function understood(args: readonly string[]): Asked {
  const options = allOptions();
  const { values, positionals } = parsed(args, options);
  if (values.version === true) return { is: 'version' };
  if (positionals[0] === 'help') return { is: 'help', of: named(positionals.slice(1)) };
  const command = commandOf(positionals);
  if (values.help === true) return { is: 'help', of: command };
  if (command === null) {
    if (positionals.length === 0) return { is: 'help', of: null };
    throw unknownCommand(positionals);
  }
  for (const name of Object.keys(values)) {
    if (!(name in globals) && !(name in command.options)) {
      throw misused(`"${command.name}" has no option --${name}`);
    }
  }
  const rest = positionals.slice(command.name.split(' ').length);
  mustFit(command, rest);
  for (const [name, option] of Object.entries({ ...globals, ...command.options })) {
    mustBeChoice(`--${name}`, option, listOf(values[name]));
  }
  return {
    is: 'run',
    command: command.name,
    given: givenOf(rest, values),
    globals: {
      profile: textOf(values.profile),
      json: values.json === true,
      yes: values.yes === true,
      passphraseFd: descriptorOf('--passphrase-fd', textOf(values['passphrase-fd'])),
    },
  };
}

/** `null`: no command is named. Throws Failure `usage`. */
function named(positionals: readonly string[]): Command | null {
  const command = commandOf(positionals);
  if (command === null && positionals.length > 0) throw unknownCommand(positionals);
  return command;
}

/** The options of all commands: a name means the same kind of option everywhere. */
function allOptions(): Readonly<Record<string, Option>> {
  const each = commands.map(({ options }) => options);
  return Object.assign({ version: { about: '' } }, globals, ...each) as Record<string, Option>;
}

function parsed(args: readonly string[], options: Readonly<Record<string, Option>>) {
  const config = Object.entries(options).map(([name, { value, many = false }]) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const);
    return [name, { type, multiple: many }] as const;
  });
  for (const [at, arg] of args.entries()) {
    if (arg === '--') break;
    const name = /^--([^=]+)/.exec(arg)?.[1];
    if (name === undefined) {
      if (/^-[^\d]/.test(arg)) throw misused(`"${arg}" is no option: options begin with --`);
      continue;
    }
    const option = options[name];
    if (option === undefined) {
      throw misused(`there is no option --${name}${nearTo(name, Object.keys(options), '--')}`);
    }
    if (option.value === undefined || arg.includes('=')) continue;
    const next = args[at + 1];
    if (next === undefined || next.startsWith('--')) {
      throw misused(`--${name} wants a value: --${name} ${option.value}`);
    }
  }
  try {
    const found = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: Object.fromEntries(config),
    });
    return { values: found.values as Values, positionals: found.positionals };
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. To specify ');
    throw misused(sentence);
  }
}

function commandOf(positionals: readonly string[]): (typeof commands)[number] | null {
  const named = (words: number) => {
    const name = positionals.slice(0, words).join(' ');
    return commands.find((each) => each.name === name);
  };
  return named(2) ?? named(1) ?? null;
}

function unknownCommand(positionals: readonly string[]) {
  const [first = '', second = ''] = positionals;
  const inside = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (inside.length > 0) {
    const names = inside.map(({ name }) => name.slice(first.length + 1));
    const what = second === '' ? `"${first}" alone does nothing` : `"${second}" is no ${first}`;
    return misused(`${what}: ${names.join(', ')}`);
  }
  const names = ['help', ...commands.map(({ name }) => name.split(' ')[0] ?? '')];
  return misused(`"${first}" is no command${nearTo(first, [...new Set(names)], '')}`);
}

function mustFit({ name, args }: Command, given: readonly string[]): void {
  const least = args.filter(({ optional }) => !optional).length;
  const hasMany = args.at(-1)?.many === true;
  if (given.length < least) {
    const missing = args[given.length]?.name ?? '';
    throw misused(`"${name}" wants ${missing}: parley ${name} ${shapeOf(args)}`);
  }
  if (given.length > args.length && !hasMany) {
    throw misused(`"${given[args.length]}" is more than "${name}" takes`);
  }
  for (const [at, argument] of args.entries()) {
    const value = given[at];
    if (value !== undefined) mustBeChoice(argument.name, argument, [value]);
  }
}

export function shapeOf(args: Command['args']): string {
  return args
    .map(({ name, choices, optional, many }) => {
      const shown = `${choices?.join('|') ?? name}${many ? '…' : ''}`;
      return optional ? `[${shown}]` : shown;
    })
    .join(' ');
}

function mustBeChoice(
  name: string,
  { choices }: { readonly choices?: readonly string[] },
  values: readonly string[],
): void {
  const strange = values.find((value) => choices !== undefined && !choices.includes(value));
  if (strange === undefined) return;
  throw misused(`${name} is ${choices?.join(', ')}, not "${strange}"`);
}

function givenOf(args: readonly string[], values: Values): Given {
  return {
    args,
    text: (option) => textOf(values[option]),
    all: (option) => listOf(values[option]),
    has: (option) => values[option] === true,
  };
}

const textOf = (value: Values[string]) => (typeof value === 'string' ? value : undefined);

function listOf(value: Values[string]): readonly string[] {
  const all = Array.isArray(value) ? (value as readonly (string | boolean)[]) : [value];
  return all.filter((each) => typeof each === 'string');
}

export function wholeNumber(
  option: string,
  given: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const value = /^(?:0|[1-9]\d{0,14})$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw misused(`${option} is a whole number from ${least} to ${most}, not "${given}"`);
}

/** null: the option is absent. */
export function descriptorOf(option: string, given: string | undefined): number | null {
  return given === undefined ? null : wholeNumber(option, given, { least: 0, most: 1_023 });
}

/** The one of fewest changes, at most two; null where none is so near. */
function nearTo(given: string, known: readonly string[], mark: string): string {
  const distances = known.map((name) => ({ name, far: distanceOf(given, name) }));
  const [best] = distances.sort((a, b) => a.far - b.far);
  return best === undefined || best.far > 2 ? '' : `: did you mean ${mark}${best.name}?`;
}
