// From the terms of an EVM leg to its escrow and the calls to sign, for server and SDK alike. Pure.
// An escrow goes by `<contract>:<id>`; the id commits to chain, contract, terms and lane.

import { deployment as pinned } from '@parley/contracts/escrows/artifacts/abi.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import type { Escrow, EscrowTerms } from '@parley/core/terms.ts';
import type { Hex } from 'viem';
import { isCallOf } from '../escrows/calls.ts';
import {
  type Call,
  contractsOf,
  type DecodedCall,
  type Deployment,
  planOf,
} from '../escrows/plan.ts';
import type { Batch } from '../interface/batches.ts';
import type { BuildInput } from '../interface/building.ts';
import type { EvmCall } from '../interface/material.ts';
import { parseEvmAddress, sameAddress } from './address.ts';

export type { DecodedCall } from '../escrows/plan.ts';

/** Where the contracts are: at the same addresses on every chain, with their checksums. */
export type EvmDeployment = Deployment;

export type EvmContracts = {
  readonly contract?: string;
  /** See Deployment; all of them are made by `npm run deploy -- --shard N`. */
  readonly shards?: readonly string[];
  readonly formerContracts?: readonly string[];
};

export function evmDeployment(
  chainId: number,
  { contract = pinned.address, shards = [], formerContracts = [] }: EvmContracts = {},
): EvmDeployment {
  const instances = (all: readonly string[]) =>
    all.map((address) => ({ contract: parseEvmAddress(address) }));
  return {
    chainId,
    contract: parseEvmAddress(contract),
    ...(shards.length > 0 && { shards: instances(shards) }),
    ...(formerContracts.length > 0 && { formerContracts: instances(formerContracts) }),
  };
}

const own = planOf({
  parse: parseEvmAddress,
  bare: (address) => address.toLowerCase() as Hex,
  coin: 'the native coin',
});
export const {
  contractEscrow,
  contractFor,
  deploymentOf,
  domainOf,
  mustBeGood,
  callsIn,
  fundedIn,
  laneText,
  laneConsent,
  releaseText,
  releaseIn,
  contractOf: evmContract,
} = own;

export function evmEscrow(terms: EscrowTerms, deployment: EvmDeployment): Escrow {
  return own.escrowOf(terms, deployment);
}

export function idOfEscrow(escrow: string): Hex {
  return `0x${escrow.slice(escrow.indexOf(':') + 1)}`;
}

export const standingAllowance = 2n ** 256n - 1n;

/** `laneSignature`: the payee's, for a lane of its own. */
export type FundWishes = Pick<BuildInput, 'allowance' | 'laneSignature'>;

const evmCall = ({ to, data, value }: Call): EvmCall => {
  return { to, data, value: `0x${value.toString(16)}` };
};

export function fundCalls(
  terms: EscrowTerms,
  deployment: EvmDeployment,
  allowed: bigint,
  { allowance = 'exact', laneSignature }: FundWishes = {},
): EvmCall[] {
  const wanted = allowance === 'exact' ? terms.amount : standingAllowance;
  return own.fund(terms, deployment, { allowed, wanted, laneSignature }).map(evmCall);
}

/** By one funder in lanes of its own, in one contract; `allowed` tells of each token. */
export function fundManyCalls(
  legs: readonly { readonly terms: EscrowTerms }[],
  deployment: EvmDeployment,
  allowed: ReadonlyMap<string, bigint>,
): EvmCall[] {
  return own.fundMany(legs, deployment, allowed).map(evmCall);
}

export const claimCall = (terms: EscrowTerms, deployment: EvmDeployment, secret: Secret) =>
  evmCall(own.claim(terms, deployment, secret));

export const refundCall = (terms: EscrowTerms, deployment: EvmDeployment) =>
  evmCall(own.refund(terms, deployment));

/** The refund before the timelock. `signature`: the payee's, null where the payee itself sends it. */
export const releaseCall = (
  terms: EscrowTerms,
  deployment: EvmDeployment,
  signature: string | null,
) => evmCall(own.release(terms, deployment, signature));

export const batchCall = (batch: Batch, deployment: EvmDeployment) =>
  evmCall(own.batch(batch, deployment));

/** By the contract that it calls: a secret may have the address of another one in it. */
export function calledBy(to: string | null, deployment: EvmDeployment): EvmDeployment {
  const contract = contractsOf(deployment).find((each) => to !== null && sameAddress(to, each));
  return contract === undefined ? deployment : { chainId: deployment.chainId, contract };
}

export function decodeCall(
  to: string,
  data: string,
  deployment: EvmDeployment,
): DecodedCall | null {
  const contract = contractsOf(deployment).find((each) => sameAddress(to, each));
  if (contract === undefined) return null;
  const [call] = callsIn(data, { chainId: deployment.chainId, contract });
  if (call === undefined) return null;
  return isCallOf(data.toLowerCase(), { verb: call.verb, escrow: call.of }) ? call : null;
}
