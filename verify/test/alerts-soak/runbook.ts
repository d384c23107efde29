// The runbook of an alert, tried while it fires: the program runs each line as it stands there.
// Expressions are asked of Prometheus, statements of the database, and commands run.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Env } from '../support/stage.ts';
import type { RunningPrometheus } from './prometheus.ts';

const text = readFileSync(new URL('../../../docs/runbooks.md', import.meta.url), 'utf8');
const operations = fileURLToPath(new URL('../../../apps/market/ops.ts', import.meta.url));
const commandMs = 120_000;

export type Looker = {
  readonly prometheus: RunningPrometheus;
  readonly databaseUrl: string;
  /** The swap that the log names as half settled: `ID` in a runbook. */
  readonly swapId: () => string;
  /** The environment of the market. */
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

/** Null: no program can check it, or the log does not say it. */
async function shows(looker: Looker, what: string, all: readonly string[]) {
  const { prometheus, databaseUrl, env, log } = looker;
  if (/^select /.test(what)) return again(async () => (await rowsOf(databaseUrl, what)) > 0);
  const [, command] = /^npm run ops -- (.*)$/.exec(what) ?? [];
  if (command !== undefined) {
    const [name = '', ...args] = command.replace('ID', looker.swapId()).split(' ');
    const said = await run([name, ...args], env);
    // A finding of the doctor is one that the runbook names.
    const named = all.filter((each) => /^[a-z]+_[a-z_]+$/.test(each));
    if (name !== 'doctor') return said.code === 0 && said.out.trim() !== '';
    return named.length === 0 ? said.out !== '' : named.some((each) => said.out.includes(each));
  }
  if (/\b(?:parley|process|nodejs)_\w+/.test(what)) {
    return again(async () => (await prometheus.query(what)).length > 0);
  }
  // A word alone, such as the name of a field, is in the log of every market.
  return / /.test(what) && log().includes(what) ? true : null;
}

/** Somebody looks more than once, and a scrape that failed leaves a gap. */
const mostLooks = 5;
const betweenLooksMs = 1_000;

async function again(is: () => Promise<boolean>): Promise<boolean> {
  for (let looks = 0; looks < mostLooks; looks += 1) {
    if (await is()) return true;
    await sleep(betweenLooksMs);
  }
  return false;
}

/** By a session of its own: those of a fault have a transaction open. */
async function rowsOf(connectionString: string, statement: string): Promise<number> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(statement)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}

function run(args: readonly string[], env: Env): Promise<{ code: number | null; out: string }> {
  return new Promise((resolve) => {
    const own = { env: { ...process.env, ...env }, timeout: commandMs };
    const child = execFile(process.execPath, [operations, ...args], own, (_, out) =>
      resolve({ code: child.exitCode, out }),
    );
  });
}
