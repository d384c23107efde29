// What must hold when a soak is over, by what the maker has kept and by what the chains have: to
// the unit, with every transaction that was ever sent from its addresses.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deal } from '../../maker/journal.ts';
import { readJournal } from '../../maker/journal.ts';
import { type Holding, holdingOf } from '../../scripts/demo/ledger.ts';
import type { Person } from '../../scripts/demo/people.ts';
import { type CoinName, coinNames, type Place } from '../../scripts/demo/place.ts';
import { fileStore } from '../../sdk/stores/file.ts';
import { doingsIn, dueAfterFees } from '../support/maker.ts';
import { cappedCoin, mostADay, mostOpenSizes, sizes } from './settings.ts';

export async function dealsIn(folder: string): Promise<Deal[]> {
  return [...readJournal(await readFile(join(folder, 'store', 'deals.jsonl'), 'utf8')).values()];
}

type Coins = ReadonlyMap<string, CoinName>;

function sidesOf({ pair, gives, base, quote }: Deal, coins: Coins) {
  const [first = '', second = ''] = pair.split('/').map((name) => coins.get(name));
  const [own, other] = gives === 'base' ? [base, quote] : [quote, base];
  const [gave, got] = gives === 'base' ? [first, second] : [second, first];
  return { gave: gave as CoinName, own, got: got as CoinName, other };
}

/** Of swaps side by side, in every coin that the maker gives. */
export function mustKeepCaps(deals: readonly Deal[], coins: Coins): void {
  for (const { acceptedAt: at } of deals) {
    const open = new Map<CoinName, bigint>();
    for (const deal of deals) {
      if (deal.acceptedAt > at || (deal.endedAt !== null && deal.endedAt <= at)) continue;
      const { gave, own } = sidesOf(deal, coins);
      open.set(gave, (open.get(gave) ?? 0n) + own);
    }
    for (const [coin, units] of open) {
      const most = sizes[coin] * mostOpenSizes;
      assert.ok(units <= most, `${units} of ${coin} were given at once, ${most} at most`);
    }
  }
}

const daySeconds = 86_400;

/** Of the coin that has a cap of the day: given within 24 hours, what came to nothing left out. */
export function mustKeepDay(deals: readonly Deal[], coins: Coins): void {
  const given = deals.filter((deal) => sidesOf(deal, coins).gave === cappedCoin);
  for (const { acceptedAt: at } of given) {
    const counted = given.filter((deal) => {
      const stood = deal.end === 'received' || (deal.endedAt ?? at) > at;
      return stood && deal.acceptedAt <= at && deal.acceptedAt >= at - daySeconds;
    });
    const units = counted.reduce((sum, deal) => sum + sidesOf(deal, coins).own, 0n);
    assert.ok(units <= mostADay, `${units} of ${cappedCoin} were given in a day, not ${mostADay}`);
  }
}

/** Hashlocks, and secrets that are public: each of one swap. */
export async function mustNotRepeatSecrets(folder: string): Promise<void> {
  const store = await fileStore(join(folder, 'store'));
  const used = new Map<string, string>();
  for (const swapId of await store.swapIds()) {
    const record = await store.getSwap(swapId);
    assert.ok(record);
    for (const each of [record.swap.hashlock, record.publicSecret]) {
      if (each === null) continue;
      assert.equal(used.get(each) ?? swapId, swapId, `${each} is of two swaps`);
      used.set(each, swapId);
    }
  }
}

export type Before = {
  readonly maker: Person;
  readonly folder: string;
  readonly coins: Coins;
  /** At the heights of `from`, and all that was given to it since. */
  readonly had: Holding;
  readonly from: Heights;
};

/** What it has beyond what it must have, in base units: 0 each. */
export async function inventoryDifference(
  place: Place,
  { maker, had, from, folder, coins }: Before,
): Promise<Holding> {
  const due = { ...had };
  for (const deal of await dealsIn(folder)) {
    if (deal.end !== 'received') continue;
    const { gave, own, got, other } = sidesOf(deal, coins);
    due[gave] -= own;
    due[got] += other;
  }
  const doings = await doingsIn(folder, place);
  // A batch is in no record, and the line that names it may be lost with its process.
  for (const txid of await evmSent(place.evm.rpcUrl, maker.evm.address, from.evm)) {
    doings.sent.evm.add(txid);
  }
  for (const txid of await tronSent(place.tron.rpcUrl, maker.tron.address, from.tron)) {
    doings.sent.tron.add(txid);
  }
  const holds = await holdingOf(maker, place);
  const after = await dueAfterFees(maker, place, due, doings);
  return Object.fromEntries(coinNames.map((coin) => [coin, holds[coin] - after[coin]])) as Holding;
}

type Heights = { readonly evm: number; readonly tron: number };

type EvmBlock = { readonly transactions: readonly { from: string; hash: string }[] };
type TronBlock = {
  readonly block_header?: { readonly raw_data: { readonly number?: number } };
  readonly transactions?: readonly {
    readonly txID: string;
    readonly raw_data: {
      readonly contract: readonly [{ parameter: { value: { owner_address: string } } }];
    };
  }[];
};

export async function heightsOf({ evm, tron }: Place): Promise<Heights> {
  const now = await asked<TronBlock>(`${tron.rpcUrl}/wallet/getnowblock`, {});
  return {
    evm: Number(await rpc<string>(evm.rpcUrl, 'eth_blockNumber', [])),
    tron: now.block_header?.raw_data.number ?? 0,
  };
}

async function evmSent(url: string, address: string, from: number): Promise<string[]> {
  const own: string[] = [];
  const to = Number(await rpc<string>(url, 'eth_blockNumber', []));
  for (let at = from; at <= to; at += 1) {
    const block = await rpc<EvmBlock>(url, 'eth_getBlockByNumber', [`0x${at.toString(16)}`, true]);
    const sent = block.transactions.filter(
      (each) => each.from.toLowerCase() === address.toLowerCase(),
    );
    own.push(...sent.map(({ hash }) => hash));
  }
  return own;
}

async function tronSent(url: string, address: string, from: number): Promise<string[]> {
  const own: string[] = [];
  for (let num = from; ; num += 1) {
    const ask = { num, visible: true };
    const { block_header, transactions = [] } = await asked<TronBlock>(
      `${url}/wallet/getblockbynum`,
      ask,
    );
    if (block_header === undefined) return own;
    const sent = transactions.filter(
      ({ raw_data }) => raw_data.contract[0].parameter.value.owner_address === address,
    );
    own.push(...sent.map(({ txID }) => txID));
  }
}

async function rpc<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  return (await asked<{ result: T }>(url, { jsonrpc: '2.0', id: 1, method, params })).result;
}

async function asked<T>(url: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as T;
}
