// Fundings by signature, and whether one that was handed out may still open its escrow.

import { numberToHex } from 'viem/utils';
import type { FundWays, WaysInput } from '../interface/fund-ways.ts';
import type { EvmCall } from '../interface/material.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { gathering } from '../nodes/gathering.ts';
import type { Opened } from '../nodes/opened.ts';
import { askEach } from '../nodes/sources.ts';
import { findAbilities, nonceOf, noncesCall, signsByKey, stillAble } from './abilities.ts';
import { askWord, callData } from './ask.ts';
import { blockAt, headBlock } from './node.ts';
import { deploymentOf, standingAllowance } from './plan.ts';
import { deepestBlock, mustAgreeOnHeads } from './read.ts';
import { tryCall } from './simulate.ts';
import { stateAt } from './state.ts';
import type { Watch } from './watch.ts';
import { authorizationAlternative, authorizationText, permitAlternative } from './ways.ts';

export function fundWaysOf(watch: Watch, opened: Opened): FundWays {
  const { rpc, deployment } = watch;
  return {
    abilities: opened((token: string, signal) => findAbilities({ rpc, deployment, token }, signal)),
    signsByKey: opened((account: string, signal) => signsByKey(rpc, account, signal)),
    authorization: (terms, abilities) => authorizationText(terms, deployment, abilities),
    alternatives: opened((input: WaysInput, signal) => alternatives(watch, input, signal)),
    mayOpen: opened((escrow: WatchedEscrow, signal) => mayOpen(watch, escrow, signal)),
  };
}

async function alternatives(watch: Watch, input: WaysInput, signal: AbortSignal) {
  const { terms } = input.escrow;
  const deployment = deploymentOf(watch, terms);
  const { token, amount, refund } = terms;
  if (token === null) return [];
  const { authorization } = input.abilities;
  const permit = input.needsAllowance ? input.abilities.permit : null;
  const offered = { permit, authorization };
  if (permit === null && authorization === null) return [];
  const trying = { rpc: gathering(watch.rpc, signal), deployment, token };
  const [isByKey, nonce] = await Promise.all([
    signsByKey(trying.rpc, refund.address, signal),
    input.isFresh
      ? nonceOf(trying, refund.address, signal)
      : stillAble(trying, offered, refund.address, signal),
  ]);
  if (!isByKey) return [];
  if (nonce === null) return null;
  const value = input.allowance === 'exact' ? amount : standingAllowance;
  const values = { nonce, value, deadline: input.deadline };
  const found = [
    permitAlternative(terms, deployment, offered, values, input.laneSignature),
    authorizationAlternative(terms, deployment, offered, input.laneSignature),
  ];
  const told = found.filter((each) => each !== null);
  return told.map((each) =>
    each.way === 'permit' || input.authorizes ? each : { ...each, typedData: null, call: null },
  );
}

/** By every node that answers: by one alone a leg would be free of a signature that opens it. */
async function mayOpen(watch: Watch, escrow: WatchedEscrow, signal: AbortSignal): Promise<boolean> {
  const sources = await mustAgreeOnHeads(watch, signal);
  if (sources.length < 2) return mayOpenBy(watch, escrow, signal);
  const said = await askEach(watch, watch.rpc, sources, (rpc) =>
    mayOpenBy({ ...watch, rpc }, escrow, signal),
  );
  return said.some(({ answer }) => answer);
}

async function mayOpenBy(watch: Watch, escrow: WatchedEscrow, signal: AbortSignal) {
  const { rpc, deployment } = watch;
  const { fundBefore = Number.POSITIVE_INFINITY } = escrow.terms;
  const deepest = await deepestBlock(watch, escrow, await headBlock(rpc, signal), signal);
  if (deepest < 0) return true;
  const [block, { state }] = await Promise.all([
    blockAt(rpc, deepest, false, signal),
    stateAt(rpc, deployment, escrow.terms, deepest, signal),
  ]);
  return state === 'never' && (block === null || block.timestamp < fundBefore);
}

export async function separator(
  { rpc }: Watch,
  token: string,
  signal: AbortSignal,
): Promise<string | null> {
  const word = await askWord(rpc, token, callData('DOMAIN_SEPARATOR()'), signal);
  return word === null ? null : numberToHex(word, { size: 32 });
}

export function permitNonce(
  { rpc }: Watch,
  token: string,
  owner: string,
  signal: AbortSignal,
): Promise<bigint | null> {
  return askWord(rpc, token, noncesCall(owner), signal);
}

export async function trial(
  { rpc }: Watch,
  { to, data }: EvmCall,
  from: string,
  signal: AbortSignal,
): Promise<string | null> {
  const failure = await tryCall(rpc, { from, to, data, value: '0x0' }, null, signal);
  return failure?.words ?? null;
}
