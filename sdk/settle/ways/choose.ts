// Which way a token leg is funded: by the plain transactions, or by a signature in their place.

import { sameAddress } from '../../../chains/evm/address.ts';
import type {
  AuthorizationAlternative,
  EvmMaterial,
  FundAlternative,
  PermitAlternative,
} from '../../../chains/interface/material.ts';
import { ParleyError } from '../../../core/errors.ts';
import { VerificationError } from '../../errors.ts';
import type { Built } from '../../types.ts';
import type { EvmWallet } from '../../wallets/wallet.ts';
import { type Context, type FundingWay, ownLeg, sourceOf, walletOf } from '../context.ts';
import { payerOf } from '../owed.ts';
import type { SetLeg } from '../record.ts';

export type Way =
  | { readonly way: 'transactions' }
  | { readonly way: 'permit'; readonly alternative: PermitAlternative; readonly built: EvmMaterial }
  | { readonly way: 'authorization' };

const transactions: Way = { way: 'transactions' };
const allWays: readonly FundingWay[] = ['authorization', 'permit', 'approval'];

/** Throws `funding_would_fail` where the owner allows none of what is possible. */
export async function wayOf(context: Context, built: Built): Promise<Way> {
  const leg = ownLeg(context);
  const wallet = walletOf(context, leg.chain);
  const { token, refund } = leg.escrow.terms;
  if (built.sign !== 'evm-tx' || wallet.family !== 'evm' || token === null) return transactions;
  const ways = context.fundingWays ?? allWays;
  const isOwn = sameAddress(wallet.address, refund.address);
  const offered = isOwn ? offeredBy(built, wallet) : {};
  const permit = ways.includes('permit') ? offered.permit : undefined;
  const authorization = ways.includes('authorization') ? offered.authorization : undefined;
  const paysGas = ways.some((each) => each !== 'authorization');
  if (authorization !== undefined && (await goesUnsent(context, leg, authorization, paysGas))) {
    return { way: 'authorization' };
  }
  if (built.txs.length === 1 && paysGas) return transactions;
  if (permit !== undefined) return { way: 'permit', alternative: permit, built };
  if (ways.includes('approval')) return transactions;
  const allowed = ways.length === 0 ? 'none' : ways.join(' and ');
  const sentence = `leg ${leg.leg} can be funded by none of the ways allowed: ${allowed}`;
  throw new ParleyError('funding_would_fail', sentence, { chain: leg.chain, token });
}

/** Whether the leg is funded by what is signed alone. Nobody signs what nobody could send. */
async function goesUnsent(
  context: Context,
  leg: SetLeg,
  { relay }: AuthorizationAlternative,
  paysGas: boolean,
): Promise<boolean> {
  if (paysGas) return relay && (await lacksGas(context, leg));
  return relay || !(await lacksGas(context, leg));
}

type Offered = {
  readonly permit?: PermitAlternative;
  readonly authorization?: AuthorizationAlternative;
};

function offeredBy(built: EvmMaterial, wallet: EvmWallet): Offered {
  if (wallet.signTypedData === undefined) return {};
  const all = alternativesOf(built);
  const permit = all.find((each) => each.way === 'permit');
  const authorization = all.find((each) => each.way === 'authorization');
  return { ...(permit && { permit }), ...(authorization && { authorization }) };
}

/** What the market offers beside its transactions. Throws VerificationError: it is no such list. */
export function alternativesOf({ alternatives = [] }: EvmMaterial): readonly FundAlternative[] {
  const said: unknown = alternatives;
  if (!Array.isArray(said)) throw new VerificationError('alternatives', 'a list', typeof said);
  const odd = said.findIndex((each) => typeof each !== 'object' || each === null);
  if (odd === -1) return alternatives;
  throw new VerificationError(`alternatives[${odd}]`, 'an object', String(said[odd]));
}

/** Whether the wallet has too little of the chain's coin to fund by itself. */
export async function lacksGas(context: Context, leg: SetLeg): Promise<boolean> {
  const { adapter } = sourceOf(context, leg.chain);
  const { terms } = leg.escrow;
  const payer = payerOf(context, leg, terms.refund.address);
  const owed = { claims: [], fundings: [terms] };
  return (await adapter.purseShortage?.(owed, payer, context.limit())) != null;
}
