// Which chains and assets a deployment serves: PARLEY_CHAINS and PARLEY_ASSETS, parsed. Every
// sentence names the entry and the field; the users of these values need not check again.

import { contractsFault, contractsOf, mostContracts } from '@parley/chains/escrows/plan.ts';
import { parseEvmAddress } from '@parley/chains/evm/address.ts';
import { evmDeployment } from '@parley/chains/evm/plan.ts';
import { parseSolanaAddress } from '@parley/chains/solana/address.ts';
import { parseTronAddress } from '@parley/chains/tron/address.ts';
import { noShard, shardAt } from '@parley/contracts/escrows/ids.ts';
import { parseBaseUnits } from '@parley/core/amounts.ts';
import {
  type EachOf,
  type Family,
  families,
  type Having,
  has,
  isFamily,
  type Network,
} from '@parley/core/families.ts';
import { type ChainPolicy, type Depth, policyNumbers } from '@parley/core/policy.ts';
import { worldOfBitcoin, worldOfChainId, worldOfSolana, worldOfTron } from '@parley/core/worlds.ts';
import Type, { type Static, type TSchema } from 'typebox';
import { checkOf } from './check.ts';
import {
  closed,
  entriesOf,
  fieldFault,
  isObject,
  type Parsed,
  type ReadonlyDeep,
  shown,
} from './entries.ts';

export type OwnPolicy = {
  /** Name of the policy that the rest is taken from; default: the chain's own. */
  readonly like?: string;
  readonly normal?: Partial<Depth>;
  readonly high?: Partial<Depth>;
} & Partial<Omit<ChainPolicy, 'normal' | 'high'>>;

/** Chains, nodes of a chain, contracts of a chain and curated assets that settings may name. */
const mostChains = 100;
const mostAssets = 10_000;
const longest = 2_048;

const some = Type.Optional;
const oneOf = <const Values extends readonly (string | null)[]>(...values: Values) =>
  Type.Unsafe<Values[number]>({ enum: values });

const chain = Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' });
const url = Type.String({ pattern: '^https?://', maxLength: longest });
// A year: the inequalities of packages/core/deadlines.ts draw the real bounds.
const seconds = some(Type.Integer({ minimum: 0, maximum: 31_536_000 }));
const confirmations = some(Type.Integer({ minimum: 1, maximum: 100_000 }));
const depth = some(
  Type.Object({ confirmations, settleSeconds: seconds, outageSeconds: seconds }, closed),
);
const policyName = Type.String({ minLength: 1, maxLength: 64 });
const ownPolicy = Type.Object(
  {
    like: some(policyName),
    ...Object.fromEntries(policyNumbers.map((name) => [name, seconds])),
    normal: depth,
    high: depth,
    windowSeconds: some(
      Type.Unsafe({ type: ['integer', 'null'], minimum: 0, maximum: 31_536_000 }),
    ),
  },
  closed,
);
const nodes = <T extends TSchema>(node: T) =>
  Type.Array(node, { minItems: 1, maxItems: 20, uniqueItems: true });
const instances = <T extends TSchema>(instance: T) => {
  const others = some(Type.Array(instance, { maxItems: mostContracts }));
  return { shards: others, formerContracts: others };
};
const common = {
  chain,
  /** A name of a table of chains/…/policy.ts, or numbers; default: the one of what the chain is. */
  policy: some(Type.Unsafe<string | OwnPolicy>({})),
  /** Public nodes that answer pages of any origin: those the app for browsers begins with. */
  pageUrls: some(nodes(url)),
};
/** Where the id is in no table of packages/core/worlds.ts. */
const world = some(oneOf('dev', 'testnet', 'mainnet'));
const chainIdTo = (maximum: number) => Type.Integer({ minimum: 1, maximum });

/** One source: Bitcoin Core RPC (`http://user:password@host:port`), else an Esplora server. */
const bitcoinSource = { rpcUrl: some(url), esploraUrl: some(url) };
const bitcoinChain = Type.Object(
  {
    ...common,
    family: oneOf('bitcoin'),
    /** The network of the node; must belong to PARLEY_NETWORK. */
    network: oneOf('mainnet', 'testnet', 'signet', 'regtest'),
    ...bitcoinSource,
    /** Another source of the same chain: where the two differ, funding and revealing pause. */
    second: some(Type.Object(bitcoinSource, closed)),
  },
  closed,
);
const evmContract = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });
const evmChain = Type.Object(
  {
    ...common,
    family: oneOf('evm'),
    chainId: chainIdTo(Number.MAX_SAFE_INTEGER),
    rpcUrls: nodes(url),
    contract: some(evmContract),
    ...instances(evmContract),
    world,
    /** The head that deep payments wait for besides blocks; null = blocks alone. */
    depthTag: some(oneOf('safe', 'finalized', null)),
  },
  closed,
);
const tronInstance = {
  contract: Type.String({ minLength: 1, maxLength: 64 }),
  creation: Type.String({ pattern: '^[0-9a-f]{64}$' }),
};
const tronChain = Type.Object(
  {
    ...common,
    family: oneOf('tron'),
    chainId: chainIdTo(0xffff_ffff),
    ...tronInstance,
    ...instances(Type.Object(tronInstance, closed)),
    /** Nodes of one chain, which must agree before anyone funds or reveals. */
    sources: nodes(Type.Object({ url, solidityUrl: some(url), jsonRpcUrl: some(url) }, closed)),
    world,
  },
  closed,
);
const base58Of32Bytes = Type.String({ pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$' });
const solanaChain = Type.Object(
  {
    ...common,
    family: oneOf('solana'),
    genesisHash: base58Of32Bytes,
    rpcUrls: nodes(url),
    /** The escrow program, which nobody can replace. */
    program: base58Of32Bytes,
    world,
    /** Further from the market's clock nobody may fund or reveal; default: the policy's. */
    mostDriftSeconds: seconds,
  },
  closed,
);
const asset = Type.Object(
  {
    chain,
    symbol: Type.String({ pattern: '^[!-~]{1,32}$' }),
    address: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 128,
    }),
    decimals: Type.Integer({ minimum: 0, maximum: 255 }),
    /** Base units; from here on an amount waits for the deeper depth. */
    highValueFrom: some(Type.String({ pattern: '^[1-9][0-9]{0,77}$' })),
  },
  closed,
);

export type ChainSettings = ReadonlyDeep<
  EachOf<{
    bitcoin: Static<typeof bitcoinChain>;
    evm: Static<typeof evmChain>;
    tron: Static<typeof tronChain>;
    solana: Static<typeof solanaChain>;
  }>
>;
export type Of<F extends Family> = ChainSettings & { readonly family: F };
export type BitcoinSourceSettings = Pick<Of<'bitcoin'>, 'rpcUrl' | 'esploraUrl'>;
export type AssetSettings = ReadonlyDeep<Static<typeof asset>>;
export type NamedChain = Pick<ChainSettings, 'chain' | 'family'>;

const checks = {
  bitcoin: checkOf(bitcoinChain, 'the entry'),
  evm: checkOf(evmChain, 'the entry'),
  tron: checkOf(tronChain, 'the entry'),
  solana: checkOf(solanaChain, 'the entry'),
  asset: checkOf(asset, 'the entry'),
  policy: checkOf(ownPolicy, '"policy"'),
  policyName: checkOf(policyName, '"policy"'),
};
export const tokenParsers = {
  evm: parseEvmAddress,
  tron: parseTronAddress,
  solana: parseSolanaAddress,
} satisfies Record<Having<'tokens'>, unknown>;

/** The chains of PARLEY_CHAINS on this network, and what is wrong with them, a sentence each. */
export function parseChains(given: unknown, network: Network): Parsed<ChainSettings> {
  return entriesOf(given, {
    setting: 'PARLEY_CHAINS',
    wanted: `a JSON array of 1 to ${mostChains} chains`,
    least: 1,
    most: mostChains,
    namedBy: ['symbol', 'chain'],
    read: (entry) => chainFault(entry, network) ?? (entry as ChainSettings),
    isSame: (one, other) => one.chain === other.chain,
    twice: 'this chain is configured twice',
  });
}

/**
 * Those that PARLEY_CHAINS names, wrong ones too: an entry that names one of them is not wrong for
 * it.
 */
export function namedChains(given: unknown): NamedChain[] {
  const entries: unknown[] = Array.isArray(given) ? given : [];
  return entries.flatMap((entry) => {
    const { chain: key, family } = isObject(entry) ? entry : {};
    const isNamed = typeof key === 'string' && typeof family === 'string' && isFamily(family);
    return isNamed ? [{ chain: key, family }] : [];
  });
}

function chainFault(entry: Record<string, unknown>, network: Network): string | null {
  const { family, policy } = entry;
  if (typeof family !== 'string' || !isFamily(family)) {
    return `field "family" is ${shown(family)}; served are ${families.join(', ')}`;
  }
  const fault = checks[family](entry) ?? policyFault(policy) ?? urlFault(entry);
  if (fault !== null) return fault;
  const one = entry as ChainSettings;
  return familyFault(one) ?? worldFault(one, network);
}

function familyFault(one: ChainSettings): string | null {
  switch (one.family) {
    case 'bitcoin':
      return bitcoinFault(one);
    case 'evm': {
      const fault = instancesFault(one);
      if (fault !== null) return fault;
      const deployment = evmDeployment(one.chainId, one);
      const other = contractsOf(deployment).find((each) => shardAt(each) === null);
      return other === undefined ? contractsFault(deployment) : `it names ${noShard(other)}`;
    }
    case 'tron':
      return instancesFault(one) ?? contractsFault(one);
    case 'solana':
      return (
        fieldFault('program', () => parseSolanaAddress(one.program)) ??
        fieldFault('genesisHash', () => parseSolanaAddress(one.genesisHash))
      );
  }
}

function instancesFault(one: Of<'evm'> | Of<'tron'>): string | null {
  const { contract, shards = [], formerContracts = [] } = one;
  const named = { contract: contract === undefined ? [] : [contract], shards, formerContracts };
  for (const [field, all] of Object.entries(named)) {
    for (const each of all) {
      const address = typeof each === 'string' ? each : each.contract;
      const fault = fieldFault(field, () => tokenParsers[one.family](address));
      if (fault !== null) return fault;
    }
  }
  return null;
}

function bitcoinFault(one: Of<'bitcoin'>): string | null {
  const isNone = (source: BitcoinSourceSettings = { rpcUrl: '' }) =>
    source.rpcUrl === undefined && source.esploraUrl === undefined;
  const named = 'names no node: give "rpcUrl" or "esploraUrl"';
  if (isNone(one)) return `it ${named}`;
  return isNone(one.second) ? `field "second" ${named}` : null;
}

/** Addresses that could be asked. They are never shown: they may hold a password or a key. */
function urlFault(entry: Record<string, unknown>): string | null {
  for (const [field, address] of urlsIn(entry)) {
    if (!URL.canParse(address)) return `field "${field}" is not a URL`;
    // Only Core takes them from the address; fetch refuses the others.
    if (!field.endsWith('rpcUrl') && new URL(address).username !== '') {
      return `field "${field}" must not carry a user and password`;
    }
  }
  return null;
}

function* urlsIn(value: unknown, field = ''): Generator<[field: string, address: string]> {
  if (typeof value === 'string') {
    if (/(^|\.)(\w*Url|url)(s\.\d+)?$/.test(field)) yield [field, value];
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      yield* urlsIn(inner, field === '' ? key : `${field}.${key}`);
    }
  }
}

function policyFault(policy: unknown): string | null {
  if (policy === undefined) return null;
  return isObject(policy) ? checks.policy(policy) : checks.policyName(policy);
}

/** Worlds do not mix, and a chain of no known world is not guessed at. */
function worldFault(one: ChainSettings, network: Network): string | null {
  const known = knownWorld(one);
  const declared = 'world' in one ? one.world : undefined;
  const id = 'chainId' in one ? `chain id ${one.chainId}` : '';
  const what = 'genesisHash' in one ? `genesis hash ${one.genesisHash}` : id;
  if (known === null && declared === undefined) {
    return (
      `${what} is not known here: say what it is with "world" ` +
      '(dev, testnet or mainnet); coins of a mainnet have value'
    );
  }
  if (known !== null && declared !== undefined && declared !== known) {
    return `field "world" is ${declared}, but ${what} belongs to ${known}`;
  }
  const belongs = known ?? declared;
  if (belongs === network) return null;
  return `chain "${one.chain}" belongs to ${belongs}, not to PARLEY_NETWORK=${network}`;
}

/** The world that a chain belongs to by its id, null where its operator has to say. */
export function knownWorld(one: ChainSettings): Network | null {
  switch (one.family) {
    case 'bitcoin':
      return worldOfBitcoin(one.network);
    case 'evm':
      return worldOfChainId(one.chainId);
    case 'tron':
      return worldOfTron(one.chainId);
    case 'solana':
      return worldOfSolana(one.genesisHash);
  }
}

export function parseAssets(given: unknown, chains: readonly NamedChain[]): Parsed<AssetSettings> {
  return entriesOf(given, {
    setting: 'PARLEY_ASSETS',
    wanted: `a JSON array of 1 to ${mostAssets} assets`,
    least: 1,
    most: mostAssets,
    namedBy: ['symbol', 'chain'],
    read: (entry) => readAsset(entry, chains),
    isSame: (one, other) => one.chain === other.chain && one.address === other.address,
    twice: 'this asset is configured twice',
  });
}

function readAsset(
  entry: Record<string, unknown>,
  chains: readonly NamedChain[],
): AssetSettings | string {
  const fault = checks.asset(entry);
  if (fault !== null) return fault;
  const { address, highValueFrom, ...rest } = entry as AssetSettings;
  const served = chains.find((each) => each.chain === rest.chain);
  if (served === undefined) {
    const keys = chains.map((each) => each.chain).join(', ');
    return `chain "${rest.chain}" is not configured; there are: ${keys}`;
  }
  if (address !== null && !has(served, 'tokens')) {
    return 'field "address" must be null: Bitcoin has no tokens';
  }
  try {
    if (highValueFrom !== undefined) parseBaseUnits(highValueFrom, 'highValueFrom');
    const parse = has(served, 'tokens') ? tokenParsers[served.family] : String;
    const canonical = address === null ? null : parse(address);
    return { ...(entry as AssetSettings), address: canonical };
  } catch (error) {
    return (error as Error).message;
  }
}
