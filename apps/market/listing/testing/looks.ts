// A market whose EVM chain says of tokens what a test wants it to: for tests of the results. The
// inspections themselves are tested on chains.

import { randomBytes } from 'node:crypto';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type Finding, type Inspection, passed } from '@parley/tokens/inspection.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';
import { type TestMarket, testMarket } from '@parley/verify/test/support/trading.ts';
import type { Candidate } from '../../db/candidates.ts';
import { uuidv7 } from '../../ports/ids.ts';
import type { Settings } from '../../settings/config.ts';
import { candidateForMs } from '../bounds.ts';

/** The chain's answer about a token: an inspection, a refusal, or never anything. */
export type Said = Partial<Inspection> | Error | 'nothing';

export type Looks = TestMarket & {
  /** A new address of which the chain says this from now on; or an address that it changes for. */
  says(said: Said, address?: string): string;
  /** Whether the chain tells its newest block; it does not before this is called. */
  answers(does: boolean): void;
  /** Looks at the address so far. */
  looksAt(address: string): number;
  /** The most looks that were under way at once so far. */
  mostAtOnce(): number;
};

export const chain = 'evm-dev';

export function lookMarket(settings: Partial<Settings> = {}): Promise<Looks> {
  const known = new Map<string, Said>();
  const counts = new Map<string, number>();
  let running = 0;
  let most = 0;
  const answer = async (address: string, signal: AbortSignal): Promise<Inspection> => {
    const said = known.get(address);
    if (said instanceof Error) throw said;
    if (said === 'nothing') {
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    }
    return { ...plain(address), ...(said as Partial<Inspection>) };
  };
  const inspect: ChainAdapter['inspect'] = async (address, _rules, signal) => {
    counts.set(address, (counts.get(address) ?? 0) + 1);
    running += 1;
    most = Math.max(most, running);
    return answer(address, signal).finally(() => {
      running -= 1;
    });
  };
  let isThere = false;
  const heads: ChainAdapter['heads'] = async () => {
    if (!isThere) throw new ParleyError('chain_unavailable', 'away');
    return { height: 1, hash: '00', clock: 1 };
  };
  const adapters = [
    stubAdapter('bitcoin', 'bitcoin'),
    stubAdapter(chain, 'evm', { inspect, heads }),
  ];
  return testMarket({ adapters, settings }).then((market) => ({
    ...market,
    says: (said, address = `0x${randomBytes(20).toString('hex')}`) => {
      known.set(address, said);
      return address;
    },
    answers: (does) => {
      isThere = does;
    },
    looksAt: (address) => counts.get(address) ?? 0,
    mostAtOnce: () => most,
  }));
}

/** A candidate that a launchpad brought out just now. */
export function launched({ deps }: TestMarket, address: string): Candidate {
  const at = new Date(deps.now());
  return {
    id: uuidv7(at.getTime(), deps.randomBytes),
    chain,
    address,
    source: 'launchpad:rocket',
    accountId: null,
    status: 'pending',
    reasons: [],
    createdAt: at,
    checkedAt: null,
    nextCheckAt: at,
    givesUpAt: new Date(at.getTime() + candidateForMs),
  };
}

function plain(address: string): Inspection {
  const findings: readonly Finding[] = [passed('contract'), passed('transfer')];
  return { address, symbol: `T${address.slice(2, 8)}`, name: 'A token', decimals: 18, findings };
}
