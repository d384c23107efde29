// The common part of the plans of EVM and TRON: which contract of a chain holds the escrow of some
// terms, its name, and what is approved before a funding. Pure.

import { escrowsAbi, deployment as pinned } from '@parley/contracts/escrows/artifacts/abi.ts';
import {
  type Consent,
  type Escrow as ContractEscrow,
  consentOf,
  domainOf,
  escrowId,
} from '@parley/contracts/escrows/ids.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Hashlock, Secret } from '@parley/core/hashlock.ts';
import { type Contract, digestHead } from '@parley/core/rules.ts';
import type { Escrow, EscrowTerms } from '@parley/core/terms.ts';
import { concat, erc20Abi, type Hex, keccak256 } from 'viem';
import { encodeFunctionData, getAddress } from 'viem/utils';
import type { Batch } from '../interface/batches.ts';
import { isOfPayee, type LaneState, type Lanes } from '../interface/lanes.ts';
import type { TypedData } from '../interface/material.ts';
import * as calls from './calls.ts';
import { type Given, readRelease } from './consent.ts';
import { parseSignature, signerOf } from './typed-data.ts';

export type Instance = { readonly contract: string };

export type Deployment = Instance & {
  readonly chainId: number;
  /** More instances, which new escrows are spread over: a freeze of one stops only its share. */
  readonly shards?: readonly Instance[];
  /** Instances that take no new escrow: the escrows in them are read, claimed and refunded. */
  readonly formerContracts?: readonly Instance[];
};

type Instances = Omit<Deployment, 'chainId'>;

/** The limit of one chain: each is in every request for logs, and checked at every start. */
export const mostContracts = 8;

export function openContracts({ contract, shards = [] }: Instances): string[] {
  return [contract, ...shards.map((each) => each.contract)];
}

export function contractsOf(deployment: Instances): string[] {
  const { formerContracts = [] } = deployment;
  return [...openContracts(deployment), ...formerContracts.map((each) => each.contract)];
}

/** The fault of the list, as a clause; null = nothing. Addresses are canonical. */
export function contractsFault(deployment: Instances): string | null {
  const all = contractsOf(deployment);
  const twice = all.find((each, at) => all.indexOf(each) !== at);
  if (twice !== undefined) return `${twice} is named twice among the contracts`;
  if (all.length <= mostContracts) return null;
  return `${all.length} contracts are named; at most ${mostContracts} may hold escrows`;
}

/** A call of ours, read back; its escrow as `escrowName` gives it. */
export type DecodedCall = Pick<calls.DecodedCall, 'verb' | 'secret' | 'isReleased'> & {
  readonly escrow: string;
  readonly of: ContractEscrow;
};

export type Addresses = {
  parse(address: string): string;
  /** The 20 bytes of a canonical address, hex with 0x in lower case. */
  bare(address: string): Hex;
  readonly coin: string;
};

export function escrowName(id: string, { contract }: Instance): string {
  return `${contract}:${id.slice(2).toLowerCase()}`;
}

/** A payee's lane needs its signature; a token that lets the contract take enough, no approval. */
type Funding = {
  readonly allowed: bigint;
  /** The amount of an approval. */
  readonly wanted?: bigint;
  readonly laneSignature?: string | undefined;
};

/** A call, `to` in the family's own form. */
export type Call = { readonly to: string; readonly data: Hex; readonly value: bigint };

export function planOf({ parse, bare: bareOf, coin }: Addresses) {
  const bare = (address: string) => bareOf(parse(address));
  const placeIn = (contract: string, { chainId }: Deployment): calls.Place => {
    return { chainId, contract: bare(contract) };
  };
  const contractEscrow = (terms: EscrowTerms) => calls.escrowOfTerms(terms, bare);

  /** The highest score: a funder keeps his lanes, and one contract more moves no other funder. */
  const contractFor = (funder: string, deployment: Instances): string => {
    const open = openContracts(deployment);
    if (open.length === 1) return deployment.contract;
    const scored = open.map((contract) => {
      return { contract, score: keccak256(concat([bare(funder), bare(contract)])) };
    });
    return scored.reduce((one, other) => (other.score > one.score ? other : one)).contract;
  };
  /** Throws `bad_address` where the terms name a contract that is not configured. */
  const deploymentOf = (
    { deployment }: { readonly deployment: Deployment },
    { lane, refund }: Pick<EscrowTerms, 'lane' | 'refund'>,
  ): Pick<Deployment, 'chainId' | 'contract'> => {
    const { chainId } = deployment;
    if (lane === undefined) return { chainId, contract: contractFor(refund.address, deployment) };
    const { contract = deployment.contract } = lane;
    const all = contractsOf(deployment);
    if (all.includes(contract)) return { chainId, contract };
    const sentence = `contract ${contract.slice(0, 64)} is none of the ${all.length} configured`;
    throw new ParleyError('bad_address', `${sentence}: ${all.join(', ')}`, { contract });
  };
  const deploymentOfAll = (
    of: { readonly deployment: Deployment },
    all: readonly EscrowTerms[],
  ) => {
    const found = all.map((terms) => deploymentOf(of, terms));
    const { chainId, contract } = found[0] ?? of.deployment;
    const other = found.find((each) => each.contract !== contract);
    if (other === undefined) return { chainId, contract };
    throw new Error(`a batch is of one contract, not of ${contract} and ${other.contract}`);
  };
  /** Those of them that bytes name, which may be for any where they name none. */
  const namedIn = (hex: string, deployment: Deployment): string[] => {
    const all = contractsOf(deployment);
    const named = all.length === 1 ? all : all.filter((each) => hex.includes(bare(each).slice(2)));
    return named.length > 0 ? named : all;
  };

  /** Throws `bad_address` for destinations where money would be lost. */
  const mustBeGood = (terms: EscrowTerms, deployment: Deployment): void => {
    const own = contractsOf(deployment).map(bare);
    const token = terms.token === null ? calls.noToken : bare(terms.token);
    const refuse = (field: string, value: string, what: string) =>
      new ParleyError('bad_address', `${field} ${value} is ${what}`, { field });
    for (const field of ['payout', 'refund'] as const) {
      const value = parse(terms[field].address);
      const bytes = bare(value);
      if (bytes === calls.noToken) throw refuse(field, value, 'the zero address');
      if (bytes === token) throw refuse(field, value, 'the token contract itself');
      if (own.includes(bytes)) throw refuse(field, value, 'the escrow contract');
    }
    if (terms.token !== null && token === calls.noToken) {
      throw refuse('token', parse(terms.token), `the zero address; ${coin} has no token`);
    }
  };

  /** EIP-712, and TIP-712 on TRON: its domain is the contract's own. */
  const textOf = (consent: Consent, terms: EscrowTerms, deployment: Deployment): TypedData => {
    mustBeGood(terms, deployment);
    const { chainId, contract } = deploymentOf({ deployment }, terms);
    const { domain, ...text } = consentOf(consent, chainId, bare(contract), contractEscrow(terms));
    const verifyingContract = getAddress(domain.verifyingContract);
    return { ...text, domain: { ...domain, chainId: `${chainId}`, verifyingContract } };
  };
  const laneText = (terms: EscrowTerms, deployment: Deployment) =>
    textOf('OpenInMyLane', terms, deployment);
  /** null: the lane is the funder's. Throws `bad_signature` unless the payee's is given. */
  const laneConsent = (terms: EscrowTerms, deployment: Deployment, signature = '') => {
    if (terms.lane === undefined || !isOfPayee(terms.lane)) return null;
    const signer = signerOf(laneText(terms, deployment), signature);
    if (signer.toLowerCase() === bare(terms.payout.address)) return parseSignature(signature);
    const sentence = `${signer} signed for the lane, not ${terms.payout.address}, who owns it`;
    throw new ParleyError('bad_signature', sentence);
  };

  const releaseText = (terms: EscrowTerms, deployment: Deployment) =>
    textOf('GiveUpClaim', terms, deployment);
  const releaseIn = (terms: EscrowTerms, deployment: Deployment, signature: string): Given =>
    readRelease(releaseText(terms, deployment), bare(terms.payout.address), signature);

  const callOf = (
    terms: EscrowTerms,
    deployment: Deployment,
    dataOf: (escrow: ContractEscrow) => Hex,
  ): Call => {
    mustBeGood(terms, deployment);
    const { contract: to } = deploymentOf({ deployment }, terms);
    return { to, data: dataOf(contractEscrow(terms)), value: 0n };
  };

  const batchCall = (batch: Batch, deployment: Deployment): Call => {
    const all = batch.legs.map(({ terms }) => terms);
    for (const terms of all) mustBeGood(terms, deployment);
    const { contract: to } = deploymentOfAll({ deployment }, all);
    return { to, data: calls.batchData(batch, contractEscrow), value: 0n };
  };
  const approving = (token: string, spender: string, amounts: readonly bigint[]): Call[] => {
    const to = parse(token);
    return amounts.map((each) => {
      const args = [bare(spender), each] as const;
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args });
      return { to, data, value: 0n };
    });
  };

  return {
    contractEscrow,
    contractFor,
    deploymentOf,
    mustBeGood,
    /** By its init code: the code on chain holds the domain, so it differs between chains. */
    contractOf: ({ contract, shards = [] }: Instances): Contract => {
      const version = digestHead(pinned.initCode.keccak256);
      const others = shards.map((each) => parse(each.contract)).sort();
      const spread = others.length === 0 ? {} : { shards: others };
      return { address: parse(contract), version, ...spread };
    },
    domainOf: ({ chainId, contract }: Deployment): Hex => domainOf(chainId, bare(contract)),
    laneText,
    laneConsent,
    releaseText,
    releaseIn,
    escrowOf: (terms: EscrowTerms, deployment: Deployment): Escrow => {
      mustBeGood(terms, deployment);
      const { contract } = deploymentOf({ deployment }, terms);
      const at = placeIn(contract, deployment);
      const id = escrowId(at.chainId, at.contract, contractEscrow(terms));
      return { address: escrowName(id, { contract }), redeemScript: null };
    },
    /** See calls.ts. A call made by another contract counts too: it carries ours word for word. */
    callsIn: (
      hex: string,
      deployment: Deployment,
      wanted?: (hashlock: Hashlock) => boolean,
    ): DecodedCall[] => {
      const bytes = hex.toLowerCase();
      const named = namedIn(bytes, deployment).map((contract) => {
        return { contract, place: placeIn(contract, deployment) };
      });
      // Each is hashed for each contract: all of them together cost what one contract's cost.
      const most = Math.ceil(calls.mostLegs / named.length);
      const first = placeIn(deployment.contract, deployment);
      const found = calls.callsIn(bytes, first, wanted, most);
      return found.flatMap(({ id: inFirst, escrow, ...call }) =>
        named.map(({ contract, place }) => {
          const isFirst = contract === deployment.contract;
          const id = isFirst ? inFirst : escrowId(place.chainId, place.contract, escrow);
          return { ...call, escrow: escrowName(id, { contract }), of: escrow };
        }),
      );
    },
    fundedIn: (hex: string, deployment: Deployment): string[] => {
      const bytes = hex.toLowerCase();
      return namedIn(bytes, deployment).flatMap((contract) => {
        const ids = calls.fundedIn(bytes, placeIn(contract, deployment));
        return ids.map((id) => escrowName(id, { contract }));
      });
    },
    /** The calls that fund, in order; the token lets the contract take `allowed` now. */
    fund: (
      terms: EscrowTerms,
      deployment: Deployment,
      { allowed, wanted = terms.amount, laneSignature }: Funding,
    ): Call[] => {
      const { token, amount } = terms;
      const consent = laneConsent(terms, deployment, laneSignature);
      const funding = callOf(terms, deployment, (escrow) => calls.fundData(escrow, consent));
      if (token === null) return [{ ...funding, value: amount }];
      return [...approving(token, funding.to, approvals(amount, allowed, wanted)), funding];
    },
    /** By one funder in lanes of its own, in one contract; `allowed` tells of each token. */
    fundMany: (
      legs: readonly { readonly terms: EscrowTerms }[],
      deployment: Deployment,
      allowed: ReadonlyMap<string, bigint>,
    ): Call[] => {
      const { to, data } = batchCall({ verb: 'fund', legs }, deployment);
      const sums = new Map<string | null, bigint>();
      for (const { terms } of legs) {
        sums.set(terms.token, (sums.get(terms.token) ?? 0n) + terms.amount);
      }
      const approved = [...sums].flatMap(([token, sum]) =>
        token === null ? [] : approving(token, to, approvals(sum, allowed.get(token) ?? 0n)),
      );
      return [...approved, { to, data, value: sums.get(null) ?? 0n }];
    },
    /** `signature`: the payee's, null where the payee itself sends it. */
    release: (terms: EscrowTerms, deployment: Deployment, signature: string | null) => {
      const bytes = signature === null ? '0x' : releaseIn(terms, deployment, signature).bytes;
      return callOf(terms, deployment, (escrow) => calls.releaseData(escrow, bytes));
    },
    claim: (terms: EscrowTerms, deployment: Deployment, secret: Secret) =>
      callOf(terms, deployment, (escrow) => calls.claimData(escrow, secret)),
    refund: (terms: EscrowTerms, deployment: Deployment) =>
      callOf(terms, deployment, calls.refundData),
    /** Every secret must be public. */
    batch: batchCall,
  };
}

/** An allowance too low is first set to zero: tokens like USDT refuse to change another. */
export function approvals(amount: bigint, allowed: bigint, wanted = amount): readonly bigint[] {
  if (allowed >= amount) return [];
  return allowed > 0n ? [0n, wanted] : [wanted];
}

/** The calls that fund with as many approvals as were given: how many depends on the token. */
export function fundingOfLength<Call>(
  amount: bigint,
  length: number,
  callsAt: (allowed: bigint) => readonly Call[],
): readonly Call[] {
  const some = amount > 1n ? 1n : amount;
  const forms = [amount, 0n, some].map(callsAt);
  return forms.find((each) => each.length === length) ?? callsAt(0n);
}

const counterBits = 30n;
const stateShift = 30n;
const openState = 1n;

export function lanesData(owner: Hex, numbers: readonly string[]): Hex {
  const keys = numbers.map((number) => (BigInt(owner) << 96n) | BigInt(`0x${number}`));
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'lanesOf', args: [keys] });
}

export function laneIn(word: bigint): LaneState {
  return {
    counter: Number(word & ((1n << counterBits) - 1n)),
    isOpen: ((word >> stateShift) & 3n) === openState,
  };
}

type OwnLanes = Pick<ReturnType<typeof planOf>, 'contractFor' | 'laneText' | 'laneConsent'>;

export function lanesIn(
  deployment: Deployment,
  { contractFor, laneText, laneConsent }: OwnLanes,
  read: Lanes['read'],
): Lanes {
  return {
    contracts: contractsOf(deployment),
    open: openContracts(deployment),
    contractFor: (funder) => contractFor(funder, deployment),
    consent: (terms) => laneText(terms, deployment),
    mustOpen: (terms, signature) => void laneConsent(terms, deployment, signature),
    read,
  };
}
