// What each part of a market has used: processor time by proc(5), statements by the metrics that
// every process serves, Valkey's by its own words.

import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { portOf } from '../support/stage.ts';
import type { Market } from './market.ts';

const parts = ['servers', 'watchtower', 'database', 'valkey', 'nginx', 'driver'] as const;
export type Part = (typeof parts)[number];

/** Processor milliseconds by part, and statements of the server processes. */
export type Used = Readonly<Record<Part | 'statements' | 'seconds', number>>;

const fields = [...parts, 'statements', 'seconds'] as const;
const tickMs = 10;

export async function usedBy(market: Market): Promise<Used> {
  const statements = await Promise.all(
    market.processes.map(({ metricsPort }) => statementsOf(metricsPort)),
  );
  const { user, system } = process.cpuUsage();
  const pids = market.processes.map(({ server }) => server.market.child.pid ?? 0);
  return {
    servers: ofProcesses(pids, false),
    watchtower: ofProcesses([market.watchtower.pid], false),
    database: ofProcesses([market.stage.postgres?.pid ?? 0], true),
    valkey: await ofValkey(portOf(market.valkey.url)),
    nginx: ofProcesses([market.proxy.pid], true),
    driver: (user + system) / 1_000,
    statements: statements.reduce((sum, each) => sum + each, 0),
    seconds: performance.now() / 1_000,
  };
}

export function between(before: Used, after: Used): Used {
  return mapped((field) => after[field] - before[field]);
}

/** Without what the market uses in as many seconds while nothing happens. */
export function without(used: Used, idle: Used): Used {
  const share = used.seconds / idle.seconds;
  return { ...mapped((field) => used[field] - idle[field] * share), seconds: used.seconds };
}

export function each(used: Used, count: number): Used {
  return mapped((field) => used[field] / count);
}

function mapped(value: (field: (typeof fields)[number]) => number): Used {
  return Object.fromEntries(fields.map((field) => [field, value(field)])) as Used;
}

/** Of these; `isWhole`: and of their children, of which some have ended. */
function ofProcesses(pids: readonly number[], isWhole: boolean): number {
  let ticks = 0;
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const stat = statOf(name);
    if (stat === null) continue;
    const isIt = pids.includes(Number(name));
    if (!isIt && !(isWhole && pids.includes(Number(stat[1])))) continue;
    // utime and stime; cutime and cstime of those that were waited for.
    ticks += Number(stat[11]) + Number(stat[12]);
    if (isIt && isWhole) ticks += Number(stat[13]) + Number(stat[14]);
  }
  return ticks * tickMs;
}

/** From the state on, which follows the name in parentheses; null where it has ended. */
function statOf(pid: string): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

async function statementsOf(port: number): Promise<number> {
  const reply = await fetch(`http://127.0.0.1:${port}/metrics`);
  const text = await reply.text();
  let sum = 0;
  for (const [, value] of text.matchAll(/^parley_database_statements_total\{.*\} (\d+)$/gm)) {
    sum += Number(value);
  }
  return sum;
}

function ofValkey(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('INFO cpu\r\n'));
    let said = '';
    socket.once('error', reject);
    socket.on('data', (chunk) => {
      said += chunk;
      const user = /used_cpu_user:([\d.]+)/.exec(said);
      const system = /used_cpu_sys:([\d.]+)/.exec(said);
      if (user === null || system === null) return;
      socket.destroy();
      resolve((Number(user[1]) + Number(system[1])) * 1_000);
    });
  });
}
