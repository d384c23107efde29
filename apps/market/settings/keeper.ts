// Which chains have a gas key, and what it may spend: PARLEY_KEEPER, parsed. The key itself is in a
// file of its own, which no setting shows.

import { factsOf, has } from '@parley/core/families.ts';
import Type, { type Static } from 'typebox';
import type { NamedChain } from './chains.ts';
import { checkOf } from './check.ts';
import { closed, entriesOf, type Parsed } from './entries.ts';

/** A day; a claim is never waited for longer than an eighth of the time left. */
const longestGraceSeconds = 86_400;

const amount = Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$' });
const seconds = Type.Optional(Type.Integer({ minimum: 0, maximum: longestGraceSeconds }));
const schema = Type.Object(
  {
    chain: Type.String(),
    keyFile: Type.String({ minLength: 1, maxLength: 4_096 }),
    dailyCap: amount,
    lowBalance: Type.Optional(amount),
    claimGraceSeconds: seconds,
    refundGraceSeconds: seconds,
    reserveFeePerGas: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,20}$' })),
  },
  closed,
);
const check = checkOf(schema, 'the entry');

export type KeeperSettings = Readonly<ReturnType<typeof settingsOf>>;

/** Amounts in base units. */
function settingsOf(given: Static<typeof schema>) {
  const { reserveFeePerGas } = given;
  return {
    chain: given.chain,
    /** Holds the key, for nobody else to read (0600). */
    keyFile: given.keyFile,
    /** The cost of a UTC day in the native coin; 0 = nothing is sent. */
    dailyCap: BigInt(given.dailyCap),
    /** Below it the log warns. */
    lowBalance: BigInt(given.lowBalance ?? given.dailyCap),
    claimGraceSeconds: given.claimGraceSeconds ?? 300,
    refundGraceSeconds: given.refundGraceSeconds ?? 3_600,
    /** EVM: wei a unit of gas that 99.9 % of times stay below; null = the chain's own number. */
    reserveFeePerGas: reserveFeePerGas === undefined ? null : BigInt(reserveFeePerGas),
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

function readEntry(given: Static<typeof schema>, chains: readonly NamedChain[]) {
  const family = chains.find((each) => each.chain === given.chain)?.family;
  if (family === undefined) return `chain "${given.chain.slice(0, 40)}" is not served`;
  if (!has(family, 'gasKeys'))
    return `a ${factsOf[family].title} claim needs its receiver's own signature`;
  const isForOther = given.reserveFeePerGas !== undefined && !has(family, 'gasPrices');
  return isForOther ? 'field "reserveFeePerGas" is for EVM chains' : settingsOf(given);
}
