// An account of a market that holds nothing and that nobody has a key of afterwards: its login key
// is drawn at random and forgotten with the process. It can read the feed, and that is all it is
// for.

import { randomBytes } from 'node:crypto';
import { has } from '@parley/core/families.ts';
import { keyWallet } from '@parley/trader/chains.ts';
import type { OwnChains } from '../chains.ts';
import type { ChainConfig, MarketConfig } from '../config/config.ts';
import type { Log } from '../log.ts';
import { openSession, type Session } from '../session.ts';

/** `folder`: for its API key. */
export async function strangerOn(
  market: MarketConfig,
  chains: readonly ChainConfig[],
  folder: string,
  log: Log,
): Promise<Session> {
  const of = chains.find(({ chain }) => chain === market.login);
  if (of === undefined) throw new Error(`"${market.login}" is no chain of the settings`);
  const drawn = randomBytes(32);
  const key = has(of, 'ed25519') ? Uint8Array.from(drawn) : drawn.toString('hex');
  const { family, address, signMessage } = await keyWallet(of.chain, of, key);
  // It signs texts, and no transaction.
  const wallet = { family, address, signMessage };
  return openSession(market, folder, { [of.chain]: { wallet } } as unknown as OwnChains, log);
}
