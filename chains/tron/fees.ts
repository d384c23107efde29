// What a wallet lacks to send. An unused address sends nothing; unstaked energy is burnt in TRX.

import type { EscrowTerms } from '../../core/terms.ts';
import { owedWords, type Sum, shortages } from '../kit/shortage.ts';
import { settleEnergy, transactionBytes, wholeFunding, withMargin } from './energy.ts';
import { type Account, accountOf, pricesOf, resourcesOf } from './node.ts';
import { energyPrice, sunOf } from './views.ts';
import type { Watch } from './watch.ts';

export const shortage = shortages<Watch>({
  unit: 'sun',
  code: 'energy_poor',
  owed: async (watch, owed, payer, signal) => {
    let [energy, transactions, paid] = [0n, 0n, 0n];
    for (const same of alike(owed.claims)) {
      const count = BigInt(same.length);
      const [largest] = same.toSorted((one, other) => (one.amount < other.amount ? 1 : -1));
      if (largest === undefined) continue;
      energy += count * (await settleEnergy(watch, largest, largest.payout.address, signal));
      transactions += count;
    }
    for (const terms of owed.fundings) {
      const whole = await wholeFunding(watch, terms, signal);
      energy += whole.energy;
      transactions += whole.transactions;
      paid += paidIn(terms);
    }
    const what = owedWords(owed, 'send its own claim');
    const lentCounts = false;
    return sumOf(watch, payer, { what, energy, transactions, paid, lentCounts }, signal);
  },
  funding: async (watch, terms, signal) => {
    const whole = await wholeFunding(watch, terms, signal);
    const sending = { what: 'fund', paid: paidIn(terms), ...whole, lentCounts: true };
    return sumOf(watch, terms.refund.address, sending, signal);
  },
});

const paidIn = ({ token, amount }: EscrowTerms) => (token === null ? amount : 0n);

/** Claims of one token for one receiver: one trial tells what each of them takes. */
function alike(claims: readonly EscrowTerms[]): readonly (readonly EscrowTerms[])[] {
  const groups = Map.groupBy(claims, ({ token, payout }) => `${token} ${payout.address}`);
  return [...groups.values()];
}

type Sending = {
  readonly what: string;
  readonly energy: bigint;
  readonly transactions: bigint;
  readonly paid: bigint;
  /** Energy that others delegated may be gone before a claim is mined. */
  readonly lentCounts: boolean;
};

async function sumOf(
  { http }: Watch,
  address: string,
  { what, energy, transactions, paid, lentCounts }: Sending,
  signal: AbortSignal,
): Promise<Sum> {
  const [energySun, sun, has] = await Promise.all([
    energyPrice(http, signal),
    sunOf(http, address, signal),
    resourcesOf(http, address, signal),
  ]);
  // The account tells of use and of delegated energy. It is asked for only where wanted.
  const isClear = sun > 0n && (lentCounts || has.energy === 0n);
  const account = isClear ? null : await accountOf(http, address, signal);
  const own = lentCounts || account === null ? has.energy : ownEnergyLeft(account, has);
  const burnt = withMargin(energy) - own;
  const sent = transactions * transactionBytes;
  const bytes = has.bandwidth >= sent ? 0n : sent;
  const byteSun = bytes === 0n ? 0n : (await pricesOf(http, signal)).byteSun;
  const costSun = (burnt > 0n ? burnt * energySun : 0n) + bytes * byteSun;
  const leg = paid === 0n ? '' : `: ${paid} for the leg and ${costSun}`;
  return {
    need: paid + costSun,
    has: sun,
    what,
    parts: `${leg} for energy and bandwidth`,
    isUnused: !isClear && account === null,
  };
}

function ownEnergyLeft(
  { stakedSun, lentSun }: Account,
  { energy, energyLimit }: { readonly energy: bigint; readonly energyLimit: bigint },
): bigint {
  if (lentSun === 0n) return energy;
  const lent = (energyLimit * lentSun) / (stakedSun + lentSun);
  return energy > lent ? energy - lent : 0n;
}
