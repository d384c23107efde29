// Unsigned funding, claim and refund of a leg, behind the gates. The chains are read first, outside
// any transaction; the secret of a claim passes through and is not logged.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { type Aliases, aliasesOf } from '@parley/chains/interface/aliases.ts';
import type { About, Asks } from '@parley/chains/interface/building.ts';
import type { ReleaseMaterial } from '@parley/chains/interface/consent.ts';
import type { Allowance } from '@parley/chains/interface/fund-ways.ts';
import type { Material } from '@parley/chains/interface/material.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { begun } from '@parley/chains/nodes/gathering.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { blockhashSeconds } from '@parley/chains/solana/policy.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { legStatus } from '@parley/core/facts.ts';
import { has } from '@parley/core/families.ts';
import {
  claimGate,
  fundBy,
  fundGate,
  mustFund,
  mustNotBeSpent,
  mustOpen,
  mustReceive,
  refundGate,
} from '@parley/core/gates.ts';
import { parseSecret, type Secret } from '@parley/core/hashlock.ts';
import { mustGoOn, mustWant, releaseOf } from '@parley/core/release.ts';
import type { Clocks, Leg, SwapState } from '@parley/core/swap.ts';
import { type LegName, otherLeg, type Party } from '@parley/core/trade.ts';
import type { PlannedEscrow } from '@parley/watchtower/port.ts';
import type { Tx } from '../db/database.ts';
import { escrowsOfSwap } from '../db/escrows.ts';
import { noteShown } from '../db/legs.ts';
import { lockSwap, type Swap, swapById } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { legNamed, swapOfCaller } from './access.ts';
import { currentEscrow, escrowOfRow, openingOf, termsOfLeg } from './escrows.ts';
import { fundAlternatives } from './fund-ways.ts';
import { mayReveal, readBothLegs, readForClaim, readOneLeg, sourcesAgree } from './live.ts';
import { adapterOf } from './preview.ts';
import { mustHaveReadyLane } from './ready-lane.ts';
import { withBrought } from './reconcile.ts';

/** A refund has no deadline of its own, but its fee estimate ages. */
const buildGoodForSeconds = 3_600;

export type BuildRequest = {
  readonly accountId: string;
  readonly swapId: string;
  readonly leg: string;
  /** Bitcoin: sat per vbyte; null = estimate. */
  readonly feeRateSatPerVbyte: number | null;
  readonly signal: AbortSignal;
};

export type Built = Material &
  Aliases & {
    /** Unix seconds: do not send what was built after this. */
    readonly validUntil: number;
  };

/** Until when it may be sent: by the gates and by the bytes' own life. Unix seconds. */
function built(
  material: Material,
  gate: number,
  nowSeconds: number,
  secret: Secret | null = null,
): Built {
  const validUntil = Math.min(gate, lifeOf(material, nowSeconds));
  return { ...material, ...aliasesOf(material, secret), validUntil };
}

export function lifeOf(material: Material | ReleaseMaterial, nowSeconds: number): number {
  switch (material.sign) {
    case 'tron-txid':
      return Math.min(
        ...material.transactions.map(({ raw_data }) => Math.floor(raw_data.expiration / 1_000)),
      );
    case 'solana-tx':
      return nowSeconds + blockhashSeconds;
    case 'evm-tx':
    case 'typed-data':
    case 'btc-payment':
    case 'btc-sighash':
      return Number.POSITIVE_INFINITY;
  }
}

/** The age of a stored reply: bytes that no block takes any more are not handed out again. */
export function mustLive(
  material: Pick<Built, 'validUntil'> & { readonly sign: string },
  nowSeconds: number,
): void {
  const { sign, validUntil } = material;
  const dies = sign === 'tron-txid' || sign === 'solana-tx';
  if (!dies || nowSeconds <= validUntil) return;
  throw new ParleyError(
    'material_expired',
    `the transaction under this Idempotency-Key could be sent until ${validUntil} and it is ` +
      `${nowSeconds}: ask again under another`,
    { validUntil, now: nowSeconds },
  );
}

/** A funding that may be sent now. */
export type Fundable = {
  readonly swap: Swap;
  readonly name: LegName;
  readonly escrow: PlannedEscrow;
  readonly state: SwapState;
  readonly clocks: Clocks;
  /** The questions of the poll that the gates went by. */
  readonly asks: Asks;
};

/** The swap and leg of a funding, which the caller funds. Asks no chain. */
export async function fundAsked(
  tx: Tx,
  request: Omit<BuildRequest, 'signal' | 'feeRateSatPerVbyte'>,
): Promise<{ swap: Swap; name: LegName }> {
  const { swap, party } = await swapOfCaller(tx, request.swapId, request.accountId);
  const { leg: name } = legNamed(swap, request.leg);
  mustFund(swap.state.legs[name], party);
  return { swap, name };
}

/** Passes the gates of a funding, and tries what it is for: all is asked at one moment. */
export async function mayFund(
  deps: Deps,
  asked: { readonly swap: Swap; readonly name: LegName },
  signal: AbortSignal,
): Promise<Fundable> {
  const { fundable, tried } = await passFundGate(deps, asked, signal);
  await tried;
  return fundable;
}

type Trying = { readonly fundable: Fundable; readonly tried: Promise<void> };

/** A funding may leave the market once it is `tried`. */
async function passFundGate(
  deps: Deps,
  { swap, name }: { readonly swap: Swap; readonly name: LegName },
  signal: AbortSignal,
): Promise<Trying> {
  const about: Record<LegName, About> = { a: 'payout', b: 'payout', [name]: 'funding' };
  const trial = (of: LegName, { preflight }: Pick<Asks, 'preflight'>) => {
    const terms = termsOfLeg(swap, of);
    return terms && begun(within(signal, terms.chain, preflight(terms, about[of], signal)));
  };
  /** The trials that ask nothing of a poll leave with it. */
  const early = (of: LegName) => {
    const adapter = adapterOf(deps, swap.state.legs[of].chain);
    return adapter.triesByLook ? null : trial(of, adapter);
  };
  const agreeing = begun(sourcesAgree(deps, swap, signal));
  const tried = { a: early('a'), b: early('b') };
  const { state, clocks, asks } = await readBothLegs(deps, swap, signal);
  fundGate(state, name, clocks);
  const escrow = planned(swap, name);
  const asksOf = (of: LegName) => asks[of] ?? adapterOf(deps, state.legs[of].chain);
  const own = asksOf(name);
  const { lanes } = own;
  const ready = begun(mustHaveReadyLane(deps, swap, name, { lanes, agreeing }, signal));
  // Once this leg is funded it is too late for somebody to learn that a payout cannot arrive.
  const other = otherLeg(name);
  const paying = tried[other] ?? trial(other, asksOf(other));
  const funding = tried[name] ?? trial(name, own);
  const all = async () => {
    await agreeing;
    await ready;
    await paying;
    await funding;
  };
  return { fundable: { swap, name, escrow, state, clocks, asks: own }, tried: begun(all()) };
}

type FundRequest = BuildRequest & {
  readonly allowance: Allowance;
  /** Whether the text of an authorization is wanted, which pins the leg. */
  readonly authorizes: boolean;
  /** Whether the market would send a funding of the leg by signature. */
  readonly relays: (leg: Leg, token: string | null) => boolean;
};

/** The funding of the caller's own leg. */
export async function buildFund(deps: Deps, request: FundRequest): Promise<Built> {
  const { signal, feeRateSatPerVbyte, allowance, authorizes } = request;
  const asked = await fundAsked(deps.db, request);
  const { fundable, tried } = await passFundGate(deps, asked, signal);
  const { name, escrow, state, clocks, asks } = fundable;
  const leg = state.legs[name];
  const adapter = adapterOf(deps, leg.chain);
  const input = { escrow, feeRateSatPerVbyte, allowance, ...openingOf(escrow) };
  const building = begun(within(signal, leg.chain, asks.buildFund(input, signal)));
  await tried;
  const made = built(await building, fundBy(state, leg), clocks.wall);
  if (made.sign !== 'evm-tx') return made;
  const needsAllowance = made.txs.length > 1;
  const wanted = { needsAllowance, allowance, authorizes, deadline: made.validUntil };
  const found = await fundAlternatives(deps, adapter, escrow, wanted, signal);
  if (found === null) return made;
  const relay = request.relays(leg, escrow.terms.token);
  const alternatives = found.map((each) => (each.way === 'permit' ? each : { ...each, relay }));
  return { ...made, alternatives };
}

/** Whether the text of an authorization is in it. */
export function authorizesFunding(material: Material): boolean {
  if (material.sign !== 'evm-tx') return false;
  const { alternatives = [] } = material;
  return alternatives.some(({ way, typedData }) => way === 'authorization' && typedData !== null);
}

/** A claim that may be sent now. */
export type Claimable = {
  readonly swap: Swap;
  readonly name: LegName;
  readonly secret: Secret;
  readonly escrow: WatchedEscrow;
  readonly state: SwapState;
  readonly clocks: Clocks;
};

/** The swap and leg of a claim, whose secret opens it and which pays the caller. Asks no chain. */
export async function claimAsked(
  tx: Tx,
  request: Omit<BuildRequest, 'signal' | 'feeRateSatPerVbyte'> & { readonly secret: Secret },
): Promise<{ swap: Swap; name: LegName; secret: Secret }> {
  const { swap, party } = await swapOfCaller(tx, request.swapId, request.accountId);
  const { leg: name } = legNamed(swap, request.leg);
  const secret = parseSecret(request.secret);
  mustOpen(swap.state, secret);
  mustReceive(swap.state.legs[name], party);
  return { swap, name, secret };
}

/**
 * Passes the gates of a claim. `payer`: the party that pays for it, if not the one that is paid.
 */
export async function mayClaim(
  deps: Deps,
  asked: { swap: Swap; name: LegName; secret: Secret },
  payer: string | null,
  signal: AbortSignal,
): Promise<Claimable> {
  const { name, secret } = asked;
  const swap = await withBrought(deps, asked.swap, asked, signal);
  const { state, clocks, asks } = await readForClaim(deps, swap, name, signal);
  claimGate(state, name, clocks);
  const escrow = planned(swap, name);
  if (state.secret === null) {
    const { family } = adapterOf(deps, state.legs[name].chain);
    // An EVM claim names no sender: its payer shows when it is sent.
    const by = payer ?? (has(family, 'openSender') ? null : escrow.terms.payout.address);
    await mayReveal(deps, swap, { escrow, payer: by, asks: asks[name] }, signal);
  }
  return { swap, name, secret, escrow, state, clocks };
}

/**
 * Notes, before it leaves the market, that a claim shows the secret: the leg is not released from
 * then on. Throws `given_up` where it is released by now.
 */
export async function showSecret(
  tx: Tx,
  { now }: Pick<Deps, 'now'>,
  { swapId, leg }: { readonly swapId: string; readonly leg: LegName },
): Promise<void> {
  const swap = await lockSwap(tx, swapId);
  if (swap === null || swap.state.secret !== null) return;
  mustWant(swap.state.legs[leg]);
  await noteShown(tx, { swapId, leg, at: new Date(now()) });
}

/** The same for a claim that is made elsewhere, whose secret the market is not told. */
export async function announceClaim(
  tx: Tx,
  deps: Pick<Deps, 'now'>,
  request: Pick<BuildRequest, 'accountId' | 'swapId' | 'leg'>,
): Promise<{ swap: Swap; party: Party }> {
  const mine = await swapOfCaller(tx, request.swapId, request.accountId);
  const { swap, party } = mine;
  const leg = legNamed(swap, request.leg);
  mustReceive(leg, party);
  if (!leg.long) await showSecret(tx, deps, { swapId: swap.id, leg: leg.leg });
  return mine;
}

/** A secret that came with a request is shown, whatever becomes of the request. */
export async function hearSecret(
  deps: Deps,
  request: BuildRequest & { readonly secret: Secret },
): Promise<void> {
  const { swap, name } = await claimAsked(deps.db, request);
  if (swap.state.secret !== null || swap.state.legs[name].long) return;
  await deps.db.transaction((tx) => showSecret(tx, deps, { swapId: swap.id, leg: name }));
}

/** The claim of the leg that pays the caller, whose secret was heard (`hearSecret`). */
export async function buildClaim(
  deps: Deps,
  request: BuildRequest & { readonly secret: Secret },
): Promise<Built> {
  const { signal, feeRateSatPerVbyte } = request;
  const asked = await claimAsked(deps.db, request);
  const { name, secret, escrow, state, clocks } = await mayClaim(deps, asked, null, signal);
  const leg = state.legs[name];
  const adapter = adapterOf(deps, leg.chain);
  const reveals = state.secret === null;
  const input = { escrow, feeRateSatPerVbyte, isPublic: !reveals };
  const build = () => adapter.buildClaim(input, secret, signal);
  const material = await unlessSpent(adapter, { name, escrow, signal }, build);
  // Past the timelock the funder may refund at any moment, yet only the chain may refuse a claim.
  const late = clocks.wall >= leg.timelock;
  const onChain = late ? clocks.wall + buildGoodForSeconds : leg.timelock;
  const gate = reveals ? state.deadlines.revealBy : onChain;
  return built(material, gate, clocks.wall, secret);
}

/** The refund of the caller's own leg, or of an escrow that it moved off. */
export async function buildRefund(
  deps: Deps,
  request: BuildRequest & { readonly escrow: string | null },
): Promise<Built> {
  const { signal, feeRateSatPerVbyte } = request;
  const { swap, party } = await swapOfCaller(deps.db, request.swapId, request.accountId);
  const { leg: name, chain } = legNamed(swap, request.leg);
  mustFund(swap.state.legs[name], party);
  const escrow = await escrowToRefund(deps, swap, name, request.escrow);
  const { state, clocks } = await readOneLeg(deps, swap, name, signal);
  const leg = state.legs[name];
  const release = releaseOf(leg, escrow.address);
  const isOpen = release !== null || isEmptied(leg, escrow.address);
  if (!isOpen) refundGate(leg, escrow.terms.timelock, clocks);
  const adapter = adapterOf(deps, chain);
  const isPublic = state.secret !== null;
  const input = { escrow, feeRateSatPerVbyte, isPublic, ...(release !== null && { release }) };
  const build = () => adapter.buildRefund(input, signal);
  const material = await unlessSpent(adapter, { name, escrow, signal }, build);
  return built(material, clocks.wall + buildGoodForSeconds, clocks.wall);
}

/**
 * Whether the leg's money has left this escrow for good. No timelock brings it back; the remainder
 * of the funder's own, such as the rent on Solana, waits for none.
 */
export function isEmptied({ escrow, facts }: Leg, address: string): boolean {
  const hasEnded = ['claimed', 'refunded'].includes(legStatus(facts));
  return escrow === address && hasEnded && facts.balance === 0n;
}

type Spending = {
  readonly name: LegName;
  readonly escrow: WatchedEscrow;
  readonly signal: AbortSignal;
};

/**
 * The result of `build`. If an escrow was spent, the error says by which transaction instead of
 * `nothing_there`.
 */
async function unlessSpent(
  adapter: ChainAdapter,
  { name, escrow, signal }: Spending,
  build: () => Promise<Material>,
): Promise<Material> {
  try {
    return await within(signal, adapter.chain, build());
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'nothing_there') throw error;
    const facts = await within(signal, adapter.chain, adapter.readEscrow(escrow, signal));
    mustNotBeSpent(name, facts);
    throw error;
  }
}

export function planned(swap: Swap, name: LegName): PlannedEscrow {
  const escrow = currentEscrow(swap, name);
  if (escrow !== null) return escrow;
  throw new ParleyError('addresses_missing', `leg ${name} has no escrow yet: set its addresses`, {
    leg: name,
  });
}

/** The leg's escrow, or the former one that is named. */
export async function escrowToRefund(
  deps: Deps,
  swap: Swap,
  name: LegName,
  named: string | null,
): Promise<WatchedEscrow> {
  if (named === null) return planned(swap, name);
  const { chain } = swap.state.legs[name];
  const rows = await escrowsOfSwap(deps.db, swap.id);
  const wanted = canonical(deps, chain, named);
  const row = rows.find((each) => each.leg === name && each.address === wanted);
  if (row !== undefined) return escrowOfRow(swap, row);
  throw neverOf(name, named);
}

function neverOf(name: LegName, named: string): ParleyError {
  const sentence = `"${named.slice(0, 100)}" was never an escrow of leg ${name}`;
  return new ParleyError('unknown_escrow', sentence, { leg: name });
}

function canonical(deps: Deps, chain: string, address: string): string {
  try {
    return adapterOf(deps, chain).parseAddress(address);
  } catch {
    // A text that is no address at all is no escrow either.
    return address;
  }
}

/**
 * A funding throws `given_up`, `escrow_moved` when the leg's escrow is no longer the one that was built for, and
 * `unknown_escrow` when it never was.
 */
export async function mustStillBe(
  tx: Tx,
  about: { swapId: string; leg: string; escrow: string },
): Promise<void> {
  const swap = await swapById(tx, about.swapId);
  if (swap === null) return;
  mustGoOn(swap.state);
  const { leg, escrow } = legNamed(swap, about.leg);
  if (escrow === about.escrow) return;
  const rows = await escrowsOfSwap(tx, swap.id);
  const wasOwn = rows.some((each) => each.leg === leg && each.address === about.escrow);
  if (!wasOwn) throw neverOf(leg, about.escrow);
  throw new ParleyError(
    'escrow_moved',
    `leg ${leg} has moved to ${escrow}, away from ${about.escrow}: ask for its funding again`,
    { leg, was: about.escrow, is: escrow },
  );
}
