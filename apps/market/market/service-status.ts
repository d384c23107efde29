// The state of the service that anybody may see without a key: version, chains with the age of
// their newest block, what an operator has halted, and how far behind the market is with what it
// has to tell. The page names no account, node or reason.

import { oldestEvents } from '../db/doctor.ts';
import { type HaltedAsset, haltedAssets } from '../db/halts.ts';
import { version } from '../db/version.ts';
import type { Deps } from '../ports/deps.ts';
import { mostHaltedShown } from './bounds.ts';
import { expectedWithin, readStatus } from './status.ts';

/**
 * From such an age on a waiting event counts as a delay: a working market takes less than a second.
 */
export const delayedFromSeconds = 30;

type Delay = { readonly state: 'normal' | 'delayed'; readonly bySeconds: number };

/** For whom events wait: the audiences of the outbox. */
const audiences = ['webhooks', 'feed', 'messages'] as const;

type Needs = Pick<Deps, 'db' | 'adapters' | 'settings' | 'presence' | 'now'>;

/** `startedAt`: the start of this process, milliseconds. */
export async function readServiceStatus(deps: Needs, startedAt: number) {
  const [market, events, assets] = await Promise.all([
    readStatus(deps),
    oldestEvents(deps.db),
    haltedAssets(deps.db, mostHaltedShown),
  ]);
  const nowMs = deps.now();
  const chains = market.chains.map((each) => chainOf(each, nowMs, startedAt));
  const delays = Object.fromEntries(
    audiences.map((audience) => {
      const at = events.find((each) => each.audience === audience)?.at ?? null;
      return [audience, delayOf(at, nowMs)];
    }),
  ) as Readonly<Record<(typeof audiences)[number], Delay>>;
  const isNormal =
    market.agrees &&
    chains.every((each) => each.delayedSince === null && each.haltedSince === null) &&
    assets.length === 0 &&
    Object.values(delays).every((each) => each.state === 'normal');
  return {
    isNormal,
    version,
    network: deps.settings.network,
    at: market.at,
    startedAt: new Date(startedAt).toISOString(),
    agrees: market.agrees,
    waitsFor: market.waitsFor,
    chains,
    haltedAssets: assets.map(shownOf),
    delays,
  };
}

type Chain = Awaited<ReturnType<typeof readStatus>>['chains'][number];

/** A chain of which no block was seen yet is late from when this process began to look. */
function chainOf(of: Chain, nowMs: number, startedAt: number) {
  const { chain, height, seenAt, blockSeconds, isQuiet, haltedSince } = of;
  const seenMs = seenAt === null ? null : Date.parse(seenAt);
  return {
    chain,
    height,
    /** Since the market saw it first. */
    blockAgeSeconds: seenMs === null ? null : Math.max(0, Math.floor((nowMs - seenMs) / 1_000)),
    blockSeconds,
    expectedWithinSeconds: expectedWithin(blockSeconds),
    delayedSince: isQuiet ? new Date(seenMs ?? startedAt).toISOString() : null,
    haltedSince,
  };
}

function delayOf(at: Date | null, nowMs: number): Delay {
  const seconds = at === null ? 0 : Math.floor((nowMs - at.getTime()) / 1_000);
  const isLate = seconds >= delayedFromSeconds;
  return isLate ? { state: 'delayed', bySeconds: seconds } : { state: 'normal', bySeconds: 0 };
}

function shownOf({ id, chain, symbol, at }: HaltedAsset) {
  return { id, chain, symbol, haltedSince: at };
}
