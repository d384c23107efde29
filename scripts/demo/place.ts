// Where the demo plays: one chain of each family of a dev network, and the coins it trades there.

import type { DevnetStatus } from '../../devnet/client.ts';

/** Every money of the demo: each chain's own coin and a dollar token where it has tokens. */
export const coinNames = [
  'BTC',
  'ETH',
  'EVM dollar',
  'TRX',
  'TRON dollar',
  'SOL',
  'SPL dollar',
] as const;
export type CoinName = (typeof coinNames)[number];

export type Coin = {
  readonly name: CoinName;
  readonly chain: string;
  /** Whether its chain's clock can be moved past a timelock. */
  readonly clockMoves: boolean;
  readonly symbol: string;
  /** Contract or mint; null = the chain's own coin. */
  readonly token: string | null;
  readonly decimals: number;
};

export type Place = {
  readonly bitcoin: { readonly chain: string; readonly rpcUrl: string };
  readonly evm: { readonly chain: string; readonly rpcUrl: string; readonly chainId: number };
  readonly tron: {
    readonly chain: string;
    readonly rpcUrl: string;
    readonly chainId: number;
    /** The contract of all escrows, base58. */
    readonly escrows: string;
    /** The transaction that created it. */
    readonly creation: string;
  };
  readonly solana: { readonly chain: string; readonly rpcUrl: string; readonly program: string };
  readonly coins: Readonly<Record<CoinName, Coin>>;
};

type Served = DevnetStatus['chains'][number];

/** Each chain with what runs it: nobody is to take a simulator for a node. */
export function namesOf({ chains }: Pick<DevnetStatus, 'chains'>): string {
  const names = chains.map(({ chain, node }) =>
    node.name.includes('simulator') ? `${chain} (a SIMULATOR, no node)` : `${chain} (${node.name})`,
  );
  return names.join(', ');
}

/** The chains and coins of the demo; throws where one is missing. */
export function placeOf(status: DevnetStatus): Place {
  const { chains } = status;
  const bitcoin = chains.find(({ family }) => family === 'bitcoin');
  if (bitcoin === undefined) {
    throw new Error('the Bitcoin chain is off: the market says at its start how to get a bitcoind');
  }
  const evm = mustHave(chains, 'evm');
  const tron = mustHave(chains, 'tron');
  const solana = mustHave(chains, 'solana');
  const native = (name: CoinName, of: Served, decimals: number): Coin => {
    return { ...onChain(name, of), symbol: of.native, token: null, decimals };
  };
  return {
    bitcoin: { chain: bitcoin.chain, rpcUrl: bitcoin.rpcUrl },
    evm: {
      chain: evm.chain,
      rpcUrl: evm.rpcUrl,
      chainId: given(evm.chainId, `chainId of ${evm.chain}`),
    },
    tron: {
      chain: tron.chain,
      rpcUrl: tron.rpcUrl,
      chainId: given(tron.chainId, `chainId of ${tron.chain}`),
      escrows: given(tron.escrows, `escrows of ${tron.chain}`),
      creation: given(tron.escrowsCreation, `escrowsCreation of ${tron.chain}`),
    },
    solana: {
      chain: solana.chain,
      rpcUrl: solana.rpcUrl,
      program: given(solana.program, `program of ${solana.chain}`),
    },
    coins: {
      BTC: native('BTC', bitcoin, 8),
      ETH: native('ETH', evm, 18),
      'EVM dollar': dollarOf('EVM dollar', evm),
      TRX: native('TRX', tron, 6),
      'TRON dollar': dollarOf('TRON dollar', tron),
      SOL: native('SOL', solana, 9),
      'SPL dollar': dollarOf('SPL dollar', solana),
    },
  };
}

function mustHave(chains: readonly Served[], family: string): Served {
  const found = chains.find((each) => each.family === family);
  if (found === undefined) throw new Error(`the dev network has no ${family} chain`);
  return found;
}

function given<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`the dev network does not say the ${what}`);
  return value;
}

function onChain(name: CoinName, { chain, hasOwnClock = false }: Served) {
  return { name, chain, clockMoves: !hasOwnClock };
}

/** The token that takes permits, else the first that the chain lists for trading. */
function dollarOf(name: CoinName, of: Served): Coin {
  const { tokens = [] } = of;
  const token = tokens.find(({ symbol }) => symbol === 'USDV') ?? tokens[0];
  if (token === undefined) throw new Error(`the dev network has no token on ${of.chain}`);
  const { symbol, address, decimals } = token;
  return { ...onChain(name, of), symbol, token: address, decimals };
}
