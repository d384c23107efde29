// Drives a swap of a profile to its end, with `drive` of the SDK. A face is told how it goes. All
// that is lost with the process is what the chains show anyway.

import { has } from '@parley/core/families.ts';
import type { PartyChain } from '@parley/sdk/chains.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { drive } from '@parley/sdk/drive.ts';
import type { Outcome, Progress, Shown } from '@parley/sdk/settle.ts';
import type { StoreLock } from '@parley/sdk/stores/store.ts';
import type { OwnTrade } from '@parley/sdk/trade.ts';
import { nameOfPinned } from './assets.ts';
import { escrowIndexOf } from './chains.ts';
import { keepEnded } from './ended.ts';
import { Failure, type Told, toldOf } from './failures.ts';
import { keepRescue } from './rescue-file.ts';
import { roundedAmount } from './rounded.ts';
import type { Session, Unlocked } from './session.ts';
import { sidesOf } from './sides.ts';

/** One that is to be driven. */
export type Swap = {
  readonly swapId: string;
  readonly trade: OwnTrade;
  /** The drive funds nothing: it was given up, or comes from a rescue. */
  readonly withoutMarket: boolean;
  /** A person gives it up: both legs go back as soon as each side allows it. */
  readonly givesUp?: boolean;
};

export type Driving = {
  readonly session: Session;
  readonly own: Unlocked;
  readonly client: ParleyClient | null;
  readonly signal: AbortSignal;
  readonly rescue: RescueWriter;
  /** Bitcoin of claims and refunds; default the own wallet. */
  readonly payout?: string | undefined;
  /** Bitcoin: leaves no signed claims and refunds with the market. */
  readonly leaveNone?: true | undefined;
};

export type Events = {
  readonly progress: (progress: Progress) => void;
  readonly shown: (shown: Shown) => void;
  /** The trouble of a run that failed: the next one follows, or the swap stands still. */
  readonly trouble: (told: Told) => void;
  /** On disk by then. */
  readonly ended: (outcome: Outcome) => void;
};

export type Ended =
  | (Outcome & { readonly is: 'ended' })
  | { readonly is: 'stopped'; readonly swapId: string; readonly told: Told };

const lockMs = 500;

/** One process a profile settles. Throws Failure `in_use`. */
export async function turnOf({ store }: Pick<Unlocked, 'store'>): Promise<StoreLock | undefined> {
  const lock = await store.lock?.('parley settle', AbortSignal.timeout(lockMs));
  if (lock !== null) return lock;
  const sentence = 'another parley of this profile settles swaps: end it first, or let it work';
  throw new Failure('local', 'in_use', sentence);
}

export async function alone<T>(own: Pick<Unlocked, 'store'>, work: () => Promise<T>): Promise<T> {
  const turn = await turnOf(own);
  try {
    return await work();
  } finally {
    await turn?.release();
  }
}

/** Resolves once the swap has ended or waits for a person. Throws the signal's reason. */
export async function driveSwap(driving: Driving, swap: Swap, events: Events): Promise<Ended> {
  const { session, own, client, signal, rescue, payout, leaveNone } = driving;
  const { swapId, trade, withoutMarket, givesUp = false } = swap;
  const driven = await drive({
    signal,
    ready: async () => ({
      swapId,
      trade,
      store: own.store,
      now: session.now,
      chains: await chainsOf(session, own, trade, payout),
      client: withoutMarket ? null : client,
      announcer: client,
      givesUp: () => givesUp,
      ...(leaveNone && { scheduleClaims: false, scheduleRefunds: false }),
      onProgress: (progress) => {
        // An error that only reports the interruption is no news.
        if (signal.aborted) return;
        if (progress.step === 'verified' || progress.step === 'funded') rescue.due();
        events.progress(progress);
      },
      onShown: events.shown,
    }),
    onTrouble: ({ error }) => events.trouble(toldOf(error)),
  });
  if (driven.is === 'stopped') return { is: 'stopped', swapId, told: toldOf(driven.error) };
  const { outcome } = driven;
  const kept = { ...outcome, at: session.now(), what: wordsOf(session, trade) };
  await keepEnded(session, swapId, kept);
  rescue.due();
  events.ended(outcome);
  return { is: 'ended', ...outcome };
}

export type RescueWriter = ReturnType<typeof rescueWriter>;

/** After a change of what is open; a failure is told, and stops nothing. */
export function rescueWriter(session: Session, own: Unlocked, note: (text: string) => void) {
  let last: Promise<unknown> = Promise.resolve();
  return {
    due: () => {
      last = last
        .then(() => keepRescue(session, own))
        .catch((error: Error) => note(`the rescue file is not written: ${error.message}`));
    },
    ended: () => last,
  };
}

/** `0.01 bitcoin for 640 ethereum:USDC`. */
export function wordsOf(session: Pick<Session, 'profile'>, trade: OwnTrade): string {
  const named = (side: 'base' | 'quote') => nameOfPinned(session, trade[side]);
  const { gives, gets } = sidesOf(trade, { base: named('base'), quote: named('quote') });
  const got = roundedAmount(gets.amount, gets.own, 'down');
  return `${roundedAmount(gives.amount, gives.own, 'up')} for ${got}`;
}

/** Nodes and wallets of both chains; for Bitcoin the key that the script names. */
export async function chainsOf(session: Session, own: Unlocked, trade: OwnTrade, payout?: string) {
  const chains: Record<string, PartyChain> = {};
  const pubkey = trade.refundTo.pubkey ?? trade.payTo.pubkey;
  for (const { chain } of [trade.base, trade.quote]) {
    const source = await session.source(chain);
    const isBitcoin = has(source.view, 'coins') && pubkey !== null;
    const index = isBitcoin ? { index: escrowIndexOf(own.phrase, pubkey) } : {};
    const paid = isBitcoin && payout !== undefined ? { payout } : {};
    chains[chain] = { source, wallet: await own.wallet(chain, { ...index, ...paid }) };
  }
  return chains;
}
