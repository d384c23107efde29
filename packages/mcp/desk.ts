// The parts that every tool works with: the profile, the account, keys where the server was started
// with them, and what is kept beside them.

import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { ParleyApiError, VerificationError } from '@parley/sdk/errors.ts';
import type { Hearing } from '@parley/sdk/settle/context.ts';
import { fileStore } from '@parley/sdk/stores/file.ts';
import type { Store } from '@parley/sdk/stores/store.ts';
import type { Scope } from '@parley/sdk/types.ts';
import { allAssets, catalogueOf, type OwnAsset, shownAmount } from '@parley/trader/assets.ts';
import { Failure, needsYou } from '@parley/trader/failures.ts';
import type { Cli } from '@parley/trader/io.ts';
import { mustBePrivate, readUpTo } from '@parley/trader/places.ts';
import {
  accountOf,
  marketOf,
  openSession,
  type Session,
  type SignedIn,
  type Unlocked,
  unlocked,
} from '@parley/trader/session.ts';
import { createDriver, type Driver } from './driver.ts';
import { assetIn, idIn } from './foreign.ts';
import { type Hashlocks, openHashlocks } from './hashlocks.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { type Limits, readLimits } from './limits.ts';
import { openPlans, type Plans } from './plans.ts';
import { howToSignIn } from './refusal.ts';
import { createTurns, type InTurn } from './turns.ts';
import type { Timer } from './waiting.ts';
import { createWatch, type Watch } from './watch.ts';

export type Named = {
  /** `CHAIN`, `CHAIN:SYMBOL` where the profile pins it, else `CHAIN:CONTRACT`. */
  readonly name: string;
  /** null: the market does not list it, so nobody says what a whole coin of it is. */
  readonly decimals: number | null;
  readonly pinned: boolean;
};

export type Names = {
  of(assetId: string): Named;
  idOf(name: string): string;
  /** As `catalogueOf` of the command has it. */
  readonly whole: Awaited<ReturnType<typeof catalogueOf>>;
};

export type Held = {
  readonly own: Unlocked;
  readonly limits: Limits;
  readonly ledger: Ledger;
  readonly driver: Driver;
};

export type Desk = {
  readonly cli: Cli;
  readonly session: Session;
  readonly signed: SignedIn;
  readonly client: ParleyClient;
  readonly userId: string;
  /** null: the server was started without keys. */
  readonly held: Held | null;
  /** Trades that were accepted without keys here: their swaps are verified by these. */
  readonly watched: Store;
  readonly hashlocks: Hashlocks;
  /** How the nodes of each swap have answered its calls so far. */
  readonly hearings: Map<string, Hearing>;
  readonly plans: Plans;
  /** Two calls with one digest are one act. */
  readonly inTurn: InTurn;
  /** The changes of own swaps, for those who listen. */
  readonly watch: Watch;
  readonly timer: Timer;
  /** The scopes of the API key. Asks the market once. */
  scopes(): Promise<readonly Scope[]>;
  names(): Promise<Names>;
  close(): Promise<void>;
};

export type Opening = {
  readonly withKeys: boolean;
  /** Wanted with keys. */
  readonly limitsFile: string | null;
  /** An API key of its own, instead of the profile's. */
  readonly apiKeyFile: string | null;
  /** A line to standard error. */
  readonly note: (text: string) => void;
};

/** A clock that nobody sets, and pauses that keep no process. */
const timer: Timer = {
  seconds: () => performance.now() / 1_000,
  pause: (ms, signal) => after(ms, undefined, { signal, ref: false }),
};

const namesMs = 30_000;
const mostKeyBytes = 4_096;

export async function openDesk(cli: Cli, opening: Opening): Promise<Desk> {
  const session = await openSession(cli);
  try {
    return await deskIn(cli, session, opening);
  } catch (error) {
    await session.close();
    throw error;
  }
}

async function deskIn(cli: Cli, session: Session, opening: Opening): Promise<Desk> {
  const signed = await signedBy(session, opening.apiKeyFile);
  const { client, account } = signed;
  const folder = join(session.places.data, 'mcp');
  const watch = createWatch({ client, pause: timer.pause });
  const held = opening.withKeys ? await heldIn(cli, session, signed, opening, watch) : null;
  let scopes: Promise<readonly Scope[]> | null = null;
  let names: { readonly at: number; readonly made: Promise<Names> } | null = null;
  return {
    cli,
    session,
    signed,
    client,
    userId: account.userId,
    held,
    watched: await fileStore(join(folder, 'watched')),
    hashlocks: openHashlocks(join(folder, 'hashlocks')),
    hearings: new Map(),
    plans: openPlans(join(folder, 'plans'), session.now),
    inTurn: createTurns(),
    watch,
    timer,
    scopes: () => {
      scopes ??= client.me().then((me) => me.scopes);
      // A market that is away is asked again.
      scopes.catch(() => {
        scopes = null;
      });
      return scopes;
    },
    names: () => {
      if (names === null || Date.now() - names.at > namesMs) {
        const made = namesIn(session, client);
        names = { at: Date.now(), made };
        made.catch(() => {
          names = null;
        });
      }
      return names.made;
    },
    close: async () => {
      watch.close();
      await held?.driver.close();
      await session.close();
    },
  };
}

async function signedBy(session: Session, apiKeyFile: string | null): Promise<SignedIn> {
  if (apiKeyFile === null) {
    const account = await accountOf(session);
    if (account !== null) return { account, client: await marketOf(session, account.key) };
    const { market } = session.profile;
    throw needsYou('not_signed_in', `no account is signed in at ${market}: ${howToSignIn}`);
  }
  const text = await readUpTo(apiKeyFile, mostKeyBytes);
  if (text === null) throw new Failure('local', 'no_key', `there is no file ${apiKeyFile}`);
  await mustBePrivate(apiKeyFile);
  const key = text.trim();
  if (!/^\S{20,200}$/.test(key)) {
    throw new Failure('local', 'bad_key', `${apiKeyFile} must hold an API key and nothing else`);
  }
  const client = await marketOf(session, key);
  const { userId } = await client.me();
  const known = { market: session.profile.market, prefix: '', expiresAt: '', addresses: {} };
  return { client, account: { ...known, userId, key } };
}

async function heldIn(
  cli: Cli,
  session: Session,
  signed: SignedIn,
  { limitsFile, note }: Opening,
  { changed }: Pick<Watch, 'changed'>,
): Promise<Held> {
  if (limitsFile === null) {
    const sentence = '--keys wants --limits FILE: per swap, per day, and which pairs (docs/mcp.md)';
    throw new Failure('usage', 'no_limits', sentence);
  }
  const limits = await readLimits(limitsFile, session);
  const own = await unlocked(cli, session);
  const file = join(session.places.data, 'mcp', 'given.json');
  const ledger = openLedger(file, limits, own.store, session.now);
  const { signal } = cli;
  const driver = createDriver({ signal, session, own, client: signed.client, note, changed });
  await driver.resume();
  return { own, limits, ledger, driver };
}

async function namesIn(session: Session, client: ParleyClient): Promise<Names> {
  const [listed, whole] = await Promise.all([allAssets(client), catalogueOf(session, client)]);
  const byId = new Map(listed.map((each) => [each.id, each]));
  return {
    whole,
    idOf: whole.idOf,
    of: (assetId) => {
      const asset = byId.get(assetId);
      if (asset === undefined) return { name: idIn(assetId), decimals: null, pinned: false };
      const own: OwnAsset = whole.of(assetId);
      // A symbol that the profile does not pin is whatever somebody called it.
      if (!own.name.endsWith('?'))
        return { name: assetIn(own.name), decimals: own.decimals, pinned: true };
      const { chain, address } = asset;
      const name = assetIn(address === null ? chain : `${chain}:${address}`);
      return { name, decimals: asset.decimals, pinned: false };
    },
  };
}

export type Amount = {
  readonly asset: string;
  /** Base units. */
  readonly units: string;
  /** Whole coins; null: an asset that the market does not list. */
  readonly amount: string | null;
};

const narrowSpace = /\u202f/g;

/** Throws VerificationError where a market says what is no amount. */
export function amountOf(
  units: bigint | string,
  { name, decimals }: Pick<Named, 'name' | 'decimals'>,
): Amount {
  if (!/^\d{1,78}$/.test(String(units))) {
    throw new VerificationError('amount', `base units of ${name}`, String(units).slice(0, 80));
  }
  if (decimals === null) return { asset: name, units: String(units), amount: null };
  const own = { name: '', decimals };
  const amount = shownAmount(units, own).trim().replace(narrowSpace, '');
  return { asset: name, units: String(units), amount };
}

/** `0.01 bitcoin`. */
export const inWords = ({ asset, units, amount }: Amount) =>
  amount === null ? `${units} base units of ${asset}` : `${amount} ${asset}`;

/** Whether nobody decided anything: the market is away. */
export const isAway = (error: unknown) => error instanceof ParleyApiError && error.unreachable;
