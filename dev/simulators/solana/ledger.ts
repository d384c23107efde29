// The chain: a VM at its head, blocks that come one a slot, and what the head looked like before
// each of the last blocks, so that accounts can be read as they were at an older commitment and
// blocks can be taken back. A simulator: one validator, no votes, no leader but this process.

import { createHash } from 'node:crypto';
import { type Address, getBase58Decoder } from '@solana/kit';
import type { LiteSVM } from 'litesvm';
import { type Account, CLOCK, readAccount, sameAccount, writeAccount } from './accounts.ts';
import { type Executed, execute, revived } from './execute.ts';
import {
  type Head,
  type Journal,
  keptTransactions,
  restoreAccount,
  type Saved,
  saveAccount,
} from './journal.ts';
import type { Wire } from './wire.ts';

export const commitments = ['processed', 'confirmed', 'finalized'] as const;
export type Commitment = (typeof commitments)[number];

export type Block = {
  readonly slot: number;
  readonly parent: number;
  readonly height: number;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  readonly time: number;
  readonly transactions: Executed[];
  /** Accounts as they were before it, of those that it changed. */
  readonly before: Map<Address, Account | null>;
};

/** How many blocks each commitment is behind the head. A cluster's are about 2 and 32. */
export type Lags = Readonly<Record<Commitment, number>>;

export type Ledger = {
  readonly svm: LiteSVM;
  readonly lags: Lags;
  readonly now: () => number;
  readonly journal: Journal;
  readonly genesis: string;
  /** Counts how often blocks were taken back: the hashes that follow are others. */
  fork: number;
  ahead: number;
  /** The highest slot, its block taken back or not. */
  slot: number;
  blocks: Block[];
  readonly pending: Map<string, Wire>;
  readonly history: Map<string, Executed>;
  byAddress: Map<Address, Executed[]>;
};

/** Blocks for which a blockhash can be used (MAX_PROCESSING_AGE). */
export const blockhashAge = 150;
const keptBlocks = 512;
/** Slots between two notes of the head on disk, and more than that are jumped at a start. */
const noteEvery = 25;
const jumpAtStart = 64;
const slotsPerEpoch = 432_000;
const firstSlot = 1_000;

export function openLedger(
  svm: LiteSVM,
  { saved, journal }: { readonly saved: Saved; readonly journal: Journal },
  lags: Lags,
  now: () => number,
): Ledger {
  for (const [of, account] of saved.accounts) writeAccount(svm, of, restoreAccount(account));
  const { head } = saved;
  const ledger: Ledger = {
    svm,
    lags,
    now,
    journal,
    genesis: saved.genesis,
    fork: head?.fork ?? 0,
    ahead: head?.ahead ?? 0,
    slot: 0,
    blocks: [],
    pending: new Map(),
    history: new Map(),
    byAddress: new Map(),
  };
  for (const { wire, ...rest } of saved.transactions) remember(ledger, revived(wire, rest));
  // The hashes of empty blocks follow from their slots: those given out before are good again.
  const slot = (head?.slot ?? firstSlot) + jumpAtStart;
  const height = (head?.height ?? 0) + jumpAtStart;
  const time = Math.max(head?.time ?? 0, now() + ledger.ahead);
  const first = Math.max(0, Math.min(keptBlocks, height) - 1);
  for (let back = first; back >= 0; back--) {
    ledger.slot = slot - back;
    add(ledger, { slot: slot - back, height: height - back, time });
  }
  setClock(ledger, tipOf(ledger));
  return ledger;
}

export function tipOf(ledger: Ledger): Block {
  return ledger.blocks.at(-1)!;
}

function add(ledger: Ledger, at: { slot: number; height: number; time: number }): Block {
  const before = ledger.blocks.at(-1);
  const block: Block = {
    ...at,
    parent: before?.slot ?? at.slot - 1,
    blockhash: hashOf(ledger, at.slot),
    previousBlockhash: before?.blockhash ?? hashOf(ledger, at.slot - 1),
    transactions: [],
    before: new Map(),
  };
  ledger.blocks.push(block);
  if (ledger.blocks.length > keptBlocks) ledger.blocks.shift();
  return block;
}

function hashOf({ genesis, fork }: Ledger, slot: number): string {
  const digest = createHash('sha256').update(`${genesis} ${fork} ${slot}`).digest();
  return getBase58Decoder().decode(digest);
}

function setClock({ svm }: Ledger, { slot, time }: Block): void {
  const clock = svm.getClock();
  clock.slot = BigInt(slot);
  clock.epoch = BigInt(Math.floor(slot / slotsPerEpoch));
  clock.leaderScheduleEpoch = clock.epoch + 1n;
  clock.unixTimestamp = BigInt(time);
  svm.setClock(clock);
}

export function makeBlock(ledger: Ledger): Block {
  const { height, time } = tipOf(ledger);
  ledger.slot += 1;
  const block = add(ledger, {
    slot: ledger.slot,
    height: height + 1,
    time: Math.max(time, ledger.now() + ledger.ahead),
  });
  block.before.set(CLOCK, readAccount(ledger.svm, CLOCK));
  setClock(ledger, block);
  const waiting = [...ledger.pending.values()];
  ledger.pending.clear();
  for (const wire of waiting) {
    if (ledger.history.has(wire.signature)) continue;
    if (!isUsable(ledger, wire.message.lifetimeToken, block)) continue;
    const done = execute(ledger.svm, wire, block);
    if (done !== null) {
      remember(ledger, done);
      block.transactions.push(done);
    }
  }
  note(ledger, block);
  return block;
}

function note(ledger: Ledger, block: Block): void {
  const lines: Parameters<Journal['write']>[0][number][] = block.transactions.map((done) => ({
    kind: 'transaction',
    transaction: {
      slot: done.slot,
      time: done.time,
      wire: Buffer.from(done.wire.bytes).toString('base64'),
      err: done.err,
      meta: done.meta,
    },
    accounts: Object.fromEntries(done.changed.map(([of, now]) => [of, saveAccount(now)])),
  }));
  if (lines.length === 0 && block.slot % noteEvery !== 0) return;
  ledger.journal.write([...lines, { kind: 'head', head: headOf(ledger) }]);
}

function headOf(ledger: Ledger): Head {
  const { height, time } = tipOf(ledger);
  return { slot: ledger.slot, height, time, fork: ledger.fork, ahead: ledger.ahead };
}

/** Moves the chain's own clock off the dev network's, by so many seconds; never backwards. */
export function setAhead(ledger: Ledger, seconds: number): void {
  ledger.ahead = seconds;
  ledger.journal.write([{ kind: 'head', head: headOf(ledger) }]);
}

/** A blockhash that a block above `at` may still use. */
export function isUsable(ledger: Ledger, blockhash: string, at: Block): boolean {
  const found = ledger.blocks.findLast((block) => block.blockhash === blockhash);
  return found !== undefined && found.slot <= at.slot && at.height - found.height <= blockhashAge;
}

export function blockAt(ledger: Ledger, commitment: Commitment): Block {
  const { blocks, lags } = ledger;
  return blocks[Math.max(0, blocks.length - 1 - lags[commitment])]!;
}

export function accountAt(ledger: Ledger, of: Address, commitment: Commitment): Account | null {
  const { slot } = blockAt(ledger, commitment);
  for (const block of newerThan(ledger, slot)) {
    const before = block.before.get(of);
    if (before !== undefined) return before;
  }
  return readAccount(ledger.svm, of);
}

function newerThan({ blocks }: Ledger, slot: number): Block[] {
  const from = blocks.findLastIndex((block) => block.slot <= slot);
  return blocks.slice(from + 1);
}

export function ownedAt(
  ledger: Ledger,
  program: Address,
  commitment: Commitment,
): [Address, Account][] {
  const found = new Set<Address>(
    ledger.svm.getProgramAccounts(program).map(({ address }) => address),
  );
  for (const block of newerThan(ledger, blockAt(ledger, commitment).slot)) {
    for (const of of block.before.keys()) found.add(of);
  }
  return [...found].flatMap((of): [Address, Account][] => {
    const account = accountAt(ledger, of, commitment);
    return account?.owner === program ? [[of, account]] : [];
  });
}

/** Takes the last blocks back, as a change of fork does. Never a finalized one. */
export function takeBack(ledger: Ledger, count: number): void {
  if (count > ledger.lags.finalized) throw new Error('a finalized block cannot be taken back');
  const gone = ledger.blocks.splice(-count);
  const accounts = new Map<Address, Account | null>();
  for (const block of gone.reverse()) {
    for (const [of, before] of block.before) accounts.set(of, before);
    for (const { signature } of block.transactions) ledger.history.delete(signature);
  }
  for (const [of, before] of accounts) {
    if (!sameAccount(readAccount(ledger.svm, of), before)) writeAccount(ledger.svm, of, before);
  }
  ledger.fork += 1;
  setClock(ledger, tipOf(ledger));
  reindex(ledger);
  ledger.journal.write([
    {
      kind: 'undone',
      slots: gone.map(({ slot }) => slot),
      accounts: Object.fromEntries(
        [...accounts].flatMap(([of, account]) =>
          of === CLOCK ? [] : [[of, saveAccount(account)]],
        ),
      ),
    },
    { kind: 'head', head: headOf(ledger) },
  ]);
}

/** Writes an account from outside, seen at every commitment at once. */
export function putAccount(ledger: Ledger, of: Address, account: Account | null): void {
  writeAccount(ledger.svm, of, account);
  ledger.journal.write([{ kind: 'accounts', accounts: { [of]: saveAccount(account) } }]);
}

function remember(ledger: Ledger, done: Executed): void {
  ledger.history.set(done.signature, done);
  index(ledger, done);
  if (ledger.history.size <= 2 * keptTransactions) return;
  for (const signature of [...ledger.history.keys()].slice(0, keptTransactions)) {
    ledger.history.delete(signature);
  }
  reindex(ledger);
}

function index({ byAddress }: Ledger, done: Executed): void {
  for (const key of new Set(done.keys)) {
    const list = byAddress.get(key);
    if (list === undefined) byAddress.set(key, [done]);
    else list.push(done);
  }
}

function reindex(ledger: Ledger): void {
  ledger.byAddress = new Map();
  for (const done of ledger.history.values()) index(ledger, done);
}
