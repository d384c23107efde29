// `ops audit`: the acts of operators, newest first.

import { onOneLine } from '@parley/host/command.ts';
import { listActions, type OperatorAction } from '../db/operator-actions.ts';
import { print, reading } from './operator.ts';

/** `key value` of each, as they were given. */
export function inWords(of: Readonly<Record<string, unknown>>): string {
  return Object.entries(of)
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

export function actionLine(action: OperatorAction): string {
  const { id, at, operator, osUser, host, command, outcome, facts } = action;
  const who = operator === osUser ? `${osUser}@${host}` : `${operator} (${osUser}@${host})`;
  const given = inWords(action.arguments);
  const came = inWords(facts);
  const what = `${command}${given === '' ? '' : ` (${given})`}`;
  const done = `${outcome}${came === '' ? '' : `, ${came}`}`;
  return onOneLine(`${id}  ${at.toISOString()}  ${who}  ${what}: ${done}`);
}

type Asked = {
  readonly command?: string | undefined;
  readonly operator?: string | undefined;
  readonly since?: Date | undefined;
  readonly limit: number;
};

export async function audit(json: boolean, asked: Asked): Promise<number> {
  const { command = null, operator = null, since = null, limit } = asked;
  const found = await reading((db) => listActions(db, { command, operator, since, limit }));
  for (const each of found) print(json ? JSON.stringify(each) : actionLine(each));
  if (found.length === 0 && !json) print('nothing');
  return 0;
}
