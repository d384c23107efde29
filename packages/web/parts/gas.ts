// The verdict on a wallet's coins for network fees: from its balance, the need of its side of a
// swap, and the transactions that the market sends for it. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { GasLook, GasSide } from '@parley/sdk/gas.ts';
import type { Sends } from '../market/answers.ts';

export type GasNote = {
  readonly kind:
    | 'enough'
    /** Fees are taken out of the amount. */
    | 'none'
    /** Too little to pay in: nothing begins. */
    | 'fund_short'
    /** The wallet signs, and the market sends it. */
    | 'fund_signed'
    | 'refund_short'
    /** Too little to collect, and nobody sends it. */
    | 'claim_short'
    /** The market collects. */
    | 'claim_sent';
  /** The amount that it may take, and the missing part of it. */
  readonly need: BaseUnits;
  readonly missing: BaseUnits;
};

export function noteOf(
  { side }: Pick<GasSide, 'side'>,
  look: GasLook | null,
  sends: Sends,
): GasNote {
  if (look === null) return { kind: 'none', need: 0n, missing: 0n };
  const { has, fund, refund, claim, isSignable } = look;
  const need = fund + refund + claim;
  const missing = need > has ? need - has : 0n;
  const note = (kind: GasNote['kind']): GasNote => ({ kind, need, missing });
  if (missing === 0n) return note('enough');
  if (side === 'gets') return note(sends.claims ? 'claim_sent' : 'claim_short');
  if (has >= fund) return note('refund_short');
  return note(isSignable && sends.fundings ? 'fund_signed' : 'fund_short');
}

/** How much of the token that it gives is missing. */
export function lackOf({ amount }: Pick<GasSide, 'amount'>, look: GasLook | null): BaseUnits {
  const { holds = null } = look ?? {};
  return holds === null || holds >= amount ? 0n : amount - holds;
}

/** Digits after the mark that people compare; more of them say nothing. */
const shownDecimals = 8;

/** Rounded up to the displayed digits: a wallet with so much has enough. */
export function enough(units: BaseUnits, { decimals }: { readonly decimals: number }): BaseUnits {
  const scale = 10n ** BigInt(Math.max(0, decimals - shownDecimals));
  return ((units + scale - 1n) / scale) * scale;
}
