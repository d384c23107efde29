// `parley init`, `faucet` and `pin`: the making of a profile.

import { messageOf } from '../../sdk/errors.ts';
import { allAssets, mustHaveDecimals, splitName } from '../assets.ts';
import type { Given, Run } from '../command.ts';
import { Failure, misused, needsYou } from '../failures.ts';
import { answer, type Cli, mustConfirm } from '../io.ts';
import type { Family, Network } from '../keys/words.ts';
import { faultOf, knownAs, titleOf } from '../known.ts';
import { placesOf, writePrivate } from '../places.ts';
import {
  mostNodes,
  type Profile,
  type ProfileChain,
  readProfile,
  writeProfile,
} from '../profile.ts';
import { accountOf, announced, devStatus, inSession, marketOf } from '../session.ts';

const marketMs = 15_000;
const mostConfigBytes = 1_048_576;
const faucetMs = 60_000;
/** Bitcoin in so many coins: swaps side by side take one each. */
const bitcoinGifts = 4;

export const init: Run = async (cli, given) => {
  const isDev = given.has('dev');
  const market = given.text('market');
  if (!isDev && market === undefined) throw misused('"init" wants --market URL or --dev');
  if (!isDev && given.has('control')) throw misused('--control is of --dev');
  const { profile, left } = isDev ? await devProfile(cli, given) : await ofMarket(market ?? '');
  const places = placesOf(cli.env, cli.profile ?? (isDev ? 'dev' : 'default'));
  const whole = withNodes(profile, given.all('node'));
  const lines = Object.entries(whole.chains).map(([name, chain]) => {
    const nodes = chain.nodes.map((each) => hostOf(typeof each === 'string' ? each : each.url));
    return `  ${name}: ${titleOf(chain)}, asked at ${nodes.join(', ') || 'NO NODE YET'}`;
  });
  const { productName, network } = whole;
  const isUnasked = network !== 'mainnet' && !isDev;
  const plan = [
    `profile ${places.profile}: ${productName} at ${whole.market}, on ${network}`,
    ...(isUnasked
      ? [`  it calls itself a ${network} network: use new words, none of a wallet`]
      : []),
    ...lines,
    ...left.map((why) => `  left out: ${why}`),
  ];
  await mustConfirm({ ...cli, yes: cli.yes || isDev }, plan, `Write ${places.profileFile}?`);
  const file = places.profileFile;
  await writePrivate(file, writeProfile(readProfile(writeProfile(whole), file)), { isNew: true });
  const next = 'Next: "parley login --new".';
  answer(
    cli,
    { profile: places.profile, file, chains: Object.keys(whole.chains), leftOut: left },
    `wrote ${file}. ${next}`,
  );
};

/** A node's address may hold a password or a key. */
function hostOf(url: string): string {
  return new URL(url).host;
}

type Made = { readonly profile: Profile; readonly left: readonly string[] };

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

type DevStatus = {
  readonly chains?: readonly Served[];
  readonly market?: (Pick<Profile, 'productName' | 'shortName'> & { readonly url: string }) | null;
};

/** The dev network's statement is its own word, and it is on this machine. */
async function devProfile(cli: Cli, given: Given): Promise<Made> {
  const ready = await announced(cli);
  const control = given.text('control') ?? ready.dev;
  if (control === undefined) {
    const sentence =
      'no market has said here where its dev network is: go to the folder where "npm start" ' +
      'runs, or give --control URL, which it prints after "dev control"';
    throw needsYou('no_dev_network', sentence);
  }
  const { chains, market: own } = (await devStatus(control)) as DevStatus;
  const market = given.text('market') ?? own?.url;
  if (market === undefined) {
    const sentence =
      `the dev network at ${control} does not say which market it is of: wait until "npm start" ` +
      'says "Ready", or give --market URL';
    throw needsYou('no_market', sentence);
  }
  const all = (chains ?? []).map((each) => [each.chain, devChain(each)] as const);
  // Texts to sign and headers have the market's names. Swaps are brought back without it too.
  const named = own?.url === market ? own : await configOf(market).catch(() => null);
  const { productName, shortName } = named ?? { productName: 'Parley', shortName: 'parley' };
  const profile: Profile = {
    market,
    productName,
    shortName,
    network: 'dev',
    dev: control,
    chains: Object.fromEntries(all),
  };
  return { profile, left: named === null ? [`names of ${market}, which does not say them`] : [] };
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
    const sentence =
      `${market} does not say which chains it trades: ${messageOf(cause)}. ` +
      'Write the profile by hand (docs/cli.md)';
    throw new Failure('market_unavailable', 'no_config', sentence, { cause });
  }
}

/** Ids are compared, nodes are asked who they are. */
async function ofMarket(given: string): Promise<Made> {
  if (!/^https?:\/\/./.test(given) || !URL.canParse(given)) {
    throw misused(`--market is an http or https URL, not "${given}"`);
  }
  const { origin } = new URL(given);
  const config = await configOf(origin);
  const { productName, shortName, network } = config;
  const left: string[] = [];
  const chains: [string, ProfileChain][] = [];
  for (const { chain: name, ...of } of config.chains) {
    const fault = faultOf(name, of, network);
    if (fault !== null) left.push(fault);
    else chains.push([name, { ...of, nodes: nodesOf(of), tokens: {} }]);
  }
  const profile = { market: origin, productName, shortName, network };
  return { profile: { ...profile, chains: Object.fromEntries(chains) }, left };
}

/** Nodes that the market names come last: they may lie with it. */
function nodesOf(chain: ProfileChain): ProfileChain['nodes'] {
  const own = knownAs(chain)?.nodes ?? [];
  return own.length > 0 ? own : chain.nodes.slice(0, mostNodes);
}

function withNodes(profile: Profile, given: readonly string[]): Profile {
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

export const faucet: Run = (cli) =>
  inSession(cli, async (session) => {
    const { dev, chains } = session.profile;
    if (dev === undefined) throw misused('"faucet" is of a dev network, and this profile has none');
    const account = await accountOf(session);
    if (account === null) throw needsYou('not_signed_in', 'run "parley login" first');
    const given: { chain: string; asset: string | null; txid: string }[] = [];
    for (const [chain, { family, tokens }] of Object.entries(chains)) {
      const address = account.addresses[chain];
      if (address === undefined) continue;
      const coins = Array.from({ length: family === 'bitcoin' ? bitcoinGifts : 1 }, () => null);
      for (const asset of [...coins, ...Object.keys(tokens)]) {
        const gift = { chain, address, ...(asset === null ? {} : { asset }) };
        given.push({ chain, asset, txid: await gave(dev, gift) });
      }
    }
    const lines = given.map(({ chain, asset }) => `${chain}${asset === null ? '' : `:${asset}`}`);
    answer(cli, { given }, `coins of ${[...new Set(lines)].join(', ')}`);
  });

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

export const pin: Run = (cli, { args: [name = ''], text }) =>
  inSession(cli, async (session) => {
    const { chain, rest: symbol } = splitName(name);
    const of = session.chain(chain);
    if (symbol === null) throw misused(`"${chain}" is its own coin, which needs no pin`);
    const wanted = text('address');
    const listed = (await allAssets((await marketOf(session)).keyless, chain)).filter(
      (each) =>
        each.address !== null &&
        (wanted === undefined
          ? each.symbol === symbol
          : each.address.toLowerCase() === wanted.toLowerCase()),
    );
    const [asset, another] = listed;
    if (asset?.address == null) {
      throw needsYou('not_listed', `the market lists no ${wanted ?? symbol} on ${chain}`);
    }
    if (another !== undefined) {
      const all = listed.map(
        ({ address, verified }) => `${address}${verified ? ' (curated)' : ''}`,
      );
      throw needsYou('ambiguous', `several are called ${symbol}, say --address: ${all.join(', ')}`);
    }
    if (cli.yes && wanted === undefined) {
      throw misused('with --yes the contract must be named: --address CONTRACT');
    }
    const { address, decimals } = asset;
    await mustHaveDecimals(session, { name, chain, token: address, decimals });
    const before = Object.hasOwn(of.tokens, symbol) ? of.tokens[symbol] : undefined;
    const plan = [
      `${chain}:${symbol} is the contract ${address} on ${titleOf(of)}, with ${decimals} decimals`,
      ...(asset.verified ? [] : ['the market has not curated it: anybody may have listed it']),
      ...(before === undefined ? [] : [`it takes the place of ${before.address}`]),
      'Compare the contract with what its issuer publishes.',
    ];
    await mustConfirm(cli, plan, `Take it into profile ${session.places.profile}?`);
    const tokens = { ...of.tokens, [symbol]: { address, decimals } };
    const chains = { ...session.profile.chains, [chain]: { ...of, tokens } };
    const file = session.places.profileFile;
    await writePrivate(file, writeProfile({ ...session.profile, chains }));
    answer(cli, { asset: name, address, decimals }, `pinned ${name}`);
  });
