// `parley init`, `faucet` and `pin`: the making of a profile.

import { allAssets, splitName } from '@parley/trader/assets.ts';
import { mustHaveDecimals } from '@parley/trader/coins.ts';
import { misused, needsYou } from '@parley/trader/failures.ts';
import { answer, type Cli, mustConfirm } from '@parley/trader/io.ts';
import { titleOf } from '@parley/trader/known.ts';
import { placesOf, writePrivate } from '@parley/trader/places.ts';
import { readProfile, writeProfile } from '@parley/trader/profile.ts';
import { inSession, marketOf } from '@parley/trader/session.ts';
import { devProfile, giftsOf, profileOfMarket, withNodes } from '@parley/trader/setup.ts';
import { urlOf } from '@parley/trader/sources.ts';

const nodeMs = 15_000;

type Init = {
  readonly market?: string;
  readonly dev?: true;
  readonly control?: string;
  readonly node?: readonly string[];
};

export async function init(cli: Cli, { market, dev, control, node = [] }: Init): Promise<void> {
  const isDev = dev === true;
  if (!isDev && market === undefined) throw misused('"init" wants --market URL or --dev');
  if (!isDev && control !== undefined) throw misused('--control is of --dev');
  const { profile, left } = isDev
    ? await devProfile(cli, { control, market })
    : await profileOfMarket(market ?? '');
  const places = placesOf(cli.env, cli.profile ?? (isDev ? 'dev' : 'default'));
  const whole = withNodes(profile, node);
  const lines = Object.entries(whole.chains).map(([name, chain]) => {
    const nodes = chain.nodes.map((each) => hostOf(urlOf(each)));
    return `  ${name}: ${titleOf(chain, whole.network)}, asked at ${nodes.join(', ') || 'NO NODE YET'}`;
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
}

/** A node's address may hold a password or a key. */
function hostOf(url: string): string {
  return new URL(url).host;
}

export const faucet = (cli: Cli) =>
  inSession(cli, async (session) => {
    const given = await giftsOf(session);
    const lines = given.map(({ chain, asset }) => `${chain}${asset === null ? '' : `:${asset}`}`);
    answer(cli, { given }, `coins of ${[...new Set(lines)].join(', ')}`);
  });

export const pin = (cli: Cli, name: string, { address: wanted }: { readonly address?: string }) =>
  inSession(cli, async (session) => {
    const { chain, rest: symbol } = splitName(name);
    const of = session.chain(chain);
    if (symbol === null) throw misused(`"${chain}" is its own coin, which needs no pin`);
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
    const source = await session.source(chain);
    await mustHaveDecimals(source, { token: address, decimals }, AbortSignal.timeout(nodeMs));
    const before = Object.hasOwn(of.tokens, symbol) ? of.tokens[symbol] : undefined;
    const plan = [
      `${chain}:${symbol} is the contract ${address} on ${titleOf(of, session.profile.network)}, with ${decimals} decimals`,
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
