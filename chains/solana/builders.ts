// Unsigned transactions for the party that each belongs to, who pays its fee.

import { ParleyError } from '../../core/errors.ts';
import { opens } from '../../core/hashlock.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { BuildInput, ChainAdapter } from '../adapter.ts';
import type { SolanaMaterial } from '../material.ts';
import { mustAgree } from './agreement.ts';
import { latestBlockhash, recentPrices, simulate } from './node.ts';
import {
  mostPriorityLamports,
  solanaEscrow,
  solanaTransaction,
  unitLimits,
  type Wanted,
} from './plan.ts';
import { tokenProgramOf } from './preflight.ts';
import { stateOf } from './read.ts';
import type { Watch } from './watch.ts';

type Opened = <A extends unknown[], T>(
  work: (...args: [...A, AbortSignal]) => Promise<T>,
) => (...args: [...A, AbortSignal]) => Promise<T>;

export function builders(
  watch: Watch,
  opened: Opened,
): Pick<ChainAdapter, 'buildFund' | 'buildClaim' | 'buildRefund'> {
  const nothing = (address: string, what: string) =>
    new ParleyError('nothing_there', `the escrow ${address} on ${watch.chain} ${what}`, {
      escrow: address,
    });
  return {
    buildFund: opened(async ({ escrow }: BuildInput, signal) => {
      const { address } = solanaEscrow(escrow.terms, watch.deployment);
      await mustAgree(watch, escrow, signal);
      const { state } = await stateOf(watch, escrow, 'confirmed', signal);
      if (state !== null) {
        throw new ParleyError('already_funded', `the escrow ${address} was funded before`, {
          escrow: address,
        });
      }
      return material(watch, escrow.terms, { verb: 'fund' }, signal);
    }),
    buildClaim: opened(async ({ escrow }: BuildInput, secret: string, signal) => {
      const { terms, address } = escrow;
      if (!opens(secret, terms.hashlock)) {
        throw new ParleyError('wrong_secret', `sha256(secret) is not ${terms.hashlock}`, {});
      }
      // A public secret can no longer be kept: only haste helps then.
      const isPublic = watch.secrets.has(terms.hashlock);
      if (!isPublic) await mustAgree(watch, escrow, signal);
      const { state } = await stateOf(watch, escrow, 'confirmed', signal);
      if (state?.status !== 'open') {
        throw nothing(address, state === null ? 'is not funded' : `was ${state.status}`);
      }
      const whole = await material(watch, terms, { verb: 'claim', secret }, signal);
      // A secret that is not public is shown to no node before its claim.
      if (!isPublic || (await simulate(watch.rpc, whole.transaction, signal)) === null)
        return whole;
      const wanted: Wanted = { verb: 'claim', secret, withoutRefund: true };
      const short = await material(watch, terms, wanted, signal);
      return (await simulate(watch.rpc, short.transaction, signal)) === null ? short : whole;
    }),
    buildRefund: opened(async ({ escrow }: BuildInput, signal) => {
      const { state } = await stateOf(watch, escrow, 'confirmed', signal);
      if (state?.isFull !== true) {
        throw nothing(escrow.address, state === null ? 'is not funded' : `was ${state.status}`);
      }
      const afterClaim = state.status === 'claimed';
      return material(watch, escrow.terms, { verb: 'refund', afterClaim }, signal);
    }),
  };
}

async function material(
  watch: Watch,
  terms: EscrowTerms,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<SolanaMaterial> {
  const { rpc, chain, deployment } = watch;
  const { address: escrow } = solanaEscrow(terms, deployment);
  const tokenProgram = await tokenProgramOf(watch, terms, signal);
  const unitPrice = await priceFor(watch, terms, escrow, signal);
  const { blockhash, lastValidBlockHeight } = await latestBlockhash(rpc, 'confirmed', signal);
  const circumstances = { tokenProgram, blockhash, unitPrice };
  const transaction = solanaTransaction(terms, deployment, wanted, circumstances);
  const sign = { chain, family: 'solana', sign: 'solana-tx' } as const;
  return { ...sign, transaction, lastValidBlockHeight, escrow };
}

/** What three of four paid of late, within the bound that customers check. */
async function priceFor(
  { rpc, deployment }: Watch,
  { token }: EscrowTerms,
  escrow: string,
  signal: AbortSignal,
): Promise<bigint> {
  const prices = await recentPrices(rpc, [deployment.program, escrow], signal);
  const usual = prices[Math.floor((prices.length * 3) / 4)] ?? 0n;
  const limit = BigInt(token === null ? unitLimits.sol : unitLimits.token);
  const most = (mostPriorityLamports * 1_000_000n) / limit;
  return usual < most ? usual : most;
}
