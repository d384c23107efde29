// `parley-maker CONFIG withdraw ASSET AMOUNT NAME`: shows what will be paid, asks, and has it done:
// by the maker that runs, whose coins, nonces and promises they are, or where none does by itself.

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { formatUnits } from '@parley/core/amounts.ts';
import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import { Misused, parsed } from '@parley/host/command.ts';
import { parseAmount } from '@parley/sdk/people.ts';
import { fileStore } from '@parley/sdk/stores/file.ts';
import type { Store } from '@parley/sdk/stores/store.ts';
import { needsYou } from '@parley/trader/failures.ts';
import { type Io, jsonOf, mustConfirm, note } from '@parley/trader/io.ts';
import { payeeOf } from '@parley/trader/paying/payee.ts';
import { closeChains, openChains } from '../chains.ts';
import type { AssetConfig, ChainConfig, Config } from '../config/config.ts';
import { type Damaged, readJournal } from '../journal.ts';
import { openLog } from '../log.ts';
import { createPromises } from '../promises.ts';
import { type Commitment, holdingOf, takenOf } from '../rules/inventory.ts';
import { createStock } from '../stock.ts';
import { isOfNow, readView } from '../watching/view.ts';
import { knownOf, type WithdrawalsInput } from './checks.ts';
import { type Known, mostFeeOf, mostOf, refusalOf, type Wanted } from './rules.ts';
import {
  ask,
  closedBy,
  hasEnded,
  idShape,
  isUntold,
  mostOpen,
  openOnes,
  read,
  told,
  untoldOnes,
  type Withdrawal,
} from './withdrawal.ts';
import { createWithdrawals, promisesWith, type Withdrawals } from './withdrawals.ts';

/** Somebody has to take it up within this, and whoever asked hears so a moment later. */
const untilMs = 60_000;
const graceMs = 5_000;
const pollMs = 250;
const checkMs = 20_000;
/** A maker that starts would find the lock of the store taken for a moment. */
const pollsALook = 8;

export type WithdrawAsked = {
  readonly asset: string;
  readonly amount: string;
  readonly name: string;
  readonly yes: boolean;
  readonly json: boolean;
  readonly id: string | null;
};

/** Throws Misused. */
export function withdrawAsked(args: readonly string[]): WithdrawAsked {
  const { values, positionals } = parsed({
    args: [...args],
    allowPositionals: true,
    options: {
      yes: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      id: { type: 'string' },
    },
  });
  const [asset, amount, name, ...more] = positionals;
  if (asset === undefined || amount === undefined || name === undefined || more.length > 0) {
    throw new Misused('withdraw wants an asset, an amount or "all", and a name of [addresses]');
  }
  const { yes, json, id = null } = values;
  if (id !== null && !idShape.test(id)) {
    throw new Misused(`--id has up to 63 letters, digits and dashes, not "${id}"`);
  }
  return { asset, amount, name, yes, json, id };
}

type Target = { readonly asset: AssetConfig; readonly name: string; readonly written: string };

/** Throws Misused where the settings do not have it. */
export function targetOf({ assets, addresses }: Config, asked: WithdrawAsked): Target {
  const asset = assets.find(({ name }) => name === asked.asset);
  if (asset === undefined) {
    const known = assets.map(({ name }) => name).join(', ');
    throw new Misused(`"${asked.asset}" is none of [assets]: ${known}`);
  }
  const written = addresses.get(asked.name)?.[asset.chain];
  if (written !== undefined) return { asset, name: asked.name, written };
  const known = [...addresses].filter(([, of]) => of[asset.chain] !== undefined);
  const names = known.map(([name]) => name).join(', ') || 'none';
  throw new Misused(
    `[addresses.${asked.name}] has no ${asset.chain}. Names that have one: ${names}`,
  );
}

/** Resolves to the exit status. */
export async function withdraw(
  config: Config,
  asked: WithdrawAsked,
  io: Pick<Io, 'out' | 'err' | 'ask' | 'isAsked' | 'signal'>,
  movedMs: () => Millis = () => 0,
): Promise<number> {
  const target = targetOf(config, asked);
  const store = await fileStore(config.store);
  const now = () => Date.now() + movedMs();
  const chains = await openChains(config.chains, () => Math.floor(now() / 1_000));
  const stop = new AbortController();
  const signal = AbortSignal.any([io.signal, stop.signal]);
  const desk = () => deskOf({ config, chains, store, now, signal });
  const look = lookingAlone(config.store, store, desk);
  try {
    await look();
    const begun = await begunOf(config, asked, target, io);
    const id = begun ?? (await askedNow(await desk(), asked, target, io));
    return await follow(config.store, id, asked, io, look);
  } finally {
    stop.abort(new Error('the command ends'));
    await closeChains(chains);
  }
}

type Opening = Pick<WithdrawalsInput, 'chains' | 'now' | 'signal'> & {
  readonly config: Config;
  readonly store: Store;
};

/** A maker that only withdraws would know this. */
async function deskOf({ config, chains, store, now, signal }: Opening) {
  const log = openLog({ write: () => true }, now);
  const doubts = { read: () => {} };
  const { assets, limits } = config;
  const warnBelow = new Map<string, number>();
  const stock = createStock({ chains, assets, log, doubts, now, signal, warnBelow });
  const damaged: Damaged[] = [];
  const deals = await readJournal(config.store, '', damaged);
  const [first] = damaged;
  if (first !== undefined) {
    const sentence = `${first.file} is damaged, and what it promises is not known: start a maker, which mends it or says what to do`;
    throw needsYou('deal_damaged', sentence);
  }
  const prices = { of: () => null, all: () => new Map(), close: () => {} };
  const parts = { assets, limits, prices, stock, mode: () => 'paused' as const };
  const withdrawals = new Map<string, Commitment>();
  const { dealt, commitments } = createPromises({ ...parts, now, deals, withdrawals });
  for (const deal of deals.values()) if (deal.end === null) dealt(deal, null);
  const promises = promisesWith(withdrawals, commitments);
  // Damaged deals end it above.
  const closedWhy = null;
  return { config, chains, store, deals, stock, promises, log, now, signal, closedWhy };
}

/**
 * Does what waits where no maker runs, with the lock of the store: for a moment each time, so that
 * a maker can start at any time, which goes on with it. A maker may have promised coins and signed
 * since the last look, as while a person was asked: a new one is judged by the store of now.
 */
export function lookingAlone(
  dir: string,
  store: Pick<Store, 'lock'>,
  desk: () => Promise<WithdrawalsInput>,
) {
  let own: Withdrawals | null = null;
  const judged = new Set<string>();
  return async (): Promise<void> => {
    const lock = (await store.lock?.('maker', AbortSignal.abort())) ?? null;
    if (lock === null) {
      own = null;
      return;
    }
    try {
      const { open } = await openOnes(dir);
      const asked = open.filter(({ id, state }) => state === 'asked' && !judged.has(id));
      if (own === null || asked.length > 0) {
        for (const { id } of asked) judged.add(id);
        own = createWithdrawals(await desk());
        await own.resume();
      }
      await own.look();
    } finally {
      await lock.release();
    }
  };
}

/** The promises of a maker that runs, as it shows them: it decides by its own. null: none runs. */
async function promisedBeside({
  store,
  assets,
}: Pick<Config, 'store' | 'assets'>): Promise<Commitment[] | null> {
  const view = await readView(store);
  if (view === null || !isOfNow(view, Date.now())) return null;
  return view.assets.flatMap(({ name, promised }) => {
    const asset = assets.find((each) => each.name === name);
    if (asset === undefined) return [];
    const before = new Map([[holdingOf(asset), BigInt(promised)]]);
    const common = { id: name, kind: 'quote', asset: '', amount: 0n, fundedAtMs: null } as const;
    return [{ ...common, before, after: new Map() }];
  });
}

/** One that was asked for before, and whose end nobody was told of: it is not paid again. */
export async function begunOf(
  { store }: Config,
  asked: WithdrawAsked,
  { asset }: Target,
  io: Pick<Io, 'err'>,
): Promise<string | null> {
  const { id, name } = asked;
  const isAll = asked.amount === 'all';
  const units = isAll ? null : parseAmount(asked.amount, asset.decimals, { locale: 'en' });
  const isSame = (each: Withdrawal) =>
    each.asset === asset.name && each.name === name && (isAll || each.amount === units);
  if (id !== null) {
    const known = await read(store, id);
    if (known === null || known.state === 'refused') return null;
    const isOver = known.state === 'failed' && !(await isUntold(store, known));
    if (isOver) return null;
    if (!isSame(known)) throw new Misused(`withdrawal ${id} was asked for as ${wordsOf(known)}`);
    note(io, `withdrawal ${id} was asked for before: it is not paid again`);
    return id;
  }
  const all = await untoldOnes(store);
  const same = all.find((each) => !each.isNamed && each.state !== 'refused' && isSame(each));
  if (same === undefined) return null;
  note(io, `withdrawal ${same.id} of the same was asked for before: it goes on, and none is added`);
  return same.id;
}

const wordsOf = ({ amount, decimals, asset, name, to }: Withdrawal) =>
  `${formatUnits(amount, decimals)} ${asset} to ${name} (${to})`;

type Planned = Omit<WithdrawalsInput, 'store' | 'deals'>;

/** Shows the plan, asks, and leaves the question in the store. Throws why it is not even asked. */
async function askedNow(
  desk: Planned,
  asked: WithdrawAsked,
  { asset, name, written }: Target,
  io: Pick<Io, 'err' | 'ask' | 'isAsked'>,
): Promise<string> {
  const { config, chains, stock } = desk;
  const beside = await promisedBeside(config);
  const there = chains[asset.chain];
  const of = config.chains.find(({ chain }) => chain === asset.chain);
  if (there === undefined || of === undefined) throw new Error(`no wallet on ${asset.chain}`);
  const tokens = config.assets.flatMap((each) =>
    each.chain === asset.chain && each.token !== null ? [each.token] : [],
  );
  const to = payeeOf(there, tokens, written);
  const { open, damaged } = await openOnes(config.store);
  const [first, ...more] = damaged;
  if (first !== undefined) throw closedBy([first, ...more]);
  if (open.length >= mostOpen) {
    throw needsYou('too_many', `${open.length} withdrawals are on their way: ${mostOpen} at most`);
  }
  await stock.read();
  const own = knownOf(desk, { of }, asset);
  const known = beside === null ? own : { ...own, commitments: beside };
  const amount =
    asked.amount === 'all'
      ? mostOf({ ...asset, asset: asset.name }, known)
      : parseAmount(asked.amount, asset.decimals, { locale: 'en' });
  if (amount <= 0n) throw needsYou('nothing', `nothing of ${asset.name} can be withdrawn now`);
  const wanted = { ...asset, asset: asset.name, amount };
  await there.source.adapter.checkAmount(asset.token, amount, AbortSignal.timeout(checkMs));
  const refusal = refusalOf(wanted, known);
  if (refusal !== null) throw needsYou('short', refusal);
  const plan = planOf({
    wanted,
    known,
    of,
    from: there.wallet.address,
    name,
    to,
    isRunning: beside !== null,
  });
  await mustConfirm({ ...io, yes: asked.yes }, plan, 'Pay it?');
  const { chain, token, decimals } = asset;
  const isNamed = asked.id !== null;
  const id = asked.id ?? randomUUID();
  const askedAtMs = Date.now();
  const facts = { asset: asset.name, chain, token, decimals, amount, name, to };
  const when = { askedAtMs, untilMs: askedAtMs + untilMs, minedAtMs: null };
  await ask(config.store, {
    id,
    isNamed,
    ...facts,
    ...when,
    state: 'asked',
    why: null,
    kept: null,
  });
  return id;
}

type Plan = {
  readonly wanted: Wanted;
  readonly known: Known;
  readonly of: ChainConfig;
  readonly from: string;
  readonly name: string;
  readonly to: string;
  readonly isRunning: boolean;
};

function planOf({ wanted, known, of, from, name, to, isRunning }: Plan): string[] {
  const { asset, chain, decimals, amount } = wanted;
  const { costs, coinDecimals, balances, reserves, commitments } = known;
  const holding = holdingOf(wanted);
  const balance = balances.get(holding);
  const shown = (units: BaseUnits) => `${formatUnits(units, decimals)} ${asset}`;
  const fee = costs === null ? 0n : mostFeeOf(costs);
  const taken = balance === undefined ? 0n : takenOf(holding, balance, commitments);
  const left = (balance?.units ?? 0n) - amount;
  const by = isRunning ? 'the maker that runs' : 'this command, as no maker runs';
  return [
    `pays   ${shown(amount)} on ${chain}`,
    `to     ${to} (${name})`,
    `from   ${from}`,
    `fee    at most ${formatUnits(fee, coinDecimals)} of the coin of ${chain} (${of.family})`,
    `left   ${shown(left)}: ${shown(reserves.get(holding) ?? 0n)} are the reserve, ` +
      `${shown(taken)} are promised`,
    `by     ${by}`,
  ];
}

/** Until a block has it, or it will never have it. */
async function follow(
  dir: string,
  id: string,
  { json }: Pick<WithdrawAsked, 'json'>,
  io: Pick<Io, 'out' | 'err' | 'signal'>,
  look: () => Promise<void>,
): Promise<number> {
  let before = '';
  for (let polls = 0; ; polls += 1) {
    if (polls % pollsALook === 0) await look();
    const found = await read(dir, id);
    if (found === null) throw new Error(`the file of withdrawal ${id} is gone from ${dir}`);
    const { state, kept } = found;
    const line = `${state}${kept === null ? '' : ` ${kept.txid}`}`;
    if (!json && line !== before) note(io, `${state}: ${kept?.txid ?? wordsOf(found)}`);
    if (state === 'signed' && line !== before && !json) {
      note(io, 'a block has it soon. Ctrl-C loses nothing: a maker, or the same command, goes on');
    }
    before = line;
    if (state === 'mined' || hasEnded(found)) return await end(dir, found, json, io);
    const isLate = state === 'asked' && Date.now() > found.untilMs + graceMs;
    if (isLate)
      throw needsYou('not_taken', 'no maker has taken it up in time: nothing will be paid');
    await wait(pollMs, undefined, { signal: io.signal }).catch(() => {
      const sentence =
        kept === null
          ? `withdrawal ${id} is not signed yet: the maker that runs may still do it`
          : `withdrawal ${id} is signed (${kept.txid}), and goes on with the maker, or with the same command`;
      throw needsYou('interrupted', sentence);
    });
  }
}

async function end(
  dir: string,
  withdrawal: Withdrawal,
  json: boolean,
  io: Pick<Io, 'out'>,
): Promise<number> {
  const { state, why, kept, amount, ...rest } = withdrawal;
  const isPaid = state === 'mined' || state === 'paid';
  const whole = { ...rest, amount: formatUnits(amount, rest.decimals), units: amount };
  const words = isPaid
    ? `paid ${wordsOf(withdrawal)} by ${kept?.txid}`
    : `not paid: ${why ?? state} (${wordsOf(withdrawal)})`;
  io.out(`${json ? jsonOf({ ...whole, state, why, txid: kept?.txid ?? null }) : words}\n`);
  await told(dir, withdrawal);
  return isPaid ? 0 : 1;
}
