// Which chains have a gas key, and what it may spend: PARLEY_KEEPER, parsed. The key itself is in a
// file of its own, which no setting shows.

import Type from 'typebox';
import type { ChainSettings, Parsed } from './chains.ts';
import { checkOf } from './check.ts';

export type KeeperSettings = {
  readonly chain: string;
  /** Holds the key, for nobody else to read (0600). */
  readonly keyFile: string;
  /** Base units of the native coin that a UTC day may cost, relays not counted. */
  readonly dailyCap: bigint;
  /** Base units: below it the log warns. */
  readonly lowBalance: bigint;
  readonly claimGraceSeconds: number;
  readonly refundGraceSeconds: number;
  /** EVM: wei a unit of gas that 99.9 % of times stay below; null = the chain's own number. */
  readonly reserveFeePerGas: bigint | null;
  /** Base units that all relays of a UTC day may take; null = the chain's own number. */
  readonly relayCap: bigint | null;
  /** Relays of one account in a UTC day. */
  readonly relaysPerAccount: number;
  /** EVM: base units that all fundings of a UTC day may take; null = the chain's own number. */
  readonly fundCap: bigint | null;
  /** EVM: fundings of one account in a UTC day. */
  readonly fundsPerAccount: number;
  /** Solana: receivers' token accounts that relays and claims of a UTC day may make. */
  readonly relayTokenAccounts: number;
};

/** Of one account in a UTC day, and receivers' token accounts of all in one. */
export const keeperDefaults = {
  relaysPerAccount: 50,
  fundsPerAccount: 10,
  relayTokenAccounts: 12,
} as const;
const defaultGraces = { claimSeconds: 300, refundSeconds: 3_600 } as const;
/** A day; a claim is never waited for longer than an eighth of the time left. */
const longestGraceSeconds = 86_400;

const amount = Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$' });
const seconds = Type.Optional(Type.Integer({ minimum: 0, maximum: longestGraceSeconds }));
const number = Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 }));
const check = checkOf(
  Type.Object(
    {
      chain: Type.String(),
      keyFile: Type.String({ minLength: 1, maxLength: 4_096 }),
      dailyCap: amount,
      lowBalance: Type.Optional(amount),
      claimGraceSeconds: seconds,
      refundGraceSeconds: seconds,
      reserveFeePerGas: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,20}$' })),
      relayCap: Type.Optional(amount),
      relaysPerAccount: number,
      relayTokenAccounts: number,
      fundCap: Type.Optional(amount),
      fundsPerAccount: number,
    },
    { additionalProperties: false },
  ),
  'the entry',
);

type Served = Pick<ChainSettings, 'chain' | 'family'>;

/** The gas keys of PARLEY_KEEPER; `chains` are those that will be served. */
export function parseKeeper(given: unknown, chains: readonly Served[]): Parsed<KeeperSettings> {
  if (!Array.isArray(given) || given.length > chains.length) {
    const sentence =
      'PARLEY_KEEPER must be "off", "apart" or a JSON array with an entry a chain at most';
    return { values: [], wrong: [sentence] };
  }
  const wrong: string[] = [];
  const values: KeeperSettings[] = [];
  for (const [at, entry] of given.entries()) {
    const said = `PARLEY_KEEPER, entry ${at + 1}: `;
    const one = readEntry(entry, chains);
    if (typeof one === 'string') wrong.push(said + one);
    else if (values.some(({ chain }) => chain === one.chain)) {
      wrong.push(`${said}chain "${one.chain}" has another entry`);
    } else values.push(one);
  }
  return { values, wrong };
}

/** The entry, or the sentence that says what is wrong with it. */
function readEntry(entry: unknown, chains: readonly Served[]): KeeperSettings | string {
  const fault = check(entry);
  if (fault !== null) return fault;
  const given = entry as Record<'chain' | 'keyFile' | 'dailyCap', string> & {
    lowBalance?: string;
    claimGraceSeconds?: number;
    refundGraceSeconds?: number;
    reserveFeePerGas?: string;
    relayCap?: string;
    relaysPerAccount?: number;
    relayTokenAccounts?: number;
    fundCap?: string;
    fundsPerAccount?: number;
  };
  const chain = chains.find((each) => each.chain === given.chain);
  if (chain === undefined) return `chain "${given.chain.slice(0, 40)}" is not served`;
  if (chain.family === 'bitcoin') {
    return `chain "${chain.chain}": a Bitcoin claim needs its receiver's own signature`;
  }
  for (const field of ['reserveFeePerGas', 'fundCap', 'fundsPerAccount'] as const) {
    if (given[field] === undefined || chain.family === 'evm') continue;
    return `chain "${chain.chain}": field "${field}" is for EVM chains`;
  }
  if (given.relayTokenAccounts !== undefined && chain.family !== 'solana') {
    return `chain "${chain.chain}": field "relayTokenAccounts" is for Solana`;
  }
  return {
    chain: chain.chain,
    keyFile: given.keyFile,
    dailyCap: BigInt(given.dailyCap),
    lowBalance: BigInt(given.lowBalance ?? given.dailyCap),
    claimGraceSeconds: given.claimGraceSeconds ?? defaultGraces.claimSeconds,
    refundGraceSeconds: given.refundGraceSeconds ?? defaultGraces.refundSeconds,
    reserveFeePerGas: given.reserveFeePerGas === undefined ? null : BigInt(given.reserveFeePerGas),
    relayCap: given.relayCap === undefined ? null : BigInt(given.relayCap),
    relaysPerAccount: given.relaysPerAccount ?? keeperDefaults.relaysPerAccount,
    relayTokenAccounts: given.relayTokenAccounts ?? keeperDefaults.relayTokenAccounts,
    fundCap: given.fundCap === undefined ? null : BigInt(given.fundCap),
    fundsPerAccount: given.fundsPerAccount ?? keeperDefaults.fundsPerAccount,
  };
}
