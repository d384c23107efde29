// The chain families Parley settles on, with the facts by which they differ, and the names a chain
// goes by. Other files compare no family by its name: they ask `has` for a fact, or switch over all.

type Coin = { readonly symbol: string; readonly decimals: number; readonly unit: string };

type Facts = {
  readonly title: string;
  /** Its own coin, where a chain names no other, and the unit in which it is counted. */
  readonly coin: Coin;
  /** Money is unspent outputs, and a party is a public key that signs its own claim and refund. */
  readonly coins: boolean;
  readonly tokens: boolean;
  /** Claims and refunds may be sent by anyone, so that the market may have gas keys. */
  readonly gasKeys: boolean;
  /** A timelock is compared with the median of the last blocks, and must lie before it. */
  readonly medianTime: boolean;
  /** The escrow takes a claim after its timelock, until the refund. */
  readonly lateClaims: boolean;
  /** A signed text may leave out its address, by the specification: the signature binds its script. */
  readonly bindsAddress: boolean;
  /** All spellings of an address that differ in case alone are the same address. */
  readonly foldsCase: boolean;
  /** A signed text may spell an address in hex as well. */
  readonly hexSpelling: boolean;
  /**
   * The refund address only names the account that funds, and needs no proof of its own, by the
   * specification. It stays false for Solana, whose program demands the same account.
   */
  readonly namesFunder: boolean;
  /** Escrows have a contract and a lane in it, and a later escrow takes the lane. */
  readonly lanes: boolean;
  /** One transaction funds several escrows. */
  readonly batches: boolean;
  /** The contract collects a token after a transaction that approves it. */
  readonly approvals: boolean;
  /** An account's transactions are numbered, and one may replace another of its number. */
  readonly nonces: boolean;
  /** A funding may be signed as typed data and sent by another account. */
  readonly signedFundings: boolean;
  /** An account sends a claim, and the claim does not name it. */
  readonly openSender: boolean;
  /** A sender bids a price of gas. */
  readonly gasPrices: boolean;
  /** A claim by others leaves rent for the funder to take. */
  readonly rent: boolean;
  /** A transaction dies sooner than a person may have read it. */
  readonly hurries: boolean;
  /** Keys are Ed25519 seeds; else secp256k1 scalars. */
  readonly ed25519: boolean;
  /** Contracts write events; else launches are read from instructions. */
  readonly events: boolean;
  /** Wallets know a layout of sign-in texts: EIP-4361, and Solana's of it. */
  readonly signInLayout: boolean;
  /** A wallet is switched between several chains of the family, by EIP-155 ids. */
  readonly chainIds: boolean;
  /** The payee of an escrow may release it to its funder before the timelock. */
  readonly consents: boolean;
  /** Accounts may be contracts that check signatures (EIP-1271). */
  readonly contractWallets: boolean;
  /** A setting may name the depth of a block by a tag, such as `finalized`. */
  readonly depthTags: boolean;
  /** The drift of its clock is measured, and compared with the policy's. */
  readonly measuresDrift: boolean;
  /** Its networks have policies of their own; else all share one, and dev has another. */
  readonly policyTable: boolean;
};

/**
 * A text is tried as an address in this order. Solana comes last, because its addresses have no
 * checksum: a bech32 regtest address in capitals can also be 32 bytes of base58, and its checksum
 * says what it is. No other two families share a text: base58 of 25 bytes with TRON's leading byte
 * is no Bitcoin address, and 42 hex characters hold fewer than 32 bytes.
 */
export const factsOf = {
  evm: {
    title: 'EVM',
    coin: { symbol: 'ETH', decimals: 18, unit: 'wei' },
    coins: false,
    tokens: true,
    gasKeys: true,
    medianTime: false,
    lateClaims: false,
    bindsAddress: false,
    foldsCase: true,
    hexSpelling: false,
    namesFunder: true,
    lanes: true,
    batches: true,
    approvals: true,
    nonces: true,
    signedFundings: true,
    openSender: true,
    gasPrices: true,
    rent: false,
    hurries: false,
    ed25519: false,
    events: true,
    signInLayout: true,
    chainIds: true,
    consents: true,
    contractWallets: true,
    depthTags: true,
    measuresDrift: false,
    policyTable: true,
  },
  tron: {
    title: 'TRON',
    coin: { symbol: 'TRX', decimals: 6, unit: 'sun' },
    coins: false,
    tokens: true,
    gasKeys: true,
    medianTime: false,
    lateClaims: false,
    bindsAddress: false,
    foldsCase: false,
    hexSpelling: true,
    namesFunder: true,
    lanes: true,
    batches: true,
    approvals: true,
    nonces: false,
    signedFundings: false,
    openSender: false,
    gasPrices: false,
    rent: false,
    hurries: false,
    ed25519: false,
    events: true,
    signInLayout: false,
    chainIds: false,
    consents: true,
    contractWallets: false,
    depthTags: false,
    measuresDrift: false,
    policyTable: false,
  },
  bitcoin: {
    title: 'Bitcoin',
    coin: { symbol: 'BTC', decimals: 8, unit: 'sat' },
    coins: true,
    tokens: false,
    gasKeys: false,
    medianTime: true,
    lateClaims: true,
    bindsAddress: true,
    foldsCase: false,
    hexSpelling: false,
    namesFunder: false,
    lanes: false,
    batches: false,
    approvals: false,
    nonces: false,
    signedFundings: false,
    openSender: false,
    gasPrices: false,
    rent: false,
    hurries: false,
    ed25519: false,
    events: false,
    signInLayout: false,
    chainIds: false,
    consents: false,
    contractWallets: false,
    depthTags: false,
    measuresDrift: false,
    policyTable: true,
  },
  solana: {
    title: 'Solana',
    coin: { symbol: 'SOL', decimals: 9, unit: 'lamports' },
    coins: false,
    tokens: true,
    gasKeys: true,
    medianTime: false,
    lateClaims: false,
    bindsAddress: false,
    foldsCase: false,
    hexSpelling: false,
    namesFunder: false,
    lanes: false,
    batches: false,
    approvals: false,
    nonces: false,
    signedFundings: false,
    openSender: false,
    gasPrices: false,
    rent: true,
    hurries: true,
    ed25519: true,
    events: false,
    signInLayout: true,
    chainIds: false,
    consents: true,
    contractWallets: false,
    depthTags: false,
    measuresDrift: true,
    policyTable: false,
  },
} as const satisfies Record<string, Facts>;

/** A kind of chain: one signature scheme, one address format, one escrow design. */
export type Family = keyof typeof factsOf;

export const families = Object.keys(factsOf) as readonly Family[];

/** A fact that a family has or has not. */
export type Fact = Exclude<keyof Facts, 'title' | 'coin'>;

/** The families that have it. */
export type Having<F extends Fact> = {
  [Name in Family]: (typeof factsOf)[Name][F] extends true ? Name : never;
}[Family];

/** A union with a member for each family: a missing one is a compile error. */
export type EachOf<Members extends { readonly [Name in Family]: { readonly family: Name } }> =
  Members[Family];

type Named = Family | { readonly family: Family };

/** Whether a family, or the family of a chain, leg or wallet, has this fact; absent ones have none. */
export function has<F extends Fact, T extends Named | null | undefined>(
  of: T,
  fact: F,
): of is T & (T extends string ? Having<F> : { readonly family: Having<F> }) {
  // A generic null is told from a member only by the type without it.
  const named: Named | null | undefined = of;
  if (named === null || named === undefined) return false;
  const family = typeof named === 'string' ? named : named.family;
  // A chain of a family that is not known here has none of the facts.
  return isFamily(family) && factsOf[family][fact];
}

/** The name of one chain of a deployment, such as `bitcoin`, `ethereum` or `evm-dev`. */
export type ChainKey = string;

/** Which world a deployment lives in; mixing worlds refuses to start. */
export type Network = 'dev' | 'testnet' | 'mainnet';

export function isFamily(text: string): text is Family {
  return Object.hasOwn(factsOf, text);
}
