// Where a party is paid on one chain of its swap, and where it funds from. A correction before the
// leg is funded moves its escrow; the former one is kept, followed and refundable.

import { parsePublicKey } from '@parley/chains/bitcoin/keys.ts';
import { isOfPayee } from '@parley/chains/interface/lanes.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, legStatus } from '@parley/core/facts.ts';
import { type ChainKey, has } from '@parley/core/families.ts';
import { fundBy } from '@parley/core/gates.ts';
import { mustGoOn } from '@parley/core/release.ts';
import type { Leg } from '@parley/core/swap.ts';
import type { Destination, EscrowTerms, Lane } from '@parley/core/terms.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import type { Tx } from '../db/database.ts';
import { type EscrowRow, escrowsOfSwap, factsOf } from '../db/escrows.ts';
import { noteLends, updateDestinations, walletsToPay } from '../db/legs.ts';
import { lockSwap, markNamedLate, partyOf, type Swap, swapById, touchSwap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { swapOfCaller } from './access.ts';
import { destinationOfKey, mustBePayable } from './destinations.ts';
import { currentEscrow, type Destinations, destinationsOf, termsOfLeg } from './escrows.ts';
import { isOpenTo, keepEscrow, type LaneUser, reserveLane } from './lanes.ts';
import { type Lifted, mayMoveOff, mustNotBeAuthorized } from './pin.ts';
import { adapterOf } from './preview.ts';

/** How many escrows a leg may have had: each is followed for as long as the swap. */
const escrowsALeg = 20;
/** How long a funding that was sent keeps its leg from moving before it is seen. */
const awaitedMs = 10 * 60_000;

type AddressRequest = {
  readonly accountId: string;
  readonly swapId: string;
  readonly chain: ChainKey;
  /** The leg on it, where the caller names it too. */
  readonly leg: LegName | null;
  /** Bitcoin: a compressed public key. */
  readonly address: string;
  readonly keySignature: string | null;
  /** Bitcoin: `p2tr` asks for an escrow of Taproot, which it is once both sides ask. */
  readonly form?: Destination['form'];
  /** EVM, TRON: the payee lends a lane of its own. */
  readonly ownLane?: boolean;
};

/** The facts found before the transaction: everything that needs a node. */
type PreparedAddress = {
  readonly leg: Leg['leg'];
  readonly party: Party;
  readonly destination: Destination;
  readonly ownLane?: boolean;
  readonly lifted: Lifted;
};

/**
 * Reads the chain, checks who may receive, and tries both payouts. Throws `addresses_fixed` before
 * `not_payable`; on `chain_timeout` nothing has changed.
 */
export async function prepareAddress(
  deps: Deps,
  request: AddressRequest,
  signal: AbortSignal,
): Promise<PreparedAddress> {
  const { swap, party } = await swapOfCaller(deps.db, request.swapId, request.accountId);
  const leg = legOn(swap, request);
  const adapter = adapterOf(deps, leg.chain);
  const text = has(leg, 'coins')
    ? parsePublicKey(request.address)
    : adapter.parseAddress(request.address);
  const { ownLane = false } = request;
  if (ownLane) mustLend(leg, party);
  const now = destinationsOf(swap, leg.leg);
  const own = now[sideOf(leg, party)];
  const isOwn = own !== null && (own.pubkey ?? own.address) === text && own.form === request.form;
  const asItIs =
    isOwn && (leg.funder === party || now.ownLane === ownLane)
      ? { leg: leg.leg, party, destination: own, ownLane, lifted: null }
      : null;
  const escrow = currentEscrow(swap, leg.leg);
  if (escrow !== null) {
    const facts = await within(signal, leg.chain, adapter.readEscrow(escrow, signal));
    // Before a funding it is tried anew, and which address of a Bitcoin key is paid may change.
    if (asItIs !== null && legStatus(facts) !== 'unfunded') return asItIs;
    mustBeOpen(leg, facts);
  }
  const lifted = asItIs === null ? await mayMoveOff(deps, swap, leg.leg, signal) : null;
  const destination = await destinationOf(deps, { request, leg, party, text });
  for (const each of payoutsAfter(swap, leg, party, destination)) {
    const trying = adapterOf(deps, each.chain).preflight(each, 'payout', signal);
    await within(signal, each.chain, trying);
  }
  return { leg: leg.leg, party, destination, ownLane, lifted };
}

function sideOf({ funder }: Leg, party: Party): 'refund' | 'payout' {
  return funder === party ? 'refund' : 'payout';
}

function mustLend(leg: Leg, party: Party): void {
  if (has(leg, 'lanes') && leg.funder !== party) return;
  const sentence = `a lane is lent on EVM and TRON, by the side that is paid, not by you on ${leg.chain}`;
  throw new ParleyError('bad_field', sentence, { ownLane: true });
}

function isSame(one: Destination | null, other: Destination): boolean {
  const { address, pubkey, form } = other;
  return one?.address === address && one.pubkey === pubkey && one.form === form;
}

/**
 * Stores it, and plans the escrow when the leg has both destinations. Asks no node. The address
 * that the leg has already moves nothing, and is refused to nobody.
 */
export async function storeAddress(
  tx: Tx,
  deps: Deps,
  request: Omit<AddressRequest, 'leg'>,
  { leg: name, party, destination, ownLane = false, lifted }: PreparedAddress,
): Promise<Swap> {
  const swap = await lockSwap(tx, request.swapId);
  if (swap === null || partyOf(swap, request.accountId) !== party) {
    throw new Error(`swap ${request.swapId} changed its parties`);
  }
  const leg = swap.state.legs[name];
  const was = destinationsOf(swap, name);
  const side = sideOf(leg, party);
  const lends = side === 'refund' ? was.ownLane : ownLane;
  if (isSame(was[side], destination) && was.ownLane === lends) return swap;
  mustBeOpen(leg, leg.facts);
  mustGoOn(swap.state);
  await mustNotBeAwaited(tx, swap, leg, deps.now());
  await mustNotBeAuthorized(tx, swap, name, lifted);
  const is = { ...was, [side]: destination, ownLane: lends };
  const lane = await laneFor(tx, deps, swap, name, is);
  const moved = await moveLeg(tx, deps, swap, { name, is, lane });
  const { accountId } = request;
  if (has(leg, 'lanes') && side === 'payout') {
    const { family } = leg;
    await noteLends(tx, { accountId, family, address: destination.address, lends: ownLane });
  }
  if (!isWhole(swap) && isWhole(moved) && isLate(moved, party, deps.now())) {
    await markNamedLate(tx, swap.id, party);
  }
  return moved;
}

/** The swap cannot be funded before. */
function isWhole({ state: { legs } }: Swap): boolean {
  return legs.a.escrow !== null && legs.b.escrow !== null;
}

/** Less than half of the time to react is left to the other side. */
function isLate({ state }: Swap, by: Party, nowMs: number): boolean {
  const { counterpartyFundBy, expiresAt } = state.deadlines;
  const waiting = state.legs.a.funder === by ? state.legs.b : state.legs.a;
  return nowMs / 1_000 > fundBy(state, waiting) - (counterpartyFundBy - expiresAt) / 2;
}

/** The leg's own lane, while its owner stays and its contract takes new escrows. */
async function laneFor(
  tx: Tx,
  deps: Deps,
  swap: Swap,
  name: LegName,
  is: Destinations,
): Promise<Lane | null> {
  const { funder, payee } = laneUsers(swap, name, is);
  if (funder === null || payee === null) return null;
  const leg = swap.state.legs[name];
  const own = swap.lanes[name];
  const adapter = adapterOf(deps, leg.chain);
  const rows = await escrowsOfSwap(tx, swap.id);
  const lends = is.ownLane && !rows.some((row) => wasUnsigned(row, leg));
  if (own !== null && adapter.lanes !== undefined && isOpenTo(adapter.lanes, own)) {
    const isPayees = isOfPayee(own);
    const stays = isPayees
      ? is.ownLane && leg.payoutAddress === payee.owner
      : leg.refundAddress === funder.owner;
    // A funding that was built may be sent: a lane that costs less is not worth two escrows.
    const isBuilt = rows.some((row) => row.address === leg.escrow && row.builtAt !== null);
    const mayBeCheaper = !isPayees && lends && own.counter === 1 && !isBuilt;
    if (stays && !mayBeCheaper) return own;
  }
  return reserveLane(tx, adapter, funder, lends ? payee : null);
}

/** The leg moved off a lane which its payee did not sign for: it gets no other of the payee's. */
function wasUnsigned({ leg: name, address, terms, laneSignature }: EscrowRow, leg: Leg): boolean {
  const { lane } = terms;
  const wasPayees = lane !== undefined && isOfPayee(lane) && laneSignature === null;
  return wasPayees && name === leg.leg && address !== leg.escrow;
}

/** The owners whose lanes a leg may take; null: that side has named no address. */
export function laneUsers(
  { state, makerId, takerId }: Swap,
  name: LegName,
  { payout, refund }: Pick<Destinations, 'payout' | 'refund'>,
): Readonly<Record<LaneUser['as'], LaneUser | null>> {
  const { funder } = state.legs[name];
  const [pays, gets] = funder === 'maker' ? [makerId, takerId] : [takerId, makerId];
  const user = (as: LaneUser['as'], accountId: string, at: Destination | null) =>
    at && { as, owner: at.address, accountId };
  return { funder: user('funder', pays, refund), payee: user('payee', gets, payout) };
}

/** Stores where the leg pays and its escrow, if it has one by now. */
export async function moveLeg(
  tx: Tx,
  deps: Deps,
  swap: Swap,
  to: { readonly name: LegName; readonly is: Destinations; readonly lane: Lane | null },
): Promise<Swap> {
  const { name, is, lane } = to;
  const leg = swap.state.legs[name];
  const terms = termsOfLeg(swap, name, is, lane);
  const at = new Date(deps.now());
  const adapter = adapterOf(deps, leg.chain);
  const escrow = terms === null ? null : adapter.plan(terms);
  if (terms !== null && escrow !== null) {
    await mayMoveTo(tx, swap, leg, escrow.address);
    await keepEscrow(tx, adapter, { swapId: swap.id, leg: name, terms, escrow, at });
  }
  const { payout, refund } = is;
  const forms = { payoutForm: payout?.form ?? null, refundForm: refund?.form ?? null };
  const stored = { swapId: swap.id, leg: name, ...is, ...forms, escrow: escrow?.address ?? null };
  await updateDestinations(tx, stored);
  await touchSwap(tx, swap.id, at);
  return (await swapById(tx, swap.id)) as Swap;
}

function legOn(swap: Swap, { chain, leg: named }: Pick<AddressRequest, 'chain' | 'leg'>): Leg {
  const { a, b } = swap.state.legs;
  const leg = [a, b].find((each) => each.chain === chain);
  const chains = `leg a is on ${a.chain}, leg b on ${b.chain}`;
  const said = chain.slice(0, 50);
  if (leg === undefined) {
    throw new ParleyError('bad_chain', `"${said}" is not a chain of this swap: ${chains}`, {});
  }
  if (named !== null && named !== leg.leg) {
    const sentence = `leg ${named} and the chain "${said}" contradict each other: ${chains}`;
    throw new ParleyError('bad_leg', sentence, { named, leg: leg.leg });
  }
  return leg;
}

export function mustBeOpen(leg: Leg, facts: EscrowFacts): void {
  const status = legStatus(facts);
  if (status === 'unfunded') return;
  throw new ParleyError(
    'addresses_fixed',
    `leg ${leg.leg} is ${status}: its addresses are fixed from the first sight of its funding`,
    { leg: leg.leg },
  );
}

/** A funding that was handed to the chain a moment ago is as good as seen. */
export async function mustNotBeAwaited(tx: Tx, swap: Swap, leg: Leg, nowMs: number): Promise<void> {
  const rows = await escrowsOfSwap(tx, swap.id);
  const sentAt = rows.find((row) => row.address === leg.escrow)?.sentAt ?? null;
  if (sentAt === null || nowMs - sentAt.getTime() > awaitedMs) return;
  throw new ParleyError(
    'addresses_fixed',
    `a funding of leg ${leg.leg} was sent at ${sentAt.toISOString()}: its addresses are fixed ` +
      `unless it is not seen within ${awaitedMs / 60_000} minutes`,
    { leg: leg.leg },
  );
}

async function destinationOf(
  deps: Deps,
  about: { request: AddressRequest; leg: Leg; party: Party; text: string },
): Promise<Destination> {
  const { request, leg, party, text } = about;
  const { form } = request;
  if (form !== undefined && !has(leg, 'coins')) {
    throw new ParleyError('bad_field', `${form} is a form of Bitcoin, not of ${leg.chain}`, {
      form,
    });
  }
  const adapter = adapterOf(deps, leg.chain);
  const receives = leg.funder !== party;
  // Where a refund returns to whoever funded, the address only names the funder.
  if (has(leg, 'namesFunder') && !receives) return { address: text, pubkey: null };
  const wallets = await walletsToPay(
    deps.db,
    [request.accountId],
    [leg.family],
    new Date(deps.now()),
  );
  if (!has(leg, 'coins')) {
    mustBePayable(wallets, text, adapter.parseAddress);
    return { address: text, pubkey: null };
  }
  const { network, productName } = deps.settings;
  const { keySignature, swapId } = request;
  const key = { pubkey: text, keySignature, swapId, productName, network };
  return { ...destinationOfKey(wallets, key), ...(form && { form }) };
}

/** Both legs' terms as they will be, as far as they are complete. */
function payoutsAfter(swap: Swap, leg: Leg, party: Party, destination: Destination): EscrowTerms[] {
  const side = sideOf(leg, party);
  const terms = (['a', 'b'] as const).map((name) => {
    const now = destinationsOf(swap, name);
    return termsOfLeg(swap, name, name === leg.leg ? { ...now, [side]: destination } : now);
  });
  return terms.filter((each) => each !== null);
}

/** Refuses a move away from, or back to, an escrow that holds a payment, and endless moves. */
async function mayMoveTo(tx: Tx, swap: Swap, leg: Leg, address: string): Promise<void> {
  const rows = (await escrowsOfSwap(tx, swap.id)).filter((each) => each.leg === leg.leg);
  const back = rows.find((each) => each.address === address);
  if (back !== undefined) return mustBeOpen(leg, factsOf(back.facts));
  if (rows.length < escrowsALeg) return;
  throw new ParleyError(
    'too_many_escrows',
    `leg ${leg.leg} has had ${rows.length} escrows, the most there may be`,
    { leg: leg.leg, most: escrowsALeg },
  );
}
