// Balances read from the nodes themselves, and network fees computed from the transactions, to the
// last base unit. The market is asked nothing here.

import { sha256 } from '@noble/hashes/sha2.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { type Family, families } from '@parley/core/families.ts';
import { createBase58check } from '@scure/base';
import type { Person } from './people.ts';
import { type CoinName, coinNames, type Place } from './place.ts';

/** Base units of each coin. */
export type Holding = Readonly<Record<CoinName, bigint>>;

/** The actions of a person: transactions it sent, by family, and escrows on Solana that it
 * funded. */
export type Doings = {
  readonly sent: Readonly<Record<Family, Set<string>>>;
  readonly escrows: Set<string>;
};

export const noDoings = (): Doings => ({
  sent: { bitcoin: new Set(), evm: new Set(), tron: new Set(), solana: new Set() },
  escrows: new Set(),
});

/** The fee of one transaction; `by` is null where its sender is not to be told from it. */
type Fee = { readonly paid: bigint; readonly by: string | null };
type Ledger = {
  /** The balance of the chain's own coin, or of a token. */
  balance(url: string, address: string, token: string | null): Promise<bigint>;
  fee(url: string, txid: string): Promise<Fee>;
};

const base58check = createBase58check(sha256);
const sats = (coins: number) => BigInt(Math.round(coins * 1e8));
/** The faucet's latest gift counts, and is not even confirmed when the demo begins. */
const newest = { commitment: 'processed', encoding: 'jsonParsed' };
const confirmed = { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 };

type CoreTx = { vin: { txid: string; vout: number }[]; vout: { value: number; n: number }[] };
type TokenAccount = {
  account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } };
};

export const ledgers: Readonly<Record<Family, Ledger>> = {
  bitcoin: {
    balance: async (url, address) => {
      const scan = ['start', [`addr(${address})`]];
      return sats((await rpc<{ total_amount: number }>(url, 'scantxoutset', scan)).total_amount);
    },
    fee: async (url, txid) => {
      const read = (id: string) => rpc<CoreTx>(url, 'getrawtransaction', [id, 1]);
      // One that another one replaced paid nothing; were it on the chain, balances would not be exact.
      const found = await read(txid).catch((error: Error) => {
        if (/No such mempool or blockchain transaction/.test(error.message)) return null;
        throw error;
      });
      if (found === null) return { paid: 0n, by: null };
      const { vin, vout } = found;
      let paid = 0n;
      for (const { txid: from, vout: at } of vin) {
        paid += sats((await read(from)).vout.find(({ n }) => n === at)?.value ?? 0);
      }
      for (const { value } of vout) paid -= sats(value);
      return { paid, by: null };
    },
  },
  evm: {
    balance: async (url, address, token) => {
      const owner = address.slice(2).toLowerCase().padStart(64, '0');
      const [method, asked] =
        token === null
          ? ['eth_getBalance', address]
          : ['eth_call', { to: token, data: `0x70a08231${owner}` }];
      return BigInt(await rpc<string>(url, method, [asked, 'latest']));
    },
    fee: async (url, txid) => {
      const { from, gasUsed, effectiveGasPrice } = await rpc<
        Record<'from' | 'gasUsed' | 'effectiveGasPrice', string>
      >(url, 'eth_getTransactionReceipt', [txid]);
      return { paid: BigInt(gasUsed) * BigInt(effectiveGasPrice), by: from };
    },
  },
  tron: {
    balance: async (url, address, token) => {
      const visible = true;
      if (token === null) {
        const account = await tron<{ balance?: number }>(url, 'getaccount', { address, visible });
        return BigInt(account.balance ?? 0);
      }
      const owner = Buffer.from(base58check.decode(address).subarray(1)).toString('hex');
      const { constant_result: [balance = ''] = [] } = await tron<{ constant_result?: string[] }>(
        url,
        'triggerconstantcontract',
        {
          owner_address: address,
          contract_address: token,
          function_selector: 'balanceOf(address)',
          parameter: owner.padStart(64, '0'),
          visible,
        },
      );
      return BigInt(`0x${balance}`);
    },
    /** Energy and bandwidth. */
    fee: async (url, value) => {
      const { raw_data } = await tron<{
        raw_data: { contract: { parameter: { value: { owner_address: string } } }[] };
      }>(url, 'gettransactionbyid', { value });
      const owner = raw_data.contract[0]?.parameter.value.owner_address ?? '';
      const { fee = 0 } = await tron<{ fee?: number }>(url, 'gettransactioninfobyid', { value });
      return { paid: BigInt(fee), by: base58check.encode(hexToBytes(owner)) };
    },
  },
  solana: {
    balance: async (url, address, token) => {
      if (token === null) return lamports(url, address, newest);
      const asked = [address, { mint: token }, newest];
      const { value } = await rpc<{ value: TokenAccount[] }>(url, 'getTokenAccountsByOwner', asked);
      const amounts = value.map(({ account }) => account.data.parsed.info.tokenAmount.amount);
      return amounts.reduce((sum, amount) => sum + BigInt(amount), 0n);
    },
    fee: async (url, txid) => {
      const found = await rpc<{
        transaction: { message: { accountKeys: string[] } };
        meta: { fee: number };
      } | null>(url, 'getTransaction', [txid, confirmed]);
      if (found === null) throw new Error(`${txid} is in no block`);
      const by = found.transaction.message.accountKeys[0] ?? '';
      return { paid: BigInt(found.meta.fee), by };
    },
  },
};

async function lamports(url: string, address: string, how: object): Promise<bigint> {
  return BigInt((await rpc<{ value: number }>(url, 'getBalance', [address, how])).value);
}

/** The person's present holdings: one after the other, as a Bitcoin node scans for one at a
 * time. */
export async function holdingOf(person: Person, place: Place): Promise<Holding> {
  const held = new Map<CoinName, bigint>();
  for (const name of coinNames) {
    const { family, token } = place.coins[name];
    const { balance } = ledgers[family];
    held.set(name, await balance(place[family].rpcUrl, person[family].address, token));
  }
  return Object.fromEntries(held) as Holding;
}

/** The fees of a person's transactions, each counted once, by family; on Solana rent that stays
 * too. */
export async function feesOf(
  person: Person,
  place: Place,
  { sent, escrows }: Doings,
): Promise<Record<Family, bigint>> {
  const fees = { bitcoin: 0n, evm: 0n, tron: 0n, solana: 0n };
  for (const family of families) {
    const own = person[family].address.toLowerCase();
    for (const txid of sent[family]) {
      const { paid, by } = await ledgers[family].fee(place[family].rpcUrl, txid);
      fees[family] += paid;
      if (by !== null && by.toLowerCase() !== own) {
        throw new Error(`${txid} was sent by ${by}, not by ${person.name}`);
      }
    }
  }
  const { solana, evm } = place;
  // The tombstones of the person's escrows keep their rent for ever.
  for (const each of escrows) fees.solana += await lamports(solana.rpcUrl, each, confirmed);
  const asked = [person.evm.address, 'latest'];
  const count = Number(await rpc<string>(evm.rpcUrl, 'eth_getTransactionCount', asked));
  if (count === sent.evm.size) return fees;
  throw new Error(`${person.name} sent ${count} EVM transactions, ${sent.evm.size} are known`);
}

const callLimitMs = 30_000;

/** JSON-RPC; a user and password in the address are sent as such. */
async function rpc<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const node = new URL(url);
  const login = Buffer.from(`${node.username}:${node.password}`).toString('base64');
  const headers = node.username === '' ? {} : { authorization: `Basic ${login}` };
  [node.username, node.password] = ['', ''];
  const call = { jsonrpc: '2.0', id: 1, method, params };
  const answer = await post<{ result: T; error?: { message: string } | null }>(node, call, headers);
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}

const tron = <T>(url: string, method: string, body: object) =>
  post<T>(new URL(`/wallet/${method}`, url), body);

async function post<T>(url: URL, body: object, headers: Record<string, string> = {}): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(callLimitMs),
  });
  return (await response.json()) as T;
}
