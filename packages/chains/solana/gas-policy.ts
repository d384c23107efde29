// What an operator's gas key pays, as data: millionths of a lamport for each compute unit.

export type SolanaGasPolicy = {
  /** Offered also where nobody else has offered anything of late. */
  readonly leastUnitPrice: bigint;
  /** What 99.9 % of times is enough. */
  readonly reserveUnitPrice: bigint;
};

/** Chosen, not measured: 10 000 000 is 0.0012 SOL for a claim of tokens. */
const cluster: SolanaGasPolicy = { leastUnitPrice: 10_000n, reserveUnitPrice: 10_000_000n };

export const solanaGasPolicies: Readonly<Record<string, SolanaGasPolicy>> = {
  solana: cluster,
  'solana-devnet': cluster,
  'solana-dev': cluster,
};
