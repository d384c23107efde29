// Tests only: one side of a swap on paper chains. Time moves when it reads its clock, and the
// other side does what pays it most: it claims what the secret opens, and refunds when it may.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { claimCall, evmDeployment, fundCalls, refundCall } from '@parley/chains/evm/plan.ts';
import type { EvmCall } from '@parley/chains/interface/material.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { legStatus } from '@parley/core/facts.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { type LegName, otherLeg, type Party } from '@parley/core/trade.ts';
import { type Outcome, type Progress, type SettleInput, settle } from '../settle.ts';
import { memoryStore } from '../stores/memory.ts';
import type { SwapRecord } from '../stores/store.ts';
import { givenLeg } from '../trade.ts';
import type { EvmWallet } from '../wallets/wallet.ts';
import { mine, type PaperChain, paperChains, walletOn } from './paper-chains.ts';
import { type PaperMarket, paperMarket } from './paper-market.ts';
import { readStates } from './states.ts';

type Legs<T> = Readonly<Record<LegName, T>>;

export type PaperScene = {
  readonly market: PaperMarket;
  readonly chains: Legs<PaperChain>;
  readonly secret: string;
  /** The legs of the side that is tested. */
  readonly gives: LegName;
  readonly gets: LegName;
  readonly input: SettleInput;
  /** All that the side has said. */
  readonly emitted: Progress[];
  readonly watched: Legs<WatchedEscrow>;
  /** The transaction's kind that took the money out of the escrow of a leg, if any did. */
  endOf(leg: LegName): 'claimed' | 'refunded' | null;
  timelock(leg: LegName): number;
  /** Unix seconds. */
  wall: number;
  /** How far each reading of the clock moves it, with a block of both chains. */
  stepSeconds: number;
  /** When the other side, as initiator, shows the secret; as counterparty, funds. */
  theirsAt: number;
  /** Whether the other side was told the secret by a node that is in league with it. */
  isLeaked: boolean;
  /** Whether another device acts for the same side: this one may then miss whole states. */
  isShared: boolean;
  /** Done before every step of the clock. */
  onStep: () => void;
};

const amount = 10n ** 17n;
export const agreedAt = 1_800_000_000;
const newKey = (): `0x${string}` => `0x${randomBytes(32).toString('hex')}`;

/** A contract of these chains in name alone: its transfers always work. */
const token = `0x${'70'.repeat(20)}`;

type Moves = Pick<PaperScene, 'stepSeconds' | 'theirsAt'>;

/**
 * The taker gives `b`, the long leg, and is the initiator. The tested side gives the chain's coin,
 * and is paid a token where `isToken`.
 */
export async function paperScene(
  party: Party,
  of: Partial<Moves> & {
    readonly isToken?: boolean;
    readonly secret?: string;
    readonly ownKey?: `0x${string}`;
    readonly theirKey?: `0x${string}`;
  } = {},
): Promise<PaperScene> {
  const { isToken = false, secret = randomBytes(32).toString('hex'), ...given } = of;
  const { ownKey = newKey(), theirKey = newKey(), ...moves } = given;
  const chains = paperChains(agreedAt);
  const own = { a: walletOn(chains.a, ownKey), b: walletOn(chains.b, ownKey) };
  const theirs = {
    a: walletOn(chains.a, theirKey, 'others'),
    b: walletOn(chains.b, theirKey, 'others'),
  };
  const home = ({ a, b }: Legs<EvmWallet>) => ({
    a: { address: a.address, pubkey: null },
    b: { address: b.address, pubkey: null },
  });
  const isTaker = party === 'taker';
  const coin = { id: 'coin', token: null, decimals: 18, highValueFrom: null };
  const gives = givenLeg(party);
  const paidIn = (leg: LegName) => (isToken && leg !== gives ? token : null);
  const market = paperMarket({
    id: crypto.randomUUID(),
    secret,
    agreedAt,
    homes: { taker: home(isTaker ? own : theirs), maker: home(isTaker ? theirs : own) },
    assets: {
      a: { ...coin, id: 'short', chain: chains.a.key, token: paidIn('a') },
      b: { ...coin, id: 'long', chain: chains.b.key, token: paidIn('b') },
    },
    amounts: { a: amount, b: amount },
    sources: { a: chains.a.others, b: chains.b.others },
  });
  const store = memoryStore();
  if (isTaker) await store.putSecret(hashlockOf(secret), secret);
  const trade = market.trade(party);
  const watched = {
    get a() {
      return market.watched('a');
    },
    get b() {
      return market.watched('b');
    },
  };
  const scene: PaperScene = {
    market,
    chains,
    secret,
    gives,
    gets: otherLeg(gives),
    emitted: [],
    wall: agreedAt + 10,
    stepSeconds: 60,
    theirsAt: 0,
    isLeaked: false,
    isShared: false,
    onStep: () => {},
    ...moves,
    endOf: (leg) => endOf(chains[leg]),
    watched,
    timelock: (leg) => watched[leg].terms.timelock,
    input: {
      swapId: trade.threadId,
      trade,
      store,
      client: market.client(party),
      chains: {
        [chains.a.key]: { source: chains.a.source, wallet: own.a },
        [chains.b.key]: { source: chains.b.source, wallet: own.b },
      },
      now: async () => {
        await step(scene, theirs);
        return scene.wall;
      },
      pollMs: 0,
      marketPollMs: 10,
      replaceAfterMs: 0,
      chainTimeoutMs: 10,
    },
  };
  for (const chain of [chains.a, chains.b]) {
    chain.onUnanswered = () => step(scene, theirs);
    chain.onHeard = (text) => {
      scene.isLeaked ||= chain.refusesEstimates !== null && text.includes(secret);
    };
  }
  return scene;
}

/** On which nobody else funds or claims: it goes back, in few steps. */
export const leftAlone = (party: Party, stepSeconds = 600) =>
  paperScene(party, { theirsAt: Infinity, stepSeconds });

const known = new Set(
  readStates().arrows.flatMap(({ from, to, both }) => [
    `${from} -> ${to}`,
    ...(both ? [`${to} -> ${from}`] : []),
  ]),
);

/**
 * Runs the side until it ends, or `isEnough`, asked before every step of the clock. Its first
 * run goes by the arrows of settle/states.txt, unless another device acts beside it.
 */
export async function run(
  scene: PaperScene,
  more: Partial<SettleInput> = {},
  isEnough: () => boolean = () => false,
): Promise<Outcome | null> {
  const stop = new AbortController();
  const enough = new Error('enough');
  const { input, onStep, emitted } = scene;
  const isFirst = emitted.length === 0;
  scene.onStep = () => {
    onStep();
    if (isEnough()) stop.abort(enough);
  };
  const onProgress = (each: Progress) => {
    emitted.push(each);
    more.onProgress?.(each);
  };
  try {
    return await settle({ ...input, ...more, signal: stop.signal, onProgress });
  } catch (error) {
    if (error !== enough) throw error;
    return null;
  } finally {
    scene.onStep = onStep;
    const went = isFirst && !scene.isShared ? emitted.filter(({ step }) => step === 'state') : [];
    for (const { text } of went) assert.ok(known.has(text), text);
  }
}

async function step(scene: PaperScene, theirs: Legs<EvmWallet>): Promise<void> {
  scene.onStep();
  scene.wall += scene.stepSeconds;
  for (const chain of Object.values(scene.chains)) mine(chain, scene.wall);
  await theirMove(scene, theirs);
}

/** The other side does whatever its rules and the chains let it, at once. */
async function theirMove(scene: PaperScene, theirs: Legs<EvmWallet>): Promise<void> {
  const { chains, watched, secret, gives, gets, wall } = scene;
  const isInitiator = gets === 'b';
  const never = new AbortController().signal;
  const seen = async (leg: LegName) => chains[leg].others.adapter.readEscrow(watched[leg], never);
  const send = async (leg: LegName, call: EvmCall | undefined) => {
    if (call === undefined) return;
    const kept = await theirs[leg].sign(chains[leg].chainId, call, never);
    const { adapter } = chains[leg].others;
    await adapter.broadcast(await adapter.readSigned(kept.raw, never), never);
  };
  const paid = await seen(gives);
  const own = await seen(gets);
  const { terms } = watched[gets];
  const isDue = wall >= scene.theirsAt;
  if (legStatus(own) === 'unfunded' && (isInitiator || (isDue && legStatus(paid) === 'funded'))) {
    const { [gets]: laneSignature } = scene.market.lent;
    if (laneSignature === null) return;
    const how = laneSignature === undefined ? {} : { laneSignature };
    return send(gets, fundCalls(terms, evmDeployment(chains[gets].chainId), 0n, how).at(-1));
  }
  // A secret that it learnt before it is public is worth most once its own leg has come back.
  const isBack = scene.isLeaked && own.refunded?.deep === true;
  const knows = isInitiator ? isDue : own.secret !== null || isBack;
  if (knows && paid.funded?.deep && paid.claimed === null && paid.refunded === null) {
    await send(
      gives,
      claimCall(watched[gives].terms, evmDeployment(chains[gives].chainId), secret),
    );
  }
  if (own.balance > 0n && own.refunded === null && chains[gets].clock >= terms.timelock) {
    await send(gets, refundCall(terms, evmDeployment(chains[gets].chainId)));
  }
}

function endOf({ mined }: PaperChain): 'claimed' | 'refunded' | null {
  const last = mined.findLast(({ ok, call }) => ok && call.verb !== 'fund');
  return last === undefined ? null : last.call.verb === 'claim' ? 'claimed' : 'refunded';
}

/** The transactions of this kind that were sent on a leg, in a block or not. */
export const sent = ({ chains }: PaperScene, leg: LegName, verb: 'fund' | 'claim' | 'refund') =>
  [...chains[leg].mined, ...chains[leg].pool.values()].filter(({ call }) => call.verb === verb);

export const says = ({ emitted }: PaperScene, words: string) =>
  emitted.some(({ text }) => text.includes(words));

/** Until a block has a transaction on this leg. */
export const untilMined = (scene: PaperScene, leg: LegName, more: Partial<SettleInput> = {}) =>
  run(scene, more, () => scene.chains[leg].mined.length > 0);

/** The initiator once both legs are funded: its next step is to reveal. */
export async function aboutToReveal(): Promise<PaperScene> {
  const scene = await paperScene('taker');
  await untilMined(scene, 'a');
  return scene;
}

/** The time of the whole swap and more, in few steps. */
export const isOver = (scene: PaperScene) => scene.wall > scene.timelock('b') + 86_400;

export async function recordOf({ input }: PaperScene): Promise<SwapRecord> {
  const record = await input.store.getSwap(input.swapId);
  if (record === null) throw new Error('nothing is kept');
  return record;
}

/** The customer's adapter of a leg, altered. */
export function alter(
  { chains }: PaperScene,
  leg: LegName,
  how: (was: ChainAdapter) => object,
): void {
  const { adapter } = chains[leg].source;
  Object.assign(adapter, how({ ...adapter }));
}
