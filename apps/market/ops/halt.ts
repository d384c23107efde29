// `ops halt` and `ops resume`: the kill switch of a chain or an asset, for operators, and their word
// that agreements go on after missing time (docs/restore.md). Works on the market's database, whether a market runs or not; every process keeps to it from the moment
// this command has ended, and tells its makers within a quarter of a second.

import { Misused } from '@parley/host/command.ts';
import type { Tx } from '../db/database.ts';
import { endHolds, holdingGaps } from '../db/gaps.ts';
import { type Closing, chainsOfAssets, findHalt, hasAssets, listHalts } from '../db/halts.ts';
import { listHaltedAssets, lockListings } from '../db/listing.ts';
import { haltAsset, haltChain, resumeAsset, resumeChain } from '../market/halts.ts';
import { mistrust } from '../restore/gap.ts';
import { timeOf } from '../restore/gate.ts';
import { acting, longStatementMs, print, reading, rfqs, theAsset } from './operator.ts';

/** Chains or assets in a list. */
const mostShown = 1_000;

type Named = { readonly chain?: string | undefined; readonly asset?: string | undefined };
type Asked = Named & { readonly verb: 'halt' | 'resume'; readonly reason: string };

/** The grammar refuses both. */
function mustBeOne({ chain, asset }: Named): void {
  if ((chain ?? asset) === undefined) throw new Misused('one of --chain and --asset is needed');
}

async function list(db: Tx, json: boolean): Promise<void> {
  const held = (await holdingGaps(db)).map((gap) => {
    const reason = `time is missing: ${timeOf(gap)}`;
    return { of: 'market', name: 'agreements', since: gap.endedAt.toISOString(), reason };
  });
  const chains = (await listHalts(db)).map(({ chain, at, reason }) => {
    return { of: 'chain', name: chain, since: at.toISOString(), reason };
  });
  const assets = (await listHaltedAssets(db, mostShown)).map(({ asset, closings }) => {
    const { chain, address, symbol, id } = asset;
    const name = `${chain}/${address ?? 'native'} (${symbol})`;
    return { of: 'asset', name, assetId: id, ...haltOf(closings.halt) };
  });
  const all = [...held, ...chains, ...assets];
  for (const each of all) {
    const { of, name, since, reason } = each;
    print(json ? JSON.stringify(each) : `${of}  ${name}  since ${since}: ${reason}`);
  }
  if (all.length === 0 && !json) print('no halt is in force');
}

function haltOf({ at = '', reasons = [] }: Partial<Closing> = {}) {
  return { since: at, reason: reasons.join('; ') };
}

/** A switch that names no chain would stop nothing. */
async function mustBeChain(db: Tx, chain: string): Promise<void> {
  const halted = (await listHalts(db)).map((each) => each.chain);
  if (halted.includes(chain) || (await hasAssets(db, chain))) return;
  const known = await chainsOfAssets(db, mostShown);
  throw new Error(`no asset is of a chain "${chain}"; there are: ${known.join(', ') || 'none'}`);
}

/** `before`: the halt that stood; `stays`: the others that hold the asset closed. */
type Done = {
  readonly changed: boolean;
  readonly orders: number;
  readonly what: string;
  readonly before: { readonly since: string; readonly reason: string } | null;
  readonly stays: readonly string[];
};

async function change(tx: Tx, { verb, chain, asset, reason }: Asked): Promise<Done> {
  const at = new Date();
  if (chain !== undefined) {
    await mustBeChain(tx, chain);
    await lockListings(tx);
    const halt = await findHalt(tx, chain);
    const moving =
      verb === 'halt' ? haltChain(tx, { chain, reason, at }) : resumeChain(tx, chain, at);
    const { changed, orders, assets } = await moving;
    const before = halt && { since: halt.at.toISOString(), reason: halt.reason };
    const count = assets === 1 ? '1 asset' : `${assets} assets`;
    const what = changed ? `chain ${chain} with its ${count}` : `chain ${chain}`;
    return { changed, orders, what, before, stays: [] };
  }
  const { asset: found, closings: known } = await theAsset(tx, asset ?? '');
  const moving =
    verb === 'halt' ? haltAsset(tx, found.id, { reason, at }) : resumeAsset(tx, found.id, at);
  const { changed, orders, state, closings } = await moving;
  const stays = verb === 'resume' && state !== 'open' ? Object.keys(closings) : [];
  const what = `${found.symbol} on ${found.chain} (asset ${found.id})`;
  return { changed, orders, what, before: known.halt ? haltOf(known.halt) : null, stays };
}

function told(verb: Asked['verb'], { changed, orders, what, before }: Done): string {
  if (verb === 'resume') {
    if (changed) return `resumed ${what}: ${rfqs(orders)} came back to the book`;
    return `${what} is not halted: no change`;
  }
  if (!changed) return `${what} is halted already: no change`;
  if (before === null) return `halted ${what}: ${rfqs(orders)} left the book`;
  const { since, reason } = before;
  return `${what} stays halted since ${since}, with this reason now; before it was: ${reason}`;
}

/** Agreements are made again, whether or not a key was good. */
async function goOn(revokes: boolean, json: boolean): Promise<void> {
  const given = { agreements: true, ...(revokes ? { revokeKeys: true } : {}) };
  const work = async (tx: Tx) => {
    const gaps = await endHolds(tx);
    const revoked = revokes ? await mistrust(tx, new Date()) : 0;
    const result = { gaps, revoked };
    return { result, changed: gaps + revoked > 0, facts: result };
  };
  const { gaps, revoked } = await acting(
    { command: 'resume', arguments: given },
    work,
    longStatementMs,
  );
  if (json) {
    print(JSON.stringify({ done: 'resumed', gaps, revoked }));
    return;
  }
  if (revokes) print(`${revoked} API keys are revoked`);
  print(gaps === 0 ? 'agreements wait for no time: no change' : 'agreements are made again');
}

export async function listAll(json: boolean): Promise<number> {
  await reading((db) => list(db, json));
  return 0;
}

type Halt = Named & { readonly reason?: string | undefined };

export async function halt(json: boolean, { reason, ...named }: Halt): Promise<number> {
  mustBeOne(named);
  if (reason === undefined) throw new Misused('halt needs a --reason');
  return turn(json, { ...named, verb: 'halt', reason });
}

type Resume = Named & {
  readonly agreements?: true | undefined;
  readonly revokeKeys?: true | undefined;
};

export async function resume(
  json: boolean,
  { agreements, revokeKeys, ...named }: Resume,
): Promise<number> {
  if (agreements === true) {
    await goOn(revokeKeys === true, json);
    return 0;
  }
  if (revokeKeys === true) throw new Misused('--revoke-keys goes with --agreements');
  mustBeOne(named);
  return turn(json, { ...named, verb: 'resume', reason: '' });
}

async function turn(json: boolean, asked: Asked): Promise<number> {
  const { verb, chain, asset, reason } = asked;
  const of = chain === undefined ? { asset } : { chain };
  const given = verb === 'halt' ? { ...of, reason } : of;
  const done = await acting({ command: verb, arguments: given }, async (tx) => {
    const result = await change(tx, asked);
    const { changed, what, orders } = result;
    return { result, changed, facts: { what, orders } };
  });
  const did = verb === 'halt' ? 'halted' : 'resumed';
  print(json ? JSON.stringify({ done: did, ...done }) : told(verb, done));
  if (done.stays.length > 0) {
    const names = done.stays.join(', ');
    process.stderr.write(`it stays closed, held by: ${names} (npm run ops -- assets)\n`);
  }
  return 0;
}
