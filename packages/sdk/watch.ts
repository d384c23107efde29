// A watchtower of one's own for claims on Bitcoin, without a key. It has signed claims that lack
// their secret, waits until the other chain or Bitcoin shows that, adds it, and sends the claims by
// the rules of the market's own (packages/chains/bitcoin/signed-spends.ts). It can pay nobody but
// the payee.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import type { Bump, ScheduledSpends, Tried } from '@parley/chains/interface/scheduled.ts';
import { atAStretch } from '@parley/chains/interface/turns.ts';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type ChainKey, has } from '@parley/core/families.ts';
import { opens, type Secret } from '@parley/core/hashlock.ts';
import type { Millis, UnixSeconds } from '@parley/core/nominal.ts';
import { otherLeg } from '@parley/core/trade.ts';
import type { ChainSource, Chains } from './chains.ts';
import { messageOf, RescueError, VerificationError } from './errors.ts';
import { signedSpends } from './scheduled-spends.ts';
import { watchedOf } from './settle/record.ts';
import { readKept, type SwapRecord, writeKept } from './stores/store.ts';
import { givenLeg, sourceIn } from './trade.ts';

type On = { readonly chain: ChainKey; readonly escrow: WatchedEscrow };

const format = 'parley-claims-1';

/** All that a watchtower has: no key, and no secret. */
export type WatchFile = {
  readonly format: typeof format;
  readonly swapId: string;
  readonly claims: On & { readonly transactions: readonly string[] };
  /** The leg whose claim shows the secret. */
  readonly shown: On;
};

/**
 * Signs claims of the Bitcoin leg that pays this side, as text for a watchtower. Throws
 * `nothing_there` until its funding is final, VerificationError where no Bitcoin leg pays.
 */
export async function watchFileOf(
  record: SwapRecord,
  chains: Chains,
  signal: AbortSignal,
): Promise<string> {
  const { swap, trade } = record;
  const gives = givenLeg(trade.party);
  const pays = otherLeg(gives);
  const { chain } = swap.legs[pays];
  const wallet = chains[chain]?.wallet;
  if (!has(wallet, 'coins'))
    throw new VerificationError('family', 'bitcoin', wallet?.family ?? 'none');
  const escrow = watchedOf(record, pays);
  const source = sourceIn(chains, chain);
  const signed = await signedSpends('claim', { escrow, source, wallet, signal });
  const file: WatchFile = {
    format,
    swapId: swap.id,
    claims: { chain, escrow, transactions: signed.map(({ raw }) => raw) },
    shown: { chain: swap.legs[gives].chain, escrow: watchedOf(record, gives) },
  };
  return writeKept(file);
}

const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number';

const escrowFields = {
  chain: isText,
  'escrow.address': isText,
  'escrow.terms.hashlock': isText,
  'escrow.terms.timelock': isNumber,
  'escrow.terms.amount': (value: unknown) => typeof value === 'bigint',
  'escrow.terms.payout.address': isText,
  'escrow.terms.refund.address': isText,
  'escrow.requiredConfirmations': isNumber,
  'escrow.since': isNumber,
};

const isField: Readonly<Record<string, (value: unknown) => boolean>> = {
  format: (value) => value === format,
  swapId: isText,
  'claims.transactions': (value) => Array.isArray(value) && value.every(isText),
  ...Object.fromEntries(
    ['claims', 'shown'].flatMap((on) =>
      Object.entries(escrowFields).map(([field, is]) => [`${on}.${field}`, is]),
    ),
  ),
};

/** Throws RescueError `bad_file`, with the first field that is wrong. */
export function readWatchFile(text: string): WatchFile {
  const no = (why: string, cause?: unknown) =>
    new RescueError('bad_file', `this is no file of signed claims: ${why}`, { cause });
  let file: object;
  try {
    file = readKept(text);
  } catch (error) {
    throw no('it is no JSON', error);
  }
  for (const [path, is] of Object.entries(isField)) {
    const value = path.split('.').reduce<unknown>((at, name) => Object(at)[name], file);
    if (!is(value)) throw no(`\`${path}\` is missing or wrong`);
  }
  return file as WatchFile;
}

export type WatchInput = {
  readonly file: WatchFile;
  readonly sourceOf: (chain: ChainKey) => Promise<ChainSource>;
  readonly now?: () => UnixSeconds;
  /** Default 30 s. */
  readonly pollMs?: Millis;
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string, txid: string | null) => void;
};

/** The transaction that spent the funding, at depth. */
export type WatchEnd = { readonly txid: string; readonly isClaimed: boolean };

const defaultPollMs = 30_000;
const readMs = 30_000;

/**
 * Runs until the funding is spent at depth, and may be ended and run again at any time. Throws what
 * is wrong with the claims before it sends any: `bad_transaction`, `bad_fee_rate`.
 */
export async function watchClaims(input: WatchInput): Promise<WatchEnd> {
  const { file, sourceOf, pollMs = defaultPollMs, signal, onProgress = () => {} } = input;
  const { adapter } = await sourceOf(file.claims.chain);
  const other = (await sourceOf(file.shown.chain)).adapter;
  const { scheduledSpends: spends } = adapter;
  if (spends === undefined) throw new VerificationError('family', 'bitcoin', adapter.family);
  adapter.watch([file.claims.escrow]);
  other.watch([file.shown.escrow]);
  const limit = () => AbortSignal.any([signal, AbortSignal.timeout(readMs)]);
  const { now = () => Math.floor(Date.now() / 1_000) } = input;
  const seen = { bumps: null, tried: null, secret: null };
  const watch: Watch = { ...seen, adapter, other, spends, file, now, limit, onProgress };
  for (;;) {
    signal.throwIfAborted();
    try {
      const end = await look(watch);
      if (end !== null) return end;
    } catch (error) {
      signal.throwIfAborted();
      const isWrong = error instanceof ParleyError && /^bad_/.test(error.code);
      if (isWrong && watch.bumps === null) throw error;
      onProgress(messageOf(error), null);
    }
    await sleep(pollMs, signal);
  }
}

type Watch = Required<Pick<WatchInput, 'file' | 'now' | 'onProgress'>> & {
  readonly adapter: ChainAdapter;
  readonly other: ChainAdapter;
  readonly spends: ScheduledSpends;
  readonly limit: () => AbortSignal;
  /** null: they are not checked yet. */
  bumps: readonly Bump[] | null;
  tried: Tried | null;
  /** Never forgotten once it was seen. */
  secret: Secret | null;
};

async function look(watch: Watch): Promise<WatchEnd | null> {
  const { adapter, other, spends, file, limit } = watch;
  const { escrow, transactions } = file.claims;
  // A chain that is silent must not keep the other one's word from being heard.
  const [shown, own] = await Promise.allSettled([
    other.readEscrow(file.shown.escrow, limit()),
    adapter.readEscrow(escrow, limit()),
  ]);
  for (const read of [shown, own]) {
    const secret = read.status === 'fulfilled' ? read.value.secret : null;
    if (secret !== null && opens(secret, escrow.terms.hashlock)) watch.secret = secret;
  }
  if (own.status === 'rejected') throw own.reason;
  const { claimed, refunded } = own.value;
  const spent = claimed ?? refunded;
  if (spent?.deep) return { txid: spent.txid, isClaimed: claimed !== null };
  if (watch.bumps === null) {
    const asking = { verb: 'claim', transactions, known: [], inTurns: atAStretch } as const;
    watch.bumps = await spends.check(escrow, asking, limit());
  }
  await send(watch, watch.bumps);
  if (shown.status === 'rejected' && watch.secret === null) throw shown.reason;
  return null;
}

/** One; a higher one where the node refuses it. */
async function send(watch: Watch, bumps: readonly Bump[]): Promise<void> {
  const { adapter, spends, file, now, limit, onProgress, secret } = watch;
  const { escrow } = file.claims;
  const ladderNow = () => ({ verb: 'claim', bumps, tried: watch.tried, secret }) as const;
  for (let least = 0; ; ) {
    const ladder = ladderNow();
    const verdict = await spends.next(escrow, ladder, limit());
    if (verdict.kind === 'wait') {
      watch.tried = verdict.tried;
      onProgress(verdict.why, null);
    }
    if (verdict.kind !== 'send') return;
    const at = Math.max(verdict.from, least);
    const bump = bumps[at];
    if (bump === undefined) return;
    const { txid, feeRateSatPerVbyte } = bump;
    try {
      const raw = spends.finished(escrow, bump, ladder);
      await adapter.broadcast({ txid, raw, touches: [] }, limit());
      watch.tried = { txid, at: now(), height: verdict.height };
      return onProgress(`sends the claim at ${feeRateSatPerVbyte} sat per vbyte`, txid);
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'refused_by_node') throw error;
      onProgress(messageOf(error), txid);
    }
    least = at + 1;
  }
}
