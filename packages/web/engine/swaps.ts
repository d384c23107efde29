// All swaps of this browser: those that are open settle themselves in the tab that has the turn.

import { type ChainKey, has } from '@parley/core/families.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import { type LegName, otherLeg } from '@parley/core/trade.ts';
import type { PartyChain } from '@parley/sdk/chains.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { StoreError } from '@parley/sdk/errors.ts';
import type { RawSpend } from '@parley/sdk/rescue/raw.ts';
import { findBitcoinKeys } from '@parley/sdk/rescue/search.ts';
import { ownSides, watchedOf } from '@parley/sdk/settle/record.ts';
import type { EscrowPayment, Outcome, Progress, SettleInput } from '@parley/sdk/settle.ts';
import { readKept, type Store, type SwapRecord, writeKept } from '@parley/sdk/stores/store.ts';
import type { OwnTrade } from '@parley/sdk/trade.ts';
import { chainsIn } from '@parley/trader/sides.ts';
import { type Held, held, type Live } from '../live.ts';
import { cameOf, type Deals, type Entry, escrowKey } from './deals.ts';
import {
  type Begun,
  type Drive,
  drive,
  type Histories,
  historiesOf,
  mostDriven,
  type Open,
  type Ready,
  relayedOf,
  toDrive,
  verbDone,
} from './drive.ts';
import { endedKey, type Kept, readable } from './keeping.ts';
import type { OpenNodes } from './nodes.ts';
import { sleep } from './sleep.ts';
import { openTabs, type Said, type Tabs } from './tabs.ts';
import {
  type Ask,
  EngineError,
  type Happened,
  type LegView,
  type Problem,
  type SwapView,
  type Verb,
} from './types.ts';
import type { OpenVault } from './vault.ts';
import {
  type Ended,
  endedOf,
  endedView,
  inOrder,
  isLookedAtAgain,
  type Told,
  viewOf,
} from './view.ts';
import { absent, type Hands, type IsOf, keyWallet, payoutWallet } from './wallets.ts';

export type OpenSwaps = ReturnType<typeof opened>;

type SwapsParts = {
  readonly name: string;
  readonly client: ParleyClient;
  readonly store: Store;
  readonly kept: Kept;
  readonly vault: OpenVault;
  readonly nodes: OpenNodes;
  readonly deals: Deals;
  readonly hands: Hands;
  readonly now: () => UnixSeconds;
  readonly pollMs: number;
  readonly problems: () => readonly Problem[];
  readonly onStoreFault: (error: StoreError) => void;
  /** Hears messages of other tabs that are not about swaps. */
  readonly onSaid: (said: Said) => void;
  /** A swap was verified or funded: the rescue file is old. */
  readonly onRescue: () => void;
};

/** As `settle` by itself; less on a dev network, where a claim by both would wait longest for it. */
const mostMarketPollMs = 2_000;
const dealPauseMs = 3_000;
const sayPauseMs = 250;
/** The tab that settles has told by then what it found. */
const otherTabMs = 1_500;
const readMs = 20_000;

const noPhrase = 'the rescue phrase is missing';
const noPayout = 'an address to be paid at is missing';
const payoutKey = (threadId: string) => `payout ${threadId}`;
const claimsKey = (threadId: string) => `claims ${threadId}`;
const givenUpKey = (swapId: string) => `given up ${swapId}`;

export async function openSwaps(parts: SwapsParts) {
  const of: All = {
    parts,
    all: held<readonly SwapView[]>([]),
    tabs: null,
    turn: null,
    isSaying: false,
    drives: new Map(),
    still: new Map(),
    extras: new Map(),
    texts: new Map(),
    looking: Promise.resolve(),
    watching: Promise.resolve(),
    histories: historiesOf(parts.kept, (error) => failed(of, error)),
  };
  await readAll(of);
  return opened(of);
}

type All = {
  readonly parts: SwapsParts;
  readonly all: Held<readonly SwapView[]>;
  /** By swap; those of this tab, while it has the turn. */
  readonly drives: Map<string, Drive>;
  readonly still: Map<string, SwapView>;
  readonly extras: Map<string, bigint>;
  readonly texts: Map<string, string>;
  readonly histories: Histories;
  tabs: Tabs | null;
  turn: AbortController | null;
  isSaying: boolean;
  looking: Promise<void>;
  watching: Promise<void>;
};

async function readAll(of: All): Promise<void> {
  const { store, kept, onStoreFault } = of.parts;
  for (const swapId of await store.swapIds()) {
    const record = await readable(store, swapId, onStoreFault);
    const ended = await kept.get(endedKey(swapId));
    if (record === null || of.drives.has(swapId)) continue;
    const history = await of.histories.of(swapId);
    const view =
      ended === null ? stillView(record, history, of.parts.now()) : endedView(ended, history);
    of.still.set(swapId, view);
  }
  show(of);
}

/** Once a change, and to the other tabs a few times a second at most. */
function show(of: All): void {
  const views = new Map(of.still);
  for (const [swapId, each] of of.drives) views.set(swapId, each.view());
  const same = [...views].every(([id, view]) => {
    const text = writeKept(view);
    const isSame = of.texts.get(id) === text;
    of.texts.set(id, text);
    return isSame;
  });
  if (same && views.size === of.all.now().length) return;
  of.all.set(inOrder([...views.values()]));
  if (of.isSaying || of.turn === null) return;
  of.isSaying = true;
  setTimeout(() => {
    of.isSaying = false;
    if (of.turn !== null) of.tabs?.say({ kind: 'views', views: of.all.now() });
  }, sayPauseMs);
}

/** One look at a time; a request meanwhile gets a look after it. */
async function look(of: All): Promise<void> {
  if (of.turn === null) {
    of.tabs?.say({ kind: 'changed', what: 'deals' });
    return sleep(otherTabMs, new AbortController().signal);
  }
  const { signal } = of.turn;
  of.looking = of.looking
    .then(() => lookOnce(of, signal))
    .catch((error: unknown) => failed(of, error));
  return of.looking;
}

function failed(of: All, error: unknown): void {
  if (error instanceof StoreError) of.parts.onStoreFault(error);
}

async function lookOnce(of: All, signal: AbortSignal): Promise<void> {
  const { store, kept, deals, onStoreFault } = of.parts;
  const open: Open[] = [];
  for (const swapId of await store.swapIds()) {
    if (signal.aborted) return;
    if (of.drives.has(swapId)) continue;
    const record = await readable(store, swapId, onStoreFault);
    const ended = await kept.get(endedKey(swapId));
    if (record === null) continue;
    const isOver = (text: string) =>
      !isLookedAtAgain(begunOf(record, []), readKept<Ended>(text).outcome, of.parts.now());
    if (ended !== null && isOver(ended)) continue;
    const begun = begunOf(record, await of.histories.of(swapId));
    open.push({ begun, hasEnded: ended !== null });
  }
  const running = [...of.drives.values()].filter((each) => each.view().phase !== 'ended');
  for (const begun of toDrive(open, mostDriven - running.length)) driveOne(of, begun);
  for (const entry of await deals.entries()) {
    if (!signal.aborted) await lookAt(of, entry);
  }
  show(of);
}

async function lookAt(of: All, entry: Entry): Promise<void> {
  const { client, deals, store, now } = of.parts;
  const { threadId, swapId } = entry;
  if (swapId === null) {
    const came = await cameOf(client, entry, now());
    if (came.isOver) return deals.change(threadId, () => null);
    if (came.swapId === null) return;
    await deals.change(threadId, (each) => ({ ...each, swapId: came.swapId }));
    return lookAt(of, { ...entry, swapId: came.swapId });
  }
  const trade = await store.getTrade(threadId);
  if (trade === null) return deals.change(threadId, () => null);
  if ((await store.getSwap(swapId)) !== null) return deals.change(threadId, () => null);
  if (of.drives.has(swapId)) return;
  if (entry.payout !== null) await keepPayout(of, threadId, entry.payout);
  if (!entry.leavesClaims) await of.parts.kept.change(claimsKey(threadId), () => 'none');
  const swap = { ...entry.expected, id: swapId };
  const history = await of.histories.of(swapId);
  const none = { isByHand: false, isRefundLeft: false, isClaimLeft: false, isRestored: false };
  const more = { isGivenUp: false, relay: null, history };
  driveOne(of, { swapId, trade, swap, isVerified: false, ...none, ...more });
}

async function keepPayout(of: All, threadId: string, payout: string): Promise<void> {
  await of.parts.kept.change(payoutKey(threadId), (before) => before ?? payout);
}

function driveOne(of: All, begun: Begun): void {
  const { parts } = of;
  const { swapId, trade } = begun;
  const one = drive({
    begun,
    ready: () => readyOf(of, swapId, trade),
    prompts: () => parts.hands.prompts(swapId),
    now: parts.now,
    problems: parts.problems,
    onChange: () => show(of),
    onStep: (progress, happened) => onStep(of, progress, happened, trade),
    onEnd: (outcome, told) => onEnd(of, outcome, told),
    onStoreFault: parts.onStoreFault,
  });
  of.still.delete(swapId);
  of.drives.set(swapId, one);
  show(of);
}

function onStep(of: All, progress: Progress, happened: Happened, trade: OwnTrade): void {
  const { hands, onRescue } = of.parts;
  of.histories.add(progress.swapId, happened);
  const verb = verbDone(progress);
  if (verb !== null) hands.done(progress.swapId, verb);
  const { step } = progress;
  if (step === 'verified') {
    const { deals } = of.parts;
    void deals.change(trade.threadId, () => null).catch((error: unknown) => failed(of, error));
  }
  if (step === 'verified' || step === 'funded' || step === 'pay_by_hand') onRescue();
}

async function onEnd(of: All, outcome: Outcome, told: Told): Promise<void> {
  const { kept, hands, onRescue } = of.parts;
  hands.done(outcome.swapId);
  const ended = endedOf(outcome, told);
  await kept.change(endedKey(outcome.swapId), () => writeKept(ended));
  await of.parts.deals.change(told.trade.threadId, () => null);
  onRescue();
  void look(of);
}

async function readyOf(of: All, swapId: string, trade: OwnTrade): Promise<Ready> {
  const { client, store, vault, now, pollMs } = of.parts;
  if (vault.state.now().kind === 'none') throw new EngineError('no_phrase', noPhrase);
  const payout = await of.parts.kept.get(payoutKey(trade.threadId));
  const chains: Record<ChainKey, PartyChain> = {};
  const away: LegName[] = [];
  const gives = trade.party === 'maker' ? 'a' : 'b';
  const { swap } = (await store.getSwap(swapId)) ?? { swap: null };
  for (const [leg, chain, own] of sidesOf(trade, gives)) {
    const source = await of.parts.nodes.source(chain);
    if (has(source.view, 'coins')) {
      if (payout === null) throw new EngineError('no_payout', noPayout);
      const keys = await vault.keys();
      const { pubkey } = own;
      const index = findBitcoinKeys(keys, new Set([pubkey ?? ''])).get(pubkey ?? '');
      if (index === undefined) throw new EngineError('no_phrase', noPhrase);
      chains[chain] = { source, wallet: await keyWallet(source, keys.bitcoinKey(index), payout) };
      continue;
    }
    const known = of.parts.nodes.of(chain);
    const { nodes = [] } = of.parts.nodes.chains.now().find((each) => each.chain === chain) ?? {};
    const wallet = known === null ? null : of.parts.hands.wallet(known, nodes, own.address);
    if (wallet === null) away.push(leg);
    chains[chain] = { source, wallet: wallet ?? absent(source.view.family, chain, own.address) };
  }
  const givesExtra = (extra: bigint) => extra <= (of.extras.get(swapId) ?? 0n);
  // A person with coins there tells the secret to the chain alone.
  const relay = 'without_gas';
  const scheduleClaims = (await of.parts.kept.get(claimsKey(trade.threadId))) !== 'none';
  const isGivenUp = (await of.parts.kept.get(givenUpKey(swapId))) !== null;
  const givesUp = () => isGivenUp;
  const own = { swapId, client, chains, store, scheduleClaims };
  const marketPollMs = Math.min(2 * pollMs, mostMarketPollMs);
  const input: SettleInput = { ...own, now, pollMs, marketPollMs, givesExtra, givesUp, relay };
  return { input: swap === null ? { ...input, trade } : input, away };
}

async function beginAll(of: All, signal: AbortController): Promise<void> {
  of.turn = signal;
  void look(of);
  of.watching = watchDeals(of, signal.signal);
  await of.looking;
  show(of);
}

/** Watches acceptances until the other side has accepted too. */
async function watchDeals(of: All, signal: AbortSignal): Promise<void> {
  const isOver = () => signal.aborted;
  while (!isOver()) {
    await sleep(dealPauseMs, signal);
    const waiting = await of.parts.deals.entries().catch(() => []);
    if (waiting.length > 0 && !isOver()) void look(of);
  }
}

async function endAll(of: All): Promise<void> {
  of.turn?.abort();
  of.turn = null;
  await Promise.all([of.looking, of.watching]);
  const drives = [...of.drives];
  await Promise.all(drives.map(([, each]) => each.stop()));
  for (const [swapId, each] of drives) of.still.set(swapId, each.view());
  of.drives.clear();
  await of.histories.written();
}

function hear(of: All, said: Said): void {
  switch (said.kind) {
    case 'hello':
      if (of.turn !== null) of.tabs?.say({ kind: 'views', views: of.all.now() });
      return;
    case 'views':
      if (of.turn !== null) return;
      for (const each of said.views) of.still.set(each.id, each);
      show(of);
      return;
    case 'again':
      of.drives.get(said.swapId)?.again();
      return;
    case 'sign':
      if (!of.drives.has(said.swapId)) return;
      of.parts.hands.want(said.swapId, said.verb);
      of.drives.get(said.swapId)?.hurry();
      show(of);
      return;
    case 'extra':
      of.extras.set(said.swapId, said.extra);
      return;
    case 'changed':
      if (said.what === 'deals' && of.turn !== null) void look(of);
      of.parts.onSaid(said);
      return;
    default:
      return;
  }
}

function opened(of: All) {
  const { parts } = of;
  const tell = (said: Said) => {
    if (of.turn === null) of.tabs?.say(said);
    else hear(of, said);
  };
  const tabs = openTabs({
    name: parts.name,
    store: parts.store,
    hear: (said) => hear(of, said),
    begin: () => beginAll(of, new AbortController()),
    end: () => endAll(of),
    mayLetGo: () => !parts.hands.isOpen(),
  });
  of.tabs = tabs;
  return {
    /** Open and ended ones of this browser, the next deadline first, ended ones last. */
    all: of.all as Live<readonly SwapView[]>,
    driver: tabs.driver,
    takeOver: tabs.takeOver,
    say: tabs.say,
    one: (swapId: string) => of.all.now().find(({ id }) => id === swapId) ?? null,
    /** Goes on with what was stopped. */
    again: (swapId: string) => tell({ kind: 'again', swapId }),
    /** The person wants its wallet to be asked for this now, in the tab that settles. */
    sign: (swapId: string, verb: Verb) => tell({ kind: 'sign', swapId, verb }),
    /**
     * Bitcoin, paid too much or twice: the person says that so many sats beyond the amount may be
     * lost (`givesExtra` of settle). Until then the secret is not shown (problem `paid_too_much`).
     */
    giveExtra: (swapId: string, extra: BaseUnits) => tell({ kind: 'extra', swapId, extra }),
    /** Not taken back: both coins go back as soon as the other side allows it (`givesUp` of settle). */
    giveUp: async (swapId: string) => {
      await parts.kept.change(givenUpKey(swapId), () => 'yes');
      tell({ kind: 'again', swapId });
    },
    /** Bitcoin: where it is paid from now on. Throws `bad_address`, `wrong_network`. */
    payTo: (swapId: string, address: string) => payTo(of, swapId, address, tell),
    /** Bitcoin: every payment to the escrow of the own leg, by the own nodes. Empty elsewhere. */
    payments: (swapId: string) => paymentsOf(of, swapId),
    /** A claim or refund as text, to be sent elsewhere. Throws RescueError `not_as_text`. */
    raw: (swapId: string, verb: 'claim' | 'refund') => rawOf(of, swapId, verb),
    /** How many are not over, agreed from `since` on. */
    open: async (since: UnixSeconds = 0) =>
      of.all.now().filter(({ phase, agreedAt }) => phase !== 'ended' && agreedAt >= since).length,
    /** Something of what they read or sign by is other now: those with such a leg begin again. */
    restart: (isOf?: (leg: LegView) => boolean) => restart(of, isOf),
    /**
     * An account was connected in this tab: a swap that waits for it goes on here, and not in a
     * window beside it, which does not have the wallet.
     */
    comeHere: (isOf: IsOf) => {
      const isAwaited = (ask: Ask) =>
        ask.kind === 'connect_wallet' && isOf({ family: ask.family, ownAddress: ask.address });
      if (of.all.now().some(({ asks }) => asks.some(isAwaited))) void tabs.takeOver();
    },
    /** Looks for what was accepted or restored, in whichever tab settles. Resolves once it has. */
    look: () => look(of),
    close: tabs.close,
  };
}

async function payTo(
  of: All,
  swapId: string,
  address: string,
  tell: (said: Said) => void,
): Promise<void> {
  const view = of.all.now().find(({ id }) => id === swapId);
  const leg = [view?.legs.a, view?.legs.b].find((each) => has(each, 'coins'));
  if (view === undefined || leg === undefined)
    throw new Error(`swap ${swapId} has no leg on Bitcoin`);
  const { vault, kept, nodes } = of.parts;
  const keys = await vault.keys();
  await payoutWallet(await nodes.source(leg.chain), keys.bitcoinKey(escrowKey), address.trim());
  await kept.change(payoutKey(view.trade.threadId), () => address.trim());
  tell({ kind: 'again', swapId });
}

function restart(of: All, isOf: (leg: LegView) => boolean = () => true): void {
  for (const each of of.drives.values()) {
    const { a, b } = each.view().legs;
    if (isOf(a) || isOf(b)) each.again();
  }
}

async function recordOf({ parts }: All, swapId: string): Promise<SwapRecord> {
  const record = await parts.store.getSwap(swapId);
  if (record !== null) return record;
  throw new EngineError('unknown_swap', `this browser keeps no record of swap ${swapId}`);
}

async function paymentsOf(of: All, swapId: string): Promise<readonly EscrowPayment[]> {
  const record = await recordOf(of, swapId);
  const { gives } = ownSides(record);
  const { adapter } = await of.parts.nodes.source(record.swap.legs[gives].chain);
  const limit = AbortSignal.timeout(readMs);
  return (await adapter.payments?.(watchedOf(record, gives), limit)) ?? [];
}

async function rawOf(of: All, swapId: string, verb: 'claim' | 'refund'): Promise<RawSpend> {
  const { trade } = await recordOf(of, swapId);
  const { input } = await readyOf(of, swapId, trade);
  const { rawSpend } = await import('@parley/sdk/rescue/raw.ts');
  return rawSpend(input, verb);
}

type Own = OwnTrade['refundTo'];

function sidesOf(trade: OwnTrade, gives: LegName): [LegName, ChainKey, Own][] {
  const chains = chainsIn(trade);
  return [
    [gives, chains.gives, trade.refundTo],
    [otherLeg(gives), chains.gets, trade.payTo],
  ];
}

function begunOf(record: SwapRecord, history: readonly Happened[]): Begun {
  const { trade, swap, byHand = false, left, restored, relay, givenUp } = record;
  const isRefundLeft = left?.refund !== undefined;
  const isClaimLeft = left?.claim !== undefined;
  const kept = { isRefundLeft, isClaimLeft, relay: relayedOf(relay) };
  const isGivenUp = givenUp?.byPerson === true;
  const more = { isByHand: byHand, ...kept, isGivenUp, history };
  return { swapId: swap.id, trade, swap, isVerified: true, ...more, isRestored: restored === true };
}

const atRest: Omit<Told, keyof Begun | 'phase'> = {
  state: 'preparing',
  shown: null,
  isToPay: false,
  lacks: null,
  away: [],
  prompts: [],
  payout: null,
  waits: null,
  problems: [],
  end: null,
};

function stillView(record: SwapRecord, history: Told['history'], now: UnixSeconds): SwapView {
  return viewOf({ ...atRest, ...begunOf(record, history), phase: 'starting' }, now);
}
