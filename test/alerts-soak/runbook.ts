// The runbook of an alert, tried while it fires: what its lines say to look at is looked at, as it
// stands there. Expressions are asked of Prometheus, statements of the database, and commands run.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import type { Env } from '../support/stage.ts';
import type { RunningPrometheus } from './prometheus.ts';

const text = readFileSync(new URL('../../docs/runbooks.md', import.meta.url), 'utf8');
const operations = fileURLToPath(new URL('../../scripts/ops.ts', import.meta.url));
const commandMs = 120_000;

export type Looker = {
  readonly prometheus: RunningPrometheus;
  readonly admin: pg.Client;
  /** Of the market. */
  readonly env: Env;
  readonly log: () => string;
};

export type Looked = { readonly shown: readonly string[]; readonly empty: readonly string[] };

/** Everything that stands between backticks in its lines `Look`. */
function looksOf(alert: string): readonly string[] {
  const section = text.split(/^## /m).find((each) => each.startsWith(`${alert}\n`)) ?? '';
  const lines = section.match(/^- \*\*Look:\*\* .*(?:\n {2}.*)*$/gm) ?? [];
  return lines.flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, what = '']) => what));
}

export async function looked(looker: Looker, alert: string): Promise<Looked> {
  const shown: string[] = [];
  const empty: string[] = [];
  const looks = looksOf(alert);
  for (const each of looks) {
    const found = await shows(looker, each, looks);
    if (found !== null) (found ? shown : empty).push(each);
  }
  return { shown, empty };
}

/** Null: nothing that a program can look at, or a word of a log in which it is not. */
async function shows(looker: Looker, what: string, all: readonly string[]) {
  const { prometheus, admin, env, log } = looker;
  if (/^select /.test(what)) return ((await admin.query(what)).rowCount ?? 0) > 0;
  const [, command] = /^npm run ops -- (.*)$/.exec(what) ?? [];
  if (command !== undefined) {
    const [name = '', ...args] = command.replace('ID', await newest(admin)).split(' ');
    const said = await run([name, ...args], env);
    // A finding of the doctor is one that the runbook names.
    const named = all.filter((each) => /^[a-z]+_[a-z_]+$/.test(each));
    if (name !== 'doctor') return said.code === 0 && said.out.trim() !== '';
    return named.length === 0 ? said.out !== '' : named.some((each) => said.out.includes(each));
  }
  if (/\b(?:parley|process|nodejs)_\w+/.test(what))
    return (await prometheus.query(what)).length > 0;
  return log().includes(what) ? true : null;
}

/** The swap that changed last: where a runbook speaks of one, that is it. */
async function newest(admin: pg.Client): Promise<string> {
  const { rows } = await admin.query('select id from swaps order by updated_at desc limit 1');
  return (rows[0] as { id: string } | undefined)?.id ?? '';
}

function run(args: readonly string[], env: Env): Promise<{ code: number | null; out: string }> {
  return new Promise((resolve) => {
    const own = { env: { ...process.env, ...env }, timeout: commandMs };
    const child = execFile(process.execPath, [operations, ...args], own, (_, out) =>
      resolve({ code: child.exitCode, out }),
    );
  });
}
