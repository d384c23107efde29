// A token that is paid by signature (EIP-3009), and the signature that funds a leg of it.

import type { Hex } from 'viem';
import devCoin from '../../../contracts/escrows/artifacts/DevCoin.json' with { type: 'json' };
import type { EscrowTerms } from '../../../core/terms.ts';
import type { GasWork } from '../../gas-account.ts';
import { evmDeployment, evmEscrow, idOfEscrow } from '../plan.ts';
import { deploy, type TestChain } from './anvil.ts';
import { funder } from './swap.ts';

export function deployDevCoin(chain: TestChain): Promise<Hex> {
  return deploy(chain, devCoin.bytecode as Hex);
}

/** EIP-712 of what the funder signs: its nonce is the escrow's id. */
export function authorizationOf(terms: EscrowTerms, chainId: number) {
  const deployment = evmDeployment(chainId);
  const of = (name: string, type: string) => ({ name, type });
  return {
    domain: {
      name: 'Dev Coin',
      version: '2',
      chainId,
      verifyingContract: terms.token as Hex,
    },
    types: {
      ReceiveWithAuthorization: [
        of('from', 'address'),
        of('to', 'address'),
        of('value', 'uint256'),
        of('validAfter', 'uint256'),
        of('validBefore', 'uint256'),
        of('nonce', 'bytes32'),
      ],
    },
    primaryType: 'ReceiveWithAuthorization',
    message: {
      from: terms.refund.address as Hex,
      to: deployment.contract as Hex,
      value: terms.amount,
      validAfter: 0n,
      validBefore: BigInt(terms.fundBefore ?? 0),
      nonce: idOfEscrow(evmEscrow(terms, deployment).address),
    },
  } as const;
}

export async function fundingOf(
  chain: TestChain,
  terms: EscrowTerms,
  by: Pick<typeof funder, 'signTypedData'> = funder,
): Promise<Extract<GasWork, { readonly verb: 'fund' }>> {
  const signature = await by.signTypedData(authorizationOf(terms, chain.chainId));
  return { verb: 'fund', terms, signature };
}
