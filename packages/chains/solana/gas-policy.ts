// The price of an operator's gas key, as data: millionths of a lamport for each compute unit.

export type SolanaGasPolicy = {
  /** Offered also where nobody else has offered anything of late. */
  readonly leastUnitPrice: bigint;
  /** A price that is enough 99.9 % of times. */
  readonly reserveUnitPrice: bigint;
};

/** Chosen, not measured: 10 000 000 is 0.0012 SOL for a claim of tokens. */
const cluster: SolanaGasPolicy = { leastUnitPrice: 10_000n, reserveUnitPrice: 10_000_000n };

export const solanaGasPolicies: Readonly<Record<string, SolanaGasPolicy>> = {
  solana: cluster,
  'solana-devnet': cluster,
  'solana-dev': cluster,
};
