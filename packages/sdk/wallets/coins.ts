// Where a Bitcoin wallet learns of its coins and of fee rates: a Core node or an Esplora server, or
// several of them.

import { askedTargets, pacesOf } from '@parley/chains/bitcoin/fees.ts';
import { exchange } from '@parley/chains/bitcoin/http.ts';
import { coreRpc, type RpcCall, RpcRefusal } from '@parley/chains/bitcoin/rpc.ts';
import { textOf } from '@parley/chains/nodes/exchange.ts';
import { saidInTime } from '@parley/chains/nodes/sources.ts';
import { sleep } from '@parley/chains/nodes/turn.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';

type Outpoint = { readonly txid: string; readonly vout: number };

export type Coin = Outpoint & { readonly amountSats: BaseUnits };

export type CoinSource = {
  /** Confirmed coins of the address. */
  coins(address: string, signal: AbortSignal): Promise<Coin[]>;
  /**
   * Satoshi of the address by blocks alone: those that an unconfirmed transaction spends are there
   * still. Absent: the sum of `coins`.
   */
  confirmed?(address: string, signal: AbortSignal): Promise<BaseUnits>;
  /**
   * Also of one that an unconfirmed transaction spends. null: no block holds it, or a block spends
   * it.
   */
  output(
    at: Outpoint,
    signal: AbortSignal,
  ): Promise<{ readonly amountSats: BaseUnits; readonly confirmations: number } | null>;
  /** The unspent ones among these confirmed coins, at once. Absent: `coins` is as fast. */
  unspent?(coins: readonly Coin[], signal: AbortSignal): Promise<Coin[]>;
  /** For about half an hour. */
  feeRateSatPerVbyte(signal: AbortSignal): Promise<number>;
};

const fallbackRate = 2;
const scanBusy = -8;
/** A scan may take minutes; the signal ends it sooner. */
const limits = { timeMs: 600_000, bytes: 32 * 1024 * 1024 };

/**
 * `http://user:password@host:port`. Scans all unspent outputs, a minute on mainnet: prefer Esplora
 * there.
 */
export function coreCoins(rpcUrl: string): CoinSource {
  const rpc = coreRpc({ url: rpcUrl, limits });
  const all = async <T>(calls: readonly RpcCall[], signal: AbortSignal): Promise<T[]> => {
    const answers = await rpc.batch<T>(calls, signal);
    return answers.map((answer) => {
      if (answer instanceof RpcRefusal) throw answer;
      return answer;
    });
  };
  type Output = { value: number; confirmations: number } | null;
  type Scan = { unspents: (Outpoint & { amount: number })[] };
  /** A node scans for one caller at a time. */
  const scan = async (address: string, signal: AbortSignal): Promise<Scan> => {
    for (;;) {
      try {
        return await rpc.call<Scan>('scantxoutset', ['start', [`addr(${address})`]], signal);
      } catch (error) {
        if (!(error instanceof RpcRefusal) || error.code !== scanBusy) throw error;
        await sleep(50, signal);
      }
    }
  };
  return {
    coins: async (address, signal) => {
      const { unspents } = await scan(address, signal);
      return unspents.map(({ txid, vout, amount }) => ({ txid, vout, amountSats: satsOf(amount) }));
    },
    output: async ({ txid, vout }, signal) => {
      const found = await rpc.call<Output>('gettxout', [txid, vout, false], signal);
      return found && { amountSats: satsOf(found.value), confirmations: found.confirmations };
    },
    unspent: async (coins, signal) => {
      const calls = coins.map(({ txid, vout }) => {
        return { method: 'gettxout', params: [txid, vout, false] } as const;
      });
      const found = await all<Output>(calls, signal);
      return coins.filter(({ amountSats }, at) => {
        const output = found[at];
        return output && satsOf(output.value) === amountSats;
      });
    },
    feeRateSatPerVbyte: async (signal) => {
      type Smart = { feerate?: number };
      const calls = askedTargets.map((blocks) => {
        return { method: 'estimatesmartfee', params: [blocks] } as const;
      });
      const found = await all<Smart>(calls, signal);
      const rates = found.map(({ feerate = 0 }, at) => [askedTargets[at], feerate * 1e5] as const);
      return Math.max(1, pacesOf(Object.fromEntries(rates))?.medium ?? fallbackRate);
    },
  };
}

/** An Esplora REST base, such as `https://host/api`. */
export function esploraCoins(baseUrl: string): CoinSource {
  const answer = async <T>(path: string, signal: AbortSignal): Promise<T | null> => {
    const url = `${baseUrl.replace(/\/+$/, '')}${path}`;
    const reply = await exchange('Esplora', { url, method: 'GET', headers: {} }, limits, signal);
    const { status } = reply;
    if (status === 404) return null;
    if (status !== 200) throw new Error(`Esplora answered ${status} to ${path}`);
    return JSON.parse(textOf(reply)) as T;
  };
  const read = async <T>(path: string, signal: AbortSignal): Promise<T> => {
    const found = await answer<T>(path, signal);
    if (found === null) throw new Error(`Esplora answered 404 to ${path}`);
    return found;
  };
  type Status = { confirmed: boolean; block_height?: number };
  return {
    coins: async (address, signal) => {
      type Unspent = Outpoint & { value: number; status: Status };
      const list = await read<Unspent[]>(`/address/${address}/utxo`, signal);
      return list
        .filter(({ status }) => status.confirmed)
        .map(({ txid, vout, value }) => ({ txid, vout, amountSats: BigInt(value) }));
    },
    confirmed: async (address, signal) => {
      type Sums = { funded_txo_sum: number; spent_txo_sum: number };
      const { chain_stats: sums } = await read<{ chain_stats: Sums }>(
        `/address/${address}`,
        signal,
      );
      return BigInt(sums.funded_txo_sum) - BigInt(sums.spent_txo_sum);
    },
    output: async ({ txid, vout }, signal) => {
      const tip = await read<number>('/blocks/tip/height', signal);
      type Tx = { vout: { value: number }[]; status: Status };
      const tx = await answer<Tx>(`/tx/${txid}`, signal);
      const height = tx?.status.block_height;
      const value = tx?.vout[vout]?.value;
      if (!tx?.status.confirmed || height === undefined || value === undefined) return null;
      type Spend = { status?: Status };
      const spent = await read<Spend>(`/tx/${txid}/outspend/${vout}`, signal);
      if (spent.status?.confirmed) return null;
      return { amountSats: BigInt(value), confirmations: Math.max(1, tip - height + 1) };
    },
    feeRateSatPerVbyte: async (signal) => {
      const rates = await read<Record<string, unknown>>('/fee-estimates', signal);
      return Math.max(1, pacesOf(rates)?.medium ?? fallbackRate);
    },
  };
}

/** Once one has answered the others have so long. */
const othersMs = 1_500;

/**
 * By several nodes, the better one first. The answer of a node that stands still or lies is held
 * against the others' answers: a coin counts where all that answer have it, and so do its
 * confirmations.
 */
export function coinsByAll(sources: readonly CoinSource[]): CoinSource {
  const [first] = sources;
  if (first === undefined) throw new Error('no node is named that knows of coins');
  if (sources.length === 1) return first;
  const ofAll = async <T>(
    ask: (one: CoinSource, signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<readonly T[]> => {
    const askOne = async (at: number, until: AbortSignal) => ({
      said: await ask(sources[at] as CoinSource, until),
    });
    const answers = await saidInTime(sources.length, askOne, othersMs, signal);
    return answers.length > 0 ? answers.map(({ said }) => said) : [await ask(first, signal)];
  };
  const byBlocks = sources.flatMap(({ confirmed }) => confirmed ?? []);
  const least = async (address: string, signal: AbortSignal) => {
    const askOne = (at: number, until: AbortSignal) => byBlocks[at]!(address, until);
    const sums = await saidInTime(byBlocks.length, askOne, othersMs, signal);
    const known = sums.length > 0 ? sums : [await byBlocks[0]!(address, signal)];
    const [smallest = 0n] = known.toSorted((one, other) => Number(one - other));
    return smallest;
  };
  return {
    ...(byBlocks.length > 0 && { confirmed: least }),
    coins: async (address, signal) => {
      const listed = async (by: CoinSource, until: AbortSignal) => {
        return { by, coins: await by.coins(address, until) };
      };
      const lists = await ofAll(listed, signal);
      const coins = inAll(lists.map((each) => each.coins));
      // A Core node scans for a minute, and knows at once of these.
      const late = sources.filter((each) => !lists.some(({ by }) => by === each));
      const until = AbortSignal.any([signal, AbortSignal.timeout(othersMs)]);
      const held = await saidInTime(
        late.length,
        async (at, by) => (await late[at]?.unspent?.(coins, by)) ?? null,
        othersMs,
        until,
      );
      return inAll([coins, ...held]);
    },
    output: async (at, signal) => {
      const all = await ofAll((each, until) => each.output(at, until), signal);
      const found = all.filter((each) => each !== null);
      const [one] = found;
      if (one === undefined) return null;
      // One that does not have it may be behind, or ahead: then nothing is deep.
      const depths = found.map(({ confirmations }) => confirmations);
      return { ...one, confirmations: found.length < all.length ? 1 : Math.min(...depths) };
    },
    feeRateSatPerVbyte: async (signal) => {
      const all = await ofAll((each, until) => each.feeRateSatPerVbyte(until), signal);
      const dearest = [...all].sort((one, other) => other - one);
      // One alone does not decide among three or more.
      return dearest[dearest.length > 2 ? 1 : 0] ?? fallbackRate;
    },
  };
}

function inAll([one = [], ...others]: readonly (readonly Coin[])[]): Coin[] {
  const isIn = (coins: readonly Coin[], { txid, vout, amountSats }: Coin) =>
    coins.some(
      (each) => each.txid === txid && each.vout === vout && each.amountSats === amountSats,
    );
  return one.filter((coin) => others.every((coins) => isIn(coins, coin)));
}

/** Core writes coins as a JSON number with at most eight decimals: exact after rounding. */
function satsOf(coins: number): BaseUnits {
  return BigInt(Math.round(coins * 1e8));
}
