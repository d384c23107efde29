// The making of a profile: for a dev network by its own word, for any other market by ids that this
// program knows. The faucet of a dev network fills its wallets.

import { type Family, has } from '@parley/core/families.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { Failure, misused, needsYou } from './failures.ts';
import type { Cli } from './io.ts';
import type { Network } from './keys/words.ts';
import { publicNodesOf, worldFault } from './known.ts';
import { mostNodes, type Profile, type ProfileChain } from './profile.ts';
import { accountOf, announced, devStatus, type Session } from './session.ts';

const marketMs = 15_000;
const mostConfigBytes = 1_048_576;
const faucetMs = 60_000;
/** Bitcoin in so many coins: swaps side by side take one each. */
const bitcoinGifts = 4;

export type Made = { readonly profile: Profile; readonly left: readonly string[] };

type Served = {
  readonly chain: string;
  readonly family: Family;
  readonly rpcUrl: string;
  readonly chainId?: number;
  readonly escrows?: string;
  readonly escrowsCreation?: string;
  readonly program?: string;
  readonly genesisHash?: string;
  readonly tokens?: readonly { symbol: string; address: string; decimals: number }[];
};

export type DevNamed = {
  readonly control?: string | undefined;
  readonly market?: string | undefined;
};

type DevStatus = {
  readonly chains?: readonly Served[];
  readonly market?: (Pick<Profile, 'productName' | 'shortName'> & { readonly url: string }) | null;
};

/** The dev network's statement is its own word, and it is on this machine. */
export async function devProfile(here: Pick<Cli, 'env' | 'cwd'>, named: DevNamed): Promise<Made> {
  const ready = await announced(here);
  const control = named.control ?? ready.dev;
  if (control === undefined) {
    const sentence =
      'no market has said here where its dev network is: go to the folder where "npm start" ' +
      'runs, or give --control URL, which it prints after "dev control"';
    throw needsYou('no_dev_network', sentence);
  }
  const { chains, market: own } = (await devStatus(control)) as DevStatus;
  const market = named.market ?? own?.url;
  if (market === undefined) {
    const sentence =
      `the dev network at ${control} does not say which market it is of: wait until "npm start" ` +
      'says "Ready", or give --market URL';
    throw needsYou('no_market', sentence);
  }
  const all = (chains ?? []).map((each) => [each.chain, devChain(each)] as const);
  // Texts to sign and headers have the market's names. Swaps are brought back without it too.
  const names = own?.url === market ? own : await configOf(market).catch(() => null);
  const { productName, shortName } = names ?? { productName: 'Parley', shortName: 'parley' };
  const profile: Profile = {
    market,
    productName,
    shortName,
    network: 'dev',
    dev: control,
    chains: Object.fromEntries(all),
  };
  return { profile, left: names === null ? [`names of ${market}, which does not say them`] : [] };
}

function devChain(of: Served): ProfileChain {
  const { family, rpcUrl, chainId = 0, tokens: served = [] } = of;
  const tokens = Object.fromEntries(
    served.map(({ symbol, address, decimals }) => [symbol, { address, decimals }]),
  );
  const known = { nodes: [rpcUrl], tokens };
  switch (family) {
    case 'bitcoin':
      return { family, bitcoin: 'regtest', ...known };
    case 'evm':
      return { family, chainId, ...known };
    case 'tron': {
      const { escrows: contract = '', escrowsCreation: creation = '' } = of;
      return { family, chainId, contract, creation, ...known };
    }
    case 'solana':
      return { family, genesisHash: of.genesisHash ?? '', program: of.program ?? '', ...known };
  }
}

type Config = {
  readonly productName: string;
  readonly shortName: string;
  readonly network: Network;
  readonly chains: readonly (ProfileChain & { readonly chain: string })[];
};

/** A market tells this to its own web app. */
async function configOf(market: string): Promise<Config> {
  try {
    const response = await fetch(new URL('/app/config.js', market), {
      signal: AbortSignal.timeout(marketMs),
    });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    const text = (await response.text()).slice(0, mostConfigBytes);
    return JSON.parse(text.replace(/^self\.marketConfig=/, '').replace(/;\s*$/, '')) as Config;
  } catch (cause) {
    // The client names what answers in a market's place.
    const { parleyClient } = await import('@parley/sdk/client.ts');
    const asked = parleyClient({ baseUrl: market, tries: 1 }).status();
    const why = await asked.then(() => messageOf(cause), messageOf);
    const sentence =
      `${market} does not say which chains it trades (${why}). ` +
      'Write the profile by hand (docs/cli.md)';
    throw new Failure('market_unavailable', 'no_config', sentence, { cause });
  }
}

/** Ids are compared, nodes are asked who they are. */
export async function profileOfMarket(given: string): Promise<Made> {
  if (!/^https?:\/\/./.test(given) || !URL.canParse(given)) {
    throw misused(`--market is an http or https URL, not "${given}"`);
  }
  const { origin } = new URL(given);
  const config = await configOf(origin);
  const { productName, shortName, network } = config;
  const left: string[] = [];
  const chains: [string, ProfileChain][] = [];
  for (const { chain: name, ...of } of config.chains) {
    const fault = worldFault({ ...of, chain: name }, network);
    if (fault !== null) left.push(fault);
    else chains.push([name, { ...of, nodes: nodesOf(of), tokens: {} }]);
  }
  const profile = { market: origin, productName, shortName, network };
  return { profile: { ...profile, chains: Object.fromEntries(chains) }, left };
}

/** Nodes that the market names come last: they may lie with it. */
function nodesOf(chain: ProfileChain): ProfileChain['nodes'] {
  const own = publicNodesOf(chain);
  return own.length > 0 ? own : chain.nodes.slice(0, mostNodes);
}

export function withNodes(profile: Profile, given: readonly string[]): Profile {
  const chains: Record<string, ProfileChain> = { ...profile.chains };
  for (const each of given.toReversed()) {
    const [, name = '', url = ''] = /^([^=]+)=(https?:\/\/.+)$/.exec(each) ?? [];
    const chain = chains[name];
    if (chain === undefined) throw misused(`--node is CHAIN=URL of a chain here, not "${each}"`);
    const nodes = [url, ...chain.nodes.filter((node) => node !== url)].slice(0, mostNodes);
    chains[name] = { ...chain, nodes };
  }
  return { ...profile, chains };
}

export type Gift = { readonly chain: string; readonly asset: string | null; readonly txid: string };

/** Coins for every wallet of the account. */
export async function giftsOf(session: Session): Promise<readonly Gift[]> {
  const { dev, chains } = session.profile;
  if (dev === undefined) throw misused('"faucet" is of a dev network, and this profile has none');
  const account = await accountOf(session);
  if (account === null) throw needsYou('not_signed_in', 'run "parley login" first');
  const given: Gift[] = [];
  for (const [chain, { family, tokens }] of Object.entries(chains)) {
    const address = account.addresses[chain];
    if (address === undefined) continue;
    const coins = Array.from({ length: has(family, 'coins') ? bitcoinGifts : 1 }, () => null);
    for (const asset of [...coins, ...Object.keys(tokens)]) {
      const gift = { chain, address, ...(asset === null ? {} : { asset }) };
      given.push({ chain, asset, txid: await gave(dev, gift) });
    }
  }
  return given;
}

async function gave(dev: string, gift: object): Promise<string> {
  const response = await fetch(new URL('/faucet', dev), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(gift),
    signal: AbortSignal.timeout(faucetMs),
  });
  const { txid, error } = (await response.json()) as { txid?: string; error?: string };
  if (txid !== undefined) return txid;
  throw new Failure('chain_unavailable', 'no_gift', `the faucet gave nothing: ${error}`);
}
