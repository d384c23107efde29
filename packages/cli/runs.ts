// The work of each command: loaded when it runs, so that help and completion come at once.

import type { Run } from './command.ts';
import type { CommandName } from './table.ts';

const setup = () => import('./do/setup.ts');
const account = () => import('./do/account.ts');
const market = () => import('./do/market.ts');
const trade = () => import('./do/trade.ts');
const swaps = () => import('./do/swaps.ts');
const webhooks = () => import('./do/webhooks.ts');

export const runs: Readonly<Record<CommandName, () => Promise<Run>>> = {
  init: async () => (await setup()).init,
  login: async () => (await account()).login,
  whoami: async () => (await account()).whoami,
  words: async () => (await account()).words,
  faucet: async () => (await setup()).faucet,
  pin: async () => (await setup()).pin,
  market: async () => (await market()).market,
  book: async () => (await market()).book,
  levels: async () => (await import('./do/levels.ts')).levels,
  feed: async () => (await market()).feed,
  ask: async () => (await trade()).ask,
  cancel: async () => (await trade()).cancel,
  quote: async () => (await trade()).quote,
  withdraw: async () => (await trade()).withdraw,
  threads: async () => (await trade()).threads,
  propose: async () => (await trade()).propose,
  accept: async () => (await trade()).accept,
  swaps: async () => (await swaps()).swaps,
  settle: async () => (await swaps()).settle,
  refund: async () => (await swaps()).refund,
  rescue: async () => (await import('./do/rescue.ts')).rescue,
  'webhooks add': async () => (await webhooks()).add,
  'webhooks list': async () => (await webhooks()).list,
  'webhooks ping': async () => (await webhooks()).ping,
  'webhooks remove': async () => (await webhooks()).remove,
  'webhooks listen': async () => (await webhooks()).listen,
  completion: async () => (await import('./do/completion.ts')).completion,
};
