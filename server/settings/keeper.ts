// Which chains have a gas key, and what it may spend: PARLEY_KEEPER, parsed. The key itself is in a
// file of its own, which no setting shows.

import Type, { type Static } from 'typebox';
import type { NamedChain } from './chains.ts';
import { checkOf } from './check.ts';
import { closed, entriesOf, type Parsed } from './entries.ts';

/** Of one account in a UTC day, and receivers' token accounts of all in one. */
export const keeperDefaults = {
  relaysPerAccount: 50,
  fundsPerAccount: 10,
  relayTokenAccounts: 12,
} as const;
/** A day; a claim is never waited for longer than an eighth of the time left. */
const longestGraceSeconds = 86_400;

const amount = Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$' });
const seconds = Type.Optional(Type.Integer({ minimum: 0, maximum: longestGraceSeconds }));
const number = Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 }));
const schema = Type.Object(
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
  closed,
);
const check = checkOf(schema, 'the entry');

export type KeeperSettings = Readonly<ReturnType<typeof settingsOf>>;

/** Amounts in base units, where nothing is given null = the chain's own number. */
function settingsOf(given: Static<typeof schema>) {
  const orNull = (text: string | undefined) => (text === undefined ? null : BigInt(text));
  return {
    chain: given.chain,
    /** Holds the key, for nobody else to read (0600). */
    keyFile: given.keyFile,
    /** Of the native coin, what a UTC day may cost, relays not counted. */
    dailyCap: BigInt(given.dailyCap),
    /** Below it the log warns. */
    lowBalance: BigInt(given.lowBalance ?? given.dailyCap),
    claimGraceSeconds: given.claimGraceSeconds ?? 300,
    refundGraceSeconds: given.refundGraceSeconds ?? 3_600,
    /** EVM: wei a unit of gas that 99.9 % of times stay below. */
    reserveFeePerGas: orNull(given.reserveFeePerGas),
    /** What all relays of a UTC day may take. */
    relayCap: orNull(given.relayCap),
    /** Relays of one account in a UTC day. */
    relaysPerAccount: given.relaysPerAccount ?? keeperDefaults.relaysPerAccount,
    /** Solana: receivers' token accounts that relays and claims of a UTC day may make. */
    relayTokenAccounts: given.relayTokenAccounts ?? keeperDefaults.relayTokenAccounts,
    /** EVM: what all fundings of a UTC day may take. */
    fundCap: orNull(given.fundCap),
    /** EVM: fundings of one account in a UTC day. */
    fundsPerAccount: given.fundsPerAccount ?? keeperDefaults.fundsPerAccount,
  };
}

/** The gas keys of PARLEY_KEEPER; `chains` are those that will be served. */
export function parseKeeper(given: unknown, chains: readonly NamedChain[]): Parsed<KeeperSettings> {
  return entriesOf(given, {
    setting: 'PARLEY_KEEPER',
    wanted: '"off", "apart" or a JSON array with an entry a chain at most',
    least: 0,
    most: chains.length,
    namedBy: ['chain'],
    read: (entry) => check(entry) ?? readEntry(entry as Static<typeof schema>, chains),
    isSame: (one, other) => one.chain === other.chain,
    twice: 'this chain has another entry',
  });
}

/** Fields of one family. */
const ofFamily = [
  ['reserveFeePerGas', 'evm', 'EVM chains'],
  ['fundCap', 'evm', 'EVM chains'],
  ['fundsPerAccount', 'evm', 'EVM chains'],
  ['relayTokenAccounts', 'solana', 'Solana'],
] as const;

function readEntry(given: Static<typeof schema>, chains: readonly NamedChain[]) {
  const family = chains.find((each) => each.chain === given.chain)?.family;
  if (family === undefined) return `chain "${given.chain.slice(0, 40)}" is not served`;
  if (family === 'bitcoin') return "a Bitcoin claim needs its receiver's own signature";
  const other = ofFamily.find(([field, of]) => given[field] !== undefined && of !== family);
  return other === undefined ? settingsOf(given) : `field "${other[0]}" is for ${other[2]}`;
}
