// `ops assets`: the assets that may be traded, for operators. Works on the market's database,
// whether a market runs or not; one that runs tells its makers within a quarter of a second.

import { parseEvmAddress } from '@parley/chains/evm/address.ts';
import { Misused } from '@parley/host/command.ts';
import {
  type Candidate,
  type CandidateStatus,
  dropCandidate,
  findCandidate,
  listCandidates,
} from '../db/candidates.ts';
import type { Tx } from '../db/database.ts';
import { type Closer, type Listing, type ListingState, searchListings } from '../db/listing.ts';
import {
  type Changed,
  closeAsset,
  curateAsset,
  delistAsset,
  reopenAsset,
} from '../market/listing.ts';
import { acting, print, reading, rfqs, theAsset } from './operator.ts';

/** Assets or candidates in a list. */
const mostShown = 1_000;

type Command = 'close' | 'reopen' | 'delist' | 'curate';

async function theCandidate(db: Tx, given: string): Promise<Candidate> {
  const slash = given.indexOf('/');
  if (slash === -1) throw new Misused('forget needs <chain>/<token address>');
  const chain = given.slice(0, slash);
  const address = given.slice(slash + 1);
  for (const form of /^0x/i.test(address) ? [address, parseEvmAddress(address)] : [address]) {
    const candidate = await findCandidate(db, chain, form);
    if (candidate !== null) return candidate;
  }
  throw new Error(
    `there is no candidate ${given}: a token that is listed can be closed or delisted`,
  );
}

function shownOf<Each>(found: readonly Each[], which: 'oldest' | 'newest'): readonly Each[] {
  if (found.length > mostShown) {
    process.stderr.write(`there are more: these are the ${which} ${mostShown}\n`);
  }
  return found.slice(0, mostShown);
}

function candidateLine({ chain, address, source, status, reasons, nextCheckAt }: Candidate) {
  const next = status === 'pending' ? `, next look ${nextCheckAt.toISOString()}` : '';
  const why = reasons.length === 0 ? 'not looked at yet' : reasons.join('; ');
  return `${status.padEnd(8)}  ${chain}/${address}  ${source}  (${why}${next})`;
}

function facts({ asset, state, closings, delistedAt }: Listing) {
  const { id, chain, symbol, address, source, verified } = asset;
  const highValueFrom = asset.highValueFrom?.toString() ?? null;
  const known = { id, chain, symbol, address, source, verified, highValueFrom };
  return { ...known, state, closings, delistedAt };
}

function line(listing: Listing): string {
  const { asset, state, closings } = listing;
  const why = Object.entries(closings).map(([by, { reasons, at }]) => {
    return `${by} since ${at}: ${reasons.join('; ')}`;
  });
  const of = `${asset.chain}/${asset.address ?? 'native'}`;
  const high = asset.highValueFrom === null ? '' : `, deeper from ${asset.highValueFrom}`;
  const from = `${asset.source}${high}`;
  const what = `${asset.id}  ${state.padEnd(8)}  ${asset.symbol.padEnd(8)}  ${of}  ${from}`;
  return why.length === 0 ? what : `${what}  (${why.join(', ')})`;
}

function told(command: Command, changed: Changed): string {
  // It was not so: the reason for the wait is shown beside it.
  if (command === 'reopen' && changed.state !== 'open' && !changed.changed) return line(changed);
  const verb = command === 'reopen' ? 'came back to the book' : 'left the book';
  const done = command === 'curate' ? 'done' : `done, ${rfqs(changed.orders)} ${verb}`;
  return `${changed.changed ? done : 'no change, it was so already'}\n${line(changed)}`;
}

/** The closure that an operator's reopening does not lift, and the step that does. */
function whyStill(by: Closer, { id, chain }: Listing['asset']): string {
  return {
    settings: 'the settings of the market do not list it',
    halt: `it is halted (npm run ops -- resume --asset ${id} lifts that)`,
    chain: `its chain is halted (npm run ops -- resume --chain ${chain} lifts that)`,
    operator: 'operator',
    checks: 'checks',
  }[by];
}

function stillClosed({ asset, closings }: Listing): string {
  const why = (Object.keys(closings) as Closer[]).map((by) => whyStill(by, asset));
  const { symbol, chain, id } = asset;
  return `${symbol} on ${chain} (asset ${id}) stays closed: ${why.join(', and ')}`;
}

export async function list(
  json: boolean,
  { state }: { readonly state?: ListingState | undefined },
): Promise<number> {
  const wanted = state === undefined ? {} : { state };
  const found = await reading((db) => searchListings(db, wanted, mostShown + 1));
  for (const each of shownOf(found, 'oldest')) {
    print(json ? JSON.stringify(facts(each)) : line(each));
  }
  return 0;
}

export async function candidates(
  json: boolean,
  { state }: { readonly state?: CandidateStatus | undefined },
): Promise<number> {
  const found = await reading((db) => listCandidates(db, state ?? null, mostShown + 1));
  for (const each of shownOf(found, 'newest')) {
    print(json ? JSON.stringify(each) : candidateLine(each));
  }
  return 0;
}

export async function forget(json: boolean, asset: string): Promise<number> {
  const asked = { command: 'assets forget', arguments: { asset } } as const;
  const candidate = await acting(asked, async (tx) => {
    const found = await theCandidate(tx, asset);
    const { chain, address, status } = found;
    await dropCandidate(tx, chain, address);
    return { result: found, changed: true, facts: { chain, address, status } };
  });
  print(json ? JSON.stringify(candidate) : `forgotten\n${candidateLine(candidate)}`);
  return 0;
}

const wanted = (assetId: string) => ({ assetId, by: 'operator', at: new Date() }) as const;
type Reasons = { readonly reason: readonly string[] };

export const close = (json: boolean, named: string, { reason: reasons }: Reasons) =>
  changeOne(json, 'close', { asset: named, reasons }, (tx, { asset, state }) => {
    if (state !== 'delisted') return closeAsset(tx, { ...wanted(asset.id), reasons });
    throw new Error(`${asset.symbol} on ${asset.chain} (asset ${asset.id}) is delisted, for ever`);
  });

export const delist = (json: boolean, named: string, { reason: reasons }: Reasons) =>
  changeOne(json, 'delist', { asset: named, reasons }, (tx, { asset }) =>
    delistAsset(tx, { ...wanted(asset.id), reasons }),
  );

export const reopen = (json: boolean, named: string) =>
  changeOne(json, 'reopen', { asset: named }, (tx, { asset }) => reopenAsset(tx, wanted(asset.id)));

export const curate = (
  json: boolean,
  named: string,
  { highValueFrom }: { readonly highValueFrom?: bigint | undefined },
) => {
  const from = highValueFrom === undefined ? {} : { highValueFrom: highValueFrom.toString() };
  return changeOne(json, 'curate', { asset: named, ...from }, (tx, { asset }) =>
    curateAsset(tx, asset.id, highValueFrom ?? null),
  );
};

async function changeOne(
  json: boolean,
  command: Command,
  given: Readonly<Record<string, unknown>> & { readonly asset: string },
  change: (tx: Tx, listing: Listing) => Promise<Changed>,
): Promise<number> {
  const action = { command: `assets ${command}`, arguments: given } as const;
  const changed = await acting(action, async (tx) => {
    const listing = await theAsset(tx, given.asset);
    const result = await change(tx, listing);
    const { orders, state: now } = result;
    const about = { assetId: listing.asset.id, state: now, orders };
    return { result, changed: result.changed, facts: about };
  });
  const { changed: isNew, orders } = changed;
  const all = { ...facts(changed), changed: isNew, orders };
  print(json ? JSON.stringify(all) : told(command, changed));
  if (command !== 'reopen' || changed.state === 'open') return 0;
  process.stderr.write(`${stillClosed(changed)}\n`);
  return 1;
}
