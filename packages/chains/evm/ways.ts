// Funding by a signature instead of an approval: texts, calls, and what is wrong with either. Pure.

import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Unchecked } from '@parley/core/unchecked.ts';
import { type Hex, numberToHex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { parseSignature, separatorOf } from '../escrows/typed-data.ts';
import type { Allowance, TokenAbilities } from '../interface/fund-ways.ts';
import type {
  AuthorizationAlternative,
  EvmCall,
  FundAlternative,
  PermitAlternative,
  SignedCall,
  TokenDomain,
  TypedData,
  TypedField,
} from '../interface/material.ts';
import { parseEvmAddress, sameAddress } from './address.ts';
import {
  contractEscrow,
  deploymentOf,
  type EvmDeployment,
  evmEscrow,
  idOfEscrow,
  laneConsent,
  standingAllowance,
} from './plan.ts';

export const noAbilities: TokenAbilities = { permit: null, authorization: null };

type PermitValues = {
  readonly nonce: bigint;
  /** The amount it allows: the amount, or `standingAllowance`. */
  readonly value: bigint;
  readonly deadline: number;
};

const permitTypes: readonly TypedField[] = [
  { name: 'owner', type: 'address' },
  { name: 'spender', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint256' },
];
const authorizationTypes: readonly TypedField[] = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
];

const domainFields = new Set(['name', 'version', 'chainId', 'verifyingContract', 'salt']);

export function permitData(
  domain: TokenDomain,
  owner: string,
  spender: string,
  { nonce, value, deadline }: PermitValues,
): TypedData {
  return {
    domain,
    types: { Permit: permitTypes },
    primaryType: 'Permit',
    message: {
      owner,
      spender,
      value: `${value}`,
      nonce: `${nonce}`,
      deadline: `${deadline}`,
    },
  };
}

/** The amount that an authorization moves, and the time. `nonce`: 32 bytes in hex with 0x. */
type AuthorizationValues = {
  readonly value: bigint;
  readonly validBefore: number;
  readonly nonce: string;
};

/** EIP-3009, valid from the beginning of time. */
export function authorizationData(
  domain: TokenDomain,
  from: string,
  to: string,
  { value, validBefore, nonce }: AuthorizationValues,
): TypedData {
  return {
    domain,
    types: { ReceiveWithAuthorization: authorizationTypes },
    primaryType: 'ReceiveWithAuthorization',
    message: {
      from,
      to,
      value: `${value}`,
      validAfter: '0',
      validBefore: `${validBefore}`,
      nonce,
    },
  };
}

/** null: the native coin, or a token without permits. */
export function permitAlternative(
  terms: EscrowTerms,
  deployment: EvmDeployment,
  { permit }: TokenAbilities,
  values: PermitValues,
  laneSignature?: string,
): PermitAlternative | null {
  if (terms.token === null || permit === null) return null;
  const { contract } = deploymentOf({ deployment }, terms);
  const from = parseEvmAddress(terms.refund.address);
  const { terms: told, lane, counter } = contractEscrow(terms);
  const { value, deadline } = values;
  const consent = laneConsent(terms, deployment, laneSignature);
  const args = [told, lane, counter, value, BigInt(deadline)] as const;
  const abi = escrowsAbi;
  const data =
    consent === null
      ? encodeFunctionData({ abi, functionName: 'fundWithPermit', args: [...args, unsigned] })
      : encodeFunctionData({
          abi,
          functionName: 'fundInLaneWithPermit',
          args: [...args, consent, unsigned],
        });
  return {
    way: 'permit',
    from,
    typedData: permitData(permit, from, contract, values),
    call: beforeSignature(contract, data),
  };
}

/** null as above. */
export function authorizationText(
  terms: EscrowTerms,
  deployment: EvmDeployment,
  { authorization }: TokenAbilities,
): TypedData | null {
  const { token, amount, fundBefore } = terms;
  if (token === null || authorization === null || fundBefore === undefined) return null;
  const { contract } = deploymentOf({ deployment }, terms);
  const from = parseEvmAddress(terms.refund.address);
  const nonce = idOfEscrow(evmEscrow(terms, deployment).address);
  const values = { value: amount, validBefore: fundBefore, nonce };
  return authorizationData(authorization, from, contract, values);
}

/** null as above. `relay` is for whoever sends it to say. */
export function authorizationAlternative(
  terms: EscrowTerms,
  deployment: EvmDeployment,
  abilities: TokenAbilities,
  laneSignature?: string,
): AuthorizationAlternative | null {
  const typedData = authorizationText(terms, deployment, abilities);
  if (typedData === null) return null;
  return {
    way: 'authorization',
    from: null,
    typedData,
    call: authorizationCall(terms, deployment, laneSignature),
    relay: false,
  };
}

/** `laneSignature`: the payee's, for a lane of its own. */
export function authorizationCall(
  terms: EscrowTerms,
  deployment: EvmDeployment,
  laneSignature?: string,
): SignedCall {
  const { contract } = deploymentOf({ deployment }, terms);
  const { terms: told, lane, counter } = contractEscrow(terms);
  const consent = laneConsent(terms, deployment, laneSignature);
  const args = [told, lane, counter] as const;
  const abi = escrowsAbi;
  const data =
    consent === null
      ? encodeFunctionData({
          abi,
          functionName: 'fundWithAuthorization',
          args: [...args, unsigned],
        })
      : encodeFunctionData({
          abi,
          functionName: 'fundInLaneWithAuthorization',
          args: [...args, consent, unsigned],
        });
  return beforeSignature(contract, data);
}

const zeroWord: Hex = `0x${'0'.repeat(64)}`;
const unsigned = { v: 0, r: zeroWord, s: zeroWord };
const signatureDigits = 3 * 64;

function beforeSignature(to: string, data: string): SignedCall {
  return { to, value: '0x0', dataBeforeSignature: data.slice(0, -signatureDigits) };
}

export function signedCall(call: SignedCall, signature: string): EvmCall {
  const { v, r, s } = parseSignature(signature);
  const words = [numberToHex(v, { size: 32 }), r, s].map((word) => word.slice(2));
  return { to: call.to, data: `${call.dataBeforeSignature}${words.join('')}`, value: call.value };
}

/** `separator`: the token's own DOMAIN_SEPARATOR(); null: not asked. */
export function checkDomain(
  said: Unchecked<TokenDomain>,
  { token }: Pick<EscrowTerms, 'token'>,
  { chainId }: EvmDeployment,
  separator: string | null,
): string[] {
  const problems: string[] = [];
  for (const [field, value] of Object.entries(said ?? {})) {
    if (!domainFields.has(field)) problems.push(`domain.${field} does not belong there`);
    else if (typeof value !== 'string') problems.push(`domain.${field} is no text`);
  }
  if (said?.name === undefined || said.verifyingContract === undefined) {
    problems.push('the domain must have a name and a verifyingContract');
  }
  if (problems.length > 0) return problems;
  const domain = said as TokenDomain;
  const { verifyingContract, chainId: named, salt } = domain;
  if (token === null || !sameAddress(verifyingContract, token)) {
    problems.push(`domain.verifyingContract is ${verifyingContract}, not ${token}`);
  }
  // Tokens that a bridge of Polygon made name the chain by their salt.
  const saltOfChain = numberToHex(chainId, { size: 32 });
  if (named === undefined && salt?.toLowerCase() !== saltOfChain) {
    problems.push(`the domain names no chain; it must name ${chainId}`);
  } else if (named !== undefined && named !== `${chainId}`) {
    problems.push(`domain.chainId is ${named}, not ${chainId}`);
  }
  if (problems.length > 0) return problems;
  const own = separatorOf(domain);
  if (separator !== null && separator.toLowerCase() !== own) {
    problems.push(`the domain hashes to ${own}; the token says ${separator}`);
  }
  return problems;
}

/** The facts of the signer's own node, and the signer's wishes. */
export type SigningView = {
  readonly separator: string | null;
  readonly nonce?: bigint | null;
  /** The allowance of a permit: the amount alone, or any number of later fundings too. */
  readonly allowance: Allowance;
  /** The end of a permit, Unix seconds: it must not be usable any later. */
  readonly latestDeadline: number;
  /** The payee's, for a lane of its own. */
  readonly laneSignature?: string;
};

/** One sentence a difference, by the signer's own terms. A text that is left out is none. */
export function typedDataProblems(
  alternative: FundAlternative,
  terms: EscrowTerms,
  deployment: EvmDeployment,
  view: SigningView,
): string[] {
  const { typedData, call, way } = alternative;
  if (!typedData || !call) {
    const isLeftOut = typedData === null && call === null;
    return isLeftOut ? [] : [`${way}: typedData and call belong together`];
  }
  const domain = checkDomain(typedData.domain, terms, deployment, view.separator);
  // Without the right domain nothing else could be built to compare with.
  if (domain.length > 0) return domain;
  const expected = expectedOf(alternative, terms, deployment, view);
  if (expected === null) return [`${way}: ${terms.token ?? 'the native coin'} has no such way`];
  return differences(alternative, expected, '');
}

function expectedOf(
  { way, typedData }: FundAlternative,
  terms: EscrowTerms,
  deployment: EvmDeployment,
  { nonce = null, allowance, latestDeadline, laneSignature }: SigningView,
): FundAlternative | null {
  const domain = typedData?.domain ?? null;
  switch (way) {
    case 'authorization':
      return authorizationAlternative(
        terms,
        deployment,
        { ...noAbilities, authorization: domain },
        laneSignature,
      );
    case 'permit': {
      const told = (typedData as NonNullable<Unchecked<TypedData>>).message ?? {};
      const value = allowance === 'exact' ? terms.amount : standingAllowance;
      const deadline = Math.min(Number(integerIn(told.deadline)), latestDeadline);
      const values = { nonce: nonce ?? integerIn(told.nonce), value, deadline };
      return permitAlternative(
        terms,
        deployment,
        { ...noAbilities, permit: domain },
        values,
        laneSignature,
      );
    }
  }
}

/** 0 for what is no integer: it then differs from what was given. The text is a stranger's. */
function integerIn(text: unknown): bigint {
  return typeof text === 'string' && /^\d{1,78}$/.test(text) ? BigInt(text) : 0n;
}

/** Where the two differ; `relay` is the sender's to say. */
function differences(got: unknown, expected: unknown, path: string): string[] {
  if (path === 'relay') return [];
  const [one, other] = [got, expected].map((each) =>
    typeof each === 'object' && each !== null ? (each as Record<string, unknown>) : null,
  );
  if (one == null || other == null) {
    return got === expected ? [] : [`${path} is ${shown(got)}, not ${shown(expected)}`];
  }
  const fields = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return fields.flatMap((field) => {
    return differences(one[field], other[field], path === '' ? field : `${path}.${field}`);
  });
}

const mostShown = 100;

function shown(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.slice(0, mostShown);
}
