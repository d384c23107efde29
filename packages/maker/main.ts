// `parley-maker config.toml`: a market maker by one file of settings. docs/maker.md says how.

import { readFile, stat } from 'node:fs/promises';
import { env, stdin, stdout } from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import type { Millis } from '@parley/core/nominal.ts';
import { leaveWithReader, Misused } from '@parley/host/command.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { terminalIo } from '@parley/trader/program.ts';
import { closeChains, openChains } from './chains.ts';
import { check, holdingsOf } from './check.ts';
import { type Config, ConfigError, parseConfig } from './config/config.ts';
import { modeOf, turn, type Verb, verbs } from './control.ts';
import { historyAsked } from './history/asked.ts';
import { history } from './history/history.ts';
import { type Damaged, readJournal } from './journal.ts';
import { backtested, record } from './paper/commands.ts';
import { runDry } from './paper/dry-run.ts';
import { runPaper } from './paper/run.ts';
import { type How, runMaker } from './run.ts';
import { greetingOf } from './watching/greeting.ts';
import { watch } from './watching/watch.ts';
import { withdraw, withdrawAsked } from './withdrawing/withdraw.ts';
import { openOnes } from './withdrawing/withdrawal.ts';

const usage = `usage: parley-maker CONFIG [run]    quotes, accepts and settles, until SIGTERM
       parley-maker CONFIG run --paper      posts nothing, needs no keys: an inventory of paper
       parley-maker CONFIG run --dry-run    posts nothing, and says what it would do
       parley-maker CONFIG record FILE [--hours 24] [--most-mb 1000] [--keep 1]
                                    the feed, prices and fees, as JSON lines; packed with .gz
       parley-maker CONFIG backtest FILE ... [--csv|--json]
                                    the settings over recorded files: trades, inventory, profit
       parley-maker CONFIG check    asks nodes, price sources and clocks: balances, gas, faults
       parley-maker CONFIG status   the switch, and what is open, as JSON
       parley-maker CONFIG watch    pairs, quotes, exposure and open swaps, until q
       parley-maker CONFIG history [--by pair|day|counterparty|swap]
                           [--from DAY] [--to DAY] [--csv|--json]
                                    ended swaps, their profit and the fees paid
       parley-maker CONFIG withdraw ASSET AMOUNT NAME [--yes] [--json] [--id ID]
                                    pays AMOUNT, or all, to an address of [addresses]
       parley-maker CONFIG pause    nothing new is quoted; what is quoted may be accepted
       parley-maker CONFIG kill     nothing new is agreed; what is agreed is settled
       parley-maker CONFIG resume   undoes pause and kill
CONFIG is a file of settings in TOML (docs/maker.md).
Exit status: 0 well, 1 failed, 2 not understood.`;

const commands = [
  'run',
  'check',
  'status',
  'record',
  'backtest',
  'watch',
  'history',
  'withdraw',
  ...verbs,
] as const;
type Command = (typeof commands)[number];
/** Each reads its arguments itself; the others take none. */
const withArguments: readonly Command[] = ['record', 'backtest', 'history', 'withdraw'];
/** Other kinds of `run`. */
const kinds = new Map([
  ['--paper', runPaper],
  ['--dry-run', runDry],
]);

/** How long the greeting waits for balances. */
const greetMs = 10_000;

const say = (line: string) => process.stdout.write(`${line}\n`);

export type Started = {
  /** By how much a dev network's clocks were moved. */
  readonly movedMs?: () => Millis;
  /** How a person starts it; default `parley-maker`. */
  readonly program?: string;
};

export async function main(args: readonly string[], started: Started = {}): Promise<number> {
  const [file, ...rest] = args;
  // `CONFIG --paper` is `CONFIG run --paper`.
  const [asked, ...more] = rest[0]?.startsWith('--') === false ? rest : ['run', ...rest];
  const command = commands.find((each) => each === asked);
  if (args.includes('--help') || file === '-h') {
    say(usage);
    return 0;
  }
  if (file === undefined || command === undefined || !isUnderstood(command, more)) {
    process.stderr.write(`${faultOf(rest, command)}${usage}\n`);
    return 2;
  }
  try {
    const config = parseConfig(await textOf(file), file);
    return await done({ command, config, file, more, ...started });
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    return error instanceof ConfigError || error instanceof Misused ? 2 : 1;
  }
}

/** Names the word that is wrong; there is none where all is missing. */
function faultOf([word, ...more]: readonly string[], command: Command | undefined): string {
  if (word === undefined) return '';
  if (command === undefined) return `"${word}" is no command\n`;
  return `"${more.join(' ') || word}" is not understood\n`;
}

function isUnderstood(command: Command, more: readonly string[]): boolean {
  if (withArguments.includes(command)) return true;
  if (command === 'run' && more.length === 1) return kinds.has(more[0] ?? '');
  return more.length === 0;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

type Asked = {
  readonly command: Command;
  readonly file: string;
  readonly config: Config;
  readonly more: readonly string[];
} & Started;

async function done(asked: Asked): Promise<number> {
  const { command, config, more, movedMs } = asked;
  const how = { out: stdout, ...(movedMs === undefined ? {} : { movedMs }) };
  switch (command) {
    case 'run':
      return run(asked, how);
    case 'record':
      return record(config, more, { ...how, stopped: stopped() });
    case 'backtest':
      return backtested(config, more, { say, warn: (text) => process.stderr.write(`${text}\n`) });
    case 'check':
      return (await check(config, say, movedMs)) ? 0 : 1;
    case 'status':
      return status(config);
    case 'history':
      leaveWithReader(0);
      say(await history(config, historyAsked(more)));
      return 0;
    case 'watch':
      await mustHaveStore(config);
      await watch(config, { input: stdin, output: stdout, env }, interrupted(), movedMs);
      return 0;
    case 'withdraw':
      return withdraw(config, withdrawAsked(more), terminalIo(interrupted()), movedMs);
    default:
      return switched(config, command);
  }
}

/** Aborts at the first interruption. */
function interrupted(): AbortSignal {
  const stop = new AbortController();
  const end = () => stop.abort(new Error('interrupted'));
  process.once('SIGTERM', end).once('SIGINT', end);
  return stop.signal;
}

async function stopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => resolve();
    process.once('SIGTERM', end).once('SIGINT', end);
  });
}

/** For a person at a terminal. A node that does not answer holds nothing up for long. */
async function greet({ config, file, program = 'parley-maker', movedMs }: Asked): Promise<void> {
  const now = () => Date.now() + (movedMs?.() ?? 0);
  const chains = await openChains(config.chains, () => Math.floor(now() / 1_000));
  try {
    const late = wait(greetMs, [], { ref: false });
    const lines = await Promise.race([holdingsOf(config, chains, now), late]);
    const journal = await readJournal(config.store, config.markets[0]?.url ?? '');
    const open = [...journal.values()].filter(({ end }) => end === null);
    const balances =
      lines.length > 0 ? lines.map(({ text }) => text) : ['no node has answered yet'];
    const mode = await modeOf(config.store);
    say(greetingOf({ config, program, file, balances, mode, openSwaps: open.length }));
  } finally {
    await closeChains(chains);
  }
}

async function run(asked: Asked, how: How): Promise<number> {
  const { config, more } = asked;
  const over = stopped();
  const begin = kinds.get(more[0] ?? '');
  // The keys of the wallets are read for the greeting, and paper has none.
  if (begin === undefined && stdout.isTTY === true) {
    await greet(asked);
  }
  const maker = await (begin ?? runMaker)(config, how);
  try {
    await Promise.race([over, maker.failed]);
  } finally {
    await maker.stop();
  }
  return 0;
}

async function status({ store, markets }: Config): Promise<number> {
  const faults: Damaged[] = [];
  const journal = await readJournal(store, markets[0]?.url ?? '', faults);
  const deals = [...journal.values()].filter(({ end }) => end === null);
  const open = deals.map(({ market, threadId, swapId, pair, acceptedAt }) => {
    return {
      market,
      threadId,
      swapId,
      pair,
      acceptedAt: new Date(acceptedAt * 1_000).toISOString(),
    };
  });
  const withdrawals = await openOnes(store);
  const damaged = [...faults, ...withdrawals.damaged].map(({ file, why }) => ({ file, why }));
  say(JSON.stringify({ mode: await modeOf(store), open, ...(damaged.length > 0 && { damaged }) }));
  return 0;
}

async function mustHaveStore({ store }: Config): Promise<void> {
  await stat(store).catch(() => {
    throw new Error(`${store} is not there: no maker has run with these settings`);
  });
}

async function switched(config: Config, verb: Verb): Promise<number> {
  const { store } = config;
  await mustHaveStore(config);
  await turn(store, verb);
  say(`mode: ${await modeOf(store)}`);
  return 0;
}
