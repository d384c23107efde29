// The kinds that so many seeds of the driver meet: where a kind is missing, that nobody lost says
// less.

type Counts = ReadonlyMap<string, number>;

/** From so many seeds on; the rare ones from more. */
const fairSeeds = 300;
const manySeeds = 2_000;

const families = ['bitcoin', 'evm', 'tron', 'solana'] as const;
const common: readonly string[] = [
  ...families.flatMap((family) => [`leg a on ${family}`, `leg b on ${family}`]),
  'chain with 1 nodes',
  'chain with 2 nodes',
  'chain with 3 nodes',
  'initiator driver',
  'counterparty driver',
  'initiator rival',
  'counterparty rival',
  'stale look',
  'node forgets',
  'node fails once',
  'node gone',
  'node hangs',
  'node slow',
  'node stuck',
  'node syncing',
  'node split',
  'node ill for ever',
  'sent to a node that tells nobody',
  'node lies: claimed',
  'node lies: refunded',
  'node lies: funded',
  'node lies: unfunded',
  'node lies: height',
  'node lies: future',
  'node lies: fork',
  'node lies: clock ahead',
  'node lies: clock behind',
  'doubt: a node behind',
  'doubt: a chain stands',
  'doubt: an answer refused',
  'node lies: early',
  'node lies: hides',
  'a witness fails',
  'calm but for a liar',
  'node lies: vain',
  'built in vain',
  'doubt: a node ahead',
  'doubt: a node silent',
  'doubt: nodes disagree',
  'reorganisation',
  'chain stands still',
  'process died',
  'market lies',
  'market moves a leg',
  'market dies',
  'market flaky',
  'calm seeds',
  'end: received',
  'end: refunded',
  'end: nothing',
  'restored from the phrase',
  'rival sends a claim',
  'rival sends a refund',
  'paid by hand',
];
const rare: readonly string[] = [
  'deep reorganisation',
  'store rolled back',
  'rival takes its funding back',
  'device clock ahead',
  'device clock behind',
  'never paid by hand',
  'initiator absent',
  'counterparty absent',
  'initiator sleepy',
  'counterparty sleepy',
];

/** Kinds that so many seeds should have met and did not. */
export function missedByDriver(met: Counts, seeds: number): string[] {
  if (seeds < fairSeeds) return [];
  const wanted = seeds < manySeeds ? common : [...common, ...rare];
  return wanted.filter((kind) => (met.get(kind) ?? 0) === 0);
}
