// Sends a signed transaction. Anything well-formed is relayed; a transaction that touches an escrow
// of ours passes that leg's gates again, because a signer may have taken an hour.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { chainIdOfRaw } from '@parley/chains/evm/broadcast.ts';
import type { Signed } from '@parley/chains/interface/material.ts';
import type { ReadTransaction, Touch } from '@parley/chains/interface/sending.ts';
import type { InTurns } from '@parley/chains/interface/turns.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type ChainKey, has, isFamily } from '@parley/core/families.ts';
import { claimGate, fundGate, mustOpen, refundGate, releaseGate } from '@parley/core/gates.ts';
import { mustGoOn, releaseOf } from '@parley/core/release.ts';
import type { Steps } from '@parley/core/steps.ts';
import {
  type EscrowRow,
  escrowAt,
  escrowsAmong,
  noteAuthorized,
  noteSent,
  takeBackSent,
} from '../db/escrows.ts';
import { noteShown } from '../db/legs.ts';
import { clocksOf, lockSwap, type Swap, swapById } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { isEmptied, showSecret } from './builders.ts';
import { escrowOfRow } from './escrows.ts';
import { mustAuthorize } from './fund-ways.ts';
import { mayReveal, readBothLegs, readForClaim, readOneLeg, sourcesAgree } from './live.ts';
import { adapterOf } from './preview.ts';
import { reconcile, withBrought } from './reconcile.ts';
import type { Freshness } from './take-up.ts';

export type Broadcast = {
  /** A family or a chain key. */
  readonly chain: string;
  readonly signed: Signed;
  readonly inTurns: InTurns;
  readonly signal: AbortSignal;
};

/**
 * The txid. Throws `chain_timeout` with the fact `txid` when the node did not answer: it may have
 * the transaction all the same.
 */
export async function broadcast(
  deps: Deps,
  fresh: Freshness,
  input: Broadcast,
): Promise<{ txid: string }> {
  const { signal } = input;
  const adapter = adapterFor(deps, input.chain, input.signed);
  const { chain } = adapter;
  const isOurs = async (escrow: string) => (await escrowAt(deps.db, chain, escrow)) !== null;
  // First: the touched escrows are known once the adapter knows every escrow, also those that
  // another process planned. To read it is dear, so it is read once.
  await within(signal, chain, fresh(adapter, signal));
  const transaction = await within(signal, chain, readCarefully(adapter, input, isOurs));
  const { txid, payer = null } = transaction;
  try {
    const touched: Touched[] = [];
    for (const touch of await allTouches(deps, chain, transaction)) {
      const found = await swapAt(deps, chain, touch);
      if (found !== null) touched.push(found);
    }
    const shown: Touched[] = [];
    try {
      for (const each of touched) {
        if (await passGates(deps, each, payer, signal)) shown.push(each);
      }
    } catch (refusal) {
      // A gate no longer keeps back a transaction that a node has.
      const asking = within(signal, chain, adapter.isKnown(transaction, signal));
      if (!(await asking.catch(() => false))) throw refusal;
      await noteKnown(deps, touched);
      return { txid };
    }
    return { txid: await send(deps, adapter, transaction, { touched, shown }, signal) };
  } catch (error) {
    throw named(error, chain, txid);
  }
}

/** A claim that a node has shows its secret, whatever a gate says. */
async function noteKnown(deps: Deps, touched: readonly Touched[]): Promise<void> {
  const at = new Date(deps.now());
  for (const { row, swap, touch } of touched) {
    if (touch.verb !== 'claim' || swap.state.secret !== null) continue;
    await deps.db.transaction((tx) => noteShown(tx, { swapId: swap.id, leg: row.leg, at }));
  }
}

/**
 * Checking signatures takes processor time. A PSBT has most, and its adapter pauses by itself. A
 * Solana transaction has up to 12 and one of TRON 8, which are a step; one of EVM has a single one,
 * of about a millisecond, most of it after the step.
 */
function readCarefully(
  adapter: ChainAdapter,
  { signed, inTurns, signal }: Broadcast,
  isOurs: (escrow: string) => Promise<boolean>,
): Promise<ReadTransaction> {
  if (has(adapter, 'coins')) return adapter.readSigned(signed, signal, { inTurns, isOurs });
  return atOneStep(inTurns, signal, () => adapter.readSigned(signed, signal));
}

/** The part of `work` before it first waits. */
async function atOneStep<Result>(
  inTurns: InTurns,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  // biome-ignore lint/correctness/useYield: there is nowhere to pause
  const step = function* (): Steps<Promise<Result>> {
    return work();
  };
  return inTurns(step(), signal);
}

/** The same refusal, with the transaction to look up in it. */
function named(error: unknown, chain: string, txid: string): unknown {
  const { name } = error as Error;
  const timedOut = name === 'TimeoutError' || name === 'AbortError';
  if (!timedOut && !(error instanceof ParleyError && error.kind === 'timeout')) return error;
  // Why some of its nodes refused it, where one of them may have it all the same.
  const said = error instanceof ParleyError && !timedOut ? ` (${error.message})` : '';
  return new ParleyError(
    'chain_timeout',
    `chain "${chain}" did not answer in time; look up ${txid} before you send it again${said}`,
    { chain, txid },
    { cause: error },
  );
}

function adapterFor(deps: Deps, chain: string, signed: Signed): ChainAdapter {
  if (deps.adapters.has(chain) || !isFamily(chain)) return adapterOf(deps, chain);
  const candidates = [...deps.adapters.values()].filter((each) => each.family === chain);
  const [first] = candidates;
  if (first === undefined) {
    throw new ParleyError('bad_chain', `no ${chain} chain is served here`, { chain });
  }
  if (!has(chain, 'chainIds')) {
    if (candidates.length === 1) return first;
    const keys = candidates.map((each) => each.chain).join(', ');
    const sentence = `"${chain}" may be any of ${keys}: only EVM bytes say for which they are`;
    throw new ParleyError('bad_chain', sentence, { chain });
  }
  const chainId = chainIdOfRaw(signed);
  const served = candidates.find((each) => chainIdOf(each) === chainId);
  if (served !== undefined) return served;
  throw new ParleyError('bad_transaction', `EVM chain id ${chainId} is not served here`, {
    chainId,
  });
}

function chainIdOf(adapter: ChainAdapter): number | null {
  return 'chainId' in adapter && typeof adapter.chainId === 'number' ? adapter.chainId : null;
}

/** A transaction's business with an escrow of ours. */
type Touched = { readonly touch: Touch; readonly row: EscrowRow; readonly swap: Swap };

/** With what it pays to escrows that are watched no more, as their swap has ended. */
async function allTouches(
  deps: Deps,
  chain: ChainKey,
  { touches, pays = [] }: ReadTransaction,
): Promise<readonly Touch[]> {
  const known = new Set(touches.flatMap(({ verb, escrow }) => (verb === 'fund' ? [escrow] : [])));
  const strange = pays.filter((each) => !known.has(each));
  if (strange.length === 0) return touches;
  const rows = await escrowsAmong(deps.db, chain, strange);
  return [
    ...touches,
    ...rows.map(({ address }): Touch => ({ escrow: address, verb: 'fund', secret: null })),
  ];
}

async function swapAt(deps: Deps, chain: ChainKey, touch: Touch): Promise<Touched | null> {
  const row = await escrowAt(deps.db, chain, touch.escrow);
  const swap = row === null ? null : await swapById(deps.db, row.swapId);
  return row === null || swap === null ? null : { touch, row, swap };
}

/** Whether it shows a secret that was not public. */
async function passGates(
  deps: Deps,
  { touch, row, swap }: Touched,
  payer: string | null,
  signal: AbortSignal,
): Promise<boolean> {
  if (touch.together) return false;
  switch (touch.verb) {
    case 'fund': {
      mustBeCurrent(swap, row);
      if (swap.done) throw hasEnded(deps, swap, row);
      const { state, clocks } = await readBothLegs(deps, swap, signal);
      fundGate(state, row.leg, clocks);
      await sourcesAgree(deps, swap, signal);
      return false;
    }
    case 'claim': {
      const { secret } = touch;
      if (secret !== null) mustOpen(swap.state, secret);
      const known =
        secret === null ? swap : await withBrought(deps, swap, { name: row.leg, secret }, signal);
      const { state, clocks, asks } = await readForClaim(deps, known, row.leg, signal);
      claimGate(state, row.leg, clocks);
      if (state.secret !== null) return false;
      const escrow = escrowOfRow(swap, row);
      const by = payer ?? escrow.terms.payout.address;
      await mayReveal(deps, swap, { escrow, payer: by, asks: asks[row.leg] }, signal);
      return true;
    }
    case 'refund': {
      const { state, clocks } = await readOneLeg(deps, swap, row.leg, signal);
      const leg = state.legs[row.leg];
      if (isEmptied(leg, row.address) || releaseOf(leg, row.address) !== null) return false;
      if (touch.isReleased) await mustBeReleasable(deps, { row, swap }, signal);
      else refundGate(leg, row.terms.timelock, clocks);
      return false;
    }
  }
}

/** Its bytes have the payee's consent, which may be given here: the payee's gate is asked. */
async function mustBeReleasable(
  deps: Deps,
  { row, swap }: Pick<Touched, 'row' | 'swap'>,
  signal: AbortSignal,
): Promise<void> {
  const { state, clocks } = await readBothLegs(deps, swap, signal);
  releaseGate(state, row.leg, clocks);
  if (state.legs[row.leg].long) await sourcesAgree(deps, swap, signal);
}

/** Why nothing more may be paid into this escrow. */
function hasEnded(deps: Deps, swap: Swap, { leg, address }: EscrowRow): unknown {
  try {
    fundGate(swap.state, leg, clocksOf(swap, deps.now()));
  } catch (error) {
    return error;
  }
  const sentence = `the swap has ended: neither side may pay to ${address} any more`;
  return new ParleyError('too_late_to_fund', sentence, { leg });
}

/**
 * Sends it, and reads what it touched before the answer: a secret that was relayed is then
 * known, and a leg whose funding is on its way no longer moves.
 */
async function send(
  deps: Deps,
  adapter: ChainAdapter,
  transaction: ReadTransaction,
  { touched, shown }: Readonly<Record<'touched' | 'shown', readonly Touched[]>>,
  signal: AbortSignal,
): Promise<string> {
  const { chain } = adapter;
  const fundings = touched.filter(({ touch }) => touch.verb === 'fund');
  const held: Held[] = [];
  let isGiven = false;
  let txid: string;
  try {
    for (const each of fundings) {
      held.push(await holdAddresses(deps, each, await isAuthorized(deps, adapter, each, signal)));
    }
    // A node that refuses it has seen the secret all the same.
    for (const { row, swap } of shown) {
      await deps.db.transaction((tx) => showSecret(tx, deps, { swapId: swap.id, leg: row.leg }));
    }
    isGiven = true;
    txid = await within(signal, chain, adapter.broadcast(transaction, signal));
  } catch (error) {
    const isRefused = error instanceof ParleyError && error.kind === 'invalid';
    for (const each of !isGiven || isRefused ? held : []) await takeBackSent(deps.db, each);
    throw error;
  }
  for (const { swap } of touched) {
    // It is sent: the follower sees later a transaction that is not seen now.
    await reconcile(deps, swap.id, { chains: [chain], signal }).catch((error: unknown) =>
      deps.log.warn({ swapId: swap.id, err: error }, 'a sent transaction is not looked at yet'),
    );
  }
  return txid;
}

/**
 * Whether its bytes hold the funder's own signature over the escrow. Bytes that anybody could have
 * written pin no leg of others; bytes that cannot be checked for now do.
 */
async function isAuthorized(
  deps: Deps,
  adapter: ChainAdapter,
  { touch: { authorization }, row, swap }: Touched,
  signal: AbortSignal,
): Promise<boolean> {
  if (authorization === undefined) return false;
  try {
    await mustAuthorize(deps, adapter, escrowOfRow(swap, row), authorization, signal);
    return true;
  } catch (error) {
    const says = error instanceof ParleyError ? error.code : null;
    return says !== 'bad_signature' && says !== 'relay_unavailable';
  }
}

type Held = Parameters<typeof takeBackSent>[1];

/** From here on the leg does not move off the escrow while its funding is on its way. */
async function holdAddresses(deps: Deps, { row, swap }: Touched, isSigned: boolean): Promise<Held> {
  const { chain, address } = row;
  const at = new Date(deps.now());
  return deps.db.transaction(async (tx) => {
    const locked = await lockSwap(tx, swap.id);
    if (locked !== null) {
      mustBeCurrent(locked, row);
      mustGoOn(locked.state);
    }
    const { sentAt: before = null } = (await escrowAt(tx, chain, address)) ?? {};
    const sentAt = await noteSent(tx, { chain, address, at });
    // A node that refuses it has seen the signature all the same.
    if (isSigned) await noteAuthorized(tx, { chain, address, at });
    return { chain, address, at: sentAt ?? at, before };
  });
}

function mustBeCurrent(swap: Swap, row: EscrowRow): void {
  const { escrow } = swap.state.legs[row.leg];
  if (escrow === row.address) return;
  throw new ParleyError(
    'escrow_moved',
    `leg ${row.leg} has moved from ${row.address} to ${escrow}: fund that one`,
    { leg: row.leg, was: row.address, is: escrow },
  );
}
