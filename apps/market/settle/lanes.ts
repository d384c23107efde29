// Which lane an escrow takes, where contracts hold the escrows of a chain. A lane's number
// begins with a tag of the account, whose id is unlike any of another market's: so neither a
// stranger that names somebody's address nor a second market takes the lanes that he has paid for.

import { createHash } from 'node:crypto';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { type Lanes, laneOwner } from '@parley/chains/interface/lanes.ts';
import { nothingSeen } from '@parley/core/facts.ts';
import type { Escrow, EscrowTerms, Lane } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { Tx } from '../db/database.ts';
import { insertEscrow, openInContracts } from '../db/escrows.ts';
import { countLanes, freeLanes, holdLane, type LaneRange, lockLanes } from '../db/lanes.ts';
import type { Deps } from '../ports/deps.ts';

/** The owner of lanes, as the side of an escrow that it is. */
export type LaneUser = {
  readonly as: 'funder' | 'payee';
  readonly owner: string;
  readonly accountId: string;
};

/** 16 hex digits. The top bit is clear for a funder's lanes, and set for a payee's. */
export function laneTag({ as, accountId }: Pick<LaneUser, 'as' | 'accountId'>): string {
  const digest = createHash('sha256').update(`lanes of ${accountId}`).digest();
  const first = digest.readUInt8() & 0x7f;
  digest.writeUInt8(as === 'payee' ? first | 0x80 : first);
  return digest.toString('hex', 0, 8);
}

function laneNumber(tag: string, index: number): string {
  return `${tag}${index.toString(16).padStart(8, '0')}`;
}

/** Throws where an escrow is followed in a contract that its chain's settings name no more. */
export async function mustKnowContracts({ db, adapters }: Pick<Deps, 'db' | 'adapters'>) {
  const unknown = (await openInContracts(db)).filter(({ chain, contract }) => {
    const { lanes } = adapters.get(chain) ?? {};
    return lanes !== undefined && !lanes.contracts.includes(contract);
  });
  if (unknown.length === 0) return;
  const each = unknown.map(({ chain, contract, followed }) => {
    const lie =
      followed === 1 ? '1 escrow of an open swap lies' : `${followed} escrows of open swaps lie`;
    const sentence = `chain "${chain}": ${contract} is not configured, and ${lie} in it`;
    return `${sentence}: name it in "formerContracts" until no open swap has one there`;
  });
  throw new Error(`contracts refused:\n- ${each.join('\n- ')}`);
}

/** In the contract that the next escrow goes to. */
export function rangeOf({ chain }: ChainAdapter, lanes: Lanes, user: LaneUser): LaneRange {
  const { owner } = user;
  return { chain, contract: lanes.contractFor(owner), owner, tag: laneTag(user) };
}

/** Whether an escrow may still be planned in this lane, or its contract takes none any more. */
export function isOpenTo(lanes: Lanes, lane: Lane): boolean {
  return lanes.open.includes(contractIn(lanes, lane));
}

/** One that names none is in the chain's first contract. */
export function contractIn({ contracts: [first = ''] }: Lanes, { contract = first }: Lane): string {
  return contract;
}

/**
 * A lane by what is stored, null where the chain has none: the funder's, unless its next one is new
 * state and the payee lends one of its own. Asks no node: a counter may be behind what the chain
 * shows, which is read before a funding is built. Until the transaction ends nobody else is given
 * a lane of the ranges; `holdLane` keeps it.
 */
export async function reserveLane(
  tx: Tx,
  adapter: ChainAdapter,
  funder: LaneUser,
  payee: LaneUser | null = null,
): Promise<Lane | null> {
  const { lanes, policy } = adapter;
  if (lanes === undefined) return null;
  const users = payee === null ? [funder] : [funder, payee];
  const ranges = users.map((each) => rangeOf(adapter, lanes, each));
  // In one order everywhere, so that no two transactions wait for each other.
  for (const each of ranges.toSorted((one, other) => (one.tag < other.tag ? -1 : 1))) {
    await lockLanes(tx, each);
  }
  const marginSeconds = policy.normal.settleSeconds;
  let found: Lane | null = null;
  for (const each of ranges) {
    const [lane = null] = await usableLanes(tx, each, { marginSeconds, limit: 1 });
    found = lane;
    if (lane !== null && lane.counter > 1) break;
  }
  return found;
}

/** Lanes that nobody has: free ones first, then new ones. */
export async function usableLanes(
  tx: Tx,
  range: LaneRange,
  { marginSeconds, limit }: { readonly marginSeconds: number; readonly limit: number },
): Promise<Lane[]> {
  const free = await freeLanes(tx, range, { marginSeconds, limit });
  const count = await countLanes(tx, range);
  const fresh = Array.from({ length: limit - free.length }, (_, at) => ({
    number: laneNumber(range.tag, count + at),
    counter: 1,
  }));
  return [...free, ...fresh].map((lane) => ({ contract: range.contract, ...lane }));
}

/** Stores a planned escrow, and with it who has its lane. */
export async function keepEscrow(
  tx: Tx,
  { chain, lanes }: ChainAdapter,
  row: {
    readonly swapId: string;
    readonly leg: LegName;
    readonly terms: EscrowTerms;
    readonly escrow: Escrow;
    readonly at: Date;
  },
): Promise<void> {
  const { swapId, leg, terms, escrow, at } = row;
  const { address, redeemScript } = escrow;
  const facts = nothingSeen;
  await insertEscrow(tx, { chain, address, swapId, leg, terms, redeemScript, facts, at });
  const { lane } = terms;
  if (lanes === undefined || lane === undefined) return;
  const contract = contractIn(lanes, lane);
  await holdLane(tx, { chain, contract, owner: laneOwner(terms), lane, escrow: address });
}
