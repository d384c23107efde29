// What a run of seeds came to, in counts: swaps by their end, faults and attacks by kind.

export type Counts = Readonly<Record<string, number>>;

export type Tally = {
  readonly swaps: number;
  /** Swaps by their last status. */
  readonly ends: Counts;
  /** What went wrong, by kind, as often as it was met. */
  readonly faults: Counts;
  /** What malicious parties tried. */
  readonly attacks: Counts;
  /** What gas keys did, and what became of it. */
  readonly keeper: Counts;
  /** Of signed refunds that the market keeps, and what became of them. */
  readonly ladders: Counts;
  /** What operators halted and lifted. */
  readonly halts: Counts;
  readonly rest: Counts;
};

export function addTo(total: Map<string, number>, counts: Iterable<readonly [string, number]>) {
  for (const [what, times] of counts) total.set(what, (total.get(what) ?? 0) + times);
}

const attacks = /^(attack|plan) /;
const keeper = /^(keeper|relays) /;
const ladders = /^ladders /;
const halts = /^halts/;
const rest = /^(calm seeds|drill |seeds with |swaps not agreed|left open|checked )/;

export function tallyOf(total: ReadonlyMap<string, number>): Tally {
  const sorted = [...total].sort(([one], [other]) => (one < other ? -1 : 1));
  const pick = (wanted: (what: string) => boolean, cut = 0): Counts =>
    Object.fromEntries(
      sorted.filter(([what]) => wanted(what)).map(([what, times]) => [what.slice(cut), times]),
    );
  const isEnd = (what: string) => what.startsWith('end ');
  const isFault = (what: string) =>
    what !== 'swaps' &&
    !isEnd(what) &&
    !attacks.test(what) &&
    !keeper.test(what) &&
    !ladders.test(what) &&
    !halts.test(what) &&
    !rest.test(what);
  return {
    swaps: total.get('swaps') ?? 0,
    ends: pick(isEnd, 'end '.length),
    faults: pick(isFault),
    attacks: pick((what) => attacks.test(what)),
    keeper: pick((what) => keeper.test(what)),
    ladders: pick((what) => ladders.test(what), 'ladders '.length),
    halts: pick((what) => halts.test(what)),
    rest: pick((what) => rest.test(what)),
  };
}

const listed = (counts: Counts) =>
  Object.entries(counts)
    .map(([what, times]) => `${times} ${what}`)
    .join(', ') || 'none';

/** In one line. */
export function lineOf({
  swaps,
  ends,
  faults,
  attacks: tried,
  keeper: kept,
  ladders: left,
  halts: halted,
  rest: more,
}: Tally): string {
  return [
    `${swaps} swaps (${listed(ends)})`,
    `faults: ${listed(faults)}`,
    `attacks: ${listed(tried)}`,
    `gas keys: ${listed(kept)}`,
    `signed refunds: ${listed(left)}`,
    `operators: ${listed(halted)}`,
    `besides: ${listed(more)}`,
  ].join('; ');
}
