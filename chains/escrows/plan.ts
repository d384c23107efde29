// What the plans of EVM and TRON have in common: the escrow of some terms in the one contract of a
// chain, its name, and what is approved before a funding. Pure.

import { erc20Abi, type Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { deployment as pinned } from '../../contracts/escrows/artifacts/abi.ts';
import { type Escrow as ContractEscrow, domainOf, escrowId } from '../../contracts/escrows/ids.ts';
import { ParleyError } from '../../core/errors.ts';
import type { Hex32 } from '../../core/hashlock.ts';
import { type Contract, digestHead } from '../../core/rules.ts';
import type { Escrow, EscrowTerms } from '../../core/terms.ts';
import * as calls from './calls.ts';

/** Where the contract is, its address in the family's own form. */
export type Deployment = { readonly chainId: number; readonly contract: string };

/** A call of ours, read back; its escrow as `escrowName` gives it. */
export type DecodedCall = Pick<calls.DecodedCall, 'verb' | 'secret'> & {
  readonly escrow: string;
  /** What the contract is told of it. */
  readonly of: ContractEscrow;
};

/** How a family writes addresses. */
export type Addresses = {
  /** The canonical form. Throws `bad_address`. */
  parse(address: string): string;
  /** The 20 bytes of a canonical address, hex with 0x in lower case. */
  bare(address: string): Hex;
  /** Such as "TRX". */
  readonly coin: string;
};

/** How an escrow is named everywhere outside of its contract. */
export function escrowName(id: string, { contract }: Pick<Deployment, 'contract'>): string {
  return `${contract}:${id.slice(2).toLowerCase()}`;
}

export function planOf({ parse, bare: bareOf, coin }: Addresses) {
  const bare = (address: string) => bareOf(parse(address));
  const placeOf = ({ chainId, contract }: Deployment): calls.Place => {
    return { chainId, contract: bare(contract) };
  };
  /** What the contract is told of an escrow. */
  const contractEscrow = (terms: EscrowTerms) => calls.escrowOfTerms(terms, bare);

  /**
   * Throws `bad_address` for destinations where money would be lost: the zero address, the token,
   * and the contract itself.
   */
  const mustBeGood = (terms: EscrowTerms, { contract }: Deployment): void => {
    const token = terms.token === null ? calls.noToken : bare(terms.token);
    const refuse = (field: string, value: string, what: string) =>
      new ParleyError('bad_address', `${field} ${value} is ${what}`, { field });
    for (const field of ['payout', 'refund'] as const) {
      const value = parse(terms[field].address);
      const bytes = bare(value);
      if (bytes === calls.noToken) throw refuse(field, value, 'the zero address');
      if (bytes === token) throw refuse(field, value, 'the token contract itself');
      if (bytes === bare(contract)) throw refuse(field, value, 'the escrow contract');
    }
    if (terms.token !== null && token === calls.noToken) {
      throw refuse('token', parse(terms.token), `the zero address; ${coin} has no token`);
    }
  };

  return {
    contractEscrow,
    mustBeGood,
    /** By its init code: the code on chain holds the domain, so it differs between chains. */
    contractOf: ({ contract }: Pick<Deployment, 'contract'>): Contract => {
      return { address: parse(contract), version: digestHead(pinned.initCode.keccak256) };
    },
    /** What the contract's domain() answers. */
    domainOf: ({ chainId, contract }: Deployment): Hex => domainOf(chainId, bare(contract)),
    /** The escrow of these terms, which name a lane. Throws as `mustBeGood` does. */
    escrowOf: (terms: EscrowTerms, deployment: Deployment): Escrow => {
      mustBeGood(terms, deployment);
      const { chainId, contract } = placeOf(deployment);
      const id = escrowId(chainId, contract, contractEscrow(terms));
      return { address: escrowName(id, deployment), redeemScript: null };
    },
    /** See calls.ts. A call made by another contract counts too: it carries ours word for word. */
    callsIn: (
      hex: string,
      deployment: Deployment,
      wanted?: (hashlock: Hex32) => boolean,
    ): DecodedCall[] => {
      const found = calls.callsIn(hex.toLowerCase(), placeOf(deployment), wanted);
      return found.map(({ id, escrow, ...call }) => {
        return { ...call, escrow: escrowName(id, deployment), of: escrow };
      });
    },
    /** The escrows of the first calls in bytes that fund one, whichever. */
    fundedIn: (hex: string, deployment: Deployment): string[] => {
      const ids = calls.fundedIn(hex.toLowerCase(), placeOf(deployment));
      return ids.map((id) => escrowName(id, deployment));
    },
    /** Lets the contract take so much of a token. */
    approveData: ({ contract }: Deployment, amount: bigint): Hex => {
      const args = [bare(contract), amount] as const;
      return encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args });
    },
  };
}

/**
 * What is approved before a funding of so much, where a token now lets the contract take `allowed`:
 * enough needs no approval; too little but not zero is first set to zero, because tokens like USDT
 * refuse to change one that is not.
 */
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
