// An abstract swap at one instant, as small numbers: what both chains hold of every escrow, the
// clocks, what was ever shown, and what the follower of the rules is about. Packs into one number,
// by which a state is known again.

/** Which escrow: the one a leg has, or the one it moved off. */
export const slots = ['long', 'short', 'oldLong', 'oldShort'] as const;
export type Slot = 0 | 1 | 2 | 3;

/** How far a payment of the whole amount has come. `sent`: out, but not to be seen yet. */
export const Fund = { none: 0, sent: 1, mempool: 2, shallow: 3, deep: 4 } as const;

/** What takes a payment out of its escrow, waiting in the mempool, in a block, and for good. */
export const Spend = {
  none: 0,
  claimWaits: 1,
  claimShallow: 2,
  claimDeep: 3,
  refundWaits: 4,
  refundShallow: 5,
  refundDeep: 6,
} as const;

export type EscrowState = {
  fund: number;
  spend: number;
  /** Whether it also holds a payment that is too small. */
  extra: number;
};

export type State = {
  /** Ticks since the agreement. */
  wall: number;
  /** How far each chain's clock is from the wall's. */
  aheadLong: number;
  aheadShort: number;
  escrows: [EscrowState, EscrowState, EscrowState, EscrowState];
  /** Which legs moved to another escrow: 1 the long one, 2 the short one. */
  moved: number;
  /** Whether the market's record has the secret: 1 as long as it remembers. */
  recorded: number;
  /** Whether the secret was ever public: what the adversary knows. */
  leaked: number;
  lapsed: number;
  /** Of the initiator's claim: nothing, signing since, sent since (see `Since`). */
  claimShort: number;
  /** Of the counterparty's claim: nothing, offered since, sent since. */
  claimLong: number;
  /** Of the funding, and of the initiator's reveal: offered since, sent since. */
  stepLong: number;
  stepShort: number;
};

/** A count of ticks since something: nothing, `waits` (offered or signing), or `sent`. */
export const Since = {
  nothing: 0,
  waits: (ticks: number) => 1 + ticks,
  sent: (ticks: number) => 8 + ticks,
  isWaiting: (value: number) => value >= 1 && value < 8,
  isSent: (value: number) => value >= 8,
  ticks: (value: number) => (value >= 8 ? value - 8 : value - 1),
} as const;

/** A clock is at most so far behind: two ticks of lateness and two of an outage. */
const bias = 4;
const radix = { wall: 64, ahead: 8, fund: 5, spend: 7, bit: 2, since: 16 } as const;

export function startState(): State {
  const escrow = (): EscrowState => ({ fund: 0, spend: 0, extra: 0 });
  return {
    wall: 0,
    aheadLong: 0,
    aheadShort: 0,
    escrows: [escrow(), escrow(), escrow(), escrow()],
    moved: 0,
    recorded: 0,
    leaked: 0,
    lapsed: 0,
    claimShort: 0,
    claimLong: 0,
    stepLong: 0,
    stepShort: 0,
  };
}

export function copyOf(state: State): State {
  const [long, short, oldLong, oldShort] = state.escrows;
  const escrows: State['escrows'] = [{ ...long }, { ...short }, { ...oldLong }, { ...oldShort }];
  return { ...state, escrows };
}

/**
 * One number a state. What cannot be at once shares its place: steps are counted only where both
 * sides follow the rules, and there no leg moves.
 */
export function pack(state: State): number {
  let packed = digit(state.wall, radix.wall);
  const put = (value: number, size: number) => {
    packed = packed * size + digit(value, size);
  };
  put(state.aheadLong + bias, radix.ahead);
  put(state.aheadShort + bias, radix.ahead);
  put(state.recorded, radix.bit);
  put(state.leaked, radix.bit);
  put(state.lapsed, radix.bit);
  put(state.claimShort, radix.since);
  put(state.claimLong, radix.since);
  for (const [slot, { fund, spend, extra }] of state.escrows.entries()) {
    if (slot >= 2 && (state.moved & (slot - 1)) === 0) continue;
    put(fund, radix.fund);
    put(spend, radix.spend);
    put(extra, radix.bit);
  }
  if (state.moved === 0) {
    put(state.stepLong, radix.since);
    put(state.stepShort, radix.since);
  }
  put(state.moved, 4);
  return packed;
}

/** One that has no room would make two states one. */
function digit(value: number, size: number): number {
  if (value >= 0 && value < size) return value;
  throw new Error(`${value} has no room among ${size}`);
}

export function unpack(packed: number): State {
  let rest = packed;
  const take = (size: number): number => {
    const digit = rest % size;
    rest = (rest - digit) / size;
    return digit;
  };
  const state = startState();
  state.moved = take(4);
  if (state.moved === 0) {
    state.stepShort = take(radix.since);
    state.stepLong = take(radix.since);
  }
  for (const slot of [3, 2, 1, 0] as const) {
    if (slot >= 2 && (state.moved & (slot - 1)) === 0) continue;
    const escrow = state.escrows[slot];
    escrow.extra = take(radix.bit);
    escrow.spend = take(radix.spend);
    escrow.fund = take(radix.fund);
  }
  state.claimLong = take(radix.since);
  state.claimShort = take(radix.since);
  state.lapsed = take(radix.bit);
  state.leaked = take(radix.bit);
  state.recorded = take(radix.bit);
  state.aheadShort = take(radix.ahead) - bias;
  state.aheadLong = take(radix.ahead) - bias;
  state.wall = take(radix.wall);
  return state;
}
