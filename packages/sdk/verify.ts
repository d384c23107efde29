// Does the market's swap follow from the customer's own trade? The result is made of the customer's
// values, never of the answer.

import { addressesOfPubkey } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinEscrow } from '@parley/chains/bitcoin/plan.ts';
import { openContracts } from '@parley/chains/escrows/plan.ts';
import { evmEscrow } from '@parley/chains/evm/plan.ts';
import { solanaEscrow } from '@parley/chains/solana/plan.ts';
import { tronEscrow } from '@parley/chains/tron/plan.ts';
import { type Deadlines, deadlines, schedule } from '@parley/core/deadlines.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { has } from '@parley/core/families.ts';
import { fundBy } from '@parley/core/gates.ts';
import { type Hashlock, opens, parseHashlock } from '@parley/core/hashlock.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { type Depth, depthFor } from '@parley/core/policy.ts';
import { type Destination, type Escrow, type EscrowTerms, formOf } from '@parley/core/terms.ts';
import { funderOf, initiatorOf, type LegName, roleOf } from '@parley/core/trade.ts';
import { jsonOf } from '@parley/core/unchecked.ts';
import { clockToleranceSeconds } from './clock-tolerance.ts';
import { ClockError, SettleError, VerificationError } from './errors.ts';
import { mayBeFunded, type SwapRecord } from './stores/store.ts';
import {
  type ChainView,
  givenLeg,
  type OwnLeg,
  type OwnTrade,
  ownLegs,
  type PinnedAsset,
  type PinnedChains,
  sourceIn,
  standsUntil,
  timingsOf,
  type VerifiedLeg,
  type VerifiedSwap,
} from './trade.ts';
import type { Asset, Swap, SwapLeg } from './types.ts';

export type { VerifiedLeg, VerifiedSwap } from './trade.ts';

export { clockToleranceSeconds };

export function mustEqual(field: string, expected: unknown, got: unknown): void {
  if (expected !== got) throw new VerificationError(field, shown(expected), shown(got));
}

/** The same of each of these fields, `at` being the path to them. */
export function mustMatch(at: string, expected: object, got: object): void {
  const said = got as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(expected))
    mustEqual(`${at}${name}`, value, said[name]);
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (jsonOf(value) ?? 'nothing');
  return text.length > 400 ? `${text.slice(0, 400)}… (${text.length} characters)` : text;
}

/** Throws unless there is something to read inside. */
export function mustBe(what: 'an object' | 'a list' | 'text', field: string, got: unknown): void {
  const is = {
    'an object': () => typeof got === 'object' && got !== null && !Array.isArray(got),
    'a list': () => Array.isArray(got),
    text: () => typeof got === 'string',
  };
  if (!is[what]()) throw new VerificationError(field, what, shown(got));
}

/** The market's asset must be the pinned one. */
export function verifyAsset(asset: Asset, pinned: PinnedAsset): void {
  const { id, chain, token: address, decimals } = pinned;
  mustMatch('asset.', { id, chain, address, decimals }, asset);
}

/** Throws VerificationError. The other side's destinations are its own business. */
export function verifySwap(
  swap: Swap,
  trade: OwnTrade,
  chains: PinnedChains,
  at: { readonly swapId: string; readonly now: UnixSeconds },
): VerifiedSwap {
  const { own, hashlock, agreedAt, times } = verifyAgreement(swap, trade, chains, at);
  const leg = (name: LegName) =>
    verifyLeg(swap.legs[name], legBy(own, times, name), { trade, hashlock });
  const legs = { a: leg('a'), b: leg('b') };
  const role = roleOf(trade.party, own.long);
  return { id: swap.id, party: trade.party, role, hashlock, agreedAt, deadlines: times, legs };
}

/** All of the swap but its legs: its parties, its hashlock, and when it was agreed. */
export function verifyAgreement(
  swap: Swap,
  trade: OwnTrade,
  chains: PinnedChains,
  at: { readonly swapId: string; readonly now: UnixSeconds },
): {
  readonly own: ReturnType<typeof ownLegs>;
  readonly hashlock: Hashlock;
  readonly agreedAt: UnixSeconds;
  readonly times: Deadlines;
} {
  mustBeSwap(swap, at.swapId);
  const own = ownLegs(trade, chains);
  const hashlock = verifyParties(swap, trade, own.long);
  return { own, hashlock, ...verifyDeadlines(swap.deadlines, trade, own, at.now) };
}

/** Throws unless it is that swap, with everything to read inside. */
export function mustBeSwap(swap: Swap, swapId: string): void {
  mustEqual('id', swapId, swap.id);
  for (const path of ['legs', 'legs.a', 'legs.b', 'deadlines', 'deadlines.refundAt']) {
    const part = path
      .split('.')
      .reduce((all: unknown, name) => (all as Record<string, unknown>)[name], swap);
    mustBe('an object', path, part);
  }
}

export function verifyParties(swap: Swap, trade: OwnTrade, long: LegName): Hashlock {
  const { threadId, rfqId, makerId, takerId } = trade;
  const initiatorUserId = initiatorOf(long) === 'maker' ? makerId : takerId;
  const role = roleOf(trade.party, long);
  mustMatch('', { threadId, rfqId, makerId, takerId, initiatorUserId, role }, swap);
  const hashlock = hashlockIn(swap.hashlock);
  // A party that has the secret of an initiator's leg takes that leg, and need not pay for it.
  if (role === 'initiator' || trade.hashlock !== null) {
    mustEqual('hashlock', trade.hashlock ?? 'your own', hashlock);
  }
  const { secret } = swap;
  const isSecret = typeof secret === 'string' && /^[0-9a-f]{64}$/.test(secret);
  if (secret !== null && !(isSecret && opens(secret, hashlock))) {
    throw new VerificationError('secret', `a preimage of ${hashlock}`, 'another');
  }
  return hashlock;
}

function hashlockIn(text: unknown): Hashlock {
  try {
    const parsed = parseHashlock(String(text));
    mustEqual('hashlock', parsed, text);
    return parsed;
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    throw new VerificationError('hashlock', '32 bytes of hex', shown(text));
  }
}

/**
 * From a time at which the customer's acceptance stood, by the formula and the customer's policy.
 */
export function verifyDeadlines(
  said: Deadlines,
  trade: OwnTrade,
  own: ReturnType<typeof ownLegs>,
  now: UnixSeconds,
): { agreedAt: UnixSeconds; times: Deadlines } {
  const timings = timingsOf(own);
  const short = own.long === 'a' ? 'b' : 'a';
  const plan = schedule(timings[short], timings[own.long]);
  const agreedAt = said.refundAt[short] - plan.shortTimelock;
  const from = trade.acceptedAt - clockToleranceSeconds;
  const to = Math.min(now, standsUntil(trade)) + clockToleranceSeconds;
  const field = `deadlines.refundAt.${short}`;
  const range = `from ${from + plan.shortTimelock} to ${to + plan.shortTimelock}`;
  const got = shown(said.refundAt[short]);
  if (!Number.isSafeInteger(agreedAt)) throw new VerificationError(field, range, got);
  const times = deadlines(agreedAt, timings, own.long);
  if (agreedAt < from || agreedAt > to) {
    const ahead = agreedAt < from ? trade.acceptedAt - agreedAt : now - agreedAt;
    const isOfClock = Math.abs(ahead) > clockToleranceSeconds && ahead > 0 === agreedAt < from;
    if (isOfClock && hasTimes(times, said)) throw new ClockError(field, range, got, ahead);
    throw new VerificationError(field, range, got);
  }
  mustHaveTimes(times, said);
  return { agreedAt, times };
}

function hasTimes(times: Deadlines, said: Deadlines): boolean {
  try {
    mustHaveTimes(times, said);
    return true;
  } catch {
    return false;
  }
}

export function mustHaveTimes(times: Deadlines, said: Deadlines): void {
  const { refundAt, ...rest } = times;
  mustMatch('deadlines.', rest, said);
  mustMatch('deadlines.refundAt.', refundAt, said.refundAt);
}

function depthOf({ view, amount, asset }: OwnLeg): Depth {
  return depthFor(view.policy, amount, asset.highValueFrom);
}

export type ExpectedLeg = OwnLeg &
  Pick<VerifiedLeg, 'long' | 'timelock' | 'requiredConfirmations'> & {
    /** Unix seconds: its funding is sent before. */
    readonly fundBefore: number;
  };

/** By the customer's policy, and the times that follow from it. */
export function legBy(
  own: ReturnType<typeof ownLegs>,
  times: Deadlines,
  name: LegName,
): ExpectedLeg {
  const { confirmations: requiredConfirmations } = depthOf(own[name]);
  const long = name === own.long;
  const timelock = times.refundAt[name];
  const fundBefore = fundBy({ deadlines: times }, { long });
  return { ...own[name], long, timelock, requiredConfirmations, fundBefore };
}

export type SaidLeg = Omit<
  SwapLeg,
  | 'status'
  | 'outcome'
  | 'fundTx'
  | 'claimTx'
  | 'claimedBy'
  | 'refundTx'
  | 'refundedBy'
  | 'scheduledRefunds'
  | 'scheduledClaims'
  | 'confirmations'
  | 'balance'
  | 'rentLeft'
  | 'release'
  | 'ownLane'
  | 'laneSignature'
  | 'formerEscrows'
>;

export function verifyLeg(
  said: SaidLeg,
  own: ExpectedLeg,
  from: { trade: OwnTrade; hashlock: Hashlock },
): VerifiedLeg {
  const at = `legs.${own.leg}`;
  const { leg, view, asset, amount, long, timelock, requiredConfirmations } = own;
  const terms = {
    leg,
    chain: asset.chain,
    assetId: asset.id,
    funder: funderOf(leg),
    long,
    timelock,
    requiredConfirmations,
  };
  mustMatch(`${at}.`, { ...terms, amount: amount.toString() }, said);
  return { ...terms, family: view.family, amount, escrow: verifyEscrow(at, said, own, from) };
}

function verifyEscrow(
  at: string,
  said: SaidLeg,
  own: ExpectedLeg,
  { trade, hashlock }: { trade: OwnTrade; hashlock: Hashlock },
): VerifiedLeg['escrow'] {
  const mine = givenLeg(trade.party) === own.leg;
  const payout = destination(at, 'payout', said, own.view);
  const refund = destination(at, 'refund', said, own.view);
  if (payout === null || refund === null) {
    mustEqual(`${at}.escrow`, null, said.escrow);
    return null;
  }
  const [kind, wanted, got] = mine
    ? (['refund', trade.refundTo, refund] as const)
    : (['payout', trade.payTo, payout] as const);
  mustEqual(`${at}.${kind}Pubkey`, wanted.pubkey, got.pubkey);
  mustEqual(`${at}.${kind}Address`, wanted.address, got.address);
  // Any wallet spends P2WSH: a leg whose form was asked for too late stays so.
  if (got.form !== undefined) mustEqual(`${at}.${kind}Form`, wanted.form, got.form);
  const terms: EscrowTerms = {
    chain: own.asset.chain,
    hashlock,
    payout,
    refund,
    ...formOf(payout, refund),
    token: own.asset.token,
    amount: own.amount,
    timelock: own.timelock,
    ...placeOf(at, said, own),
  };
  const escrow = escrowOf(at, terms, own.view);
  mustEqual(`${at}.redeemScript`, escrow.redeemScript, said.redeemScript);
  mustEqual(`${at}.escrow`, escrow.address, said.escrow);
  return { ...escrow, terms };
}

/** Source: the width of the counter in the contract's word. */
const mostUses = 2 ** 30 - 1;

/** Any lane in any contract of the customer's own: the escrow commits to both. */
function placeOf(
  at: string,
  { lane }: SaidLeg,
  { view, fundBefore }: ExpectedLeg,
): Pick<EscrowTerms, 'lane' | 'fundBefore'> {
  if (!has(view, 'lanes')) {
    mustEqual(`${at}.lane`, null, lane ?? null);
    return {};
  }
  const { contract, number, counter } = lane ?? {};
  if (contract !== undefined) mustBe('text', `${at}.lane.contract`, contract);
  if (typeof number !== 'string' || !/^[0-9a-f]{24}$/.test(number)) {
    throw new VerificationError(`${at}.lane.number`, '24 hex digits', shown(number));
  }
  if (!(Number.isInteger(counter) && Number(counter) > 0 && Number(counter) <= mostUses)) {
    throw new VerificationError(`${at}.lane.counter`, `from 1 to ${mostUses}`, shown(counter));
  }
  const named = contract === undefined ? {} : { contract };
  return { fundBefore, lane: { ...named, number, counter: Number(counter) } };
}

export function escrowOf(field: string, terms: EscrowTerms, view: ChainView): Escrow {
  try {
    switch (view.family) {
      case 'evm':
        return evmEscrow(terms, view.deployment);
      case 'bitcoin':
        return bitcoinEscrow(terms, view.network);
      case 'tron':
        return tronEscrow(terms, view.deployment);
      case 'solana':
        return solanaEscrow(terms, view.deployment);
    }
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    throw new VerificationError(field, 'terms that make an escrow', error.message);
  }
}

function destination(
  at: string,
  kind: 'payout' | 'refund',
  said: SaidLeg,
  view: ChainView,
): Destination | null {
  const address = said[`${kind}Address`];
  const pubkey = said[`${kind}Pubkey`] ?? null;
  const form = said[`${kind}Form`] ?? null;
  if (address !== null) mustBe('text', `${at}.${kind}Address`, address);
  if (address === null || !has(view, 'coins')) {
    mustEqual(`${at}.${kind}Pubkey`, null, pubkey);
    mustEqual(`${at}.${kind}Form`, null, form);
    return address === null ? null : { address, pubkey };
  }
  if (pubkey === null) throw new VerificationError(`${at}.${kind}Pubkey`, 'a key', 'null');
  mustBe('text', `${at}.${kind}Pubkey`, pubkey);
  mustBelong(`${at}.${kind}`, address, pubkey, view);
  if (form === null) return { address, pubkey };
  mustEqual(`${at}.${kind}Form`, 'p2tr', form);
  return { address, pubkey, form };
}

/** A Bitcoin script binds the key alone, so the address shown must be one of that key. */
function mustBelong(
  at: string,
  address: string,
  pubkey: string,
  view: ChainView & { family: 'bitcoin' },
): void {
  let known: string[];
  try {
    known = Object.values(addressesOfPubkey(pubkey, view.network));
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    throw new VerificationError(`${at}Pubkey`, 'a compressed public key', pubkey);
  }
  if (known.includes(address)) return;
  throw new VerificationError(`${at}Address`, `an address of ${pubkey}`, address);
}

/** Throws unless all is as kept but the other side's destinations and their escrows. */
export function verifyAgain(
  swap: Swap,
  { trade, swap: kept }: SwapRecord,
  chains: PinnedChains,
): VerifiedSwap {
  mustBeSwap(swap, kept.id);
  const from = { trade: { ...trade, hashlock: kept.hashlock }, hashlock: kept.hashlock };
  verifyParties(swap, from.trade, kept.legs.a.long ? 'a' : 'b');
  mustHaveTimes(kept.deadlines, swap.deadlines);
  const expected = (leg: VerifiedLeg): ExpectedLeg => {
    const { view } = sourceIn(chains, leg.chain);
    const fundBefore = fundBy({ deadlines: kept.deadlines }, leg);
    return {
      ...leg,
      fundBefore,
      asset: leg.assetId === trade.base.id ? trade.base : trade.quote,
      view,
    };
  };
  const { a, b } = kept.legs;
  const legs = {
    a: verifyLeg(swap.legs.a, expected(a), from),
    b: verifyLeg(swap.legs.b, expected(b), from),
  };
  return { ...kept, legs };
}

/**
 * SettleError `terms_outdated` unless the kept swap is what would be verified today; `clock_wrong`
 * where only the moment at which it was agreed does not fit.
 */
export function mustFollowToday(record: SwapRecord, chains: PinnedChains, now: number): void {
  const { trade, swap: kept } = record;
  // Until something of it may be funded the own leg can leave such a contract, when it is built.
  const leaves = mayBeFunded(record) ? null : givenLeg(trade.party);
  try {
    const own = ownLegs(trade, chains);
    const { times } = verifyDeadlines(kept.deadlines, trade, own, now);
    const { hashlock, legs } = kept;
    for (const name of ['a', 'b'] as const) {
      verifyLeg(asShown(legs[name]), legBy(own, times, name), { trade, hashlock });
      if (name !== leaves) mustTakeNew(legs[name], own[name].view);
    }
  } catch (error) {
    if (error instanceof ClockError) {
      const sentence = `swap ${kept.id} is not funded: ${error.message}`;
      throw new SettleError('clock_wrong', sentence, { cause: error });
    }
    const why =
      error instanceof VerificationError
        ? `${error.field} is ${error.got}, and would be ${error.expected}`
        : String(error);
    const sentence =
      `swap ${kept.id} was agreed under another formula or other policies than today's (${why}): ` +
      'it is not funded. What an escrow holds is claimed and refunded all the same';
    throw new SettleError('terms_outdated', sentence, { cause: error });
  }
}

export function mustTakeNew({ leg, escrow }: VerifiedLeg, view: ChainView): void {
  if (!has(view, 'lanes') || escrow === null) return;
  const open = openContracts(view.deployment);
  const { contract = view.deployment.contract } = escrow.terms.lane ?? {};
  if (open.includes(contract)) return;
  throw new VerificationError(`legs.${leg}.lane.contract`, open.join(' or '), contract);
}

function asShown({ escrow, ...leg }: VerifiedLeg): SaidLeg {
  const { payout = null, refund = null } = escrow?.terms ?? {};
  return {
    ...leg,
    amount: leg.amount.toString(),
    escrow: escrow?.address ?? null,
    lane: escrow?.terms.lane ?? null,
    redeemScript: escrow?.redeemScript ?? null,
    payoutAddress: payout?.address ?? null,
    payoutPubkey: payout?.pubkey ?? null,
    refundAddress: refund?.address ?? null,
    refundPubkey: refund?.pubkey ?? null,
    payoutForm: payout?.form ?? null,
    refundForm: refund?.form ?? null,
  };
}
