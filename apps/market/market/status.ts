// Whether the market works: heads of the chains as followers last saw them, halts, and whether
// acceptances become swaps. Halts come without their reasons (assets.ts says why).

import { listHalts } from '../db/halts.ts';
import { readHeads } from '../db/heads.ts';
import type { Deps } from '../ports/deps.ts';
import { whatIsMissing } from '../restore/gate.ts';

/**
 * The blocks of a chain with one in ten minutes come within 69 in 99.9 %: so many usual times, and
 * one.
 */
const quietBlocks = 7;
const quietLeastSeconds = 60;

/** A next block is seen within so many seconds, unless the chain or the market is behind. */
export function expectedWithin(blockSeconds: number | null): number {
  return quietLeastSeconds + quietBlocks * (blockSeconds ?? 0);
}

/** Whether one of a token is sent says nothing of which token. */
const anyToken = 'any';

/** The watchtower, which may be asked through the database, only for who shows what it sends. */
export async function readStatus(
  deps: Pick<Deps, 'db' | 'adapters' | 'settings' | 'presence' | 'now'>,
  watchtower?: Deps['watchtower'],
) {
  const { db, adapters, settings, presence } = deps;
  const [heads, halts, missing, claims = new Set(), isFunded = () => false] = await Promise.all([
    readHeads(db),
    listHalts(db),
    whatIsMissing(db, presence),
    watchtower?.claimsOn(),
    watchtower?.fundsBySignature(),
  ]);
  const nowMs = deps.now();
  const chains = [...adapters.values()].map(({ chain, family, blockSeconds = null }) => {
    const head = heads.find((each) => each.chain === chain);
    const halt = halts.find((each) => each.chain === chain);
    const seconds = head === undefined ? null : (nowMs - head.seenAt.getTime()) / 1_000;
    return {
      chain,
      height: head?.height ?? null,
      clock: head?.clock ?? null,
      seenAt: head?.seenAt.toISOString() ?? null,
      blockSeconds,
      isQuiet: seconds === null || seconds > expectedWithin(blockSeconds),
      haltedSince: halt?.at.toISOString() ?? null,
      sendsClaims: claims.has(chain),
      sendsFundings: isFunded({ chain, family, token: anyToken }),
    };
  });
  return {
    at: new Date(nowMs).toISOString(),
    network: settings.network,
    agrees: missing === null,
    waitsFor: missing ?? [],
    chains,
  };
}
