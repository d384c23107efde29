// From the terms of an EVM leg to its escrow and the calls to sign, for server and SDK alike. Pure.
// An escrow goes by `<contract>:<id>`; the id commits to chain, contract, terms and lane.

import type { Hex } from 'viem';
import { deployment as pinned } from '../../contracts/escrows/artifacts/abi.ts';
import type { Secret } from '../../core/hashlock.ts';
import type { Escrow, EscrowTerms } from '../../core/terms.ts';
import { batchData, claimData, fundData, refundData } from '../escrows/calls.ts';
import {
  approvals,
  contractsOf,
  type DecodedCall,
  type Deployment,
  planOf,
} from '../escrows/plan.ts';
import type { Batch } from '../interface/batches.ts';
import type { Allowance } from '../interface/fund-ways.ts';
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
  deploymentOfAll,
  domainOf,
  mustBeGood,
  callsIn,
  fundedIn,
  contractOf: evmContract,
} = own;

export function evmEscrow(terms: EscrowTerms, deployment: EvmDeployment): Escrow {
  return own.escrowOf(terms, deployment);
}

export function idOfEscrow(escrow: string): Hex {
  return `0x${escrow.slice(escrow.indexOf(':') + 1)}`;
}

function hexValue(value: bigint): string {
  return `0x${value.toString(16)}`;
}

export const standingAllowance = 2n ** 256n - 1n;

export function fundCalls(
  terms: EscrowTerms,
  deployment: EvmDeployment,
  allowance: bigint,
  wanted: Allowance = 'exact',
): EvmCall[] {
  mustBeGood(terms, deployment);
  const { contract } = deploymentOf({ deployment }, terms);
  const data = fundData(contractEscrow(terms));
  if (terms.token === null) return [{ to: contract, data, value: hexValue(terms.amount) }];
  const to = parseEvmAddress(terms.token);
  const needed = wanted === 'exact' ? terms.amount : standingAllowance;
  const approving = approvals(terms.amount, allowance, needed).map((amount) => {
    return { to, data: own.approveData({ contract }, amount), value: '0x0' };
  });
  return [...approving, { to: contract, data, value: '0x0' }];
}

export function claimCall(terms: EscrowTerms, deployment: EvmDeployment, secret: Secret): EvmCall {
  mustBeGood(terms, deployment);
  const { contract: to } = deploymentOf({ deployment }, terms);
  return { to, data: claimData(contractEscrow(terms), secret), value: '0x0' };
}

export function refundCall(terms: EscrowTerms, deployment: EvmDeployment): EvmCall {
  mustBeGood(terms, deployment);
  const { contract: to } = deploymentOf({ deployment }, terms);
  return { to, data: refundData(contractEscrow(terms)), value: '0x0' };
}

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
  const alone = {
    fund: () => fundData(call.of),
    claim: () => claimData(call.of, call.secret ?? ''),
    refund: () => refundData(call.of),
  }[call.verb]();
  return alone === data.toLowerCase() ? call : null;
}

/** Every secret must be public: see escrows/batch.ts. */
export function batchCall(batch: Batch, deployment: EvmDeployment): EvmCall {
  const all = batch.legs.map(({ terms }) => terms);
  for (const terms of all) mustBeGood(terms, deployment);
  const { contract } = deploymentOfAll({ deployment }, all);
  return { to: contract, data: batchData(batch, contractEscrow), value: '0x0' };
}
