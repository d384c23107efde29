// The market's use of the chains it runs on: which it serves, with which curated assets, and what
// its ready line says of each.

import { setTimeout as sleep } from 'node:timers/promises';
import { factsOf, has } from '@parley/core/families.ts';
import { devnetClient } from '@parley/dev/devnet/client.ts';
import type { ChainInfo } from '@parley/dev/devnet/dev-chain.ts';
import type { Devnet } from '@parley/dev/devnet/devnet.ts';
import type { Gas } from '@parley/watchtower/port.ts';
import type { AssetSettings, ChainSettings } from '../settings/chains.ts';
import type { Settings } from '../settings/config.ts';
import type { PeopleSettings } from '../settings/people.ts';

export type ReadyChain = {
  readonly chain: string;
  readonly family: string;
  readonly rpcUrl?: string;
  readonly chainId?: number;
  readonly node?: { readonly name: string; readonly version: string };
  readonly gasKey?: string;
};

export function devChains(devnet: Pick<Devnet, 'chains'> | null): ChainSettings[] {
  return (devnet?.chains ?? []).map(settingsOf);
}

function settingsOf(info: ChainInfo): ChainSettings {
  const { chain, family, rpcUrl, chainId = 0 } = info;
  switch (family) {
    case 'bitcoin':
      return { family, chain, network: 'regtest', rpcUrl };
    case 'evm':
      return { family, chain, chainId, rpcUrls: [rpcUrl], policy: 'evm-dev' };
    case 'tron': {
      const { escrows: contract = '', escrowsCreation: creation = '' } = info;
      return {
        family,
        chain,
        chainId,
        contract,
        creation,
        sources: [{ url: rpcUrl }],
        world: 'dev',
      };
    }
    case 'solana': {
      const { program = '', genesisHash = '' } = info;
      return { family, chain, genesisHash, rpcUrls: [rpcUrl], program, world: 'dev' };
    }
  }
}

export function devAssets(
  chains: readonly ChainSettings[],
  devnet: Pick<Devnet, 'chains'> | null,
): AssetSettings[] {
  return chains.flatMap(({ chain, family }) => {
    const { coin } = factsOf[family];
    const { tokens = [] } = devnet?.chains.find((each) => each.chain === chain) ?? {};
    return [
      { chain, address: null, symbol: coin.symbol, decimals: coin.decimals },
      ...tokens.map(({ address, decimals, symbol }) => ({ chain, symbol, address, decimals })),
    ];
  });
}

/** Where people find the dev network's mails and accounts; real chains have none. */
export function devPeople(devnet: Pick<Devnet, 'people'> | null): {
  readonly inbox?: string;
  readonly identityProvider?: string;
} {
  const { people = null } = devnet ?? {};
  return people === null ? {} : { inbox: people.inbox, identityProvider: people.provider.issuer };
}

export function servedChains(
  chains: readonly ChainSettings[],
  devnet: Devnet | null,
  gas: ReadonlyMap<string, Gas>,
): ReadyChain[] {
  return chainsOf(chains, devnet).map((each) => {
    const key = gas.get(each.chain);
    return key === undefined ? each : { ...each, gasKey: key.account.address };
  });
}

function chainsOf(chains: readonly ChainSettings[], devnet: Devnet | null): ReadyChain[] {
  if (devnet !== null) {
    return devnet.chains.map(({ chain, family, rpcUrl, chainId, node }) =>
      chainId === undefined
        ? { chain, family, rpcUrl, node }
        : { chain, family, rpcUrl, chainId, node },
    );
  }
  return chains.map((each) => {
    const { chain, family } = each;
    const id = 'chainId' in each ? { chainId: each.chainId } : {};
    return { chain, family, rpcUrl: originOf(firstUrl(each)), ...id };
  });
}

function firstUrl(chain: ChainSettings): string {
  switch (chain.family) {
    case 'bitcoin':
      return chain.rpcUrl ?? chain.esploraUrl ?? '';
    case 'tron':
      return chain.sources[0]?.url ?? '';
    case 'evm':
    case 'solana':
      return chain.rpcUrls[0] ?? '';
  }
}

/** Where a node is, without the password or key that its address may hold. */
function originOf(url: string): string {
  return new URL(url).origin;
}

/** The app offers a dev network's page of mails, and an address of Bitcoin. */
export function devWeb(devnet: Devnet | null): object | null {
  if (devnet === null) return null;
  const { ownAddress = null } = devnet.chains.find(({ family }) => has(family, 'coins')) ?? {};
  return { inbox: devPeople(devnet).inbox ?? null, bitcoinAddress: ownAddress };
}

/** Longest that a gift is waited for until its chain shows it: Solana does so at some depth. */
const giftShownMs = 5_000;
const giftPollMs = 50;

/** Coins for dev keys that have too few; else the first that a new user reads is a warning. */
export async function giveGas(
  devnet: Devnet,
  all: readonly Gas[],
  signal: AbortSignal,
): Promise<void> {
  const dev = devnetClient(devnet.dev);
  const give = async ({ account, lowBalance }: Gas) => {
    const { chain, address } = account;
    if ((await account.balance(signal)) >= 2n * lowBalance) return;
    await dev.faucet({ chain, address, amount: 10n * lowBalance });
    // One that is not shown in time holds up no start: the keeper looks again by itself.
    const limit = AbortSignal.timeout(giftShownMs);
    const isShown = async () => (await account.balance(limit)) >= lowBalance;
    while (!(await isShown().catch(() => true))) await sleep(giftPollMs);
  };
  await Promise.all(all.map(give));
}

/** With the dev network's own mailbox and identity provider, unless others are configured. */
export function peopleWith(
  { people, productName }: Pick<Settings, 'people' | 'productName'>,
  devnet: Pick<Devnet, 'people'> | null,
): PeopleSettings {
  const own = devnet?.people ?? null;
  if (own === null) return people;
  const { issuer, clientId, clientSecret, label } = own.provider;
  const scopes = ['openid', 'email', 'profile'];
  const provider = {
    id: 'dev',
    label,
    issuer,
    clientId,
    clientSecret,
    scopes,
    messages: false,
    nonce: true,
  };
  const isTaken = people.providers.some(({ id }) => id === provider.id);
  const from = `${productName.replace(/[<>]/g, '')} <no-reply@market.example>`;
  return {
    ...people,
    mail: people.mail ?? { url: own.smtpUrl, from },
    providers: isTaken ? people.providers : [...people.providers, provider],
  };
}
