// `npm run assets`: what may be traded, for operators. Works on the market's database, whether a
// market runs or not; one that runs tells its makers within a quarter of a second.

import { parseEvmAddress } from '../chains/evm/address.ts';
import {
  type Candidate,
  type CandidateStatus,
  dropCandidate,
  findCandidate,
  listCandidates,
} from '../server/db/candidates.ts';
import type { Database } from '../server/db/database.ts';
import {
  type Closer,
  type Listing,
  type ListingState,
  searchListings,
} from '../server/db/listing.ts';
import {
  type Changed,
  closeAsset,
  curateAsset,
  delistAsset,
  reopenAsset,
} from '../server/market/listing.ts';
import { Misused, parsed, runCommand } from './command.ts';
import { isReason, mostReasonLength, openDatabase, theAsset } from './operator.ts';

const usage = `usage: npm run assets -- list [--state open|closed|delisted] [--json]
       npm run assets -- candidates [--state pending|rejected|expired] [--json]
       npm run assets -- close <asset> --reason TEXT [--reason TEXT]... [--json]
       npm run assets -- reopen <asset> [--json]
       npm run assets -- delist <asset> --reason TEXT... --for-ever [--json]
       npm run assets -- curate <asset> [--high-value-from AMOUNT] [--json]
       npm run assets -- forget <chain>/<token address> [--json]
  <asset>   its id, <chain>/<token address>, <chain>/native, or a symbol that only one asset has
  close     its public RFQs leave the book until it reopens; swaps that were agreed go on
  reopen    lifts what operators and the daily checks hold closed
  delist    closes it for ever
  curate    lists it as verified, with source "curated"
  forget    what was found about a candidate, a rejection too: it may be asked for again
Settings as for npm start: DATABASE_URL, or PARLEY_HOME of a running market. Exit status: 0 done or
so already, 1 refused, 2 not understood.`;

const mostReasons = 20;
const commands = ['list', 'candidates', 'close', 'reopen', 'delist', 'curate', 'forget'] as const;
const states = {
  list: ['open', 'closed', 'delisted'],
  candidates: ['pending', 'rejected', 'expired'],
} as const;
const mostShown = 1_000;

type Asked = {
  readonly command: (typeof commands)[number];
  readonly asset: string;
  readonly reasons: readonly string[];
  readonly state: ListingState | CandidateStatus | null;
  readonly highValueFrom: bigint | null;
  readonly json: boolean;
};

function understand(args: string[]): Asked | null {
  const { values, positionals } = parsed({
    args,
    allowPositionals: true,
    options: {
      reason: { type: 'string', multiple: true },
      state: { type: 'string' },
      'for-ever': { type: 'boolean' },
      'high-value-from': { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return null;
  const [command = '', asset = '', ...rest] = positionals;
  const one = commands.find((each) => each === command);
  if (one === undefined) throw new Misused(command === '' ? '' : `there is no command ${command}`);
  if (rest.length > 0) throw new Misused(`one asset at a time; also given: ${rest.join(' ')}`);
  const isList = one === 'list' || one === 'candidates';
  if (isList === (asset !== '')) {
    throw new Misused(isList ? `${one} takes no asset` : `${one} needs an asset`);
  }
  const { reason: reasons = [], state, 'for-ever': forEver, 'high-value-from': from } = values;
  const named = {
    reason: ['close', 'delist'],
    'for-ever': ['delist'],
    state: ['list', 'candidates'],
  };
  for (const [option, of] of Object.entries({ ...named, 'high-value-from': ['curate'] })) {
    const given = values[option as keyof typeof values] !== undefined;
    if (given && !of.includes(one)) throw new Misused(`--${option} does not go with ${one}`);
  }
  if ((one === 'close' || one === 'delist') && reasons.length === 0) {
    throw new Misused(`${one} needs a --reason: customers are told it`);
  }
  if (reasons.length > mostReasons || reasons.some((each) => !isReason(each))) {
    const sizes = `1 to ${mostReasonLength} characters, on one line`;
    throw new Misused(`a --reason is ${sizes}; there are at most ${mostReasons}`);
  }
  if (one === 'delist' && forEver !== true) {
    throw new Misused('a delisted asset can never be traded again: say --for-ever');
  }
  const known: readonly string[] = one === 'candidates' ? states.candidates : states.list;
  if (state !== undefined && !known.includes(state)) {
    throw new Misused(`--state of ${one} is ${known.join(', ')}, not "${state}"`);
  }
  if (from !== undefined && !/^[1-9][0-9]{0,76}$/.test(from)) {
    throw new Misused(`--high-value-from is a whole number of base units, not "${from}"`);
  }
  return {
    command: one,
    asset,
    reasons,
    state: (state as Asked['state'] | undefined) ?? null,
    highValueFrom: from === undefined ? null : BigInt(from),
    json: values.json === true,
  };
}

function change(db: Database, { command, reasons, highValueFrom }: Asked, assetId: string) {
  return db.transaction(async (tx): Promise<Changed> => {
    const wanted = { assetId, by: 'operator' as const, at: new Date() };
    switch (command) {
      case 'close':
        return closeAsset(tx, { ...wanted, reasons });
      case 'delist':
        return delistAsset(tx, { ...wanted, reasons });
      case 'reopen':
        return reopenAsset(tx, wanted);
      default:
        return curateAsset(tx, assetId, highValueFrom);
    }
  });
}

async function theCandidate(db: Database, given: string): Promise<Candidate> {
  const slash = given.indexOf('/');
  if (slash === -1) throw new Misused('forget needs <chain>/<token address>');
  const [chain, address] = [given.slice(0, slash), given.slice(slash + 1)];
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

function told({ command }: Asked, changed: Changed): string {
  // It was not so: what it waits for is said beside it.
  if (command === 'reopen' && changed.state !== 'open' && !changed.changed) return line(changed);
  const verb = command === 'reopen' ? 'came back to the book' : 'left the book';
  const orders = changed.orders === 1 ? '1 RFQ' : `${changed.orders} RFQs`;
  const done = command === 'curate' ? 'done' : `done, ${orders} ${verb}`;
  return `${changed.changed ? done : 'nothing to do, it was so already'}\n${line(changed)}`;
}

/** What an operator's reopening does not lift, and what does. */
function whyStill(by: Closer, { id, chain }: Listing['asset']): string {
  switch (by) {
    case 'settings':
      return 'the settings of the market do not list it';
    case 'halt':
      return `it is halted (npm run resume -- --asset ${id} lifts that)`;
    case 'chain':
      return `its chain is halted (npm run resume -- --chain ${chain} lifts that)`;
    case 'operator':
    case 'checks':
      return by;
  }
}

function stillClosed({ asset, closings }: Listing): string {
  const why = (Object.keys(closings) as Closer[]).map((by) => whyStill(by, asset));
  const { symbol, chain, id } = asset;
  return `${symbol} on ${chain} (asset ${id}) stays closed: ${why.join(', and ')}`;
}

async function run(asked: Asked): Promise<number> {
  const db = await openDatabase();
  const print = (text: string) => process.stdout.write(`${text}\n`);
  try {
    if (asked.command === 'list') {
      const state = asked.state as ListingState | null;
      const found = await searchListings(db, state === null ? {} : { state }, mostShown + 1);
      for (const each of shownOf(found, 'oldest'))
        print(asked.json ? JSON.stringify(facts(each)) : line(each));
      return 0;
    }
    if (asked.command === 'candidates') {
      const state = asked.state as CandidateStatus | null;
      const found = await listCandidates(db, state, mostShown + 1);
      for (const each of shownOf(found, 'newest'))
        print(asked.json ? JSON.stringify(each) : candidateLine(each));
      return 0;
    }
    if (asked.command === 'forget') {
      const candidate = await theCandidate(db, asked.asset);
      await dropCandidate(db, candidate.chain, candidate.address);
      print(asked.json ? JSON.stringify(candidate) : `forgotten\n${candidateLine(candidate)}`);
      return 0;
    }
    const { asset, state } = await theAsset(db, asked.asset);
    if (asked.command === 'close' && state === 'delisted') {
      throw new Error(
        `${asset.symbol} on ${asset.chain} (asset ${asset.id}) is delisted, for ever`,
      );
    }
    const changed = await change(db, asked, asset.id);
    const { changed: isNew, orders } = changed;
    print(
      asked.json
        ? JSON.stringify({ ...facts(changed), changed: isNew, orders })
        : told(asked, changed),
    );
    if (asked.command !== 'reopen' || changed.state === 'open') return 0;
    process.stderr.write(`${stillClosed(changed)}\n`);
    return 1;
  } finally {
    await db.close();
  }
}

await runCommand({ usage, understand, run });
