// The chain families Parley settles on, and the names a chain goes by.

export const families = ['evm', 'tron', 'bitcoin', 'solana'] as const;

/** A kind of chain: one signature scheme, one address format, one escrow design. */
export type Family = (typeof families)[number];

/** The unit in which its own coin is counted. */
export const baseUnits: Readonly<Record<Family, string>> = {
  evm: 'wei',
  tron: 'sun',
  bitcoin: 'sat',
  solana: 'lamports',
};

/** The name of one chain of a deployment, such as `bitcoin`, `ethereum` or `evm-dev`. */
export type ChainKey = string;

/** Which world a deployment lives in; mixing worlds refuses to start. */
export type Network = 'dev' | 'testnet' | 'mainnet';

export function isFamily(text: string): text is Family {
  return (families as readonly string[]).includes(text);
}
