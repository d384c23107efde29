// A customer asks for a token to be listed: the look at it, before any transaction.

import { ParleyError } from '@parley/core/errors.ts';
import { findCandidate } from '../db/candidates.ts';
import { findListedToken } from '../db/listing.ts';
import type { Deps } from '../ports/deps.ts';
import type { Token } from '../ports/markets.ts';
import { mostLooks } from './bounds.ts';
import { settledOf } from './decide.ts';
import { type Judgement, judge, withoutTokens } from './judge.ts';

export type Prepared = {
  readonly token: Token;
  /** Null: no look is wanted, or it did not end in time and goes on in the background. */
  readonly judgement: Judgement | null;
};

/** The part of a request's time that a look may take: the answer needs the rest. */
const shareOfTime = 0.8;

export type Looks = (
  wanted: { readonly chain: string; readonly address: string; readonly accountId: string },
  signal: AbortSignal,
) => Promise<Prepared>;

export function createLooks(deps: Deps): Looks {
  let running = 0;
  const byAccount = new Map<string, number>();
  return async ({ chain, address: given, accountId }, signal) => {
    const adapter = deps.adapters.get(chain);
    if (adapter?.inspect === undefined) throw withoutTokens(chain, adapter !== undefined);
    const token = { chain, address: adapter.parseAddress(given) };
    const listing = await findListedToken(deps.db, chain, token.address);
    const candidate = await findCandidate(deps.db, chain, token.address);
    const now = deps.now();
    if (settledOf(listing, candidate, now) !== null) return { token, judgement: null };
    const own = byAccount.get(accountId) ?? 0;
    if (own >= mostLooks.ofAnAccount) throw tooMany(own, 'this account');
    if (running >= mostLooks.asked) throw tooMany(running, 'requests');
    running += 1;
    byAccount.set(accountId, own + 1);
    const share = AbortSignal.timeout(Math.floor(deps.settings.chainTimeoutMs * shareOfTime));
    try {
      const limit = AbortSignal.any([signal, share]);
      const judgement = await judge(deps, token, listing?.asset ?? null, limit);
      return { token, judgement };
    } catch (error) {
      // A chain that ended it by itself does not answer: that is told, and nothing is kept.
      if (!share.aborted || !isOutOfTime(error)) throw error;
      return { token, judgement: null };
    } finally {
      running -= 1;
      const left = (byAccount.get(accountId) ?? 0) - 1;
      if (left > 0) byAccount.set(accountId, left);
      else byAccount.delete(accountId);
    }
  };
}

function isOutOfTime(error: unknown): boolean {
  if (error instanceof ParleyError) return error.code === 'chain_timeout';
  const { name } = error as Error;
  return name === 'TimeoutError' || name === 'AbortError';
}

function tooMany(running: number, whose: string): ParleyError {
  const sentence = `${running} tokens are looked at for ${whose} at this moment; ask again soon`;
  return new ParleyError('overloaded', sentence, { running });
}
