// What a funder signs of DevCoin: a permit (EIP-2612), an authorization (EIP-3009).

import { type Address, type Hex, parseSignature } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { type Escrow, escrowId } from './ids.ts';

const uint256 = (name: string) => ({ name, type: 'uint256' }) as const;
const address = (name: string) => ({ name, type: 'address' }) as const;
const bytes32 = (name: string) => ({ name, type: 'bytes32' }) as const;
const permitTypes = {
  Permit: [address('owner'), address('spender'), ...['value', 'nonce', 'deadline'].map(uint256)],
};
const authorizationTypes = {
  ReceiveWithAuthorization: [
    ...['from', 'to'].map(address),
    ...['value', 'validAfter', 'validBefore'].map(uint256),
    bytes32('nonce'),
  ],
};

type Where = { readonly chainId: number; readonly escrows: Address; readonly coin: Address };
export type Signature = readonly [v: number, r: Hex, s: Hex];

async function signed(
  signer: PrivateKeyAccount,
  { chainId, coin }: Where,
  primaryType: 'Permit' | 'ReceiveWithAuthorization',
  message: object,
): Promise<Signature> {
  const types = primaryType === 'Permit' ? permitTypes : authorizationTypes;
  const domain = { name: 'Dev Coin', version: '2', chainId, verifyingContract: coin };
  const signature = await signer.signTypedData({ domain, types, primaryType, message } as never);
  const { r, s, yParity } = parseSignature(signature);
  return [yParity + 27, r, s];
}

export function permitBy(
  signer: PrivateKeyAccount,
  where: Where,
  permit: { readonly value: bigint; readonly nonce: bigint; readonly deadline: bigint },
): Promise<Signature> {
  const message = { owner: signer.address, spender: where.escrows, ...permit };
  return signed(signer, where, 'Permit', message);
}

export function authorizationBy(
  signer: PrivateKeyAccount,
  where: Where,
  escrow: Escrow,
): Promise<Signature> {
  const { amount: value, fundBefore: validBefore } = escrow.terms;
  const nonce = escrowId(where.chainId, where.escrows, escrow);
  const message = {
    from: signer.address,
    to: where.escrows,
    value,
    validAfter: 0n,
    validBefore,
    nonce,
  };
  return signed(signer, where, 'ReceiveWithAuthorization', message);
}
