// A typed client of the dev network's control server. Amounts are base units.
import type { DevMarket } from './control.ts';
import type { ChainHead, ChainInfo } from './dev-chain.ts';

const requestLimitMs = 120_000;

export type DevnetStatus = {
  /** Null: no market listens there yet. */
  readonly market: DevMarket | null;
  /** The market's time in Unix seconds. */
  readonly now: number;
  readonly clockOffsetSeconds: number;
  readonly chains: readonly (ChainInfo & ChainHead & { readonly native: string })[];
};

/** The make-up of the dev network, which no node is asked for. */
export type DevnetChains = {
  readonly clockOffsetSeconds: number;
  readonly chains: readonly ChainInfo[];
};

export type DevnetClient = {
  /** Mined when it returns. `asset` is a symbol, contract address or asset id; default native. */
  faucet(gift: {
    chain: string;
    address: string;
    asset?: string;
    amount?: bigint;
  }): Promise<{ txid: string; amount: bigint }>;
  mine(chain: string, blocks: number): Promise<{ chain: string; height: number }>;
  /** Moves all clocks forward. `emptyBlocks`: a transaction that waits on Bitcoin waits on. */
  time(seconds: number, emptyBlocks?: boolean): Promise<DevnetStatus>;
  /** Off: the chain makes no block unless `mine` or `faucet` asks for it. */
  mining(chain: string, automatic: boolean): Promise<void>;
  status(): Promise<DevnetStatus>;
  chains(signal: AbortSignal): Promise<DevnetChains>;
};

class DevnetRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'DevnetRefusal';
    this.status = status;
  }
}

export function devnetClient(url: string): DevnetClient {
  if (!URL.canParse(url)) {
    throw new Error(
      `the control address of the dev network is '${url}', which is no URL: give the one that ` +
        'the market prints when it is ready, after "dev control"',
    );
  }
  const call = async (
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    signal = AbortSignal.timeout(requestLimitMs),
  ) => {
    const response = await fetch(new URL(path, url), {
      method,
      signal,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new DevnetRefusal(response.status, String(answer.error));
    return answer;
  };
  return {
    faucet: async (gift) => {
      const amount = gift.amount === undefined ? {} : { amount: gift.amount.toString() };
      const answer = await call('POST', '/faucet', { ...gift, ...amount });
      return { txid: String(answer.txid), amount: BigInt(String(answer.amount)) };
    },
    mine: async (chain, blocks) => {
      const answer = await call('POST', '/mine', { chain, blocks });
      return { chain, height: Number(answer.height) };
    },
    time: async (seconds, emptyBlocks = false) =>
      (await call(
        'POST',
        '/time',
        emptyBlocks ? { seconds, emptyBlocks } : { seconds },
      )) as DevnetStatus,
    mining: async (chain, automatic) => {
      await call('POST', '/mining', { chain, automatic });
    },
    status: async () => (await call('GET', '/status')) as DevnetStatus,
    chains: async (signal) => (await call('GET', '/chains', undefined, signal)) as DevnetChains,
  };
}
