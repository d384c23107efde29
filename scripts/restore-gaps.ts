// `npm run gaps`: time that is missing from the database, how far it was read back, and an
// operator's word where a chain cannot be read. docs/backup.md.

import type { Database } from '../server/db/database.ts';
import {
  listGaps,
  markRestored,
  openReadings,
  readingsOf,
  shortenReadings,
  skipReadings,
} from '../server/db/gaps.ts';
import { revokeAllKeys } from '../server/db/keys.ts';
import { mostGapDays } from '../server/restore/gap.ts';
import { toldOf } from '../server/restore/gate.ts';
import { Misused, parsed, runCommand, wholeNumber } from './command.ts';
import { longStatementMs, openDatabase } from './operator.ts';

const usage = `usage: npm run gaps -- list [--json]
       npm run gaps -- skip CHAIN --i-know
       npm run gaps -- read-days DAYS
       npm run gaps -- open SINCE
       npm run gaps -- revoke-keys
  list         the last gaps, and what still holds agreements
  skip         agreements do not wait for this chain: a hashlock that was used on it in the time
               that is missing could be used again, at the loss of whoever offers it
  read-days    a gap longer than ${mostGapDays} days is read for so many days (1 to ${mostGapDays})
  open         time is missing since SINCE (2026-11-21T13:00:00Z, with its zone, and not more
               than ${mostGapDays} days ago) although nobody noticed: the next heartbeat of a
               running server, or the next start, begins to read it back
  revoke-keys  every API key: after a restore by other means than npm run restore
Settings as for npm start: DATABASE_URL, or PARLEY_HOME of a running market. Exit status: 0 done,
1 refused, 2 not understood.`;

const mostShown = 20;
const daySeconds = 86_400;

type Asked = { readonly command: string; readonly argument: string; readonly json: boolean };

const needs: Readonly<Record<string, boolean>> = {
  list: false,
  skip: true,
  'read-days': true,
  open: true,
  'revoke-keys': false,
};

function understand(args: string[]): Asked | null {
  const flag = { type: 'boolean' } as const;
  const options = { json: flag, help: flag, 'i-know': flag };
  const { values, positionals } = parsed({ args, options, allowPositionals: true });
  if (values.help === true) return null;
  const [command = '', argument = '', ...rest] = positionals;
  const needed = needs[command];
  if (needed === undefined || needed !== (argument !== '') || rest.length > 0) {
    throw new Misused(
      command === '' ? 'which command?' : `"${positionals.join(' ')}" is not understood`,
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

/** With a zone: what `Date` makes of less, "1" or "2026", is years away from what was meant. */
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

function sinceOf(argument: string): Date {
  const since = new Date(instant.test(argument) ? argument : Number.NaN);
  const age = Date.now() - since.getTime();
  if (age >= 0 && age <= mostGapDays * daySeconds * 1_000) return since;
  const wanted = `a time of the last ${mostGapDays} days like 2026-11-21T13:00:00Z`;
  throw new Misused(`SINCE is ${wanted}, not "${argument}"`);
}

async function act(db: Database, { command, argument, json }: Asked): Promise<string> {
  const now = new Date();
  switch (command) {
    case 'skip': {
      const skipped = await skipReadings(db, argument, now);
      if (skipped === 0) throw new Error(`agreements do not wait for a chain "${argument}"`);
      return `agreements do not wait for ${argument} any more`;
    }
    case 'read-days': {
      const days = daysOf(argument);
      const since = Math.floor(now.getTime() / 1_000) - days * daySeconds;
      const begun = await shortenReadings(db, since);
      return begun === 0 ? 'no gap waits for that' : `${begun} chains are read for ${days} days`;
    }
    case 'open': {
      const since = sinceOf(argument);
      await db.transaction((tx) => markRestored(tx, now, since));
      return `the next heartbeat takes the time since ${since.toISOString()} for missing`;
    }
    case 'revoke-keys':
      return `${await revokeAllKeys(db, now)} API keys are revoked`;
    default:
      return list(db, json);
  }
}

async function list(db: Database, json: boolean): Promise<string> {
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
  const db = await openDatabase(longStatementMs);
  try {
    console.log(await act(db, asked));
    return 0;
  } finally {
    await db.close();
  }
}

await runCommand({ usage, understand, run });
