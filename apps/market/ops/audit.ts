// `ops audit`: the acts of operators, newest first.

import { onOneLine, parsed, usualOptions, wholeNumber } from '@parley/host/command.ts';
import { listActions, type OperatorAction } from '../db/operator-actions.ts';
import { print, reading } from './operator.ts';

const usage = `usage: npm run ops -- audit [--limit N] [--json]
  --limit  at most so many; default 50
What was done, what was so already, and what was refused. Rows are only ever added, each in the
transaction of its effect. Settings as for npm start: DATABASE_URL, or PARLEY_HOME of a running
market. Exit status: 0 done, 2 not understood.`;

const usualLimit = '50';
const mostShown = 10_000;

function understand(args: string[]) {
  const options = { ...usualOptions, limit: { type: 'string', default: usualLimit } } as const;
  const { values } = parsed({ args, options });
  if (values.help === true) return null;
  return {
    limit: wholeNumber('--limit', values.limit, { most: mostShown }),
    json: values.json === true,
  };
}

/** `key value` of each, as they were given. */
function inWords(of: Readonly<Record<string, unknown>>): string {
  return Object.entries(of)
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

function actionLine(action: OperatorAction): string {
  const { id, at, operator, osUser, host, command, outcome, facts } = action;
  const who = operator === osUser ? `${osUser}@${host}` : `${operator} (${osUser}@${host})`;
  const given = inWords(action.arguments);
  const came = inWords(facts);
  const what = `${command}${given === '' ? '' : ` (${given})`}`;
  const done = `${outcome}${came === '' ? '' : `, ${came}`}`;
  return onOneLine(`${id}  ${at.toISOString()}  ${who}  ${what}: ${done}`);
}

async function run({ limit, json }: NonNullable<ReturnType<typeof understand>>): Promise<number> {
  const found = await reading((db) => listActions(db, limit));
  for (const each of found) print(json ? JSON.stringify(each) : actionLine(each));
  if (found.length === 0 && !json) print('nothing');
  return 0;
}

export const command = { usage, understand, run };
