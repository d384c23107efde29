// A party on the dev network of `npm start`: nodes, wallets and play money on all four chains. On a
// real network they are your own, made by the same functions one by one (packages/sdk/README.md).

import { type Family, factsOf, families } from '@parley/core/families.ts';
import type { Chains } from './chains.ts';
import { bitcoinSource, devPolicies, evmSource, solanaSource, tronSource } from './sources.ts';
import { bitcoinWallet } from './wallets/bitcoin.ts';
import { coreCoins } from './wallets/coins.ts';
import { evmWallet } from './wallets/evm.ts';
import { solanaWallet } from './wallets/solana.ts';
import { tronWallet } from './wallets/tron.ts';

export type DevParty = ReturnType<typeof walletsOf> & {
  readonly chains: Chains;
  /** Unix seconds. A dev network may have been moved in time. */
  readonly now: () => number;
  /** An asset for `pin`: `coin('BTC')`, `coin('USDD', 'evm')`. */
  coin(symbol: string, family?: Family): DevCoin;
  /** Coins of each chain, or of this one alone; mined when it resolves. */
  faucet(coin?: DevCoin): Promise<void>;
  /** Closes the connections to the nodes. */
  close(): Promise<void>;
};

export type DevCoin = {
  readonly chain: string;
  readonly token: string | null;
  readonly decimals: number;
};

type Token = { readonly symbol: string; readonly address: string; readonly decimals: number };
type Node = { readonly chain: string; readonly family: Family; readonly rpcUrl: string } & {
  readonly tokens?: readonly Token[];
  readonly chainId?: number;
  readonly escrows?: string;
  readonly escrowsCreation?: string;
  readonly genesisHash?: string;
  readonly program?: string;
};

/** A faucet waits for its block. */
const askMs = 120_000;
/**
 * `control`: the address that `npm start` prints after "dev control". `seed`: 32 bytes in hex, the
 * key of each chain: keep it to come back after a crash. Throws where no dev network answers.
 */
export async function devParty(control: string | undefined, seed: string): Promise<DevParty> {
  if (control === undefined || !URL.canParse(control)) {
    const where = 'the address that "npm start" prints after "dev control"';
    throw new TypeError(`devParty wants the control address of a dev network: ${where}`);
  }
  const ask = asker(control);
  const { chains: nodes, clockOffsetSeconds } = (await ask('/status')) as {
    chains: readonly Node[];
    clockOffsetSeconds: number;
  };
  const nodeOf = (family: Family): Node => {
    const found = nodes.find((each) => each.family === family);
    if (found === undefined) throw new Error(`the dev network has no ${family} chain`);
    return found;
  };
  const now = () => Math.floor(Date.now() / 1_000) + clockOffsetSeconds;
  const own = walletsOf(nodeOf, seed);
  const chains = chainsOf(nodeOf, own, now);
  const gift = async (family: Family, token: string | null) => {
    const { chain } = nodeOf(family);
    const { address } = own[family];
    await ask('/faucet', { chain, address, ...(token === null ? {} : { asset: token }) });
  };
  return {
    ...own,
    chains,
    now,
    coin: (symbol, family) => {
      const native = families.find((each) => factsOf[each].coin.symbol === symbol);
      return coinOf(nodeOf(family ?? native ?? 'evm'), symbol);
    },
    faucet: async (coin) => {
      const chosen = families.filter(
        (family) => coin === undefined || nodeOf(family).chain === coin.chain,
      );
      await Promise.all(chosen.map((family) => gift(family, coin?.token ?? null)));
    },
    close: async () => {
      for (const { source } of Object.values(chains)) await source.adapter.close();
    },
  };
}

function asker(control: string) {
  return async (path: string, body?: object): Promise<object> => {
    const headers = { 'content-type': 'application/json' };
    const post = { method: 'POST', headers, body: JSON.stringify(body) };
    const signal = AbortSignal.timeout(askMs);
    const asked = fetch(new URL(path, control), { ...(body && post), signal });
    const answer = await asked.catch((cause: unknown) => {
      throw new Error(`no dev network answers at ${control}: is "npm start" running?`, { cause });
    });
    const said = (await answer.json()) as { readonly error?: string };
    if (!answer.ok) throw new Error(`the dev network refused ${path}: ${said.error}`);
    return said;
  };
}

function coinOf({ chain, family, tokens = [] }: Node, symbol: string): DevCoin {
  const { symbol: native, decimals } = factsOf[family].coin;
  if (symbol === native) return { chain, token: null, decimals };
  const found = tokens.find((each) => each.symbol === symbol);
  if (found !== undefined) return { chain, token: found.address, decimals: found.decimals };
  const there = [native, ...tokens.map((each) => each.symbol)].join(', ');
  throw new Error(`"${symbol}" is no coin of ${chain}; there are ${there}`);
}

type NodeOf = (family: Family) => Node;

function walletsOf(nodeOf: NodeOf, seed: string) {
  const btc = nodeOf('bitcoin');
  const evm = nodeOf('evm');
  const tron = nodeOf('tron');
  const solana = nodeOf('solana');
  const privateKey = `0x${seed}`;
  const bytes = Uint8Array.from(seed.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return {
    bitcoin: bitcoinWallet({
      privateKey: seed,
      network: 'regtest',
      source: coreCoins(btc.rpcUrl),
    }),
    evm: evmWallet({ privateKey, chainId: evm.chainId ?? 0, rpcUrl: evm.rpcUrl }),
    tron: tronWallet({ chain: tron.chain, sources: [{ url: tron.rpcUrl }], privateKey: seed }),
    solana: solanaWallet({ chain: solana.chain, rpcUrls: [solana.rpcUrl], secretKey: bytes }),
  };
}

function chainsOf(nodeOf: NodeOf, own: ReturnType<typeof walletsOf>, now: () => number): Chains {
  const btc = nodeOf('bitcoin');
  const evm = nodeOf('evm');
  const tron = nodeOf('tron');
  const solana = nodeOf('solana');
  const onBitcoin = { chain: btc.chain, network: 'regtest', now } as const;
  const onTron = {
    chain: tron.chain,
    sources: [{ url: tron.rpcUrl }],
    policy: devPolicies.tron,
    deployment: {
      chainId: tron.chainId ?? 0,
      contract: tron.escrows ?? '',
      creation: tron.escrowsCreation ?? '',
    },
  };
  const onSolana = {
    chain: solana.chain,
    rpcUrls: [solana.rpcUrl],
    policy: devPolicies.solana,
    genesisHash: solana.genesisHash ?? '',
    program: solana.program ?? '',
    now,
  };
  return {
    [btc.chain]: {
      source: bitcoinSource({ ...onBitcoin, source: { coreUrl: btc.rpcUrl } }),
      wallet: own.bitcoin,
    },
    [evm.chain]: {
      source: evmSource({ chain: evm.chain, chainId: evm.chainId ?? 0, rpcUrls: [evm.rpcUrl] }),
      wallet: own.evm,
    },
    [tron.chain]: { source: tronSource(onTron), wallet: own.tron },
    [solana.chain]: { source: solanaSource(onSolana), wallet: own.solana },
  };
}
