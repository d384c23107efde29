// Sends a signed transaction. Anything well-formed is relayed; what touches an escrow of ours
// passes that leg's gates again, because a signer may have taken an hour.

import type { ChainAdapter, ReadTransaction, Touch } from '../../chains/adapter.ts';
import { chainIdOfRaw } from '../../chains/evm/raw.ts';
import type { Signed } from '../../chains/material.ts';
import { ParleyError } from '../../core/errors.ts';
import type { EscrowFacts } from '../../core/facts.ts';
import { isFamily } from '../../core/families.ts';
import { claimGate, fundGate, mustOpen, refundGate } from '../../core/gates.ts';
import { type EscrowRow, escrowAt } from '../db/escrows.ts';
import { type Swap, swapById } from '../db/swaps.ts';
import type { Deps } from '../deps.ts';
import { escrowOfRow, within } from './escrows.ts';
import { readBothLegs, readForClaim, readOneLeg, sourcesAgree } from './live.ts';
import { adapterOf } from './preview.ts';
import type { Freshness } from './take-up.ts';

export type Broadcast = {
  /** A family (`evm`, `bitcoin`) or a chain key. */
  readonly chain: string;
  readonly signed: Signed;
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
  const read = () => within(signal, chain, adapter.readSigned(input.signed, signal));
  // Twice: its id must be known whatever happens next, and what it touches is told only after the
  // adapter knows every escrow, also those that another process planned.
  const { txid } = await read();
  try {
    await within(signal, chain, fresh(adapter, signal));
    const transaction = await read();
    for (const touch of transaction.touches) {
      if (await alreadyDone(deps, adapter, transaction, touch, signal)) return { txid };
    }
    return { txid: await within(signal, chain, adapter.broadcast(transaction, signal)) };
  } catch (error) {
    throw named(error, chain, txid);
  }
}

/** The same refusal, with the transaction to look up in it. */
function named(error: unknown, chain: string, txid: string): unknown {
  const { name } = error as Error;
  const timedOut = name === 'TimeoutError' || name === 'AbortError';
  if (!timedOut && !(error instanceof ParleyError && error.kind === 'timeout')) return error;
  return new ParleyError(
    'chain_timeout',
    `chain "${chain}" did not answer in time; look up ${txid} before you send it again`,
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
  if (chain !== 'evm') return first;
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

/** Passes the gates of the escrow that is touched; true when this very transaction is there. */
async function alreadyDone(
  deps: Deps,
  adapter: ChainAdapter,
  { txid }: ReadTransaction,
  touch: Touch,
  signal: AbortSignal,
): Promise<boolean> {
  const row = await escrowAt(deps.db, adapter.chain, touch.escrow);
  const swap = row === null ? null : await swapById(deps.db, row.swap_id);
  if (row === null || swap === null) return false;
  switch (touch.verb) {
    case 'fund':
      return passFund(deps, swap, row, txid, signal);
    case 'claim': {
      if (touch.secret !== null) mustOpen(swap.state, touch.secret);
      if (await isThere(adapter, swap, row, txid, signal)) return true;
      const { state, clocks } = await readForClaim(deps, swap, row.leg, signal);
      claimGate(state, row.leg, clocks);
      if (state.secret === null) await sourcesAgree(deps, swap, signal);
      return false;
    }
    case 'refund': {
      if (await isThere(adapter, swap, row, txid, signal)) return true;
      const { state, clocks } = await readOneLeg(deps, swap, row.leg, signal);
      refundGate(state.legs[row.leg], row.terms.timelock, clocks);
      return false;
    }
  }
}

async function passFund(
  deps: Deps,
  swap: Swap,
  row: EscrowRow,
  txid: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { escrow } = swap.state.legs[row.leg];
  if (!isCurrent(swap, row)) {
    throw new ParleyError(
      'escrow_moved',
      `leg ${row.leg} has moved from ${row.address} to ${escrow}: fund that one`,
      { leg: row.leg, was: row.address, is: escrow },
    );
  }
  const { state, clocks } = await readBothLegs(deps, swap, signal);
  if (shows(state.legs[row.leg].facts, txid)) return true;
  fundGate(state, row.leg, clocks);
  await sourcesAgree(deps, swap, signal);
  return false;
}

/** Whether the escrow, former or current, already shows this transaction. */
async function isThere(
  adapter: ChainAdapter,
  swap: Swap,
  row: EscrowRow,
  txid: string,
  signal: AbortSignal,
): Promise<boolean> {
  const reading = adapter.readEscrow(escrowOfRow(swap, row), signal);
  const facts = await within(signal, adapter.chain, reading);
  if (swap.done) adapter.unwatch([row.address]);
  return shows(facts, txid);
}

function isCurrent(swap: Swap, row: EscrowRow): boolean {
  return swap.state.legs[row.leg].escrow === row.address;
}

function shows({ funded, claimed, refunded }: EscrowFacts, txid: string): boolean {
  return [funded, claimed, refunded].some((each) => each?.txid === txid);
}
