// The commands: one table from which arguments are read, help is written and shells complete.

import { families } from '@parley/core/families.ts';
import { parties, threadStatuses } from '@parley/core/trade.ts';

export type Option = {
  /** The name of its value, as in `--chain CHAIN`; absent: it has none. */
  readonly value?: string;
  /** The values there are. */
  readonly choices?: readonly string[];
  readonly many?: true;
  readonly about: string;
};

export type Argument = {
  readonly name: string;
  readonly choices?: readonly string[];
  readonly optional?: true;
  /** The last one may be given several times. */
  readonly many?: true;
  /** A shell completes a file's name. */
  readonly isFile?: true;
};

export type Command = {
  readonly name: string;
  readonly about: string;
  readonly more?: readonly string[];
  readonly args: readonly Argument[];
  readonly options: Readonly<Record<string, Option>>;
  readonly examples?: readonly string[];
};

export const globals: Readonly<Record<string, Option>> = {
  profile: { value: 'NAME', about: 'which market and chains; default the only profile' },
  json: { about: 'answers as one JSON document, or JSON lines; errors as JSON too' },
  yes: { about: 'does not ask before what spends or destroys' },
  'passphrase-fd': { value: 'N', about: 'reads the passphrase from this file descriptor' },
  help: { about: 'how to use it' },
};

const rfq = { name: 'RFQ' } as const;
const thread = { name: 'THREAD' } as const;
const asset = { name: 'ASSET' } as const;
const valid = {
  value: 'SECONDS',
  about: 'how long the price holds, 5 to 604800; default as the request',
} as const;

const all = [
  {
    name: 'init',
    about: 'makes a profile of a market: its chains, and nodes to ask',
    more: [
      'With --dev the market of "npm start" on this machine: its dev chains and its faucet.',
      'Else the market says its chains, and each is compared with what this program knows.',
    ],
    args: [],
    options: {
      market: { value: 'URL', about: 'the market' },
      dev: { about: 'the dev network of a market on this machine' },
      control: { value: 'URL', about: 'its control address; default from .parley/ready.json' },
      node: { value: 'CHAIN=URL', many: true, about: 'a node of your own, asked before others' },
    },
    examples: ['parley init --dev', 'parley init --market https://market.example'],
  },
  {
    name: 'login',
    about: 'opens or makes a keystore, mints an API key, and links the wallets',
    more: [
      'The first time, one of --new, --words, --web3 or --key-file says where keys come from.',
      'Later it mints another API key, in the place of the former.',
    ],
    args: [],
    options: {
      new: { about: 'twelve new words, shown once' },
      words: { about: 'BIP-39 words of your own, asked for' },
      'words-fd': { value: 'N', about: 'the same, read from this file descriptor' },
      web3: { value: 'FILE', about: 'an EVM key from a Web3 keystore; other keys from new words' },
      'key-file': { value: 'FILE', about: 'words in the clear in a file of mode 0600, left there' },
      with: { value: 'FAMILY', choices: families, about: 'the wallet that signs in; default evm' },
      scope: {
        value: 'SCOPE',
        choices: ['read', 'taker', 'maker'],
        many: true,
        about: 'scopes of the API key; default all',
      },
      name: { value: 'TEXT', about: 'the name of the API key at the market' },
    },
    examples: ['parley login --new', 'parley login --key-file ~/dev.words --new'],
  },
  {
    name: 'whoami',
    about: 'the account, its wallets and what they hold, by your own nodes',
    args: [],
    options: {},
  },
  {
    name: 'words',
    about: 'shows the words of the keystore',
    args: [],
    options: {},
  },
  {
    name: 'faucet',
    about: 'gives every wallet coins of a dev network',
    args: [],
    options: {},
  },
  {
    name: 'pin',
    about: 'takes a token into the profile, after you have compared its contract',
    args: [{ name: 'CHAIN:SYMBOL' }],
    options: {
      address: { value: 'CONTRACT', about: 'the contract, where the symbol is not enough' },
    },
    examples: ['parley pin ethereum:USDC'],
  },
  {
    name: 'market',
    about: 'assets of the market, costs of a pair, or whether it works',
    args: [
      { name: 'WHAT', choices: ['assets', 'pair', 'status'] },
      { ...asset, optional: true },
      { ...asset, optional: true },
    ],
    options: { chain: { value: 'CHAIN', about: 'assets of this chain alone' } },
    examples: ['parley market status', 'parley market pair bitcoin ethereum:USDC'],
  },
  {
    name: 'book',
    about: 'open requests for quote',
    args: [
      { ...asset, optional: true },
      { ...asset, optional: true },
    ],
    options: {
      own: { about: 'your own, until they end' },
      addressed: { about: 'private ones for an address of yours' },
      settled: { value: 'N', about: 'only of accounts with at least so many settled swaps' },
      limit: { value: 'N', about: 'at most so many; default 100' },
    },
  },
  {
    name: 'levels',
    about: 'at which prices makers would quote a pair; they bind nobody',
    args: [{ name: 'BASE' }, { name: 'QUOTE' }],
    options: {
      amount: { value: 'AMOUNT', about: 'only those for so much of BASE' },
      settled: { value: 'N', about: 'only of makers with at least so many settled swaps' },
      limit: { value: 'N', about: 'at most so many a side; default 10' },
    },
    examples: ['parley levels bitcoin ethereum:USDC --amount 0.01'],
  },
  {
    name: 'feed',
    about: 'the maker feed: the book, each change, and what becomes of your threads',
    args: [],
    options: {
      'cancel-after': {
        value: 'SECONDS',
        about: 'withdraws your quotes when this is gone so long, 5 to 60',
      },
    },
  },
  {
    name: 'ask',
    about: 'posts a request for quote',
    args: [
      { name: 'SIDE', choices: ['sell', 'buy'] },
      { name: 'AMOUNT' },
      { name: 'BASE' },
      { name: 'QUOTE' },
    ],
    options: {
      price: { value: 'AMOUNT', about: 'the price for all of it, in the quote asset' },
      for: { value: 'SECONDS', about: 'how long it stands; default 600' },
      to: { value: 'ADDRESS', about: 'private, for the account that holds this address' },
    },
    examples: ['parley ask sell 0.01 bitcoin ethereum:USDC --price 640'],
  },
  {
    name: 'cancel',
    about: 'takes a request for quote back',
    args: [rfq],
    options: {},
  },
  {
    name: 'quote',
    about: 'offers an amount of the quote asset for all of a request',
    more: [
      'With --yes the request must be named as you want it: --side, --amount, --base, --quote.',
      'Quoted again it is compared with what it was.',
    ],
    args: [rfq, { name: 'AMOUNT' }],
    options: {
      valid,
      side: {
        value: 'SIDE',
        choices: ['sell', 'buy'],
        about: 'the side of the taker, who sells or buys the base',
      },
      amount: { value: 'AMOUNT', about: 'how much of the base asset it is about' },
      base: { value: 'ASSET', about: 'the base asset' },
      quote: { value: 'ASSET', about: 'the quote asset, in which you name your price' },
    },
    examples: [
      'parley quote RFQ 640 --yes --side sell --amount 0.01 --base bitcoin --quote ethereum:USDC',
    ],
  },
  {
    name: 'withdraw',
    about: 'takes a quote of yours back, or all that are open',
    args: [{ ...thread, optional: true }],
    options: { all: { about: 'every open quote of yours' } },
  },
  {
    name: 'threads',
    about: 'negotiations: of one request, or all of yours; default your open quotes',
    args: [{ ...rfq, optional: true }],
    options: {
      role: { value: 'ROLE', choices: parties, about: 'your role in them' },
      status: { value: 'STATUS', choices: threadStatuses, about: 'where they stand' },
      limit: { value: 'N', about: 'at most so many; default 100' },
    },
  },
  {
    name: 'propose',
    about: 'answers a quote with another amount',
    args: [thread, { name: 'AMOUNT' }],
    options: { valid },
  },
  {
    name: 'accept',
    about: 'accepts the price of a thread: it binds you',
    more: ['With --yes, --price must name the amount: what moved since is not accepted.'],
    args: [thread],
    options: {
      price: { value: 'AMOUNT', about: 'accept this amount of the quote asset, and no other' },
      wait: { about: 'waits until the other side accepts too, or the acceptance lapses' },
    },
  },
  {
    name: 'swaps',
    about: 'swaps of this profile, or one of them',
    args: [{ name: 'SWAP', optional: true }],
    options: {},
  },
  {
    name: 'settle',
    about: 'drives swaps to their end: all that are open, or those named',
    more: [
      'It funds, claims and refunds, and may be ended and run again at any time.',
      'It ends when every swap has ended, or stands still until you do something.',
    ],
    args: [{ name: 'SWAP', optional: true, many: true }],
    options: {},
  },
  {
    name: 'refund',
    about: 'gives a swap up: funds nothing any more, and takes back what is yours',
    more: ['The payment of the other side is still claimed where its secret is public.'],
    args: [{ name: 'SWAP' }],
    options: { raw: { about: 'prints the refund as text instead, for any node or wallet' } },
  },
  {
    name: 'rescue',
    about: 'brings swaps back from words and a rescue file, without the market',
    more: [
      'The words are those of the profile, or asked for with --words. Nothing is funded.',
      'With "save" it writes the rescue file of this profile.',
    ],
    args: [
      { name: 'WHAT', choices: ['from', 'save'] },
      { name: 'FILE', isFile: true },
    ],
    options: {
      words: { about: 'asks for the twelve words, of the web app too' },
      'words-fd': { value: 'N', about: 'reads them from this file descriptor' },
      payout: { value: 'ADDRESS', about: 'where Bitcoin is paid; default your own wallet' },
      deep: { about: 'looks for secrets of seven days: 12 minutes a swap' },
    },
  },
  {
    name: 'webhooks add',
    about: 'registers a webhook; its secret is shown once',
    args: [{ name: 'URL' }],
    options: {
      event: { value: 'EVENT', many: true, about: 'this event; default all but thread. ones' },
    },
  },
  {
    name: 'webhooks list',
    about: 'your webhooks, and what became of their last delivery',
    args: [],
    options: {},
  },
  {
    name: 'webhooks ping',
    about: 'sends a test delivery',
    args: [{ name: 'WEBHOOK' }],
    options: {},
  },
  {
    name: 'webhooks remove',
    about: 'removes a webhook',
    args: [{ name: 'WEBHOOK' }],
    options: {},
  },
  {
    name: 'webhooks listen',
    about: 'receives deliveries on this machine, verifies and prints them',
    more: ['Put what ends TLS before it. Deliveries that do not verify are answered 400.'],
    args: [],
    options: {
      port: { value: 'N', about: 'of 127.0.0.1; default 4780, 0 takes any' },
      'secret-fd': { value: 'N', about: 'reads the secret (whsec_…) from this file descriptor' },
    },
  },
  {
    name: 'completion',
    about: 'prints what makes a shell complete commands and options',
    args: [{ name: 'SHELL', choices: ['bash', 'zsh', 'fish'] }],
    options: {},
    examples: ['parley completion bash > ~/.local/share/bash-completion/completions/parley'],
  },
] as const satisfies readonly Command[];

export type CommandName = (typeof all)[number]['name'];
export const commands: readonly (Command & { readonly name: CommandName })[] = all;
