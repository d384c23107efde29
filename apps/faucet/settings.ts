// The gifts of a faucet, the keys that pay them, and the amounts: a file of JSON, held against the
// chains and assets of the market that it stands beside. Amounts in base units.

import type { AssetSettings, ChainSettings } from '@parley/market/settings/chains.ts';
import { checkOf } from '@parley/market/settings/check.ts';
import type { Settings } from '@parley/market/settings/config.ts';
import { closed } from '@parley/market/settings/entries.ts';
import { readFile } from '@parley/market/settings/secret-file.ts';
import Type, { type Static } from 'typebox';

/** The most gifts of one asset in a day: each is a row that is counted before the next is given. */
const mostGiftsADay = 10_000n;
const mostPerClient = 1_000;
/** The limit of the file; gifts of a chain. */
const mostChains = 100;
const mostGifts = 20;

const amount = Type.String({ pattern: '^[1-9][0-9]{0,77}$' });
const gift = Type.Object(
  {
    /** null: the chain's own coin. Else as PARLEY_ASSETS names it. */
    token: Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 128 }),
    amount,
    dailyCap: amount,
  },
  closed,
);
const path = Type.String({ minLength: 1, maxLength: 4_096 });
const schema = Type.Object(
  {
    host: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    port: Type.Integer({ minimum: 0, maximum: 65_535 }),
    /** The file in which gifts are kept. */
    file: path,
    /** Gifts of one asset to a client network in 24 hours. */
    perClient: Type.Integer({ minimum: 1, maximum: mostPerClient }),
    chains: Type.Array(
      Type.Object(
        {
          chain: Type.String(),
          keyFile: path,
          gifts: Type.Array(gift, { minItems: 1, maxItems: mostGifts }),
        },
        closed,
      ),
      { minItems: 1, maxItems: mostChains },
    ),
  },
  closed,
);
const check = checkOf(schema, 'the file');

export type Gift = {
  readonly chain: string;
  readonly token: string | null;
  readonly symbol: string;
  readonly decimals: number;
  readonly amount: bigint;
  /** The most that all gifts of 24 hours may come to. */
  readonly dailyCap: bigint;
};

export type FaucetChain = {
  readonly of: ChainSettings;
  /** Holds the key, for nobody else to read (0600). */
  readonly keyFile: string;
  readonly gifts: readonly Gift[];
};

type Market = Pick<Settings, 'network' | 'chains' | 'assets'>;

/** Throws an Error that names each wrong part, and where the market is no test network. */
export function readFaucetSettings(file: string, market: Market) {
  if (market.network !== 'testnet' || market.chains === null) {
    throw new Error(
      `a faucet gives coins of test networks alone: PARLEY_NETWORK is ${market.network}, not testnet`,
    );
  }
  const read = readFile(file);
  if ('wrong' in read) throw new Error(read.wrong);
  let given: unknown;
  try {
    given = JSON.parse(read.text);
  } catch (error) {
    throw new Error(`${file} is no JSON: ${(error as Error).message}`);
  }
  const fault = check(given);
  if (fault !== null) throw new Error(`${file}: ${fault}`);
  return settingsOf(file, given as Static<typeof schema>, market);
}

function settingsOf(file: string, given: Static<typeof schema>, market: Market) {
  const { chains: served, assets } = market;
  const seen = new Set<string>();
  const chains = given.chains.map(({ chain, keyFile, gifts }): FaucetChain => {
    const of = served?.find((each) => each.chain === chain);
    if (of === undefined) throw new Error(`${file}: PARLEY_CHAINS has no chain "${chain}"`);
    if (seen.has(chain)) throw new Error(`${file}: "${chain}" is there twice`);
    seen.add(chain);
    // The first of two entries of one asset would count alone, its cap too.
    const tokens = gifts.map(({ token }) => token);
    const twice = tokens.find((token, at) => tokens.indexOf(token) !== at);
    if (twice !== undefined) {
      throw new Error(`${file}: ${twice ?? 'the coin'} of "${chain}" is there twice`);
    }
    return { of, keyFile, gifts: gifts.map((each) => giftOf(file, chain, each, assets ?? [])) };
  });
  const { host = '127.0.0.1', port, perClient } = given;
  return { host, port, file: given.file, perClient, chains };
}

function giftOf(
  file: string,
  chain: string,
  { token, amount: text, dailyCap: cap }: Static<typeof gift>,
  assets: readonly AssetSettings[],
): Gift {
  const what = `${file}: ${token ?? 'the coin'} of "${chain}"`;
  const asset = assets.find((each) => each.chain === chain && each.address === token);
  if (asset === undefined) throw new Error(`${what} is not in PARLEY_ASSETS`);
  const amount = BigInt(text);
  const dailyCap = BigInt(cap);
  if (dailyCap < amount || dailyCap > amount * mostGiftsADay) {
    throw new Error(
      `${what}: "dailyCap" must be 1 to ${mostGiftsADay} times "amount", ${amount};` +
        ` got ${dailyCap}`,
    );
  }
  return { chain, token, symbol: asset.symbol, decimals: asset.decimals, amount, dailyCap };
}
