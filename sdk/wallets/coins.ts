// Where a Bitcoin wallet learns of its coins and of fee rates: a Core node or an Esplora server.

export type Coin = { readonly txid: string; readonly vout: number; readonly amountSats: bigint };

export type CoinSource = {
  /** Confirmed coins of the address. */
  coins(address: string, signal: AbortSignal): Promise<Coin[]>;
  /**
   * Also of one that an unconfirmed transaction spends. null: no block holds it, or a block spends
   * it.
   */
  output(
    at: { readonly txid: string; readonly vout: number },
    signal: AbortSignal,
  ): Promise<{ readonly amountSats: bigint; readonly confirmations: number } | null>;
  /** For about half an hour. */
  feeRateSatPerVbyte(signal: AbortSignal): Promise<number>;
};

const fallbackRate = 2;
const scanBusy = -8;
const mostAnswerBytes = 32 * 1024 * 1024;

/**
 * `http://user:password@host:port`. Scans all unspent outputs, a minute on mainnet: prefer Esplora
 * there.
 */
export function coreCoins(rpcUrl: string): CoinSource {
  return {
    coins: async (address, signal) => {
      const set = await scan(rpcUrl, address, signal);
      return set.unspents.map(({ txid, vout, amount }) => ({
        txid,
        vout,
        amountSats: satsOf(amount),
      }));
    },
    output: async ({ txid, vout }, signal) => {
      const found = (await coreCall(rpcUrl, 'gettxout', [txid, vout, false], signal)) as {
        value: number;
        confirmations: number;
      } | null;
      if (found === null) return null;
      return { amountSats: satsOf(found.value), confirmations: found.confirmations };
    },
    feeRateSatPerVbyte: async (signal) => {
      const { feerate } = (await coreCall(rpcUrl, 'estimatesmartfee', [3], signal)) as {
        feerate?: number;
      };
      return feerate === undefined ? fallbackRate : Math.max(1, (feerate * 1e8) / 1000);
    },
  };
}

/** An Esplora REST base, such as `https://host/api`. */
export function esploraCoins(baseUrl: string): CoinSource {
  const answer = async (path: string, signal: AbortSignal): Promise<unknown> => {
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}${path}`, { signal });
    const text = await bounded(response);
    if (response.status === 404) return null;
    if (!response.ok) throw new Error(`Esplora answered ${response.status} to ${path}`);
    return JSON.parse(text);
  };
  const read = async (path: string, signal: AbortSignal): Promise<unknown> => {
    const found = await answer(path, signal);
    if (found === null) throw new Error(`Esplora answered 404 to ${path}`);
    return found;
  };
  return {
    coins: async (address, signal) => {
      const list = (await read(`/address/${address}/utxo`, signal)) as {
        txid: string;
        vout: number;
        value: number;
        status: { confirmed: boolean };
      }[];
      return list
        .filter(({ status }) => status.confirmed)
        .map(({ txid, vout, value }) => ({ txid, vout, amountSats: BigInt(value) }));
    },
    output: async ({ txid, vout }, signal) => {
      const tip = Number(await read('/blocks/tip/height', signal));
      const tx = (await answer(`/tx/${txid}`, signal)) as {
        vout: { value: number }[];
        status: { confirmed: boolean; block_height?: number };
      } | null;
      const height = tx?.status.block_height;
      const value = tx?.vout[vout]?.value;
      if (!tx?.status.confirmed || height === undefined || value === undefined) return null;
      const spent = (await read(`/tx/${txid}/outspend/${vout}`, signal)) as {
        status?: { confirmed: boolean };
      };
      if (spent.status?.confirmed) return null;
      return { amountSats: BigInt(value), confirmations: Math.max(1, tip - height + 1) };
    },
    feeRateSatPerVbyte: async (signal) => {
      const rates = (await read('/fee-estimates', signal)) as Record<string, number>;
      return Math.max(1, rates['3'] ?? fallbackRate);
    },
  };
}

type Scan = { unspents: { txid: string; vout: number; amount: number }[] };

/** A node scans for one caller at a time. */
async function scan(rpcUrl: string, address: string, signal: AbortSignal): Promise<Scan> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const what = ['start', [`addr(${address})`]];
      return (await coreCall(rpcUrl, 'scantxoutset', what, signal)) as Scan;
    } catch (error) {
      if (!(error instanceof CoreError) || error.code !== scanBusy) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

class CoreError extends Error {
  readonly code: number;
  constructor(method: string, code: number, message: string) {
    super(`${method}: ${message}`);
    this.name = 'CoreError';
    this.code = code;
  }
}

async function coreCall(
  rpcUrl: string,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  const url = new URL(rpcUrl);
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  [url.username, url.password] = ['', ''];
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(login).toString('base64')}`,
    },
    body: JSON.stringify({ jsonrpc: '1.0', id: 'parley', method, params }),
    signal,
  });
  const text = await bounded(response);
  const answer = (text.startsWith('{') ? JSON.parse(text) : {}) as {
    result?: unknown;
    error?: { code: number; message: string } | null;
  };
  if (answer.error) throw new CoreError(method, answer.error.code, answer.error.message);
  if (!response.ok) throw new CoreError(method, response.status, 'no JSON-RPC answer');
  return answer.result;
}

async function bounded(response: Response): Promise<string> {
  const text = await response.text();
  if (text.length > mostAnswerBytes) throw new Error('the answer is too large');
  return text;
}

/** Core writes coins as a JSON number with at most eight decimals: exact after rounding. */
function satsOf(coins: number): bigint {
  return BigInt(Math.round(coins * 1e8));
}
