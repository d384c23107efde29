// `ops gaps`: time that is missing from the database, how far it was read back, and an
// operator's word where a chain cannot be read. docs/restore.md.

import type { Tx } from '../../server/db/database.ts';
import {
  listGaps,
  markRestored,
  openReadings,
  readingsOf,
  shortenReadings,
  skipReadings,
} from '../../server/db/gaps.ts';
import { revokeAllKeys } from '../../server/db/keys.ts';
import { mostGapDays } from '../../server/restore/gap.ts';
import { toldOf } from '../../server/restore/gate.ts';
import { Misused, parsed, wholeNumber } from '../command.ts';
import { type Asked as Action, acting, longStatementMs, print, reading } from './operator.ts';

const usage = `usage: npm run ops -- gaps list [--json]
       npm run ops -- gaps skip CHAIN --i-know
       npm run ops -- gaps read-days DAYS
       npm run ops -- gaps open SINCE
       npm run ops -- gaps revoke-keys
  list         the last gaps, and what still holds agreements
  skip         agreements do not wait for this chain: a hashlock that was used on it in the time
               that is missing could be used again, at the loss of whoever offers it
  read-days    a gap longer than ${mostGapDays} days is read for so many days (1 to ${mostGapDays})
  open         time is missing since SINCE (2026-11-21T13:00:00Z, with its zone, and not more
               than ${mostGapDays} days ago) although nobody noticed: the next heartbeat of a
               running server, or the next start, begins to read it back
  revoke-keys  every API key: after a restore by other means than npm run ops -- restore
Settings as for npm start: DATABASE_URL, or PARLEY_HOME of a running market. Exit status: 0 done,
1 refused, 2 not understood.`;

const mostShown = 20;
const daySeconds = 86_400;

/** Each with whether it takes an argument. */
const needs = {
  list: false,
  skip: true,
  'read-days': true,
  open: true,
  'revoke-keys': false,
} as const;
type Verb = keyof typeof needs;
type Changing = Exclude<Verb, 'list'>;
const verbs = Object.keys(needs) as Verb[];

type Asked = { readonly command: Verb; readonly argument: string; readonly json: boolean };

function understand(args: string[]): Asked | null {
  const flag = { type: 'boolean' } as const;
  const options = { json: flag, help: flag, 'i-know': flag };
  const { values, positionals } = parsed({ args, options, allowPositionals: true });
  if (values.help === true) return null;
  const [given = '', argument = '', ...rest] = positionals;
  const command = verbs.find((each) => each === given);
  if (command === undefined || needs[command] !== (argument !== '') || rest.length > 0) {
    throw new Misused(
      given === '' ? 'which command?' : `"${positionals.join(' ')}" is not understood`,
    );
  }
  if (command === 'skip' && values['i-know'] !== true) {
    throw new Misused('skip leaves hashlocks unread: say --i-know');
  }
  if (command === 'read-days') daysOf(argument);
  if (command === 'open') sinceOf(argument);
  return { command, argument, json: values.json === true };
}

function daysOf(argument: string): number {
  return wholeNumber('DAYS', argument, { most: mostGapDays });
}

/** With a zone: the reading by `Date` of less, "1" or "2026", is years away from what was meant. */
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

function sinceOf(argument: string): Date {
  const since = new Date(instant.test(argument) ? argument : Number.NaN);
  const age = Date.now() - since.getTime();
  if (age >= 0 && age <= mostGapDays * daySeconds * 1_000) return since;
  const wanted = `a time of the last ${mostGapDays} days like 2026-11-21T13:00:00Z`;
  throw new Misused(`SINCE is ${wanted}, not "${argument}"`);
}

type Said = { readonly said: string; readonly changed: boolean };

async function change(tx: Tx, command: Changing, argument: string): Promise<Said> {
  const now = new Date();
  switch (command) {
    case 'skip': {
      const skipped = await skipReadings(tx, argument, now);
      if (skipped === 0) throw new Error(`agreements do not wait for a chain "${argument}"`);
      return { said: `agreements do not wait for ${argument} any more`, changed: true };
    }
    case 'read-days': {
      const days = daysOf(argument);
      const since = Math.floor(now.getTime() / 1_000) - days * daySeconds;
      const begun = await shortenReadings(tx, since);
      if (begun === 0) return { said: 'no gap waits for that', changed: false };
      return { said: `${begun} chains are read for ${days} days`, changed: true };
    }
    case 'open': {
      const since = sinceOf(argument);
      await markRestored(tx, now, since);
      const said = `the next heartbeat takes the time since ${since.toISOString()} for missing`;
      return { said, changed: true };
    }
    case 'revoke-keys': {
      const revoked = await revokeAllKeys(tx, now);
      return { said: `${revoked} API keys are revoked`, changed: revoked > 0 };
    }
  }
}

async function list(db: Tx, json: boolean): Promise<string> {
  const gaps = await listGaps(db, mostShown);
  const withReadings = await Promise.all(
    gaps.map(async (gap) => ({ ...gap, readings: await readingsOf(db, gap.id) })),
  );
  const held = (await openReadings(db)).map(toldOf);
  if (json) return JSON.stringify({ held, gaps: withReadings });
  const lines = withReadings.flatMap(({ id, why, beganAt, endedAt, readings }) => [
    `${id}  ${why}  from ${beganAt.toISOString()} to ${endedAt.toISOString()}`,
    ...readings.map((each) => {
      const { chain, found, readAt, skippedAt, trouble } = each;
      const ended = skippedAt !== null ? 'skipped' : readAt !== null ? 'read' : toldOf(each);
      const of = trouble === null ? '' : `  (${trouble})`;
      return `   ${chain}: ${ended}, ${found} hashlocks that were not known${of}`;
    }),
  ]);
  const first = held.length === 0 ? 'agreements are made' : `agreements wait: ${held.join('; ')}`;
  return [first, ...lines].join('\n');
}

async function run(asked: Asked): Promise<number> {
  const { command, argument, json } = asked;
  if (command === 'list') {
    print(await reading((db) => list(db, json)));
    return 0;
  }
  const action: Action = {
    command: `gaps ${command}`,
    arguments: argument === '' ? {} : { of: argument },
  };
  const work = async (tx: Tx) => {
    const { said, changed } = await change(tx, command, argument);
    return { result: said, changed, facts: { said } };
  };
  const said = await acting(action, work, longStatementMs);
  print(json ? JSON.stringify({ said }) : said);
  return 0;
}

export const command = { usage, understand, run };
