// What an operator's gas key pays on the TRON networks, as data. Energy, sun and seconds.

export type TronGasPolicy = {
  /** Most energy of one call: what a hostile token or receiver can burn of the key's coins. */
  readonly mostEnergy: bigint;
  /** How long a transaction may wait for its block; then it is signed again. */
  readonly lifeSeconds: number;
  /** Sun for a unit of energy and for a byte that 99.9 % of times stay below. */
  readonly reserveEnergySun: bigint;
  readonly reserveByteSun: bigint;
};

// A claim takes 15 000 to 40 000, USDT's dearest 150 000. Prices are voted on (420 sun at most).
// While one transaction lives no other is signed for the same work: both would be paid for.
const tron: TronGasPolicy = {
  mostEnergy: 500_000n,
  lifeSeconds: 120,
  reserveEnergySun: 420n,
  reserveByteSun: 1_000n,
};

export const tronGasPolicies: Readonly<Record<string, TronGasPolicy>> = {
  tron,
  'tron-nile': tron,
  'tron-shasta': tron,
  'tron-dev': tron,
};
