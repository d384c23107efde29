// Looks at what is due in the background: candidates every hour for seven days, tokens that were
// listed by themselves every day. Any process may do it: a token in hand of one process is not due
// for the others, until that one must be dead.

import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { type Asset, findChecked, takeDueAssets } from '../db/assets.ts';
import {
  areTokensDue,
  type Candidate,
  dropCandidate,
  expireCandidates,
  pruneCandidates,
  takeDueCandidates,
} from '../db/candidates.ts';
import { feedWriting } from '../market/book.ts';
import type { Deps } from '../ports/deps.ts';
import { longestNodePassMs, type Service, service } from '../ports/service.ts';
import {
  batch,
  batchOfLaunchpads,
  forgottenAfterMs,
  lookMs,
  mostLooks,
  tryAgainMs,
  unseenForMs,
} from './bounds.ts';
import { decide, type Wish } from './decide.ts';
import { type Judgement, judge, type Known } from './judge.ts';

/** Candidates wait for days: to the minute is soon enough. */
const tidyMs = 60_000;
/** A chain that does not tell its newest block within this does not answer. */
const headsMs = 10_000;

type Due = Wish & { readonly known: Known | null };

export type Rechecks = Omit<Service, 'ring'> & {
  pass(): Promise<number>;
};

export function createRechecks(given: Deps, mostMs: number = lookMs): Rechecks {
  const deps = { ...given, db: feedWriting(given.db) };
  const pass = async (signal = new AbortController().signal, tidies = true) => {
    if (tidies) await tidyUp(deps);
    return passOf(deps, mostMs, signal);
  };
  let tidiedAt = Number.NEGATIVE_INFINITY;
  const { start, stop } = service(deps, {
    name: 'tokens',
    wokenBy: ['tokens'],
    mostPassMs: longestNodePassMs,
    // An inspection that a stop ends is due again later. More tokens of launchpads may be due.
    pass: async (signal) => {
      const tidies = performance.now() - tidiedAt >= tidyMs;
      if (tidies) tidiedAt = performance.now();
      return (await pass(signal, tidies)) >= batchOfLaunchpads ? 'now' : undefined;
    },
  });
  return { pass: () => pass(), start, stop };
}

async function tidyUp({ db, now }: Deps): Promise<void> {
  const at = now();
  await expireCandidates(db, new Date(at), batch);
  await pruneCandidates(db, new Date(at - forgottenAfterMs), batch);
}

async function passOf(deps: Deps, mostMs: number, signal: AbortSignal): Promise<number> {
  const now = new Date(deps.now());
  const later = new Date(now.getTime() + tryAgainMs);
  const chains = listingChains(deps);
  if (!(await areTokensDue(deps.db, chains, now))) return 0;
  const take = (of: 'api' | 'launchpads', most: number) =>
    takeDueCandidates(deps.db, chains, now, later, of, most);
  const assets = await takeDueAssets(deps.db, chains, now, later, batch);
  const asked = await take('api', batch - assets.length);
  const first = assets.length + asked.length;
  const rest = first === 0 ? batch : Math.min(batchOfLaunchpads, batch - first);
  const launched = await take('launchpads', rest);
  const due = [...assets.map(dueAsset), ...[...asked, ...launched].map(dueCandidate)];
  const queue = due.values();
  const work = async () => {
    for (const each of queue) {
      if (signal.aborted) return;
      await lookAt(deps, each, mostMs, signal);
    }
  };
  await Promise.all(Array.from({ length: mostLooks.background }, work));
  return due.length;
}

function listingChains({ adapters }: Deps): ChainKey[] {
  return [...adapters.values()].filter(({ inspect }) => inspect).map(({ chain }) => chain);
}

function dueAsset({ id, chain, address, symbol, decimals, source }: Asset): Due {
  const known = { id, symbol, decimals };
  return { chain, address: address as string, source, accountId: null, known };
}

function dueCandidate({ chain, address, source, accountId }: Candidate): Due {
  return { chain, address, source, accountId, known: null };
}

async function lookAt(deps: Deps, due: Due, mostMs: number, signal: AbortSignal): Promise<void> {
  const { chain, address, source } = due;
  const token = { chain, address, source };
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(mostMs)]);
    const judgement = await judgementOf(deps, due, limit);
    if (judgement === null) {
      await deps.db.transaction((tx) => dropCandidate(tx, chain, address));
      return;
    }
    const { status } = await deps.db.transaction((tx) => decide(tx, deps, due, judgement));
    deps.metrics.tokenLooks.inc({ outcome: judgement.outcome });
    deps.log.info({ ...token, status, reasons: judgement.reasons }, 'looked at a token');
  } catch (error) {
    if (signal.aborted) return;
    // It stays as it is, for two days: a failed inspection says nothing of the token.
    deps.metrics.tokenLooks.inc({ outcome: 'failed' });
    deps.log.warn({ ...token, err: error }, 'a token could not be looked at; again later');
    if (due.known !== null) await closeUnseen(deps, due, due.known, signal);
  }
}

/** A token that makes looks fail while its chain answers would else never be found out. */
async function closeUnseen(deps: Deps, due: Due, known: Known, signal: AbortSignal): Promise<void> {
  const seenAt = await findChecked(deps.db, known.id);
  if (seenAt === null || deps.now() < seenAt.getTime() + unseenForMs) return;
  if (!(await answers(deps, due.chain, signal))) return;
  const judgement = {
    assetId: known.id,
    beganAt: new Date(deps.now()),
    outcome: 'wait' as const,
    reasons: [`contract: no look at it could be made since ${seenAt.toISOString()}`],
    notChecked: [],
  };
  await deps.db.transaction((tx) => decide(tx, deps, due, judgement));
}

async function answers(deps: Deps, chain: ChainKey, signal: AbortSignal): Promise<boolean> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(headsMs)]);
    return (await deps.adapters.get(chain)?.heads(limit)) !== undefined;
  } catch {
    return false;
  }
}

async function judgementOf(deps: Deps, due: Due, signal: AbortSignal): Promise<Judgement | null> {
  try {
    return await judge(deps, due, due.known, signal);
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'not_a_token') return null;
    throw error;
  }
}
