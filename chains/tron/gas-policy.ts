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

/**
 * A claim takes 15 000 to 40 000 (contracts/escrows/energy.snapshot.json). One of USDT to a new
 * holder takes 150 000 at its dearest, with the dynamic factor at 4.4; twice that again is for
 * others.
 *
 * Prices are parameters that the witnesses vote on, not an auction: getEnergyFee was 420 at most
 * and has only been lowered since (proposals on tronscan.org), getTransactionFee is 1 000.
 *
 * Forty blocks: while one transaction lives no other is signed for the same work, as both would
 * be paid for, and a claim has hours.
 */
const tron: TronGasPolicy = {
  mostEnergy: 500_000n,
  lifeSeconds: 120,
  reserveEnergySun: 420n,
  reserveByteSun: 1_000n,
};

/** By chain key. */
export const tronGasPolicies: Readonly<Record<string, TronGasPolicy>> = {
  tron,
  'tron-nile': tron,
  'tron-shasta': tron,
  'tron-dev': tron,
};
