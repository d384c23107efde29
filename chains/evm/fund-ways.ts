// Fundings by signature, and whether one that was handed out may still open its escrow.

import type { FundWays, WaysInput } from '../interface/fund-ways.ts';
import type { FundAlternative } from '../interface/material.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { gathering } from '../nodes/gathering.ts';
import type { Opened } from '../nodes/opened.ts';
import { askEach } from '../nodes/sources.ts';
import { findAbilities, nonceOf, stillAble } from './abilities.ts';
import { mustAgreeOnHeads } from './agreement.ts';
import { blockAt, headBlock } from './node.ts';
import { deploymentOf, standingAllowance } from './plan.ts';
import { deepestBlock } from './read.ts';
import { stateAt } from './state.ts';
import type { Watch } from './watch.ts';
import { authorizationAlternative, permitAlternative } from './ways.ts';

export function fundWaysOf(watch: Watch, opened: Opened): FundWays {
  const { rpc, deployment } = watch;
  return {
    abilities: opened((token: string, signal) => findAbilities({ rpc, deployment, token }, signal)),
    authorization: (terms, abilities) =>
      authorizationAlternative(terms, deployment, abilities)?.typedData ?? null,
    alternatives: opened((input: WaysInput, signal) => alternatives(watch, input, signal)),
    mayOpen: opened((escrow: WatchedEscrow, signal) => mayOpen(watch, escrow, signal)),
  };
}

async function alternatives(
  watch: Watch,
  input: WaysInput,
  signal: AbortSignal,
): Promise<readonly FundAlternative[] | null> {
  const { terms } = input.escrow;
  const deployment = deploymentOf(watch, terms);
  const { token, amount, refund } = terms;
  if (token === null) return [];
  const { authorization } = input.abilities;
  const permit = input.needsAllowance ? input.abilities.permit : null;
  const offered = { permit, authorization };
  if (permit === null && authorization === null) return [];
  const trying = { rpc: gathering(watch.rpc, signal), deployment, token };
  const nonce = input.isFresh
    ? await nonceOf(trying, refund.address, signal)
    : await stillAble(trying, offered, refund.address, signal);
  if (nonce === null) return null;
  const value = input.allowance === 'exact' ? amount : standingAllowance;
  const values = { nonce, value, deadline: input.deadline };
  const found = [
    permitAlternative(terms, deployment, offered, values),
    authorizationAlternative(terms, deployment, offered),
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

async function mayOpenBy(
  watch: Watch,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<boolean> {
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
