// An abstract swap at one instant, as small numbers: what both chains hold of every escrow, the
// clocks, what was ever shown, and what the follower of the rules is about. Packs into one number,
// by which a state is known again.

/** Which escrow: the one a leg has, or the one it moved off. */
export type Slot = 0 | 1 | 2 | 3;

/** How far a payment of the whole amount has come. `sent`: out, but not to be seen yet. */
export const Fund = { none: 0, sent: 1, mempool: 2, shallow: 3, final: 4 } as const;

/** What takes a payment out of its escrow, waiting in the mempool, in a block, and for good. */
export const Spend = {
  none: 0,
  claimWaits: 1,
  claimShallow: 2,
  claimFinal: 3,
  refundWaits: 4,
  refundShallow: 5,
  refundFinal: 6,
} as const;

/** `extra`: whether it also holds a payment that is too small. */
export type EscrowState = { fund: number; spend: number; extra: number };

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

/** Fields, each with how many values it has, and what is added so that none is below 0. */
function numbers<Field extends string>(sizes: Readonly<Record<Field, number>>) {
  const all = Object.entries(sizes) as [Field, number][];
  return all.map(([field, size]) => [field, size, /^ahead/.test(field) ? bias : 0] as const);
}
const digits = [
  ...numbers({ wall: 64, aheadLong: 8, aheadShort: 8, recorded: 2, leaked: 2, lapsed: 2 }),
  ...numbers({ claimShort: 16, claimLong: 16 }),
];
/** Counted only where both sides follow the rules, and there no leg moves. */
const steps = numbers({ stepLong: 16, stepShort: 16 });
const ofEscrow = numbers({ fund: 5, spend: 7, extra: 2 });
const digitsBack = digits.toReversed();
const stepsBack = steps.toReversed();
const escrowBack = ofEscrow.toReversed();

export function startState(): State {
  const escrow = (): EscrowState => ({ fund: 0, spend: 0, extra: 0 });
  return {
    wall: 0,
    aheadLong: 0,
    aheadShort: 0,
    moved: 0,
    recorded: 0,
    leaked: 0,
    lapsed: 0,
    claimShort: 0,
    claimLong: 0,
    stepLong: 0,
    stepShort: 0,
    escrows: [escrow(), escrow(), escrow(), escrow()],
  };
}

export function copyOf(state: State): State {
  const [long, short, oldLong, oldShort] = state.escrows;
  const escrows: State['escrows'] = [{ ...long }, { ...short }, { ...oldLong }, { ...oldShort }];
  return { ...state, escrows };
}

const isThere = ({ moved }: State, slot: number) => slot < 2 || (moved & (slot - 1)) !== 0;

/** One number a state: that of the fields which it has, the last of them lowest. */
export function pack(state: State): number {
  let packed = 0;
  const put = (value: number, size: number) => {
    // One that has no room would make two states one.
    if (!(value >= 0 && value < size)) throw new Error(`${value} has no room among ${size}`);
    packed = packed * size + value;
  };
  for (const [field, size, more] of digits) put(state[field] + more, size);
  for (const slot of [0, 1, 2, 3] as const) {
    if (!isThere(state, slot)) continue;
    for (const [field, size] of ofEscrow) put(state.escrows[slot][field], size);
  }
  if (state.moved === 0) for (const [field, size] of steps) put(state[field], size);
  put(state.moved, 4);
  return packed;
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
  if (state.moved === 0) for (const [field, size] of stepsBack) state[field] = take(size);
  for (const slot of [3, 2, 1, 0] as const) {
    if (!isThere(state, slot)) continue;
    for (const [field, size] of escrowBack) state.escrows[slot][field] = take(size);
  }
  for (const [field, size, more] of digitsBack) state[field] = take(size) - more;
  return state;
}
