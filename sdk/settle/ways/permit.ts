// A token funded with its own approval (EIP-2612). The permit binds no terms; the contract takes it
// of the refund address alone.

import { permitAlternative, signedCall } from '../../../chains/evm/ways.ts';
import type { EvmCall, PermitAlternative } from '../../../chains/interface/material.ts';
import { fundBy } from '../../../core/gates.ts';
import type { EvmWallet } from '../../wallets/wallet.ts';
import type { On } from '../hands/hand.ts';
import { mustBeOwnText, signingOf, signText } from './typed.ts';

/** The one call that funds, signed permit included; null where the token does not take it. */
export async function permitCall(
  on: On<EvmWallet>,
  alternative: PermitAlternative,
): Promise<EvmCall | null> {
  const { context, leg, wallet } = on;
  const { allowance = 'exact' } = context;
  const latestDeadline = fundBy(context.record.swap, leg);
  await mustBeOwnText(context, leg, alternative, { allowance, latestDeadline });
  const { reads, deployment } = signingOf(context, leg);
  const { terms } = leg.escrow;
  const nonce = await reads.permitNonce(terms.token ?? '', wallet.address, context.limit());
  const { domain, message } = alternative.typedData;
  const values = {
    nonce: nonce ?? 0n,
    value: BigInt(message.value ?? 0),
    deadline: Number(message.deadline),
  };
  const own = permitAlternative(terms, deployment, { permit: domain, authorization: null }, values);
  const refuse = (why: string) => {
    context.waits(leg, `approves instead of a permit: ${why}`);
    return null;
  };
  if (nonce === null || own === null) return refuse('your node shows no nonce of the token');
  const call = signedCall(own.call, await signText(on, own.typedData));
  const why = await reads.trial(call, wallet.address, context.limit());
  if (why !== null) return refuse(why);
  const much = allowance === 'standing' ? 'any amount' : 'exactly the amount';
  context.emit('signed', leg.leg, `signed a permit of ${much}: one transaction funds the leg`);
  return call;
}
