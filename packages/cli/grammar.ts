// The commands of `parley`, with their arguments, options and help. The work of one is loaded when
// it runs.

import tab from '@bomb.sh/tab/commander';
import {
  Argument,
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { families } from '@parley/core/families.ts';
import { graceSeconds, ttlSeconds, validForSeconds } from '@parley/core/limits.ts';
import { parties, threadStatuses } from '@parley/core/trade.ts';
import { mustTakeValues } from '@parley/host/command.ts';
import type { Cli } from '@parley/trader/io.ts';
import { waitSeconds } from '@parley/trader/orders/waits.ts';
import manifest from './package.json' with { type: 'json' };

const sides = ['sell', 'buy'] as const;
const mostRows = 10_000;
const mostLevels = 100;
const mostSettled = 1_000;
const mostDescriptor = 1_023;
const mostPort = 65_535;
/** Where webhooks are received. */
const usualPort = 4_780;

const note = `
An ASSET is CHAIN for its own coin, such as bitcoin; else CHAIN:SYMBOL or CHAIN:CONTRACT.
Exit status: 0 done, 2 usage, 3 refused by the market, 4 market unavailable, 5 not verified,
6 chain unavailable, 7 needs you, 8 not received, 9 a local file, 10 no quote good enough,
1 a fault, 130 interrupted.

A first trade: parley init, parley login --new, then
  parley trade sell 0.01 btc for usdc@ethereum --at-least 640`;

type Work<Given extends unknown[]> = (cli: Cli, ...given: Given) => Promise<unknown>;
/** The action of a command: arguments and options as its work takes them. */
type Does = <Given extends unknown[]>(
  load: () => Promise<Work<Given>>,
) => (...given: Given) => Promise<void>;

type How = {
  /** Without the options of every command. */
  readonly cli: Omit<Cli, 'profile' | 'json' | 'yes' | 'passphraseFd'>;
  /** The result of a command: a number is the exit status. */
  readonly done: (result: unknown) => void;
};

/** Errors are thrown as CommanderError; the program ends nothing by itself. */
export function grammar({ cli, done }: How) {
  const root = new Command('parley')
    .description('Trades on a market of swaps from a terminal, and holds the keys.')
    .option('--profile <NAME>', 'which market and chains; default the only profile')
    .option('--json', 'answers as one JSON document, or JSON lines; errors as JSON too')
    .option('--yes', 'does not ask before what spends or destroys')
    .option('--passphrase-fd <N>', 'reads the passphrase from this file descriptor', descriptor)
    .version(manifest.version, '--version')
    .helpOption('--help', 'how to use it')
    .addHelpText('after', note)
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => title.toLowerCase() })
    .configureOutput({ writeOut: cli.out, writeErr: () => {} })
    .exitOverride();
  const does: Does =
    (load) =>
    async (...given) => {
      const { profile, json = false, yes = false, passphraseFd = null } = root.opts();
      const work = await load();
      done(await work({ ...cli, profile, json, yes, passphraseFd }, ...given));
    };
  const program: CommandUnknownOpts = root;
  program.hook('preAction', mustTakeValues);
  program.commandsGroup('begin:');
  accountCommands(program, does);
  program.commandsGroup('look:');
  marketCommands(program, does);
  program.commandsGroup('trade by one command:');
  tradeCommands(program, does);
  program.commandsGroup('trade by hand:');
  requestCommands(program, does);
  dealCommands(program, does);
  program.commandsGroup('settle:');
  swapCommands(program, does);
  claimsCommands(program, does);
  program.commandsGroup('beside:');
  webhookCommands(program, does);
  tab(program as unknown as Parameters<typeof tab>[0], { completionCommandName: 'completion' });
  return program;
}

function accountCommands(root: CommandUnknownOpts, does: Does): void {
  const setup = () => import('./do/setup.ts');
  const account = () => import('./do/account.ts');
  root
    .command('init')
    .summary('makes a profile of a market: its chains, and nodes to ask')
    .description(
      'Makes a profile. With --dev of the market of "npm start" on this machine: its dev chains and\n' +
        'its faucet. Else the market says its chains, and each is compared with what is known here.',
    )
    .option('--market <URL>', 'the market')
    .option('--dev', 'the dev network of a market on this machine')
    .option('--control <URL>', 'its control address; default from .parley/ready.json')
    .option('--node <CHAIN=URL>', 'a node of your own, asked before others; several times', each)
    .action(does(async () => (await setup()).init));
  root
    .command('login')
    .summary('opens or makes a keystore, mints an API key, and links the wallets')
    .description(
      'The first time, one of --new, --words, --web3 or --key-file says where keys come from.\n' +
        'Later it mints another API key, in the place of the former.',
    )
    .option('--new', 'twelve new words, shown once')
    .option('--words', 'BIP-39 words of your own, asked for')
    .option('--words-fd <N>', 'the same, read from this file descriptor', descriptor)
    .option('--web3 <FILE>', 'an EVM key from a Web3 keystore; other keys from new words')
    .option('--key-file <FILE>', 'words in the clear in a file of mode 0600, left there')
    .addOption(
      new Option('--with <FAMILY>', 'the wallet that signs in; default evm').choices(families),
    )
    .addOption(
      new Option('--scope <SCOPE...>', 'scopes of the API key; default all').choices([
        'read',
        'taker',
        'maker',
      ] as const),
    )
    .option('--name <TEXT>', 'the name of the API key at the market')
    .action(does(async () => (await account()).login));
  root
    .command('whoami')
    .description('the account, its wallets and what they hold, by your own nodes')
    .action(does(async () => (await account()).whoami));
  root
    .command('words')
    .description('shows the words of the keystore')
    .action(does(async () => (await account()).words));
  root
    .command('faucet')
    .description('gives every wallet coins of a dev network')
    .action(does(async () => (await setup()).faucet));
  root
    .command('pin')
    .description('takes a token into the profile, after you have compared its contract')
    .argument('<CHAIN:SYMBOL>')
    .option('--address <CONTRACT>', 'the contract, where the symbol is not enough')
    .action(does(async () => (await setup()).pin));
}

function marketCommands(root: CommandUnknownOpts, does: Does): void {
  const load = () => import('./do/market.ts');
  const market = root
    .command('market')
    .description('assets of the market, costs of a pair, or whether it works');
  market
    .command('assets')
    .description('assets that may be traded')
    .option('--chain <CHAIN>', 'of this chain alone')
    .action(does(async () => (await load()).assets));
  market
    .command('pair')
    .description('who funds first, locks, costs, and what others traded at')
    .argument('<BASE>')
    .argument('<QUOTE>')
    .action(does(async () => (await load()).pair));
  market
    .command('status')
    .description('whether the market works')
    .action(does(async () => (await load()).status));
  root
    .command('book')
    .description('open requests for quote')
    .argument('[BASE]')
    .argument('[QUOTE]')
    .option('--own', 'your own, until they end')
    .option('--addressed', 'private ones for an address of yours')
    .option('--settled <N>', 'of accounts with at least so many settled swaps', settled(1))
    .option('--limit <N>', 'at most so many', whole(1, mostRows), 100)
    .action(does(async () => (await load()).book));
  root
    .command('levels')
    .description('at which prices makers would quote a pair; they bind nobody')
    .argument('<BASE>')
    .argument('<QUOTE>')
    .option('--amount <AMOUNT>', 'only those for so much of BASE')
    .option('--settled <N>', 'of makers with at least so many settled swaps', settled(0))
    .option('--limit <N>', 'at most so many a side', whole(1, mostLevels), 10)
    .action(does(async () => (await import('./do/levels.ts')).levels));
  root
    .command('feed')
    .description('the maker feed: the book, each change, and what becomes of your threads')
    .option(
      '--cancel-after <SECONDS>',
      'withdraws your quotes when this is gone so long',
      whole(graceSeconds.least, graceSeconds.most),
    )
    .action(does(async () => (await import('./do/feed.ts')).feed));
}

function webhookCommands(root: CommandUnknownOpts, does: Does): void {
  const load = () => import('./do/webhooks.ts');
  const webhooks = root
    .command('webhooks')
    .description('registers webhooks, and receives them on this machine');
  webhooks
    .command('add')
    .description('registers a webhook; its secret is shown once')
    .argument('<URL>')
    .option('--event <EVENT>', 'this event, several times; default all but thread. ones', each)
    .action(does(async () => (await load()).add));
  webhooks
    .command('list')
    .description('your webhooks, and what became of their last delivery')
    .action(does(async () => (await load()).list));
  webhooks
    .command('ping')
    .description('sends a test delivery')
    .argument('<WEBHOOK>')
    .action(does(async () => (await load()).ping));
  webhooks
    .command('remove')
    .description('removes a webhook')
    .argument('<WEBHOOK>')
    .action(does(async () => (await load()).remove));
  webhooks
    .command('listen')
    .summary('receives deliveries on this machine, verifies and prints them')
    .description(
      'Receives deliveries on this machine, verifies and prints them. Put what ends TLS before it.\n' +
        'Deliveries that do not verify are answered 400.',
    )
    .option('--port <N>', 'of 127.0.0.1; 0 takes any', whole(0, mostPort), usualPort)
    .option('--secret-fd <N>', 'reads the secret (whsec_…) from this file descriptor', descriptor)
    .action(does(async () => (await load()).listen));
}

/** Options of one trade, beside its bound. */
const wait = () =>
  new Option(
    '--wait <SECONDS>',
    `how long it waits for quotes; default ${waitSeconds.usual}`,
  ).argParser(whole(waitSeconds.least, waitSeconds.most));
const makers = () =>
  new Option('--settled <N>', 'quotes of makers with at least so many settled swaps').argParser(
    settled(1),
  );
const called = () =>
  new Option('--id <NAME>', 'a name of your own: a trade of that name is done once, for ever');
/**
 * Commander takes an option of a command wherever it stands, behind its subcommands too. Those that
 * a subcommand does not take are refused: "--dry-run" must not be lost.
 */
function mustBeItsOwn(trade: CommandUnknownOpts, action: CommandUnknownOpts): void {
  if (action === trade) return;
  for (const option of trade.options) {
    const name = option.attributeName();
    if (trade.getOptionValueSource(name) !== 'cli') continue;
    const isShared = name === 'dryRun' && action.name() !== 'resume';
    if (!isShared) action.error(`error: option '${option.long}' is not of '${action.name()}'`);
    action.setOptionValue(name, trade.getOptionValue(name));
  }
}

const mostAtOnce = 20;

function tradeCommands(root: CommandUnknownOpts, does: Does): void {
  const load = () => import('./do/orders.ts');
  const trade = root
    .command('trade')
    .summary('one command trades: asks, takes the best quote, and settles')
    .description(
      'Asks, waits for quotes, accepts the best one that keeps your bound, and settles.\n' +
        'Without a terminal, and with --yes, it wants the bound. After any end it goes on when it\n' +
        'is run again, and trades nothing twice.',
    )
    .option(
      '--from-file <FILE>',
      'trades of a .csv or .jsonl file; each has an id, and is done once',
    )
    .option('--at-once <N>', 'so many of them side by side', whole(1, mostAtOnce), 5)
    .option('--results <FILE>', 'writes a JSON line for each of them there')
    .option('--dry-run', 'shows what would be asked, and asks nothing')
    .hook('preAction', mustBeItsOwn)
    .action(does(async () => (await load()).trade));
  trade
    .command('sell')
    .description('sells an amount of an asset for another one')
    .argument('<AMOUNT>')
    .argument('<ASSET>')
    .addArgument(new Argument('<for>').choices(['for'] as const))
    .argument('<PRICED>', 'the asset in which prices are')
    .option('--at-least <AMOUNT>', 'the least that it brings, in the other asset, for all of it')
    .addOption(wait())
    .addOption(makers())
    .addOption(called())
    .addHelpText('after', '\nparley trade sell 0.01 btc for usdc@ethereum --at-least 640')
    .action(does(async () => (await load()).sell));
  trade
    .command('buy')
    .description('buys an amount of an asset with another one')
    .argument('<AMOUNT>')
    .argument('<ASSET>')
    .addArgument(new Argument('<with>').choices(['with'] as const))
    .argument('<PRICED>', 'the asset in which prices are')
    .option('--at-most <AMOUNT>', 'the most that it costs, in the other asset, for all of it')
    .addOption(wait())
    .addOption(makers())
    .addOption(called())
    .addHelpText('after', '\nparley trade buy 640 usdc@ethereum with btc --at-most 0.0101')
    .action(does(async () => (await load()).buy));
  trade
    .command('resume')
    .description('goes on with trades that were ended before they were done: all, or those named')
    .argument('[NAME...]')
    .action(does(async () => (await load()).resume));
}

const valid = () =>
  new Option('--valid <SECONDS>', 'how long the price holds; default as the request').argParser(
    whole(validForSeconds.least, validForSeconds.most),
  );

function requestCommands(root: CommandUnknownOpts, does: Does): void {
  const load = () => import('./do/trade.ts');
  root
    .command('ask')
    .description('posts a request for quote')
    .addArgument(new Argument('<SIDE>').choices(sides))
    .argument('<AMOUNT>')
    .argument('<BASE>')
    .argument('<QUOTE>')
    .option('--price <AMOUNT>', 'the price for all of it, in the quote asset')
    .option('--for <SECONDS>', 'how long it stands', whole(1, ttlSeconds.most), 600)
    .option('--to <ADDRESS>', 'private, for the account that holds this address')
    .addHelpText('after', '\nparley ask sell 0.01 bitcoin ethereum:USDC --price 640')
    .action(does(async () => (await load()).ask));
  root
    .command('cancel')
    .description('takes a request for quote back')
    .argument('<RFQ>')
    .action(does(async () => (await load()).cancel));
  root
    .command('quote')
    .summary('offers an amount of the quote asset for all of a request')
    .description(
      'Offers an amount of the quote asset for all of a request. With --yes the request must be\n' +
        'named as you want it: --side, --amount, --base, --quote. Quoted again it is compared with\n' +
        'what it was.',
    )
    .argument('<RFQ>')
    .argument('<AMOUNT>')
    .addOption(valid())
    .addOption(
      new Option('--side <SIDE>', 'of the taker, who sells or buys the base').choices(sides),
    )
    .option('--amount <AMOUNT>', 'how much of the base asset it is about')
    .option('--base <ASSET>', 'the base asset')
    .option('--quote <ASSET>', 'the quote asset, in which you name your price')
    .action(does(async () => (await load()).quote));
  root
    .command('withdraw')
    .description('takes a quote of yours back, or all that are open')
    .argument('[THREAD]')
    .option('--all', 'every open quote of yours')
    .action(does(async () => (await load()).withdraw));
}

function dealCommands(root: CommandUnknownOpts, does: Does): void {
  const load = () => import('./do/trade.ts');
  root
    .command('threads')
    .description('negotiations: of one request, or all of yours; default your open quotes')
    .argument('[RFQ]')
    .addOption(new Option('--role <ROLE>', 'your role in them').choices(parties))
    .addOption(new Option('--status <STATUS>', 'where they stand').choices(threadStatuses))
    .option('--limit <N>', 'at most so many', whole(1, mostRows), 100)
    .action(does(async () => (await load()).threads));
  root
    .command('propose')
    .description('answers a quote with another amount')
    .argument('<THREAD>')
    .argument('<AMOUNT>')
    .addOption(valid())
    .action(does(async () => (await load()).propose));
  root
    .command('accept')
    .summary('accepts the price of a thread: it binds you')
    .description(
      'Accepts the price of a thread: it binds you. With --yes, --price must name the amount: what\n' +
        'moved since is not accepted.',
    )
    .argument('<THREAD>')
    .option('--price <AMOUNT>', 'accept this amount of the quote asset, and no other')
    .option('--wait', 'waits until the other side accepts too, or the acceptance lapses')
    .action(does(async () => (await load()).accept));
}

function swapCommands(root: CommandUnknownOpts, does: Does): void {
  const load = () => import('./do/swaps.ts');
  const rescuing = () => import('./do/rescue.ts');
  root
    .command('swaps')
    .description('swaps of this profile, or one of them')
    .argument('[SWAP]')
    .action(does(async () => (await load()).swaps));
  root
    .command('settle')
    .summary('drives swaps to their end: all that are open, or those named')
    .description(
      'Drives swaps to their end: all that are open, or those named. It funds, claims and refunds,\n' +
        'and may be ended and run again at any time. It ends when every swap has ended, or stands\n' +
        'still until you do something.',
    )
    .argument('[SWAP...]')
    .option('--leave-none', 'leaves no signed claims and refunds on Bitcoin with the market')
    .action(does(async () => (await load()).settle));
  root
    .command('give-up')
    .summary('gives a swap up and sends both coins back now, where the other side agrees')
    .description(
      'Gives a swap up: tells the other side, releases its coins, and takes back yours once it has\n' +
        'released them, else from the timelock on. You cannot take it back.',
    )
    .argument('<SWAP>')
    .action(does(async () => (await load()).giveUp));
  root
    .command('refund')
    .summary(
      'leaves a swap without the market: funds nothing any more, and takes back what is yours',
    )
    .description(
      'Leaves a swap without the market: funds nothing any more, and takes back what is yours from\n' +
        'the timelock on. The payment of the other side is still claimed where its secret is public.',
    )
    .argument('<SWAP>')
    .option('--raw', 'prints the refund as text instead, for any node or wallet')
    .action(does(async () => (await load()).refund));
  const rescue = root
    .command('rescue')
    .description('swaps from words and a rescue file, without the market');
  rescue
    .command('from')
    .summary('brings swaps back')
    .description(
      'Brings swaps back. The words are those of the profile, or asked for with --words. Nothing is\n' +
        'funded.',
    )
    .argument('<FILE>')
    .option('--words', 'asks for the twelve words, of the web app too')
    .option('--words-fd <N>', 'reads them from this file descriptor', descriptor)
    .option('--payout <ADDRESS>', 'where Bitcoin is paid; default your own wallet')
    .option('--deep', 'looks for secrets of seven days: 12 minutes a swap')
    .action(does(async () => (await rescuing()).from));
  rescue
    .command('save')
    .description('writes the rescue file of this profile')
    .argument('<FILE>')
    .action(does(async () => (await rescuing()).save));
}

function claimsCommands(root: CommandUnknownOpts, does: Does): void {
  const load = () => import('./do/claims.ts');
  const claims = root
    .command('claims')
    .description('signed claims on Bitcoin for a watchtower of your own, and being one');
  claims
    .command('save')
    .summary('signs claims of the Bitcoin leg that pays you, into a file')
    .description(
      'Signs claims of the Bitcoin leg that pays you, into a file, once its funding is final. The\n' +
        'file has no key and no secret: it can pay your address alone, once the secret is public.',
    )
    .argument('<SWAP>')
    .argument('<FILE>')
    .action(does(async () => (await load()).save));
  claims
    .command('watch')
    .description('sends the claims of a file once the secret is public; needs nodes, and no key')
    .argument('<FILE>')
    .action(does(async () => (await load()).watch));
}

/** The values of an option that may be given several times. */
const each = (value: string, before: readonly string[] = []) => [...before, value];

function whole(least: number, most: number) {
  return (given: string): number => {
    const value = /^(?:0|[1-9]\d{0,14})$/.test(given) ? Number(given) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
  };
}

const settled = (least: number) => whole(least, mostSettled);

function descriptor(given: string): number {
  return whole(0, mostDescriptor)(given);
}
