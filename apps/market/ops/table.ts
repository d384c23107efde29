// All commands of operators. `acts`: those that change something, and so write a row of
// `operator_actions` in the same transaction (`act` of operator.ts, which takes no other).
// Everything else has a connection that may only read.

type Entry = { readonly about: string; readonly acts: readonly string[] };

export const commands = {
  assets: {
    about: 'tradable assets: list, close, reopen, delist, curate, candidates, forget',
    acts: ['assets close', 'assets reopen', 'assets delist', 'assets curate', 'assets forget'],
  },
  halt: {
    about: 'stop what is new on a chain or an asset; list what is halted',
    acts: ['halt'],
  },
  resume: {
    about: 'end a halt, or the wait after missing time',
    acts: ['resume'],
  },
  doctor: {
    about: 'compare what is stored with the chains, and look whether house and nodes are in order',
    acts: [],
  },
  accounts: {
    about: 'accounts: list, show, block, unblock, sign-out',
    acts: ['accounts block', 'accounts unblock', 'accounts sign-out'],
  },
  webhooks: {
    about: 'receivers that fail: list, show, retry, disable, enable',
    acts: ['webhooks retry', 'webhooks disable', 'webhooks enable'],
  },
  keeper: {
    about: 'the watchtower: what it has spent today, what waits, what is stuck',
    acts: [],
  },
  stats: {
    about: 'a day of the market in numbers',
    acts: [],
  },
  contracts: {
    about: 'escrow contracts: what is open in each, and which may be taken out',
    acts: [],
  },
  audit: {
    about: 'acts of operators',
    acts: [],
  },
} as const satisfies Readonly<Record<string, Entry>>;

export type CommandName = keyof typeof commands;
/** The acts that change something. */
export type Act = (typeof commands)[CommandName]['acts'][number];

export const isCommand = (name: string | undefined): name is CommandName =>
  name !== undefined && Object.hasOwn(commands, name);
