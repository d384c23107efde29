// Which launchpads a deployment follows: PARLEY_LAUNCHPADS, parsed. Every sentence names the entry
// and the field; the users of these values need not check again.

import { type Having, has } from '@parley/core/families.ts';
import { type LaunchSource, launchEvent } from '@parley/tokens/launches.ts';
import Type, { type Static } from 'typebox';
import { defaultMostAnHour, mostLaunchpads, mostMostAnHour } from '../listing/launchpads/bounds.ts';
import { type NamedChain, tokenParsers } from './chains.ts';
import { checkOf } from './check.ts';
import { closed, entriesOf, fieldFault, type Parsed, shown } from './entries.ts';

export type LaunchpadSettings = {
  /** The source of what it launches is `launchpad:<name>`. */
  readonly name: string;
  readonly chain: string;
  readonly source: LaunchSource;
  /** Launches of an hour that become candidates; more are left out. */
  readonly mostAnHour: number;
};

const address = Type.String({ minLength: 1, maxLength: 64 });
const common = {
  name: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{0,31}$' }),
  chain: Type.String(),
  mostAnHour: Type.Optional(Type.Integer({ minimum: 1, maximum: mostMostAnHour })),
};
const event = Type.Object(
  {
    ...common,
    factory: address,
    event: Type.String({ minLength: 1, maxLength: 1_000 }),
    token: Type.String({ minLength: 1, maxLength: 100 }),
  },
  closed,
);
const instruction = Type.Object(
  {
    ...common,
    program: address,
    discriminator: Type.String({ pattern: '^([0-9a-f]{2}){1,32}$' }),
    mintAccount: Type.Integer({ minimum: 0, maximum: 255 }),
    account: Type.Optional(address),
  },
  closed,
);
const checks = {
  event: checkOf(event, 'the entry'),
  instruction: checkOf(instruction, 'the entry'),
};

export function parseLaunchpads(
  given: unknown,
  chains: readonly NamedChain[],
): Parsed<LaunchpadSettings> {
  return entriesOf(given, {
    setting: 'PARLEY_LAUNCHPADS',
    wanted: `a JSON array of 1 to ${mostLaunchpads} launchpads`,
    least: 1,
    most: mostLaunchpads,
    namedBy: ['name', 'chain'],
    read: (entry) => readEntry(entry, chains),
    isSame: (one, other) => one.name === other.name,
    twice: 'another entry has this name',
  });
}

function readEntry(
  entry: Record<string, unknown>,
  chains: readonly NamedChain[],
): LaunchpadSettings | string {
  if (typeof entry.chain !== 'string') return 'field "chain" must be the key of a chain';
  const served = chains.find((each) => each.chain === entry.chain);
  if (served === undefined) {
    const keys = chains.map((each) => each.chain).join(', ');
    return `chain ${shown(entry.chain)} is not served; there are: ${keys}`;
  }
  const { chain, family } = served;
  if (!has(family, 'tokens')) return `chain "${chain}" has no tokens to launch`;
  const fault = has(family, 'events') ? checks.event(entry) : checks.instruction(entry);
  if (fault !== null) return fault;
  const source = has(family, 'events') ? eventOf(entry, family) : instructionOf(entry);
  if (typeof source === 'string') return source;
  const { name, mostAnHour = defaultMostAnHour } = entry as Omit<LaunchpadSettings, 'source'>;
  return { name, chain, source, mostAnHour };
}

function eventOf(entry: object, family: Having<'events'>): LaunchSource | string {
  const { factory, event: declared, token } = entry as Static<typeof event>;
  const parse = tokenParsers[family];
  return (
    fieldFault('factory', () => parse(factory)) ??
    fieldFault('event', () => launchEvent({ event: declared, token })) ?? {
      factory: parse(factory),
      event: declared,
      token,
    }
  );
}

function instructionOf(entry: object): LaunchSource | string {
  const given = entry as Static<typeof instruction>;
  const { program, discriminator, mintAccount, account = program } = given;
  const parse = tokenParsers.solana;
  return (
    fieldFault('program', () => parse(program)) ??
    fieldFault('account', () => parse(account)) ?? {
      program: parse(program),
      account: parse(account),
      discriminator,
      mintAccount,
    }
  );
}
