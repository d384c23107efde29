// `ops assets`: the assets that may be traded, for operators. Works on the market's database,
// whether a market runs or not; one that runs tells its makers within a quarter of a second.

import { parseEvmAddress } from '@parley/chains/evm/address.ts';
import { Misused, parsed, usualOptions } from '@parley/host/command.ts';
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
import { acting, isReason, mostReasonLength, print, reading, rfqs, theAsset } from './operator.ts';
import type { Act } from './table.ts';

const usage = `usage: npm run ops -- assets list [--state open|closed|delisted] [--json]
       npm run ops -- assets candidates [--state pending|rejected|expired] [--json]
       npm run ops -- assets close <asset> --reason TEXT [--reason TEXT]... [--json]
       npm run ops -- assets reopen <asset> [--json]
       npm run ops -- assets delist <asset> --reason TEXT... --for-ever [--json]
       npm run ops -- assets curate <asset> [--high-value-from AMOUNT] [--json]
       npm run ops -- assets forget <chain>/<token address> [--json]
  <asset>   its id, <chain>/<token address>, <chain>/native, or a symbol that only one asset has
  close     its public RFQs leave the book until it reopens; swaps that were agreed go on
  reopen    lifts what operators and the daily checks hold closed
  delist    closes it for ever
  curate    lists it as verified, with source "curated"
  forget    what was found about a candidate, a rejection too: it may be asked for again
Settings as for npm start: DATABASE_URL, or PARLEY_HOME of a running market. Exit status: 0 done or
so already, 1 refused, 2 not understood.`;

const mostReasons = 20;
/** Assets or candidates in a list. */
const mostShown = 1_000;
/** The work of each command: whether it is about one asset, and what goes with it. */
const commands = {
  list: { options: ['state'], states: ['open', 'closed', 'delisted'] },
  candidates: { options: ['state'], states: ['pending', 'rejected', 'expired'] },
  close: { options: ['reason'] },
  reopen: { options: [] },
  delist: { options: ['reason', 'for-ever'] },
  curate: { options: ['high-value-from'] },
  forget: { options: [] },
} as const;
type Command = keyof typeof commands;

function understand(args: string[]) {
  const { values, positionals } = parsed({
    args,
    allowPositionals: true,
    options: {
      ...usualOptions,
      reason: { type: 'string', multiple: true },
      state: { type: 'string' },
      'for-ever': { type: 'boolean' },
      'high-value-from': { type: 'string' },
    },
  });
  const { reason: reasons = [], state = null, 'high-value-from': from, help, ...given } = values;
  if (help === true) return null;
  const [command = '', asset = '', ...rest] = positionals;
  if (!Object.hasOwn(commands, command)) {
    throw new Misused(command === '' ? '' : `there is no command ${command}`);
  }
  const one = command as Command;
  const { options, states = null } = commands[one] as {
    options: readonly string[];
    states?: readonly string[];
  };
  if (rest.length > 0) throw new Misused(`one asset at a time; also given: ${rest.join(' ')}`);
  if ((states !== null) === (asset !== '')) {
    throw new Misused(states === null ? `${one} needs an asset` : `${one} takes no asset`);
  }
  for (const option of ['reason', 'for-ever', 'state', 'high-value-from'] as const) {
    if (values[option] === undefined || options.includes(option)) continue;
    throw new Misused(`--${option} does not go with ${one}`);
  }
  if (options.includes('reason') && reasons.length === 0) {
    throw new Misused(`${one} needs a --reason: customers are told it`);
  }
  if (reasons.length > mostReasons || reasons.some((each) => !isReason(each))) {
    const sizes = `1 to ${mostReasonLength} characters, on one line`;
    throw new Misused(`a --reason is ${sizes}; there are at most ${mostReasons}`);
  }
  if (one === 'delist' && given['for-ever'] !== true) {
    throw new Misused('a delisted asset can never be traded again: say --for-ever');
  }
  if (state !== null && states !== null && !states.includes(state)) {
    throw new Misused(`--state of ${one} is ${states.join(', ')}, not "${state}"`);
  }
  if (from !== undefined && !/^[1-9][0-9]{0,76}$/.test(from)) {
    throw new Misused(`--high-value-from is a whole number of base units, not "${from}"`);
  }
  const highValueFrom = from === undefined ? null : BigInt(from);
  return { command: one, asset, reasons, state, highValueFrom, json: given.json === true };
}

type Asked = NonNullable<ReturnType<typeof understand>>;

function change(
  tx: Tx,
  { command, reasons, highValueFrom }: Asked,
  assetId: string,
): Promise<Changed> {
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
}

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

function told({ command }: Asked, changed: Changed): string {
  // It was not so: the reason for the wait is shown beside it.
  if (command === 'reopen' && changed.state !== 'open' && !changed.changed) return line(changed);
  const verb = command === 'reopen' ? 'came back to the book' : 'left the book';
  const done = command === 'curate' ? 'done' : `done, ${rfqs(changed.orders)} ${verb}`;
  return `${changed.changed ? done : 'nothing to do, it was so already'}\n${line(changed)}`;
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

async function run(asked: Asked): Promise<number> {
  const { command } = asked;
  if (command === 'list' || command === 'candidates') {
    await reading((db) => list(db, asked));
    return 0;
  }
  return command === 'forget' ? forget(asked) : changeOne(asked);
}

async function list(db: Tx, { command, state, json }: Asked): Promise<void> {
  if (command === 'candidates') {
    const found = await listCandidates(db, state as CandidateStatus | null, mostShown + 1);
    for (const each of shownOf(found, 'newest')) {
      print(json ? JSON.stringify(each) : candidateLine(each));
    }
    return;
  }
  const wanted = state === null ? {} : { state: state as ListingState };
  const found = await searchListings(db, wanted, mostShown + 1);
  for (const each of shownOf(found, 'oldest')) {
    print(json ? JSON.stringify(facts(each)) : line(each));
  }
}

async function forget({ asset, json }: Asked): Promise<number> {
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

async function changeOne(asked: Asked): Promise<number> {
  const { command, asset: named, reasons, highValueFrom } = asked;
  const from = highValueFrom === null ? {} : { highValueFrom: highValueFrom.toString() };
  const given = { asset: named, ...(reasons.length > 0 && { reasons }), ...from };
  const action = { command: `assets ${command}` as Act, arguments: given };
  const changed = await acting(action, async (tx) => {
    const { asset, state } = await theAsset(tx, named);
    if (command === 'close' && state === 'delisted') {
      throw new Error(
        `${asset.symbol} on ${asset.chain} (asset ${asset.id}) is delisted, for ever`,
      );
    }
    const result = await change(tx, asked, asset.id);
    const { orders, state: now } = result;
    return { result, changed: result.changed, facts: { assetId: asset.id, state: now, orders } };
  });
  const { changed: isNew, orders } = changed;
  const json = { ...facts(changed), changed: isNew, orders };
  print(asked.json ? JSON.stringify(json) : told(asked, changed));
  if (command !== 'reopen' || changed.state === 'open') return 0;
  process.stderr.write(`${stillClosed(changed)}\n`);
  return 1;
}

export const command = { usage, understand, run };
