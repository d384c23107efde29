// An index of transactions that pay or spend the watched escrows, fed by blocks and mempool in any
// order. A spend is known by how its witness ends, a secret by its hash, which is kept for ever. A
// spend by the key of Taproot shows no script: it is known by the payment that it spends, which has
// to be seen before. Pure.

import { bytesToHex } from '@noble/hashes/utils.js';
import type { Secret } from '@parley/core/hashlock.ts';
import { freeRefund, type LeastRefund } from '@parley/core/remains.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import type { EscrowHistory, EscrowSpend } from './escrow-facts.ts';
import { coinbaseMaturity, furtherBlocks } from './escrow-facts.ts';
import { findSecret } from './escrow-script.ts';
import { controlBytes } from './escrow-tree.ts';
import { type EscrowBytes, keySequences, type Verb } from './plan.ts';
import type { Tx, TxInput } from './raw-transaction.ts';

type SeenSpend = {
  readonly address: string;
  readonly outpoint: string;
  readonly secret: Secret | null;
  readonly by: Verb;
  /** By the key of Taproot. */
  readonly together: boolean;
};

type TxRecord = {
  readonly txid: string;
  readonly coinbase: boolean;
  /** Null: in the mempool, as far as is known. */
  height: number | null;
  readonly payments: readonly { address: string; vout: number; amount: bigint }[];
  readonly spends: readonly SeenSpend[];
};

export type BlockMark = {
  readonly height: number;
  readonly hash: string;
  /** Our clock when it was read, Unix seconds. */
  readonly readAt: number;
};

/** All that the index has to know of an escrow beside its terms. */
export type WatchedBytes = Pick<EscrowBytes, 'script' | 'branches' | 'taproot'> & {
  readonly leastRefund: LeastRefund;
};

type Watched = { readonly escrow: WatchedEscrow; readonly bytes: WatchedBytes };

/** `by`: null where the branch does not show in how the witness ends. */
type End = { readonly address: string; readonly by: Verb | null };

export type EscrowIndex = ReturnType<typeof createIndex>;

/** More payments than this to one escrow are dust sent to fill us up: small ones are let go. */
const maxRecordsPerEscrow = 500;

export function createIndex() {
  return {
    escrows: new Map<string, Watched>(),
    byScript: new Map<string, string>(),
    byEnd: new Map<string, End>(),
    /** Payments to Taproot. */
    byOutpoint: new Map<string, string>(),
    records: new Map<string, TxRecord>(),
    byAddress: new Map<string, Set<string>>(),
    secrets: new Map<string, Secret>(),
    touched: new Set<string>(),
    /** With transactions that are not yet as final as they are followed to. */
    maturing: new Set<string>(),
    /** The chain's end as it was read, oldest first. */
    blocks: [] as BlockMark[],
  };
}

export function watchEscrow(
  index: EscrowIndex,
  escrow: WatchedEscrow,
  bytes: WatchedBytes,
): boolean {
  const { address } = escrow;
  if (index.escrows.has(address)) return false;
  index.escrows.set(address, { escrow, bytes });
  index.byScript.set(bytesToHex(bytes.script), address);
  for (const verb of verbs) {
    const by = bytes.taproot === null ? null : verb;
    index.byEnd.set(endOf(bytes.branches[verb].ends), { address, by });
  }
  index.touched.add(address);
  return true;
}

const verbs = ['claim', 'refund'] as const;

function endOf(items: readonly Uint8Array[]): string {
  return items.map(bytesToHex).join();
}

export function unwatchEscrow(index: EscrowIndex, address: string): void {
  const watched = index.escrows.get(address);
  if (watched === undefined) return;
  index.escrows.delete(address);
  const { script, branches } = watched.bytes;
  index.byScript.delete(bytesToHex(script));
  for (const verb of verbs) index.byEnd.delete(endOf(branches[verb].ends));
  for (const [outpoint, of] of index.byOutpoint) {
    if (of === address) index.byOutpoint.delete(outpoint);
  }
  index.secrets.delete(address);
  index.touched.delete(address);
  index.maturing.delete(address);
  for (const txid of index.byAddress.get(address) ?? []) {
    const record = index.records.get(txid);
    if (record === undefined) continue;
    const isOther = (each: { readonly address: string }) => each.address !== address;
    const payments = record.payments.filter(isOther);
    const spends = record.spends.filter(isOther);
    // Watched anew, it is to be taken in again.
    if (payments.length + spends.length > 0)
      index.records.set(txid, { ...record, payments, spends });
    else index.records.delete(txid);
  }
  index.byAddress.delete(address);
}

function addressesOf(record: TxRecord): string[] {
  return [...new Set([...record.payments, ...record.spends].map(({ address }) => address))];
}

/** BIP 341: the last of several items, where it begins with this. */
const annex = 0x50;

/** Which escrow an input spends. `key`: with the keys of both. */
function spentEscrow(
  index: EscrowIndex,
  { witness, outpoint, script: paid }: TxInput,
): { readonly address: string; readonly by: Verb | 'key' | null } | undefined {
  const hasAnnex = witness.length > 1 && witness.at(-1)?.[0] === annex;
  const items = hasAnnex ? witness.slice(0, -1) : witness;
  const last = items.at(-1);
  if (last === undefined) return undefined;
  if (items.length === 1) {
    const known = index.byOutpoint.size === 0 ? undefined : index.byOutpoint.get(outpoint());
    const address = known ?? (paid && index.byScript.get(bytesToHex(paid)));
    return address === undefined ? undefined : { address, by: 'key' };
  }
  // Every script starts with IF, a leaf with SIZE or a push, and is no longer than this.
  const ends = last.length === controlBytes ? items.slice(-2) : [last];
  if ((ends[0]?.length ?? 0) > 128) return undefined;
  return index.byEnd.get(endOf(ends));
}

/** P2WSH or P2TR. */
export function mayBeEscrow(script: Uint8Array): boolean {
  return script.length === 34 && (script[0] === 0 || script[0] === 0x51) && script[1] === 32;
}

function paidEscrow(index: EscrowIndex, script: Uint8Array): string | undefined {
  if (!mayBeEscrow(script)) return undefined;
  return index.byScript.get(bytesToHex(script));
}

type Involvement = Pick<TxRecord, 'payments' | 'spends'>;

export function involvement(index: EscrowIndex, tx: Tx): Involvement | null {
  const payments = tx.outputs.flatMap(({ script, amount }, vout) => {
    const address = paidEscrow(index, script);
    return address === undefined ? [] : [{ address, vout, amount }];
  });
  const spends = tx.inputs.flatMap((input): SeenSpend[] => {
    const spent = spentEscrow(index, input);
    const watched = spent && index.escrows.get(spent.address);
    if (spent === undefined || watched === undefined) return [];
    const pushed = tx.inputs.flatMap(({ witness, scriptSig }) => [...witness, scriptSig]);
    const secret = findSecret(pushed, watched.escrow.terms.hashlock);
    const { address, by: shown } = spent;
    const together = shown === 'key';
    // Every number but the refund's is a claim: a side may release its claim of the other leg once
    // it sees its own leg refunded, and gives nothing away for a claim.
    const isClaim = together ? input.sequence !== keySequences.refund : secret !== null;
    const by = shown === null || together ? (isClaim ? 'claim' : 'refund') : shown;
    return [{ address, outpoint: input.outpoint(), secret, by, together }];
  });
  return payments.length === 0 && spends.length === 0 ? null : { payments, spends };
}

export function applyTransaction(index: EscrowIndex, tx: Tx, height: number | null): void {
  const found = involvement(index, tx);
  if (found === null) return;
  const txid = tx.txid();
  const known = index.records.get(txid);
  for (const { address, secret } of found.spends) {
    if (secret !== null) keepSecret(index, address, secret);
  }
  // A mined one is unmined by `rollBackTo` alone: word of it may still come from the mempool.
  const place = known === undefined ? height : (height ?? known.height);
  if (known !== undefined && known.height === place && covers(known, found)) return;
  if (known === undefined && isExcess(index, found)) return;
  const record: TxRecord = { txid, coinbase: tx.coinbase, height: place, ...found };
  for (const address of addressesOf(record)) {
    const txids = index.byAddress.get(address) ?? new Set();
    index.byAddress.set(address, txids.add(txid));
    index.touched.add(address);
    index.maturing.add(address);
  }
  for (const { address, vout } of record.payments) {
    const isTaproot = index.escrows.get(address)?.bytes.taproot;
    if (isTaproot) index.byOutpoint.set(`${txid}:${vout}`, address);
  }
  index.records.set(txid, record);
  if (place !== null) dropRivals(index, record);
}

function keepSecret(index: EscrowIndex, address: string, secret: Secret): void {
  if (index.secrets.has(address)) return;
  index.secrets.set(address, secret);
  index.touched.add(address);
}

/** A secret that another source has shown of an escrow followed here is as public. */
export function takeSecrets(index: EscrowIndex, other: EscrowIndex): void {
  for (const [address, secret] of other.secrets) {
    if (index.escrows.has(address)) keepSecret(index, address, secret);
  }
}

/** Whether a record already holds all of this (an escrow may have been watched since). */
function covers(known: Involvement, found: Involvement): boolean {
  return (
    known.payments.length === found.payments.length && known.spends.length === found.spends.length
  );
}

function isExcess(index: EscrowIndex, found: Involvement): boolean {
  return (
    found.spends.length === 0 &&
    found.payments.every(({ address, amount }) => {
      const wanted = index.escrows.get(address)?.escrow.terms.amount ?? 0n;
      return (index.byAddress.get(address)?.size ?? 0) >= maxRecordsPerEscrow && amount < wanted;
    })
  );
}

/** A transaction that spends the same outputs and is not mined can never be any more. */
function dropRivals(index: EscrowIndex, mined: TxRecord): void {
  const outpoints = new Set(mined.spends.map(({ outpoint }) => outpoint));
  for (const address of new Set(mined.spends.map((each) => each.address))) {
    for (const txid of [...(index.byAddress.get(address) ?? [])]) {
      const rival = index.records.get(txid);
      if (rival === undefined || txid === mined.txid || rival.height !== null) continue;
      if (rival.spends.some(({ outpoint }) => outpoints.has(outpoint))) {
        dropTransaction(index, txid);
      }
    }
  }
}

/** Forgets a transaction that left the mempool unmined; the secret it showed is kept. */
export function dropTransaction(index: EscrowIndex, txid: string): void {
  const record = index.records.get(txid);
  if (record === undefined) return;
  index.records.delete(txid);
  for (const address of addressesOf(record)) {
    index.byAddress.get(address)?.delete(txid);
    index.touched.add(address);
  }
}

export function connectBlock(
  index: EscrowIndex,
  mark: BlockMark,
  transactions: readonly Tx[],
): void {
  for (const tx of transactions) applyTransaction(index, tx, mark.height);
  index.blocks.push(mark);
  for (const address of [...index.maturing]) {
    const isFinal = isDeep(index, address, mark.height - furtherBlocks);
    // On its further stretch there is nothing to tell but its end.
    if (isFinal || !isDeep(index, address, mark.height - 1)) index.touched.add(address);
    if (isFinal) index.maturing.delete(address);
  }
}

function isDeep(index: EscrowIndex, address: string, tip: number): boolean {
  const required = index.escrows.get(address)?.escrow.requiredConfirmations ?? 0;
  return [...(index.byAddress.get(address) ?? [])].every((txid) => {
    const record = index.records.get(txid);
    if (record === undefined) return true;
    const wanted = record.coinbase ? Math.max(required, coinbaseMaturity) : required;
    return record.height !== null && tip - record.height + 1 >= wanted;
  });
}

/** Takes back every block above `height`: their transactions are unmined again. */
export function rollBackTo(index: EscrowIndex, height: number): void {
  index.blocks = index.blocks.filter((mark) => mark.height <= height);
  for (const record of index.records.values()) {
    if (record.height === null || record.height <= height) continue;
    record.height = null;
    for (const address of addressesOf(record)) {
      index.touched.add(address);
      index.maturing.add(address);
    }
  }
}

/** For one escrow. */
export function minedTransactions(
  { byAddress, records }: EscrowIndex,
  address: string,
): ReadonlySet<string> {
  const txids = [...(byAddress.get(address) ?? [])];
  return new Set(txids.filter((txid) => records.get(txid)?.height != null));
}

export function unminedTransactions(index: EscrowIndex): string[] {
  const unmined: string[] = [];
  for (const address of index.maturing) {
    for (const txid of index.byAddress.get(address) ?? []) {
      if (index.records.get(txid)?.height === null) unmined.push(txid);
    }
  }
  return [...new Set(unmined)];
}

/** Payments that nothing spends: where a mempool may show the secret next. */
export function unspentOutpoints(index: EscrowIndex): string[] {
  const outpoints: string[] = [];
  for (const address of index.byAddress.keys()) {
    for (const payment of historyOf(index, address).payments) {
      if (payment.spend === null) outpoints.push(`${payment.txid}:${payment.vout}`);
    }
  }
  return outpoints;
}

export function isClaim({ records }: EscrowIndex, txid: string): boolean {
  return records.get(txid)?.spends.some(({ by }) => by === 'claim') ?? false;
}

export function historyOf(index: EscrowIndex, address: string): EscrowHistory {
  const records = [...(index.byAddress.get(address) ?? [])].flatMap((txid) => {
    const record = index.records.get(txid);
    return record === undefined ? [] : [record];
  });
  const spends = new Map<string, EscrowSpend>();
  for (const { txid, height, spends: spent } of records) {
    for (const { outpoint, by } of spent) {
      // A mined spend stands; the last seen of unmined ones counts (it replaced the others).
      if (spends.get(outpoint)?.height != null && height === null) continue;
      spends.set(outpoint, { txid, height, by });
    }
  }
  const payments = records.flatMap(({ txid, height, coinbase, payments: paid }) =>
    paid
      .filter((each) => each.address === address)
      .map(({ vout, amount }) => {
        const spend = spends.get(`${txid}:${vout}`) ?? null;
        return { txid, vout, amount, height, coinbase, spend };
      }),
  );
  return {
    payments,
    // The index reads nothing of an escrow that is followed no more.
    leastRefund: index.escrows.get(address)?.bytes.leastRefund ?? freeRefund,
    secret: index.secrets.get(address) ?? null,
    tip: index.blocks.at(-1)?.height ?? 0,
  };
}

export function takeTouched(index: EscrowIndex): string[] {
  const touched = [...index.touched];
  index.touched.clear();
  return touched;
}
