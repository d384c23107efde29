// The warnings for the parties of a swap before they fund, and of a funding that waits, read from
// the chains for a while: a swap is read far more often than such things change, and no read waits
// long for them.

import type { Warning } from '@parley/chains/interface/gas.ts';
import { legStatus } from '@parley/core/facts.ts';
import { fundBy } from '@parley/core/gates.ts';
import type { Step } from '@parley/core/next.ts';
import { funderOf, type LegName, otherLeg, type Role, roleOf } from '@parley/core/trade.ts';
import { within } from '@parley/host/within.ts';
import type { Swap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { createMoments } from '../ports/moments.ts';
import { currentEscrow, termsOfLeg } from './escrows.ts';

/** Warnings in `next[]` are kept so long. A warning that is not read in time is left out. */
const freshMs = 15_000;
const patienceMs = 500;
const mostEscrows = 1_000;

export type LegWarning = {
  readonly leg: LegName;
  /** The role that could not send it. */
  readonly by: Role;
  readonly verb: Warning['verb'];
  readonly code: Warning['code'];
  readonly text: string;
};

export type Warnings = {
  /** As known now, or within half a second; a chain that is slow or away has none. */
  of(swap: Swap): Promise<readonly LegWarning[]>;
};

export function createWarnings(deps: Pick<Deps, 'adapters' | 'settings' | 'log'>): Warnings {
  const kept = createMoments<readonly Warning[]>(freshMs, mostEscrows);
  const ofLeg = async (swap: Swap, name: LegName): Promise<LegWarning[]> => {
    const leg = swap.state.legs[name];
    const adapter = deps.adapters.get(leg.chain);
    const terms = termsOfLeg(swap, name);
    const status = legStatus(leg.facts);
    if (adapter === undefined || terms === null || leg.escrow === null) return [];
    if (swap.done || status === 'claimed' || status === 'refunded') return [];
    const waits = leg.facts.funded?.confirmations === 0;
    const ask = async (signal: AbortSignal): Promise<readonly Warning[]> => {
      const escrow = waits ? currentEscrow(swap, name) : null;
      const stuck =
        escrow && (await adapter.stuckFunding?.(escrow, fundBy(swap.state, leg), signal));
      return stuck ? [stuck] : ((await adapter.warnings?.(terms, signal)) ?? []);
    };
    const reading = kept.of(`${leg.chain} ${leg.escrow} ${waits}`, () => {
      const signal = AbortSignal.timeout(deps.settings.chainTimeoutMs);
      return ask(signal).catch((error: unknown) => {
        deps.log.debug({ chain: leg.chain, err: error }, 'no warnings could be read');
        return [];
      });
    });
    const warnings = await within(patienceMs, reading, []);
    return warnings
      .filter(({ verb, code }) => {
        if (code === 'fund_stuck') return true;
        return verb === 'fund' ? status === 'unfunded' : leg.facts.claimed === null;
      })
      .map(({ verb, code, sentence: text }) => {
        const party = funderOf(verb === 'fund' ? name : otherLeg(name));
        const by = roleOf(party, swap.long);
        return { leg: name, by, verb, code, text };
      });
  };
  return {
    of: async (swap) => (await Promise.all([ofLeg(swap, 'a'), ofLeg(swap, 'b')])).flat(),
  };
}

/**
 * Each where it is of use: a hindrance of a funding at that funding, a hindrance of a claim at
 * every funding before it, so that it is known in time, and wherever the claimer waits or claims.
 */
export function withWarnings(steps: readonly Step[], warnings: readonly LegWarning[]): Step[] {
  if (warnings.length === 0) return [...steps];
  return steps.map((step) => {
    const own = warnings.filter(({ leg, by, verb, code }) => {
      if (code === 'fund_stuck') return by === step.by && leg === step.leg;
      if (step.action === 'fund') return verb === 'claim' || leg === step.leg;
      return verb === 'claim' && by === step.by && ['wait', 'claim'].includes(step.action);
    });
    if (own.length === 0) return step;
    const told = own.map(({ code, text }) => ({ code, text }));
    return { ...step, warnings: told };
  });
}
