import devCoin from '@parley/contracts/escrows/artifacts/DevCoin.json' with { type: 'json' };
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Hex } from 'viem';
import { typedDataToSign } from '../../escrows/typed-data.ts';
import type { GasWork } from '../../gas/account.ts';
import { evmDeployment } from '../plan.ts';
import { authorizationText } from '../ways.ts';
import { deploy, type TestChain } from './anvil.ts';
import { funder } from './swap.ts';

export function deployDevCoin(chain: TestChain): Promise<Hex> {
  return deploy(chain, devCoin.bytecode as Hex);
}

/** EIP-712 of what the funder signs: its nonce is the escrow's id. */
export function authorizationOf(terms: EscrowTerms, chainId: number) {
  const { token } = terms;
  const names = { name: 'Dev Coin', version: '2', chainId: `${chainId}` };
  const authorization = { ...names, verifyingContract: token ?? '' };
  const able = { permit: null, authorization };
  const text = authorizationText(terms, evmDeployment(chainId), able);
  if (text === null) throw new Error('it is paid by no signature');
  return typedDataToSign(text);
}

export async function fundingOf(
  chain: TestChain,
  terms: EscrowTerms,
  by: Pick<typeof funder, 'signTypedData'> = funder,
): Promise<Extract<GasWork, { readonly verb: 'fund' }>> {
  const signature = await by.signTypedData(authorizationOf(terms, chain.chainId));
  return { verb: 'fund', terms, signature };
}
