// Each maker's holdings at the end, by what the takers saw on the chains, and the notices that its
// hedge must have got. The maker's own counters are asked for nothing but the list of its transactions.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { families } from '@parley/core/families.ts';
import { type Holding, holdingOf } from '@parley/dev/demo/ledger.ts';
import type { Person } from '@parley/dev/demo/people.ts';
import { type CoinName, coinNames, type Place } from '@parley/dev/demo/place.ts';
import { parseConfig } from '@parley/maker/config/config.ts';
import type { Notice } from '@parley/maker/hedge/notices.ts';
import { history } from '@parley/maker/history/history.ts';
import type { Deal } from '@parley/maker/journal.ts';
import { type Fees, feesSince, rentIn, type Since, sumOf } from './fees.ts';
import type { PriceFeed } from './prices.ts';
import { type AssetName, coins } from './settings.ts';
import { type Dealt, ratioBetween } from './takers.ts';

export type Net = Readonly<Record<CoinName, bigint>>;

const none = (): Record<CoinName, bigint> =>
  Object.fromEntries(coinNames.map((name) => [name, 0n])) as Record<CoinName, bigint>;

/** The amounts that settled swaps moved to the maker, before fees. */
export function netOf(dealt: readonly Dealt[]): Net {
  const net = none();
  for (const { gives, gets, outcome } of dealt) {
    if (outcome?.end !== 'received') continue;
    net[gives.coin] += gives.amount;
    net[gets.coin] -= gets.amount;
  }
  return net;
}

export type Kept = {
  readonly wallets: Person;
  readonly had: Holding;
  /** When it had that. */
  readonly since: Since;
};

/** To the unit. Returns what it holds more than at the beginning, and the fees that it paid. */
export async function inventoryIsExact(
  { wallets, had, since }: Kept,
  place: Place,
  dealt: readonly Dealt[],
): Promise<{ readonly more: Net; readonly fees: Fees }> {
  const net = netOf(dealt);
  const due = none();
  for (const name of coinNames) due[name] = had[name] + net[name];
  const fees = await feesSince(since, place, wallets);
  due.SOL -= await rentIn(await escrowsOf(dealt, place), place);
  for (const [family, paid] of Object.entries(fees)) {
    const native = coinNames.find((name) => {
      return place.coins[name].family === family && place.coins[name].token === null;
    });
    assert.ok(native);
    due[native] -= sumOf(paid.values());
  }
  const held = await holdingOf(wallets, place);
  assert.deepEqual(held, due);
  const more = none();
  for (const name of coinNames) more[name] = held[name] - had[name];
  return { more, fees };
}

/** Of the legs that the maker may have funded on Solana. */
async function escrowsOf(dealt: readonly Dealt[], { solana }: Place): Promise<string[]> {
  const found: string[] = [];
  for (const { taker, swapId } of dealt) {
    if (swapId === null) continue;
    const { a } = (await taker.client.swap(swapId)).legs;
    if (a.chain === solana.chain && a.escrow !== null) found.push(a.escrow);
  }
  return found;
}

/** Every deal that the maker agreed to ended as the taker saw it. */
export function dealsAre(deals: ReadonlyMap<string, Deal>, dealt: readonly Dealt[]): void {
  const ends = new Map(dealt.map((each) => [each.threadId, each.outcome?.end ?? null]));
  for (const { threadId, swapId, end } of deals.values()) {
    if (swapId === null) continue;
    const theirs = ends.get(threadId);
    assert.notEqual(theirs, undefined, `${threadId} is of no taker`);
    assert.equal(end === 'received', theirs === 'received', `${threadId}: ${end} and ${theirs}`);
    assert.notEqual(end, 'lost');
  }
}

/** The hedge heard of each swap, in order, the same each time, and its sum is the net. */
export function hedgeIsExact(
  notices: readonly Notice[],
  deals: ReadonlyMap<string, Deal>,
  net: Net,
): void {
  const byId = new Map<string, Notice>();
  for (const notice of notices) {
    const before = byId.get(notice.id);
    if (before !== undefined) assert.deepEqual(notice, before, 'told again, it is the same');
    const { swapId, type } = notice;
    if (type !== 'agreed') assert.ok(byId.has(`${swapId}:agreed`), `${swapId}: ended first`);
    byId.set(notice.id, notice);
  }
  const heard = none();
  for (const { swapId } of deals.values()) {
    if (swapId === null) continue;
    const ended = byId.get(`${swapId}:ended`);
    assert.ok(ended, `the hedge was not told how ${swapId} ended`);
    if (ended.type !== 'settled') continue;
    for (const [side, sign] of [
      ['gives', -1n],
      ['gets', 1n],
    ] as const) {
      const { coin } = coins[ended[side].asset as AssetName];
      heard[coin] += sign * BigInt(ended[side].amount);
    }
  }
  assert.deepEqual(heard, net);
}

type Judged = {
  readonly file: string;
  readonly dealt: readonly Dealt[];
  readonly deals: ReadonlyMap<string, Deal>;
  readonly prices: Pick<PriceFeed, 'between'>;
};

type Row = {
  readonly key: string;
  readonly settled: number;
  readonly profitUnits: string;
  readonly unpriced: number;
};

/**
 * The maker's own history says, by pair, what its swaps brought by the amounts of the takers, at
 * prices that the sources had at those moments.
 */
export async function profitIsExact({ file, dealt, deals, prices }: Judged) {
  const config = parseConfig(await readFile(file, 'utf8'), file);
  const asked = { by: 'pair', from: null, to: null, form: 'json' } as const;
  const { rows } = JSON.parse(await history(config, asked)) as { readonly rows: readonly Row[] };
  const due = new Map<string, { profit: bigint; settled: number }>();
  for (const each of dealt) {
    const deal = deals.get(each.threadId);
    if (deal === undefined || deal.swapId === null) continue;
    const sum = due.get(deal.pair) ?? { profit: 0n, settled: 0 };
    due.set(deal.pair, sum);
    if (each.outcome?.end !== 'received') continue;
    sum.profit += profitOf(each, deal, prices);
    sum.settled += 1;
  }
  const said = rows.map(({ key, settled, profitUnits, unpriced }) => {
    assert.equal(unpriced, 0);
    return [key, { profit: BigInt(profitUnits), settled }] as const;
  });
  assert.deepEqual(new Map(said), new Map([...due].toSorted()));
}

/** The history knows each transaction that this maker has paid for, and shares it to the unit. */
export function feesAreExact(fees: Fees, place: Place, deals: ReadonlyMap<string, Deal>): void {
  for (const family of families) {
    const said = new Map<string, bigint>();
    for (const deal of deals.values()) {
      for (const { chain, txid, units } of deal.fees ?? []) {
        if (chain === place[family].chain) said.set(txid, (said.get(txid) ?? 0n) + units);
      }
    }
    const sorted = (all: ReadonlyMap<string, bigint>) => [...all].toSorted().join('\n');
    assert.equal(sorted(said), sorted(fees[family]), `fees on ${family}`);
  }
}

/** Units of the pair's quote, rounded down. */
function profitOf({ gives, gets }: Dealt, deal: Deal, prices: Pick<PriceFeed, 'between'>): bigint {
  const [base, quote] = deal.pair.split('/') as [AssetName, AssetName];
  const { value, acceptedAt } = deal;
  assert.ok(value, `${deal.threadId} has no price`);
  const agreedMs = acceptedAt * 1_000;
  const within = [agreedMs, agreedMs + 1_000] as const;
  const [least, most] = ratioBetween({ base, quote }, prices, within);
  const price = Number(value.over) / Number(value.under);
  assert.ok(price > least * 0.999999 && price < most * 1.000001, `${price} of ${least} to ${most}`);
  const over = value.over * 10n ** BigInt(value.decimals.quote);
  const under = value.under * 10n ** BigInt(value.decimals.base);
  const inQuote = (coin: CoinName, amount: bigint) =>
    coins[base].coin === coin ? amount * over : amount * under;
  // The taker gives what the maker gets.
  const gain = inQuote(gives.coin, gives.amount) - inQuote(gets.coin, gets.amount);
  const whole = gain / under;
  return gain < 0n && whole * under !== gain ? whole - 1n : whole;
}
