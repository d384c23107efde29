// The network fees that a wallet paid since a moment, from the chains alone: every block and every
// signature is looked at, and no list of what the wallet sent is believed.

import type { Family } from '@parley/core/families.ts';
import { ledgers } from '@parley/dev/demo/ledger.ts';
import type { Person } from '@parley/dev/demo/people.ts';
import type { Place } from '@parley/dev/demo/place.ts';
import { rpcTo } from '@parley/dev/devnet/rpc.ts';

/** Heights of blocks. */
export type Since = Readonly<Record<'bitcoin' | 'evm' | 'tron', number>>;

const atOnce = 16;
const tronPage = 100;
const signaturesPage = 1_000;
const confirmed = { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 };

export async function heightsOf(place: Place): Promise<Since> {
  const tip = await tron<TronBlock>(place, 'getnowblock', {});
  return {
    bitcoin: await rpcTo(place.bitcoin.rpcUrl)<number>('getblockcount', []),
    evm: Number(await rpcTo(place.evm.rpcUrl)<string>('eth_blockNumber', [])),
    tron: tip.block_header.raw_data.number,
  };
}

/** By transaction. */
export type Fees = Readonly<Record<Family, ReadonlyMap<string, bigint>>>;
type Paid = readonly (readonly [txid: string, units: bigint])[];

export async function feesSince(since: Since, place: Place, own: Person): Promise<Fees> {
  const to = await heightsOf(place);
  return {
    bitcoin: new Map(await onBitcoin(place, own.bitcoin.address, since.bitcoin + 1, to.bitcoin)),
    evm: new Map(await onEvm(place, own.evm.address.toLowerCase(), since.evm + 1, to.evm)),
    tron: new Map(await onTron(place, own.tron.address, since.tron + 1, to.tron)),
    solana: new Map(await onSolana(place, own.solana.address)),
  };
}

/** Some at a time. */
async function all<Item, Found>(
  items: readonly Item[],
  of: (item: Item) => Promise<readonly Found[]>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (let at = 0; at < items.length; at += atOnce) {
    const some = await Promise.all(items.slice(at, at + atOnce).map(of));
    found.push(...some.flat());
  }
  return found;
}

const from = (first: number, last: number) =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);

type Output = { readonly value: number; readonly scriptPubKey: { readonly address?: string } };
type Tx = {
  readonly txid: string;
  readonly vin: readonly { readonly prevout?: Output }[];
  readonly vout: readonly Output[];
};

const sats = (outputs: readonly Output[]) =>
  outputs.reduce((sum, { value }) => sum + BigInt(Math.round(value * 1e8)), 0n);

/** It pays for what spends its coins, and for what pays it out of an escrow. */
async function onBitcoin({ bitcoin }: Place, own: string, first: number, last: number) {
  const core = rpcTo(bitcoin.rpcUrl);
  return all(from(first, last), async (height): Promise<Paid> => {
    const hash = await core<string>('getblockhash', [height]);
    const { tx } = await core<{ readonly tx: readonly Tx[] }>('getblock', [hash, 3]);
    return tx.flatMap(({ txid, vin, vout }) => {
      const spent = vin.flatMap(({ prevout }) => prevout ?? []);
      const isOwn = [...spent, ...vout].some(({ scriptPubKey }) => scriptPubKey.address === own);
      return isOwn && spent.length > 0 ? [[txid, sats(spent) - sats(vout)] as const] : [];
    });
  });
}

type EvmBlock = {
  readonly transactions: readonly { readonly hash: string; readonly from: string }[];
};

async function onEvm({ evm }: Place, own: string, first: number, last: number) {
  const node = rpcTo(evm.rpcUrl);
  return all(from(first, last), async (number): Promise<Paid> => {
    const asked = [`0x${number.toString(16)}`, true];
    const { transactions } = await node<EvmBlock>('eth_getBlockByNumber', asked);
    const sent = transactions.filter(({ from: sender }) => sender.toLowerCase() === own);
    return all(sent, async ({ hash }): Promise<Paid> => {
      return [[hash, (await ledgers.evm.fee(evm.rpcUrl, hash)).paid]];
    });
  });
}

type TronBlock = {
  readonly block_header: { readonly raw_data: { readonly number: number } };
  readonly transactions?: readonly {
    readonly txID: string;
    readonly raw_data: {
      readonly contract: readonly {
        readonly parameter: { readonly value: { readonly owner_address: string } };
      }[];
    };
  }[];
};

async function tron<T>({ tron: { rpcUrl } }: Place, method: string, body: object): Promise<T> {
  const answer = await fetch(new URL(`/wallet/${method}`, rpcUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, visible: true }),
  });
  return (await answer.json()) as T;
}

async function onTron(place: Place, own: string, first: number, last: number) {
  const pages = from(0, Math.ceil((last - first + 1) / tronPage));
  return all(pages, async (page): Promise<Paid> => {
    const startNum = first + page * tronPage;
    const endNum = Math.min(startNum + tronPage, last + 1);
    if (startNum >= endNum) return [];
    type Page = { readonly block?: readonly TronBlock[] };
    const { block = [] } = await tron<Page>(place, 'getblockbylimitnext', { startNum, endNum });
    const sent = block
      .flatMap(({ transactions = [] }) => transactions)
      .filter(({ raw_data: { contract } }) => contract[0]?.parameter.value.owner_address === own);
    return all(sent, async ({ txID }): Promise<Paid> => {
      return [[txID, (await ledgers.tron.fee(place.tron.rpcUrl, txID)).paid]];
    });
  });
}

async function onSolana({ solana }: Place, own: string) {
  const node = rpcTo(solana.rpcUrl);
  const fees: (readonly [string, bigint])[] = [];
  for (let before: string | null = null; ; ) {
    const how: object = {
      limit: signaturesPage,
      commitment: 'confirmed',
      ...(before === null ? {} : { before }),
    };
    const page: readonly { readonly signature: string }[] = await node('getSignaturesForAddress', [
      own,
      how,
    ]);
    const paid = await all(page, async ({ signature }): Promise<Paid> => {
      const fee = await ledgers.solana.fee(solana.rpcUrl, signature);
      return fee.by === own ? [[signature, fee.paid]] : [];
    });
    fees.push(...paid);
    if (page.length < signaturesPage) break;
    before = page.at(-1)?.signature ?? null;
  }
  return fees;
}

/** The rent that tombstones of escrows on Solana keep of their funder. */
export async function rentIn(escrows: readonly string[], { solana }: Place): Promise<bigint> {
  const node = rpcTo(solana.rpcUrl);
  const kept = await all(escrows, async (escrow) => {
    const { value } = await node<{ readonly value: number }>('getBalance', [escrow, confirmed]);
    return [BigInt(value)];
  });
  return sumOf(kept);
}

export const sumOf = (units: Iterable<bigint>) => [...units].reduce((sum, each) => sum + each, 0n);
