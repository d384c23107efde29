// The commands of operators, with their arguments, options and help. The work of one is loaded when
// it runs.

import tab from '@bomb.sh/tab/commander';
import {
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { mustTakeValues } from '@parley/host/command.ts';
import { isUuid } from '../ports/ids.ts';

/** The name of the command in a release, and for completion. */
const released = 'parley-ops';
const mostReasons = 20;
/** The limit of a reason, which is kept for ever. */
const mostReasonLength = 500;
const mostLimit = 1_000;
const mostActs = 10_000;

const note = `
Each change is kept for ever with its operator (npm run ops -- audit). PARLEY_OPERATOR is
your name there; else the system's user. Settings as for npm start: DATABASE_URL, or PARLEY_HOME of
a running market. Exit status: 0 done or so already, 1 refused or found something, 2 not understood.`;

type Work<Given extends unknown[]> = (json: boolean, ...given: Given) => Promise<number>;
/** The action of a command; its exit status is `failed` where the work throws. */
type Does = <Given extends unknown[]>(
  load: () => Promise<Work<Given>>,
  failed?: number,
) => (...given: Given) => Promise<void>;

export type Ended = { status: number };

/** `ended` is set to the exit status. Errors of arguments are thrown as CommanderError. */
export function grammar(name: string, ended: Ended): CommandUnknownOpts {
  const root = new Command(released)
    .description('The commands of operators.')
    .option('--json', 'a line of JSON for each answer')
    .helpOption('--help', 'how to use it')
    .addHelpText('after', note)
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => title.toLowerCase() })
    .configureOutput({ writeErr: () => {} })
    .exitOverride();
  const does: Does =
    (load, failed = 1) =>
    async (...given) => {
      ended.status = failed;
      const work = await load();
      ended.status = await work(root.opts().json === true, ...given);
    };
  const program: CommandUnknownOpts = root;
  program.hook('preAction', mustTakeValues);
  assetCommands(program, does);
  haltCommands(program, does);
  accountCommands(program, does);
  webhookCommands(program, does);
  chainCommands(program, does);
  readingCommands(program, does);
  tab(program as unknown as Parameters<typeof tab>[0], { completionCommandName: 'completion' });
  return program.name(name);
}

const assetHelp = 'its id, CHAIN/TOKEN, CHAIN/native, or a symbol that only one asset has';

const reasons = () =>
  new Option('--reason <TEXT>', 'customers are told it; several times')
    .makeOptionMandatory()
    .argParser((text: string, before: readonly string[] = []) => {
      if (before.length < mostReasons) return [...before, reason(text)];
      throw new InvalidArgumentError(`There are at most ${mostReasons}.`);
    });

function assetCommands(root: CommandUnknownOpts, does: Does): void {
  const load = () => import('./assets.ts');
  const assets = root.command('assets').description('tradable assets');
  assets
    .command('list')
    .description('every asset, who holds it closed, and why')
    .addOption(new Option('--state <STATE>').choices(['open', 'closed', 'delisted'] as const))
    .action(does(async () => (await load()).list));
  assets
    .command('candidates')
    .description('tokens that were asked for')
    .addOption(new Option('--state <STATE>').choices(['pending', 'rejected', 'expired'] as const))
    .action(does(async () => (await load()).candidates));
  assets
    .command('close')
    .description('its public RFQs leave the book until it reopens; agreed swaps go on')
    .argument('<ASSET>', assetHelp)
    .addOption(reasons())
    .action(does(async () => (await load()).close));
  assets
    .command('reopen')
    .description('lifts what operators and the daily checks hold closed')
    .argument('<ASSET>', assetHelp)
    .action(does(async () => (await load()).reopen));
  assets
    .command('delist')
    .description('closes it for ever')
    .argument('<ASSET>', assetHelp)
    .addOption(reasons())
    .requiredOption('--for-ever', 'a delisted asset can never be traded again')
    .action(does(async () => (await load()).delist));
  assets
    .command('curate')
    .description('lists it as verified, with source "curated"')
    .argument('<ASSET>', assetHelp)
    .option('--high-value-from <UNITS>', 'base units from which deeper confirmation counts', units)
    .action(does(async () => (await load()).curate));
  assets
    .command('forget')
    .description('what was found about a candidate, a rejection too: it may be asked for again')
    .argument('<CANDIDATE>', 'CHAIN/TOKEN')
    .action(does(async () => (await load()).forget));
}

function haltCommands(root: CommandUnknownOpts, does: Does): void {
  const load = () => import('./halt.ts');
  const chain = () => new Option('--chain <CHAIN>').conflicts(['asset', 'agreements']);
  const asset = () => new Option('--asset <ASSET>', assetHelp).conflicts('agreements');
  const halt = root
    .command('halt')
    .summary('stops what is new on a chain or an asset')
    .description(
      'Stops what is new on a chain or an asset: RFQs that touch it are refused, leave the book and\n' +
        'can be neither quoted nor agreed. Swaps that were agreed go on in every part.',
    )
    .addOption(chain())
    .addOption(asset())
    .option('--reason <TEXT>', 'it is kept', reason)
    .action(does(async () => (await load()).halt));
  halt
    .command('list')
    .description('what is halted')
    .action(does(async () => (await load()).listAll));
  root
    .command('resume')
    .summary('ends a halt, or the wait after missing time')
    .description(
      'Ends a halt: RFQs that have not ended are back on the book. Other reasons for a closed asset\n' +
        'stay.',
    )
    .addOption(chain())
    .addOption(asset())
    .option('--agreements', 'swaps are agreed again after time that the database lacks')
    .option('--revoke-keys', 'with --agreements: every API key ends, as some were revoked then')
    .action(does(async () => (await load()).resume));
}

const why = () =>
  new Option('--reason <TEXT>', 'it is kept').makeOptionMandatory().argParser(reason);

function accountCommands(root: CommandUnknownOpts, does: Does): void {
  const load = () => import('./accounts.ts');
  const about = 'its id, the address of a wallet, or the prefix of an API key';
  const accounts = root.command('accounts').description('the traders');
  accounts
    .command('list')
    .description('the newest accounts')
    .addOption(new Option('--blocked', 'blocked ones').conflicts('by'))
    .addOption(new Option('--by <ORDER>').choices(['recent', 'abandoned', 'settled'] as const))
    .option('--limit <N>', 'at most so many', whole(mostLimit), 50)
    .action(does(async () => (await load()).list));
  accounts
    .command('show')
    .description('everything about one')
    .argument('<ACCOUNT>', about)
    .action(does(async () => (await load()).show));
  accounts
    .command('block')
    .summary('it begins nothing new')
    .description(
      'It begins nothing new: its RFQs, quotes and levels leave the market, and it is answered 403.\n' +
        'Open swaps go on in every part. Its owner is not told the reason.',
    )
    .argument('<ACCOUNT>', about)
    .addOption(why())
    .action(does(async () => (await load()).block));
  accounts
    .command('unblock')
    .description('it may begin again; withdrawn orders do not come back')
    .argument('<ACCOUNT>', about)
    .addOption(why())
    .action(does(async () => (await load()).unblock));
  accounts
    .command('sign-out')
    .description('ends its API keys and browser sessions: its owner signs in again')
    .argument('<ACCOUNT>', about)
    .addOption(why())
    .action(does(async () => (await load()).signOut));
}

function webhookCommands(root: CommandUnknownOpts, does: Does): void {
  const load = () => import('./webhooks.ts');
  const webhooks = root.command('webhooks').description('receivers of customers that fail');
  webhooks
    .command('list')
    .description('those that fail, for longest first; exit status 1 where there are some')
    .option('--off', 'those that are switched off instead')
    .option('--limit <N>', 'at most so many', whole(mostLimit), 100)
    .action(does(async () => (await load()).list));
  webhooks
    .command('show')
    .description('one of them')
    .argument('<ID>', 'of a webhook', uuid)
    .action(does(async () => (await load()).show));
  webhooks
    .command('retry')
    .description('sends the newest deliveries that were given up again, the oldest of them first')
    .argument('<ID>', 'of a webhook', uuid)
    .option('--limit <N>', 'at most so many', whole(mostLimit), 100)
    .action(does(async () => (await load()).retry));
  webhooks
    .command('disable')
    .description('the market sends nothing to it, and no ping of its owner switches it on again')
    .argument('<ID>', 'of a webhook', uuid)
    .addOption(why())
    .action(does(async () => (await load()).disable));
  webhooks
    .command('enable')
    .description('it is sent to again; what was given up stays so: retry')
    .argument('<ID>', 'of a webhook', uuid)
    .addOption(why())
    .action(does(async () => (await load()).enable));
}

function chainCommands(root: CommandUnknownOpts, does: Does): void {
  root
    .command('doctor')
    .summary('compares what is stored with the chains, and looks whether the house is in order')
    .description(
      'Compares what is stored with the chains, and looks whether the house is in order. Nothing is\n' +
        'changed. A part of it ends after a minute, all of it after an hour, and what was not read is\n' +
        'named. Exit status: 0 all well, 1 something differs, 2 something could not be read and no\n' +
        'danger was seen, or the command was not understood.',
    )
    .option('--swap <ID>', 'that swap alone, and nothing of the house', uuid)
    .option('--all', 'every ended swap too; else the newest 200 of them')
    .addOption(
      new Option(
        '--nodes',
        'the nodes of PARLEY_CHAINS alone: every method, and the history of 31 days',
      ).conflicts(['swap', 'all']),
    )
    .action(does(async () => (await import('./doctor.ts')).doctor, 2));
  root
    .command('node')
    .summary('whether a node of a chain will do, before or while it is in the settings')
    .description(
      'Tries whether a node will do. A user and a password stand in an address of Bitcoin Core, the\n' +
        'key of a provider in its path. Both are better in @FILE than in a command, which others on\n' +
        'this machine see. Exit status: 0 each node will do, 1 one lacks something, 2 one could not\n' +
        'be asked, or the command was not understood.',
    )
    .argument('<CHAIN>', 'of PARLEY_CHAINS, or FAMILY:NETWORK such as evm:8453, tron:tron-nile')
    .argument('[NODE...]', 'addresses, @FILE that holds one, or JSON as in PARLEY_CHAINS')
    .addOption(
      new Option('--kind <KIND>', 'of addresses on Bitcoin')
        .choices(['core', 'esplora'] as const)
        .default('core' as const),
    )
    .action(does(async () => (await import('./node.ts')).node, 2));
  root
    .command('contracts')
    .summary('escrow contracts: what is open in each, and which may be taken out')
    .description(
      'Escrow contracts of EVM and TRON. "open" takes new escrows; "former" takes none, and what is\n' +
        'in it is claimed and refunded; "unnamed" is in no setting, and a start is refused.',
    )
    .option('--leave <ADDRESS>', 'only asks whether this contract may leave the settings')
    .action(does(async () => (await import('./contracts.ts')).contracts));
}

function readingCommands(root: CommandUnknownOpts, does: Does): void {
  root
    .command('keeper')
    .summary('the watchtower: what it has spent today, what waits, what is stuck')
    .description(
      'What the gas keys of the watchtower have spent of this day (UTC), what is open by purpose, and\n' +
        'what is stuck, which is exit status 1: a job that failed 3 times or was due 10 minutes ago, a\n' +
        'transaction that was signed 30 minutes ago and is in no block.',
    )
    .action(does(async () => (await import('./keeper.ts')).keeper));
  root
    .command('stats')
    .summary('a day of the market in numbers')
    .description(
      'RFQs, quotes, accounts and swaps that began on a day, as they stand now. By asset both legs\n' +
        'count, in base units. What ended with nothing at stake is kept for 30 days. At most 1000000\n' +
        'rows of each are read.',
    )
    .option('--day <YYYY-MM-DD>', 'of this day (UTC); default today', day)
    .action(does(async () => (await import('./stats.ts')).stats));
  root
    .command('audit')
    .description('acts of operators: what was done, what was so already, and what was refused')
    .option('--limit <N>', 'at most so many', whole(mostActs), 50)
    .action(does(async () => (await import('./audit.ts')).audit));
}

function whole(most: number) {
  return (given: string): number => {
    const value = /^[1-9]\d{0,14}$/.test(given) ? Number(given) : 0;
    if (value >= 1 && value <= most) return value;
    throw new InvalidArgumentError(`It is a whole number from 1 to ${most}.`);
  };
}

function reason(given: string): string {
  const isOneLine = given.trim() !== '' && !/\p{Cc}/u.test(given);
  if (isOneLine && given.length <= mostReasonLength) return given;
  throw new InvalidArgumentError(`It has 1 to ${mostReasonLength} characters, on one line.`);
}

function units(given: string): bigint {
  if (/^[1-9][0-9]{0,76}$/.test(given)) return BigInt(given);
  throw new InvalidArgumentError('It is a whole number of base units.');
}

function uuid(given: string): string {
  if (isUuid(given)) return given.toLowerCase();
  throw new InvalidArgumentError('It is a UUID.');
}

/** Ids begin with the milliseconds since 1970. */
function day(given: string): string {
  const at = new Date(`${given}T00:00:00Z`);
  const isDay = at.getTime() >= 0 && at.toISOString().startsWith(given);
  if (isDay && given.length === 'YYYY-MM-DD'.length) return given;
  throw new InvalidArgumentError('It is a day like 2026-11-21.');
}
