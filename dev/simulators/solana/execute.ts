// Runs one transaction in the VM and notes what nodes tell of it afterwards.

import { type Address, getBase58Decoder } from '@solana/kit';
import { FailedTransactionMetadata, type LiteSVM, type TransactionMetadata } from 'litesvm';
import {
  type Account,
  amountJson,
  holdingOf,
  mintOf,
  readAccount,
  sameAccount,
} from './accounts.ts';
import { feeOf } from './fees.ts';
import type { SavedTransaction } from './journal.ts';
import { type ErrorJson, errorJson } from './vm-errors.ts';
import { type Keys, keysOf, readWire, type Wire } from './wire.ts';

export type Executed = {
  readonly signature: string;
  readonly slot: number;
  readonly time: number;
  readonly wire: Wire;
  readonly err: ErrorJson | null;
  readonly meta: object;
  /** All accounts it names, lookup tables followed. */
  readonly keys: readonly Address[];
  readonly changed: readonly (readonly [Address, Account | null])[];
};

type Place = {
  readonly slot: number;
  readonly time: number;
  readonly before: Map<Address, Account | null>;
};

/** Null when it could not pay its fee or is malformed: such a transaction gets into no block. */
export function execute(svm: LiteSVM, wire: Wire, block: Place): Executed | null {
  const keys = keysIn(svm, wire);
  const accounts = [...new Set(keys.all)];
  const before = new Map(accounts.map((of) => [of, readAccount(svm, of)]));
  const result = svm.sendTransaction(wire.transaction);
  const after = new Map(accounts.map((of) => [of, readAccount(svm, of)]));
  const err = result instanceof FailedTransactionMetadata ? errorJson(result) : null;
  const changed = accounts.flatMap((of) => {
    const now = after.get(of) ?? null;
    return sameAccount(before.get(of) ?? null, now) ? [] : [[of, now] as const];
  });
  // A failure in a block has cost its fee.
  if (err !== null && changed.length === 0) return null;
  for (const [of] of changed) {
    if (!block.before.has(of)) block.before.set(of, before.get(of) ?? null);
  }
  const meta = result instanceof FailedTransactionMetadata ? result.meta() : result;
  return {
    signature: wire.signature,
    slot: block.slot,
    time: block.time,
    wire,
    err,
    meta: metaJson(svm, wire, { keys, before, after, err, meta }),
    keys: keys.all,
    changed,
  };
}

function keysIn(svm: LiteSVM, wire: Wire): Keys {
  return keysOf(wire, (table) => readAccount(svm, table)?.data ?? null);
}

export function revived(wire: string, rest: Omit<SavedTransaction, 'wire'>): Executed {
  const read = readWire(Buffer.from(wire, 'base64'));
  const { loadedAddresses } = rest.meta as { loadedAddresses: Keys['loaded'] };
  const { writable, readonly } = loadedAddresses;
  return {
    ...rest,
    signature: read.signature,
    wire: read,
    keys: [...read.message.staticAccounts, ...writable, ...readonly],
    changed: [],
  };
}

type Parts = {
  readonly keys: Keys;
  readonly before: ReadonlyMap<Address, Account | null>;
  readonly after: ReadonlyMap<Address, Account | null>;
  readonly err: ErrorJson | null;
  readonly meta: TransactionMetadata;
};

function metaJson(svm: LiteSVM, wire: Wire, { keys, before, after, err, meta }: Parts): object {
  const lamports = (at: Parts['before']) => keys.all.map((of) => at.get(of)?.lamports ?? 0n);
  return {
    err,
    status: err === null ? { Ok: null } : { Err: err },
    fee: feeOf(wire),
    preBalances: lamports(before),
    postBalances: lamports(after),
    preTokenBalances: tokenBalances(svm, keys.all, before),
    postTokenBalances: tokenBalances(svm, keys.all, after),
    innerInstructions: innerJson(meta),
    logMessages: meta.logs(),
    rewards: [],
    loadedAddresses: keys.loaded,
    computeUnitsConsumed: meta.computeUnitsConsumed(),
  };
}

function tokenBalances(svm: LiteSVM, keys: readonly Address[], at: Parts['before']): object[] {
  return keys.flatMap((of, accountIndex) => {
    const account = at.get(of) ?? null;
    const holding = holdingOf(account);
    if (account === null || holding === null) return [];
    const { mint, owner, amount } = holding;
    const decimals = mintOf(readAccount(svm, mint))?.decimals ?? 0;
    const uiTokenAmount = amountJson(amount, decimals);
    return [{ accountIndex, mint, owner, programId: account.owner, uiTokenAmount }];
  });
}

function innerJson(meta: TransactionMetadata): object[] {
  return meta.innerInstructions().flatMap((list, index) => {
    if (list.length === 0) return [];
    const instructions = list.map((inner) => {
      const instruction = inner.instruction();
      return {
        programIdIndex: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: getBase58Decoder().decode(instruction.data()),
        stackHeight: inner.stackHeight(),
      };
    });
    return [{ index, instructions }];
  });
}

export function simulate(svm: LiteSVM, wire: Wire, verify: boolean) {
  svm.withSigverify(verify);
  try {
    const result = svm.simulateTransaction(wire.transaction);
    const err = result instanceof FailedTransactionMetadata ? errorJson(result) : null;
    return { err, meta: result.meta() };
  } finally {
    svm.withSigverify(true);
  }
}
