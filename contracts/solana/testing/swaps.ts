// One swap leg in a world of its own: a funder and a receiver with money, the asset, the escrow,
// and the instructions as honest people send them.

import assert from 'node:assert/strict';
import { AccountRole, type Address, type Instruction } from '@solana/kit';
import * as instructions from './instructions.ts';
import {
  associatedOf,
  type Escrow,
  escrowOf,
  SYSTEM,
  sha256,
  type Terms,
  TOKEN,
  TOKEN_2022,
  word,
} from './instructions.ts';
import { makeHolding, makeMint, tokensOf } from './tokens.ts';
import {
  balanceOf,
  createWorld,
  dataOf,
  give,
  NOW,
  type Outcome,
  type Person,
  person,
  SOL,
  send,
  setNow,
  type World,
} from './vm.ts';

export const AMOUNT = 3n * SOL;
export const HOUR = 3_600n;
export const secret = sha256(Buffer.from('a secret of 32 bytes'));
export const assets = ['SOL', 'SPL Token', 'Token-2022'] as const;
export type Asset = (typeof assets)[number];

export type Swap = {
  readonly world: World;
  readonly asset: Asset;
  readonly escrow: Escrow;
  readonly terms: Terms;
  readonly funder: Person;
  readonly payee: Person;
  /** The funder's associated token account: money comes from there, and goes back there. */
  readonly source: Address;
  /** The payout's associated token account. */
  readonly destination: Address;
  readonly fund: Instruction;
  readonly claim: Instruction;
  readonly refund: Instruction;
  readonly close: Instruction;
  readonly release: Instruction;
};

export type Changes = Partial<Terms> & { readonly tokenProgram?: Address };

export async function swapIn(world: World, asset: Asset, changes: Changes = {}): Promise<Swap> {
  const [funder, payee] = await Promise.all([person('funder'), person('payee')]);
  const tokenProgram = asset === 'Token-2022' ? TOKEN_2022 : TOKEN;
  const mint = changes.mint ?? (asset === 'SOL' ? SYSTEM : makeMint(world, asset, tokenProgram));
  const { tokenProgram: _, ...others } = changes;
  const terms: Terms = {
    hashlock: sha256(secret),
    payout: payee.address,
    refund: funder.address,
    amount: AMOUNT,
    timelock: NOW + HOUR,
    ...others,
    mint,
  };
  for (const { address } of [funder, payee]) {
    if (balanceOf(world, address) === 0n) give(world, address, 10n * SOL);
  }
  const escrow = await escrowOf(terms, tokenProgram);
  const hold = (owner: Address, amount: bigint, at: Address) =>
    asset === 'SOL'
      ? SYSTEM
      : makeHolding(world, { mint, owner, amount, program: tokenProgram, at });
  const own = await associatedOf(funder.address, mint, tokenProgram);
  const source = hold(funder.address, 10n * SOL, own.address);
  const destination = hold(terms.payout, 0n, escrow.associated.address);
  return {
    world,
    asset,
    escrow,
    terms,
    funder,
    payee,
    source,
    destination,
    ...verbs(escrow, source),
  };
}

export function verbs(escrow: Escrow, source: Address) {
  const isSol = instructions.isSol(escrow.terms);
  return {
    fund: instructions.fund(escrow, source),
    claim: instructions.claim(escrow, secret),
    refund: instructions.refund(escrow, isSol ? undefined : source),
    close: instructions.close(escrow),
    release: instructions.release(escrow, isSol ? undefined : source),
  };
}

/** Lamports of the sender, by the system program. */
export function pay({ world }: Swap, to: Address, lamports: bigint): Instruction {
  return {
    programAddress: SYSTEM,
    accounts: [
      { address: world.sender.address, role: AccountRole.WRITABLE_SIGNER },
      { address: to, role: AccountRole.WRITABLE },
    ],
    data: Buffer.concat([Buffer.from([2, 0, 0, 0]), word(lamports)]),
  };
}

export async function createSwap(asset: Asset, changes: Changes = {}): Promise<Swap> {
  return swapIn(await createWorld(), asset, changes);
}

export const fund = (swap: Swap): Promise<Outcome> => send(swap.world, [swap.fund], [swap.funder]);
export const claim = (swap: Swap): Promise<Outcome> => send(swap.world, [swap.claim]);
export const refund = (swap: Swap): Promise<Outcome> => send(swap.world, [swap.refund]);
export const release = (swap: Swap): Promise<Outcome> =>
  send(swap.world, [swap.release], [swap.payee]);

export async function funded(asset: Asset, changes: Changes = {}): Promise<Swap> {
  const swap = await createSwap(asset, changes);
  const { error } = await fund(swap);
  if (error !== undefined) throw new Error(`funding failed: ${error}`);
  return swap;
}

export const close = (swap: Swap): Promise<Outcome> => send(swap.world, [swap.close]);

export async function refused(outcome: Promise<Outcome>, error: string): Promise<void> {
  assert.equal((await outcome).error, error);
}

export async function accepted(outcome: Promise<Outcome>): Promise<void> {
  assert.equal((await outcome).error, undefined);
}

/** Lets the timelock pass. */
export const expire = ({ world, terms }: Swap): void => setNow(world, terms.timelock);

export type Money = {
  readonly funder: bigint;
  readonly payee: bigint;
  readonly escrow: bigint;
  readonly vault: bigint;
  readonly source: bigint | undefined;
  readonly destination: bigint | undefined;
  readonly held: bigint | undefined;
};

/** The balances of each account: lamports, then tokens. */
export function moneyOf({ world, terms, escrow, source, destination, asset }: Swap): Money {
  const tokens = (of: Address) => (asset === 'SOL' ? undefined : tokensOf(world, of));
  return {
    funder: balanceOf(world, terms.refund),
    payee: balanceOf(world, terms.payout),
    escrow: balanceOf(world, escrow.escrow),
    vault: balanceOf(world, escrow.vault),
    source: tokens(source),
    destination: tokens(destination),
    held: tokens(escrow.vault),
  };
}

/** The escrow account's first byte, and its length; undefined where there is no such account. */
export function stateOf({ world, escrow }: Swap): { status: number; length: number } | undefined {
  const data = dataOf(world, escrow.escrow);
  if (data === undefined || data.length === 0) return undefined;
  return { status: data[0]!, length: data.length };
}
