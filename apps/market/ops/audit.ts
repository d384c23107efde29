// `ops audit`: the acts of operators, newest first.

import { Misused, onOneLine, parsed, usualOptions, wholeNumber } from '@parley/host/command.ts';
import { listActions, type OperatorAction } from '../db/operator-actions.ts';
import { print, reading } from './operator.ts';
import { commands, isCommand } from './table.ts';

const usage = `usage: npm run ops -- audit [--command NAME] [--operator NAME] [--since TIME]
                            [--limit N] [--json]
  --command   of this command, such as "halt", "assets" or "assets close"
  --operator  by this name: PARLEY_OPERATOR, or the system's user
  --since     from this time on, such as 2026-11-21T13:00:00Z
  --limit     at most so many; default 50
What was done, what was so already, and what was refused. Rows are only ever added, each in the
transaction of its effect. Settings as for npm start: DATABASE_URL, or PARLEY_HOME of a running
market. Exit status: 0 done, 2 not understood.`;

const usualLimit = '50';
const mostShown = 10_000;

function understand(args: string[]) {
  const text = { type: 'string' } as const;
  const own = { command: text, operator: text, since: text, limit: text };
  const { values } = parsed({ args, options: { ...usualOptions, ...own } });
  if (values.help === true) return null;
  const { command = null, operator = null, since = null, limit = usualLimit } = values;
  if (command !== null && !isCommand(command.split(' ')[0])) {
    const names = Object.keys(commands).join(', ');
    throw new Misused(`--command is one of ${names}, not "${command}"`);
  }
  const from = since === null ? null : new Date(since);
  if (since !== null && !(/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(since) && from?.getTime())) {
    throw new Misused(`--since is a time like 2026-11-21T13:00:00Z, not "${since}"`);
  }
  const wanted = { command, operator, since: from };
  return {
    ...wanted,
    limit: wholeNumber('--limit', limit, { most: mostShown }),
    json: values.json === true,
  };
}

type Asked = NonNullable<ReturnType<typeof understand>>;

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

async function run({ json, ...wanted }: Asked): Promise<number> {
  const found = await reading((db) => listActions(db, wanted));
  for (const each of found) print(json ? JSON.stringify(each) : actionLine(each));
  if (found.length === 0 && !json) print('nothing');
  return 0;
}

export const command = { usage, understand, run };
