// The amount that a wallet lacks to send its transactions, and the words for it.

import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Owed, Shortage, Warning } from '../interface/gas.ts';
import { begun } from '../nodes/gathering.ts';
import type { Watching } from './watch.ts';

/** The amount that something takes, and the payer's balance, in base units of the coin. */
export type Sum = {
  readonly need: bigint;
  readonly has: bigint;
  /** The transaction, as a sentence has it: "to send a claim". */
  readonly what: string;
  /** The purpose of the need, after its number. */
  readonly parts?: string;
  /** TRON: an address that was never used sends nothing, however little it takes. */
  readonly isUnused?: boolean;
};

export type Counts<Watch> = {
  readonly unit: string;
  readonly code: Warning['code'];
  /** The reserve that warnings add, for changes until the transaction is sent. */
  readonly spared?: bigint;
  /** The watch by which all that is asked at one moment leaves together. */
  together(watch: Watch, signal: AbortSignal): Watch;
  owed(watch: Watch, owed: Owed, payer: string, signal: AbortSignal): Promise<Sum>;
  funding(watch: Watch, terms: EscrowTerms, signal: AbortSignal): Promise<Sum>;
  /** Whether it is an address's own coin that it sends with. All do unless told. */
  pays?(watch: Watch, address: string, signal: AbortSignal): Promise<boolean>;
};

/** Words for one claim `one`; else how many claims, and after how many fundings. */
export function owedWords({ claims, fundings }: Owed, one: string): string {
  if (claims.length === 1 && fundings.length === 0) return one;
  const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
  const before = fundings.length === 0 ? '' : ` after ${counted(fundings.length, 'funding')}`;
  return `send ${counted(claims.length, 'claim')}${before}`;
}

export function shortages<Watch extends Pick<Watching, 'chain'>>(counts: Counts<Watch>) {
  const { unit, code, spared = 0n, pays = async () => true } = counts;
  const shortOf = (
    { chain }: Watch,
    verb: Warning['verb'],
    address: string,
    { need, has, what, parts = '', isUnused = false }: Sum,
  ): Shortage | null => {
    if (has >= need && !isUnused) return null;
    const needs = `${need} ${unit}${parts}`;
    const why = isUnused
      ? `was never used on ${chain}: it cannot ${what} before somebody has sent it at least ${needs}`
      : `has ${has} ${unit} on ${chain}, and to ${what} may take ${needs}`;
    const other = verb === 'claim' ? '; anybody else may send the claim for it' : '';
    const sentence = `${address} ${why}${other}`;
    return { code: isUnused ? 'not_activated' : code, verb, address, need, has, sentence };
  };
  const more = (sum: Sum): Sum => ({ ...sum, need: sum.need + spared });
  const fundsShortage = async (watch: Watch, owed: Owed, payer: string, signal: AbortSignal) => {
    const sum = await counts.owed(counts.together(watch, signal), owed, payer, signal);
    return shortOf(watch, 'claim', payer, sum);
  };
  return {
    fundsShortage,
    claimShortage: (watch: Watch, terms: EscrowTerms, payer: string, signal: AbortSignal) =>
      fundsShortage(watch, { claims: [terms], fundings: [] }, payer, signal),
    /** Whether both parties of a leg can pay for what they have to send, and `spared` more. */
    warnings: async (
      from: Watch,
      terms: EscrowTerms,
      signal: AbortSignal,
    ): Promise<readonly Shortage[]> => {
      const watch = counts.together(from, signal);
      const { address: claimer } = terms.payout;
      const { address: funder } = terms.refund;
      const owed = { claims: [terms], fundings: [] };
      const side = async (verb: Warning['verb'], address: string, asked: Promise<Sum>) => {
        const counting = begun(asked);
        if (!(await pays(watch, address, signal))) return null;
        return shortOf(watch, verb, address, more(await counting));
      };
      // Both have asked before either waits.
      const found = await Promise.all([
        side('claim', claimer, counts.owed(watch, owed, claimer, signal)),
        side('fund', funder, counts.funding(watch, terms, signal)),
      ]);
      return found.filter((each) => each !== null);
    },
  };
}
