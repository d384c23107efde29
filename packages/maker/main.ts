// `parley-maker config.toml`: a market maker by one file of settings. docs/maker.md says how.

import { readFile, stat } from 'node:fs/promises';
import type { Millis } from '@parley/core/nominal.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { check } from './check.ts';
import { type Config, ConfigError, parseConfig } from './config/config.ts';
import { modeOf, turn, type Verb, verbs } from './control.ts';
import { readJournal } from './journal.ts';
import { runMaker } from './run.ts';

const usage = `usage: parley-maker CONFIG [run]    quotes, accepts and settles, until SIGTERM
       parley-maker CONFIG check    asks nodes, price sources and clocks: balances, gas, faults
       parley-maker CONFIG status   the switch, and what is open, as JSON
       parley-maker CONFIG pause    nothing new is quoted; what is quoted may be accepted
       parley-maker CONFIG kill     nothing new is agreed; what is agreed is settled
       parley-maker CONFIG resume   undoes pause and kill
CONFIG is a file of settings in TOML (docs/maker.md).
Exit status: 0 well, 1 failed, 2 not understood.`;

const commands = ['run', 'check', 'status', ...verbs] as const;
type Command = (typeof commands)[number];

const say = (line: string) => process.stdout.write(`${line}\n`);

/** `movedMs`: the milliseconds by which a dev network's clocks were moved. */
export async function main(args: readonly string[], movedMs?: () => Millis): Promise<number> {
  const [file, asked = 'run', ...more] = args;
  const command = commands.find((each) => each === asked);
  if (file === '--help' || file === '-h') {
    say(usage);
    return 0;
  }
  if (file === undefined || command === undefined || more.length > 0) {
    process.stderr.write(`${usage}\n`);
    return 2;
  }
  try {
    const config = parseConfig(await textOf(file), file);
    return await done(command, config, movedMs);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    return error instanceof ConfigError ? 2 : 1;
  }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

async function done(command: Command, config: Config, movedMs?: () => Millis): Promise<number> {
  switch (command) {
    case 'run':
      return run(config, movedMs);
    case 'check':
      return (await check(config, say, movedMs)) ? 0 : 1;
    case 'status':
      return status(config);
    default:
      return switched(config, command);
  }
}

async function run(config: Config, movedMs?: () => Millis): Promise<number> {
  const stopped = new Promise<void>((resolve) => {
    const end = () => resolve();
    process.once('SIGTERM', end).once('SIGINT', end);
  });
  const maker = await runMaker(config, {
    out: process.stdout,
    ...(movedMs === undefined ? {} : { movedMs }),
  });
  try {
    await Promise.race([stopped, maker.failed]);
  } finally {
    await maker.stop();
  }
  return 0;
}

async function status({ store }: Config): Promise<number> {
  const deals = [...(await readJournal(store)).values()].filter(({ end }) => end === null);
  const open = deals.map(({ threadId, swapId, pair, acceptedAt }) => {
    return { threadId, swapId, pair, acceptedAt: new Date(acceptedAt * 1_000).toISOString() };
  });
  say(JSON.stringify({ mode: await modeOf(store), open }));
  return 0;
}

async function switched({ store }: Config, verb: Verb): Promise<number> {
  await stat(store).catch(() => {
    throw new Error(`${store} is not there: no maker has run with these settings`);
  });
  await turn(store, verb);
  say(`mode: ${await modeOf(store)}`);
  return 0;
}
