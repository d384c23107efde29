// Which chains and assets a deployment serves: PARLEY_CHAINS and PARLEY_ASSETS, parsed. Every
// sentence names the entry and the field; whoever gets these values need not check again.

import type { TSchema } from 'typebox';
import Type from 'typebox';
import { contractsFault, contractsOf, mostContracts } from '../../chains/escrows/plan.ts';
import { parseEvmAddress } from '../../chains/evm/address.ts';
import { evmDeployment } from '../../chains/evm/plan.ts';
import { parseSolanaAddress } from '../../chains/solana/address.ts';
import { parseTronAddress } from '../../chains/tron/address.ts';
import type { TronSource } from '../../chains/tron/http.ts';
import type { TronInstance } from '../../chains/tron/plan.ts';
import { noShard, shardAt } from '../../contracts/escrows/ids.ts';
import { parseAmount } from '../../core/amounts.ts';
import { type Family, families, isFamily, type Network } from '../../core/families.ts';
import type { ChainPolicy, Depth } from '../../core/policy.ts';
import { worldOfBitcoin, worldOfChainId, worldOfSolana, worldOfTron } from '../../core/worlds.ts';
import { type Check, checkOf } from './check.ts';
import { isObject, shown } from './entry.ts';

/** Numbers of a chain's own, instead of those of the policy that they are laid over. */
export type OwnPolicy = {
  /** Name of the policy that the rest is taken from; default: the chain's own. */
  readonly like?: string;
  readonly normal?: Partial<Depth>;
  readonly high?: Partial<Depth>;
} & Partial<Omit<ChainPolicy, 'normal' | 'high'>>;

/** One source of a Bitcoin chain. */
export type BitcoinSourceSettings = {
  /** Bitcoin Core RPC, `http://user:password@host:port`. */
  readonly rpcUrl?: string;
  /** The base of an Esplora REST server; asked where there is no `rpcUrl`. */
  readonly esploraUrl?: string;
};

/** One chain to serve. */
export type ChainSettings =
  | (BitcoinSourceSettings & {
      readonly family: 'bitcoin';
      readonly chain: string;
      /** Bitcoin network of the node; must belong to PARLEY_NETWORK. */
      readonly network: 'mainnet' | 'testnet' | 'signet' | 'regtest';
      /** Another source of the same chain: where the two differ, funding and revealing pause. */
      readonly second?: BitcoinSourceSettings;
      /** `mainnet`, `testnet` or `regtest` of chains/bitcoin/policy.ts; default: the network's. */
      readonly policy?: string | OwnPolicy;
    })
  | {
      readonly family: 'evm';
      readonly chain: string;
      readonly chainId: number;
      readonly rpcUrls: readonly string[];
      /** See EvmContracts, with their checksums. */
      readonly contract?: string;
      readonly shards?: readonly string[];
      readonly formerContracts?: readonly string[];
      /** Where the chain id is in no table of core/worlds.ts. */
      readonly world?: Network;
      /** The head that deep payments wait for besides blocks; null = blocks alone. */
      readonly depthTag?: 'safe' | 'finalized' | null;
      /** Unix seconds: until then its gas rules are Prague's, where no node tells otherwise. */
      readonly nextForkAt?: number;
      /** A key of chains/evm/policy.ts, such as `base`; default: the one of the chain id. */
      readonly policy?: string | OwnPolicy;
    }
  | {
      readonly family: 'tron';
      readonly chain: string;
      readonly chainId: number;
      /** See TronOrigin. */
      readonly contract: string;
      readonly creation: string;
      readonly shards?: readonly TronInstance[];
      readonly formerContracts?: readonly TronInstance[];
      /** Nodes of one chain, which must agree before anyone funds or reveals. */
      readonly sources: readonly TronSource[];
      /** Where the chain id is in no table of core/worlds.ts. */
      readonly world?: Network;
      /** A key of chains/tron/policy.ts, or `tron-dev`; default: the one of the chain id. */
      readonly policy?: string | OwnPolicy;
    }
  | {
      readonly family: 'solana';
      readonly chain: string;
      /** Of the cluster's first block, base58. */
      readonly genesisHash: string;
      readonly rpcUrls: readonly string[];
      /** The escrow program, which nobody can replace. */
      readonly program: string;
      /** Where the genesis hash is in no table of core/worlds.ts. */
      readonly world?: Network;
      /** A key of chains/solana/policy.ts; default: the one of the genesis hash. */
      readonly policy?: string | OwnPolicy;
      /**
       * How far the cluster's clock may be from the market's before nobody may fund or reveal;
       * default: the policy's.
       */
      readonly mostDriftSeconds?: number;
    };

/** Of one family. */
export type Of<F extends Family> = ChainSettings & { readonly family: F };

/** A curated asset of a deployment. */
export type AssetSettings = {
  readonly chain: string;
  readonly symbol: string;
  readonly address: string | null;
  readonly decimals: number;
  /** Base units; from here on an amount waits for the deeper depth. */
  readonly highValueFrom?: string;
};

const closed = { additionalProperties: false } as const;
const mostChains = 100;
const mostAssets = 10_000;
const longest = 2_048;

const chainKey = Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' });
const url = Type.String({ pattern: '^https?://', maxLength: longest });
// A year: the inequalities of core/deadlines.ts draw the real bounds.
const seconds = Type.Optional(Type.Integer({ minimum: 0, maximum: 31_536_000 }));
const depth = Type.Optional(
  Type.Object(
    {
      confirmations: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
      settleSeconds: seconds,
      outageSeconds: seconds,
    },
    closed,
  ),
);
const ownPolicy = Type.Object(
  {
    like: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    floorSeconds: seconds,
    normal: depth,
    high: depth,
    lateClaimSeconds: seconds,
    windowSeconds: Type.Optional(
      Type.Unsafe({ type: ['integer', 'null'], minimum: 0, maximum: 31_536_000 }),
    ),
    driftSeconds: seconds,
    reactSeconds: seconds,
    signSeconds: seconds,
    detectSeconds: seconds,
  },
  closed,
);
const policyName = Type.String({ minLength: 1, maxLength: 64 });
const source = { rpcUrl: Type.Optional(url), esploraUrl: Type.Optional(url) };

const oneOf = (...values: readonly (string | null)[]) => Type.Unsafe({ enum: values });

/** `policy` is checked by itself: one sentence for a name, one for an object. */
const bitcoinChain = Type.Object(
  {
    family: oneOf('bitcoin'),
    chain: chainKey,
    network: oneOf('mainnet', 'testnet', 'signet', 'regtest'),
    ...source,
    second: Type.Optional(Type.Object(source, closed)),
    policy: Type.Optional(Type.Any()),
  },
  closed,
);
const others = <T extends TSchema>(instance: T) => {
  const some = Type.Optional(Type.Array(instance, { maxItems: mostContracts }));
  return { shards: some, formerContracts: some };
};
const evmContract = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });
const evmChain = Type.Object(
  {
    family: oneOf('evm'),
    chain: chainKey,
    chainId: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    rpcUrls: Type.Array(url, { minItems: 1, maxItems: 20, uniqueItems: true }),
    contract: Type.Optional(evmContract),
    ...others(evmContract),
    world: Type.Optional(oneOf('dev', 'testnet', 'mainnet')),
    depthTag: Type.Optional(oneOf('safe', 'finalized', null)),
    nextForkAt: Type.Optional(
      Type.Integer({ minimum: 1_600_000_000, maximum: Number.MAX_SAFE_INTEGER }),
    ),
    policy: Type.Optional(Type.Any()),
  },
  closed,
);
const tronInstance = {
  contract: Type.String({ minLength: 1, maxLength: 64 }),
  creation: Type.String({ pattern: '^[0-9a-f]{64}$' }),
};
const tronChain = Type.Object(
  {
    family: oneOf('tron'),
    chain: chainKey,
    chainId: Type.Integer({ minimum: 1, maximum: 0xffff_ffff }),
    ...tronInstance,
    ...others(Type.Object(tronInstance, closed)),
    sources: Type.Array(
      Type.Object({ url, solidityUrl: Type.Optional(url), jsonRpcUrl: Type.Optional(url) }, closed),
      { minItems: 1, maxItems: 20, uniqueItems: true },
    ),
    world: Type.Optional(oneOf('dev', 'testnet', 'mainnet')),
    policy: Type.Optional(Type.Any()),
  },
  closed,
);
const base58Of32Bytes = Type.String({ pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$' });
const solanaChain = Type.Object(
  {
    family: oneOf('solana'),
    chain: chainKey,
    genesisHash: base58Of32Bytes,
    rpcUrls: Type.Array(url, { minItems: 1, maxItems: 20, uniqueItems: true }),
    program: base58Of32Bytes,
    world: Type.Optional(oneOf('dev', 'testnet', 'mainnet')),
    policy: Type.Optional(Type.Any()),
    mostDriftSeconds: seconds,
  },
  closed,
);
const asset = Type.Object(
  {
    chain: chainKey,
    symbol: Type.String({ pattern: '^[!-~]{1,32}$' }),
    address: Type.Unsafe({ type: ['string', 'null'], minLength: 1, maxLength: 128 }),
    decimals: Type.Integer({ minimum: 0, maximum: 255 }),
    highValueFrom: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,77}$' })),
  },
  closed,
);

const checks = {
  bitcoin: checkOf(bitcoinChain, 'the entry'),
  evm: checkOf(evmChain, 'the entry'),
  tron: checkOf(tronChain, 'the entry'),
  solana: checkOf(solanaChain, 'the entry'),
  asset: checkOf(asset, 'the entry'),
  policy: checkOf(ownPolicy, '"policy"'),
  policyName: checkOf(policyName, '"policy"'),
} satisfies Record<string, Check>;

export type Parsed<T> = { readonly values: readonly T[]; readonly wrong: readonly string[] };

/** The key and family of a chain. */
export type NamedChain = Pick<ChainSettings, 'chain' | 'family'>;

/**
 * The chains of PARLEY_CHAINS on this network, and what is wrong with them, a sentence each.
 * `refused`: what names one of those is not wrong for it.
 */
export function parseChains(
  given: unknown,
  network: Network,
): Parsed<ChainSettings> & { readonly refused: readonly NamedChain[] } {
  const entries = entriesOf(given, 'PARLEY_CHAINS', 'chains', mostChains);
  const wrong = [...entries.wrong];
  const values: ChainSettings[] = [];
  const refused: NamedChain[] = [];
  for (const [at, entry] of entries.values.entries()) {
    const said = `PARLEY_CHAINS, ${entryName(entry, at)}: `;
    const sentence = chainFault(entry);
    if (sentence !== null) {
      wrong.push(said + sentence);
      const { chain, family } = isObject(entry) ? entry : {};
      const isNamed = typeof chain === 'string' && typeof family === 'string' && isFamily(family);
      if (isNamed) refused.push({ chain, family });
      continue;
    }
    const chain = entry as ChainSettings;
    if (values.some((each) => each.chain === chain.chain)) {
      wrong.push(`${said}this chain is configured twice`);
    }
    const mixed = worldFault(chain, network);
    if (mixed !== null) wrong.push(said + mixed);
    values.push(chain);
  }
  return { values, wrong, refused };
}

function chainFault(entry: unknown): string | null {
  if (!isObject(entry)) return 'the entry must be an object';
  const { family } = entry;
  if (typeof family !== 'string' || !isFamily(family)) {
    return `field "family" is ${shown(family)}; served are ${families.join(', ')}`;
  }
  const fault = checks[family](entry) ?? policyFault(entry.policy) ?? urlFault(entry);
  if (fault !== null) return fault;
  const chain = entry as ChainSettings;
  if (chain.family === 'bitcoin') return bitcoinFault(chain);
  return chain.family === 'solana' ? solanaFault(chain) : instancesFault(chain);
}

function instancesFault(chain: Of<'evm'> | Of<'tron'>): string | null {
  const { contract, shards = [], formerContracts = [] } = chain;
  const named = { contract: contract === undefined ? [] : [contract], shards, formerContracts };
  const parse = chain.family === 'evm' ? parseEvmAddress : parseTronAddress;
  for (const [field, all] of Object.entries(named)) {
    for (const each of all) {
      const fault = addressFault(field, typeof each === 'string' ? each : each.contract, parse);
      if (fault !== null) return fault;
    }
  }
  if (chain.family === 'tron') return contractsFault(chain);
  const deployment = evmDeployment(chain.chainId, chain);
  const other = contractsOf(deployment).find((each) => shardAt(each) === null);
  return other === undefined ? contractsFault(deployment) : `it names ${noShard(other)}`;
}

function bitcoinFault({ rpcUrl, esploraUrl, second }: Of<'bitcoin'>): string | null {
  if (rpcUrl === undefined && esploraUrl === undefined) {
    return 'it names no node: give "rpcUrl" or "esploraUrl"';
  }
  if (second !== undefined && second.rpcUrl === undefined && second.esploraUrl === undefined) {
    return 'field "second" names no node: give "rpcUrl" or "esploraUrl"';
  }
  return null;
}

function solanaFault({ program, genesisHash }: Of<'solana'>): string | null {
  return (
    addressFault('program', program, parseSolanaAddress) ??
    addressFault('genesisHash', genesisHash, parseSolanaAddress)
  );
}

function addressFault(field: string, text: string, parse: (text: string) => string): string | null {
  try {
    parse(text);
    return null;
  } catch (error) {
    return `field "${field}": ${(error as Error).message}`;
  }
}

/** Addresses that could be asked. They are never shown: they may hold a password or a key. */
function urlFault(entry: Record<string, unknown>): string | null {
  const { rpcUrl, rpcUrls, esploraUrl, second, sources } = entry as {
    rpcUrls?: readonly string[];
    second?: BitcoinSourceSettings;
    sources?: readonly TronSource[];
  } & BitcoinSourceSettings;
  const given: [string, string | undefined][] = [
    ['rpcUrl', rpcUrl],
    ['second.rpcUrl', second?.rpcUrl],
    ['esploraUrl', esploraUrl],
    ['second.esploraUrl', second?.esploraUrl],
    ...(rpcUrls ?? []).map((each, at): [string, string] => [`rpcUrls.${at}`, each]),
    ...(sources ?? []).flatMap((source, at): [string, string | undefined][] => [
      [`sources.${at}.url`, source.url],
      [`sources.${at}.solidityUrl`, source.solidityUrl],
      [`sources.${at}.jsonRpcUrl`, source.jsonRpcUrl],
    ]),
  ];
  for (const [field, address] of given) {
    if (address === undefined) continue;
    if (!URL.canParse(address)) return `field "${field}" is not a URL`;
    // Only Core takes them from the address; fetch refuses the others.
    if (!field.endsWith('rpcUrl') && new URL(address).username !== '') {
      return `field "${field}" must not carry a user and password`;
    }
  }
  return null;
}

function policyFault(policy: unknown): string | null {
  if (policy === undefined) return null;
  return isObject(policy) ? checks.policy(policy) : checks.policyName(policy);
}

/** Worlds do not mix, and a chain of no known world is not guessed at. */
function worldFault(chain: ChainSettings, network: Network): string | null {
  const { chain: key } = chain;
  if (chain.family === 'bitcoin') {
    return against(key, worldOfBitcoin(chain.network), network);
  }
  const { world: declared } = chain;
  const known = knownWorld(chain);
  const id =
    chain.family === 'solana' ? `genesis hash ${chain.genesisHash}` : `chain id ${chain.chainId}`;
  if (known === null && declared === undefined) {
    return (
      `${id} is not known here: say what it is with "world" ` +
      '(dev, testnet or mainnet); coins of a mainnet have value'
    );
  }
  if (known !== null && declared !== undefined && declared !== known) {
    return `field "world" is ${declared}, but ${id} belongs to ${known}`;
  }
  return against(key, known ?? declared ?? network, network);
}

/** The world that a chain belongs to by its id, null where its operator has to say. */
export function knownWorld(chain: ChainSettings): Network | null {
  switch (chain.family) {
    case 'bitcoin':
      return worldOfBitcoin(chain.network);
    case 'evm':
      return worldOfChainId(chain.chainId);
    case 'tron':
      return worldOfTron(chain.chainId);
    case 'solana':
      return worldOfSolana(chain.genesisHash);
  }
}

function against(key: string, world: Network, network: Network): string | null {
  if (world === network) return null;
  return `chain "${key}" belongs to ${world}, not to PARLEY_NETWORK=${network}`;
}

/** The assets of PARLEY_ASSETS, addresses canonical; `chains` are those that will be served. */
export function parseAssets(given: unknown, chains: readonly NamedChain[]): Parsed<AssetSettings> {
  const entries = entriesOf(given, 'PARLEY_ASSETS', 'assets', mostAssets);
  const wrong = [...entries.wrong];
  const values: AssetSettings[] = [];
  for (const [at, entry] of entries.values.entries()) {
    const said = `PARLEY_ASSETS, ${entryName(entry, at)}: `;
    const one = isObject(entry) ? readAsset(entry, chains) : 'the entry must be an object';
    if (typeof one === 'string') {
      wrong.push(said + one);
      continue;
    }
    const same = (each: AssetSettings) => each.chain === one.chain && each.address === one.address;
    if (values.some(same)) wrong.push(`${said}this asset is configured twice`);
    values.push(one);
  }
  return { values, wrong };
}

const tokenParsers: Readonly<Record<Family, (text: string) => string>> = {
  evm: parseEvmAddress,
  tron: parseTronAddress,
  solana: parseSolanaAddress,
  bitcoin: () => {
    throw new Error('Bitcoin has no tokens');
  },
};

/** The asset, or the sentence that says what is wrong with it. */
function readAsset(
  entry: Record<string, unknown>,
  chains: readonly NamedChain[],
): AssetSettings | string {
  const fault = checks.asset(entry);
  if (fault !== null) return fault;
  const given = entry as AssetSettings;
  const chain = chains.find((each) => each.chain === given.chain);
  if (chain === undefined) {
    const keys = chains.map((each) => each.chain).join(', ');
    return `chain "${given.chain}" is not configured; there are: ${keys}`;
  }
  if (given.address !== null && chain.family === 'bitcoin') {
    return 'field "address" must be null: Bitcoin has no tokens';
  }
  try {
    if (given.highValueFrom !== undefined) parseAmount(given.highValueFrom, 'highValueFrom');
    const address = given.address === null ? null : tokenParsers[chain.family](given.address);
    return { ...given, address };
  } catch (error) {
    return (error as Error).message;
  }
}

function entriesOf(given: unknown, name: string, what: string, most: number): Parsed<unknown> {
  if (Array.isArray(given) && given.length >= 1 && given.length <= most) {
    return { values: given, wrong: [] };
  }
  return { values: [], wrong: [`${name} must be a JSON array of 1 to ${most} ${what}`] };
}

/** Such as `entry 2 ("ethereum")`. */
function entryName(entry: unknown, at: number): string {
  const { chain, symbol } = isObject(entry) ? entry : {};
  const words = [symbol, chain].filter((each) => typeof each === 'string');
  return `entry ${at + 1}${words.length === 0 ? '' : ` (${shown(words.join(' on '))})`}`;
}
