// `npm run halt` and `npm run resume`: the kill switch of a chain or an asset, for operators. Works
// on the market's database, whether a market runs or not; every process keeps to it from the moment
// this command has ended, and tells its makers within a quarter of a second.

import type { Database } from '../server/db/database.ts';
import {
  type Closing,
  chainsOfAssets,
  findHalt,
  hasAssets,
  listHalts,
} from '../server/db/halts.ts';
import { listHaltedAssets, lockListings } from '../server/db/listing.ts';
import { haltAsset, haltChain, resumeAsset, resumeChain } from '../server/market/halts.ts';
import { Misused, parsed, runCommand, usualOptions } from './command.ts';
import { isReason, mostReasonLength, openDatabase, theAsset } from './operator.ts';

const usage = `usage: npm run halt -- --chain KEY --reason TEXT [--json]
       npm run halt -- --asset ASSET --reason TEXT [--json]
       npm run halt -- list [--json]
       npm run resume -- --chain KEY | --asset ASSET [--json]
  ASSET   its id, <chain>/<token address>, <chain>/native, or a symbol that only one asset has
  halt    nothing new: RFQs that touch it are refused, leave the book and can be neither quoted nor
          agreed. Swaps that were agreed go on in every part, funding included
  resume  RFQs that have not ended are back on the book; what else holds an asset closed stays
Settings as for npm start: DATABASE_URL, or PARLEY_HOME of a running market. Exit status: 0 done or
so already, 1 refused, 2 not understood.`;

const mostShown = 1_000;

type Asked = {
  readonly verb: 'halt' | 'resume' | 'list';
  readonly chain: string | null;
  readonly asset: string | null;
  readonly reason: string;
  readonly json: boolean;
};

function understand(args: string[]): Asked | null {
  const { values, positionals } = parsed({
    args,
    allowPositionals: true,
    options: {
      ...usualOptions,
      chain: { type: 'string' },
      asset: { type: 'string' },
      reason: { type: 'string' },
    },
  });
  if (values.help === true) return null;
  const [verb, ...rest] = positionals;
  const { chain = null, asset = null, reason = '', json = false } = values;
  const what = { chain, asset, reason, json };
  if (rest.length > 0) {
    if (verb !== 'halt' || rest.join(' ') !== 'list') {
      throw new Misused(`not understood: ${rest.join(' ')}; name it with --chain or --asset`);
    }
    if (chain ?? asset ?? values.reason) throw new Misused('list takes --json alone');
    return { ...what, verb: 'list' };
  }
  if (verb !== 'halt' && verb !== 'resume') throw new Misused('');
  if ((chain === null) === (asset === null)) {
    const both = chain === null ? '' : `, not both "${chain}" and "${asset}"`;
    throw new Misused(`one of --chain and --asset${both}`);
  }
  if (verb === 'halt' && !isReason(reason)) {
    throw new Misused(`halt needs a --reason: 1 to ${mostReasonLength} characters, on one line`);
  }
  if (verb === 'resume' && values.reason !== undefined) {
    throw new Misused('--reason does not go with resume');
  }
  return { ...what, verb };
}

type Halted = {
  readonly of: 'chain' | 'asset';
  readonly name: string;
  readonly assetId?: string;
  readonly since: string;
  readonly reason: string;
};

async function listAll(db: Database): Promise<Halted[]> {
  const chains = (await listHalts(db)).map(({ chain, at, reason }): Halted => {
    return { of: 'chain', name: chain, since: at.toISOString(), reason };
  });
  const assets = (await listHaltedAssets(db, mostShown)).map(({ asset, closings }): Halted => {
    const { chain, address, symbol, id } = asset;
    const { at: since = '', reasons = [] } = closings.halt ?? {};
    const name = `${chain}/${address ?? 'native'} (${symbol})`;
    return { of: 'asset', name, assetId: id, since, reason: reasons.join('; ') };
  });
  return [...chains, ...assets];
}

/** A switch that names no chain would stop nothing. */
async function mustBeChain(db: Database, chain: string): Promise<void> {
  const halted = (await listHalts(db)).map((each) => each.chain);
  if (halted.includes(chain) || (await hasAssets(db, chain))) return;
  const known = await chainsOfAssets(db, mostShown);
  throw new Error(`no asset is of a chain "${chain}"; there are: ${known.join(', ') || 'none'}`);
}

type Before = { readonly since: string; readonly reason: string };

type Done = {
  readonly changed: boolean;
  readonly orders: number;
  readonly what: string;
  readonly before: Before | null;
  readonly stays: readonly string[];
};

function beforeOf(closing: Closing | undefined): Before | null {
  if (closing === undefined) return null;
  return { since: closing.at, reason: closing.reasons.join('; ') };
}

async function change(db: Database, { verb, chain, asset, reason }: Asked): Promise<Done> {
  const at = new Date();
  if (chain !== null) {
    await mustBeChain(db, chain);
    const [halt, { changed, orders, assets }] = await db.transaction(async (tx) => {
      await lockListings(tx);
      const known = await findHalt(tx, chain);
      const moving =
        verb === 'halt' ? haltChain(tx, { chain, reason, at }) : resumeChain(tx, chain, at);
      return [known, await moving] as const;
    });
    const before = halt && { since: halt.at.toISOString(), reason: halt.reason };
    const count = assets === 1 ? '1 asset' : `${assets} assets`;
    const what = changed ? `chain ${chain} with its ${count}` : `chain ${chain}`;
    return { changed, orders, what, before, stays: [] };
  }
  const { asset: found, closings: known } = await theAsset(db, asset ?? '');
  const { changed, orders, state, closings } = await db.transaction((tx) =>
    verb === 'halt' ? haltAsset(tx, found.id, { reason, at }) : resumeAsset(tx, found.id, at),
  );
  const stays = verb === 'resume' && state !== 'open' ? Object.keys(closings) : [];
  const what = `${found.symbol} on ${found.chain} (asset ${found.id})`;
  return { changed, orders, what, before: beforeOf(known.halt), stays };
}

function told(verb: Asked['verb'], { changed, orders, what, before }: Done): string {
  const rfqs = orders === 1 ? '1 RFQ' : `${orders} RFQs`;
  if (verb === 'resume') {
    if (changed) return `resumed ${what}: ${rfqs} came back to the book`;
    return `nothing to do: ${what} is not halted`;
  }
  if (!changed) return `nothing to do: ${what} is halted`;
  if (before === null) return `halted ${what}: ${rfqs} left the book`;
  const { since, reason } = before;
  return `${what} stays halted since ${since}, with this reason now; before it was: ${reason}`;
}

async function run(asked: Asked): Promise<number> {
  const db = await openDatabase();
  const print = (text: string) => process.stdout.write(`${text}\n`);
  try {
    if (asked.verb === 'list') {
      const all = await listAll(db);
      for (const each of all) {
        const { of, name, since, reason } = each;
        print(asked.json ? JSON.stringify(each) : `${of}  ${name}  since ${since}: ${reason}`);
      }
      if (all.length === 0 && !asked.json) print('nothing is halted');
      return 0;
    }
    const done = await change(db, asked);
    const { stays } = done;
    const did = asked.verb === 'halt' ? 'halted' : 'resumed';
    print(asked.json ? JSON.stringify({ done: did, ...done }) : told(asked.verb, done));
    if (stays.length > 0) {
      process.stderr.write(`it stays closed, held by: ${stays.join(', ')} (npm run assets)\n`);
    }
    return 0;
  } finally {
    await db.close();
  }
}

await runCommand({ usage, understand, run });
