// Which launchpads a deployment follows: PARLEY_LAUNCHPADS, parsed. Every sentence names the entry
// and the field; whoever gets these values need not check again.

import Type from 'typebox';
import { parseEvmAddress } from '../../chains/evm/address.ts';
import { parseSolanaAddress } from '../../chains/solana/address.ts';
import { type LaunchSource, launchEvent } from '../../chains/tokens/launches.ts';
import { parseTronAddress } from '../../chains/tron/address.ts';
import type { Family } from '../../core/families.ts';
import { defaultMostAnHour, mostLaunchpads, mostMostAnHour } from '../listing/launchpads/bounds.ts';
import type { ChainSettings, Parsed } from './chains.ts';
import { checkOf } from './check.ts';
import { isObject, shown } from './entry.ts';

/** One launchpad to follow. */
export type LaunchpadSettings = {
  /** The source of what it launches is `launchpad:<name>`. */
  readonly name: string;
  readonly chain: string;
  readonly source: LaunchSource;
  /** Launches of an hour that become candidates; more are left out. */
  readonly mostAnHour: number;
};

type Served = Pick<ChainSettings, 'chain' | 'family'>;

const closed = { additionalProperties: false } as const;
const address = Type.String({ minLength: 1, maxLength: 64 });
const common = {
  name: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{0,31}$' }),
  chain: Type.String(),
  mostAnHour: Type.Optional(Type.Integer({ minimum: 1, maximum: mostMostAnHour })),
};
const checks = {
  event: checkOf(
    Type.Object(
      {
        ...common,
        factory: address,
        event: Type.String({ minLength: 1, maxLength: 1_000 }),
        token: Type.String({ minLength: 1, maxLength: 100 }),
      },
      closed,
    ),
    'the entry',
  ),
  instruction: checkOf(
    Type.Object(
      {
        ...common,
        program: address,
        discriminator: Type.String({ pattern: '^([0-9a-f]{2}){1,32}$' }),
        mintAccount: Type.Integer({ minimum: 0, maximum: 255 }),
        account: Type.Optional(address),
      },
      closed,
    ),
    'the entry',
  ),
};

/** The launchpads of PARLEY_LAUNCHPADS; `chains` are those that will be served. */
export function parseLaunchpads(
  given: unknown,
  chains: readonly Served[],
): Parsed<LaunchpadSettings> {
  if (!Array.isArray(given) || given.length === 0 || given.length > mostLaunchpads) {
    const sentence = `PARLEY_LAUNCHPADS must be a JSON array of 1 to ${mostLaunchpads} launchpads`;
    return { values: [], wrong: [sentence] };
  }
  const wrong: string[] = [];
  const values: LaunchpadSettings[] = [];
  for (const [at, entry] of given.entries()) {
    const said = `PARLEY_LAUNCHPADS, ${entryName(entry, at)}: `;
    const one = readEntry(entry, chains);
    if (typeof one === 'string') {
      wrong.push(said + one);
      continue;
    }
    if (values.some(({ name }) => name === one.name)) {
      wrong.push(`${said}another entry has this name`);
    }
    values.push(one);
  }
  return { values, wrong };
}

/** The launchpad, or the sentence that says what is wrong with it. */
function readEntry(entry: unknown, chains: readonly Served[]): LaunchpadSettings | string {
  if (!isObject(entry)) return 'the entry must be an object';
  if (typeof entry.chain !== 'string') return 'field "chain" must be the key of a chain';
  const chain = chains.find((each) => each.chain === entry.chain);
  if (chain === undefined) {
    const keys = chains.map((each) => each.chain).join(', ');
    return `chain ${shown(entry.chain)} is not served; there are: ${keys}`;
  }
  if (chain.family === 'bitcoin') return `chain "${chain.chain}" has no tokens to launch`;
  const check = chain.family === 'solana' ? checks.instruction : checks.event;
  const fault = check(entry);
  if (fault !== null) return fault;
  const { name, mostAnHour = defaultMostAnHour } = entry as Omit<LaunchpadSettings, 'source'>;
  const source = sourceOf(entry, chain.family);
  if (typeof source === 'string') return source;
  return { name, chain: chain.chain, source, mostAnHour };
}

const parsers = { evm: parseEvmAddress, tron: parseTronAddress, solana: parseSolanaAddress };

function sourceOf(
  entry: Record<string, unknown>,
  family: Exclude<Family, 'bitcoin'>,
): LaunchSource | string {
  const given = entry as Partial<Record<'factory' | 'event' | 'token' | 'account', string>> & {
    program: string;
    discriminator: string;
    mintAccount: number;
  };
  let field = '';
  const addressIn = (name: 'factory' | 'program' | 'account', text: string) => {
    field = name;
    return parsers[family](text);
  };
  try {
    if (family === 'solana') {
      const program = addressIn('program', given.program);
      const account = addressIn('account', given.account ?? given.program);
      const { discriminator, mintAccount } = given;
      return { program, discriminator, mintAccount, account };
    }
    const factory = addressIn('factory', given.factory ?? '');
    const { event = '', token = '' } = given;
    field = 'event';
    launchEvent({ event, token });
    return { factory, event, token };
  } catch (error) {
    return `field "${field}": ${(error as Error).message}`;
  }
}

/** Such as `entry 2 ("rocket" on "base")`. */
function entryName(entry: unknown, at: number): string {
  const { name, chain } = isObject(entry) ? entry : {};
  const words = [name, chain].filter((each) => typeof each === 'string');
  return `entry ${at + 1}${words.length === 0 ? '' : ` (${words.map(shown).join(' on ')})`}`;
}
