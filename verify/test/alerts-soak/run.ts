// `npm run soak -- operations`: a real market and a real Prometheus with the rules of ops/. Each thing
// that an alert names is broken, until the alert fires, its runbook is looked into, and the thing
// is mended, until it ends. Prints a table. No alert of the rules may be left out.

import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startInbox } from '@parley/dev/devnet/people/inbox.ts';
import { parsed, understood } from '@parley/host/command.ts';
import { freePort } from '@parley/host/free-port.ts';
import pg from 'pg';
import { privateKeyToAddress } from 'viem/accounts';
import { newCustomer } from '../support/customers.ts';
import { endSides, type Pair } from '../support/deals.ts';
import { faultProxy } from '../support/fault-proxy.ts';
import { startStage } from '../support/stage.ts';
import { chainFaults } from './faults-chains.ts';
import { gasFaults, moneyFaults } from './faults-money.ts';
import { processFaults } from './faults-processes.ts';
import { tellingFaults } from './faults-telling.ts';
import { createPanels, type Panels } from './panels.ts';
import { type FiringAlert, type RunningPrometheus, startPrometheus } from './prometheus.ts';
import { type Looker, looked } from './runbook.ts';
import type { Fault, Scene } from './scene.ts';

const usage = `usage: npm run node -- verify/test/alerts-soak/run.ts [--only PATTERN]
  --only  the faults whose names fit this regular expression
Exit status: 0 every alert fired and ended, 1 one did not, 2 not understood.`;

/** Nodes are looked at once a minute, and the machine is shared. */
const longestWaitMs = 240_000;

const faults: readonly Fault[] = [
  ...gasFaults,
  ...chainFaults,
  ...tellingFaults,
  ...processFaults,
  ...moneyFaults,
];

const isOne = (wanted: Partial<FiringAlert>) => (alert: FiringAlert) =>
  Object.entries(wanted).every(([name, value]) => alert[name] === value);

/** A process that was restarted tells nothing for a moment, and its alerts pause. */
const quietMs = 8_000;

/** Seconds until it is so, and if it is to end, until it is over for good; null: it never was. */
async function until(
  prometheus: RunningPrometheus,
  wanted: Partial<FiringAlert>,
  fires: boolean,
  overMs = quietMs,
): Promise<number | null> {
  const began = performance.now();
  let last = began;
  while (performance.now() - began < longestWaitMs) {
    const now = performance.now();
    if ((await prometheus.firing()).some(isOne(wanted)) === fires) {
      if (fires) return Math.round((now - began) / 1_000);
      if (now - last >= overMs) return Math.round((last - began) / 1_000);
    } else {
      last = now;
    }
    await sleep(250);
  }
  return null;
}

type Hall = Scene & { readonly looker: Looker };

async function play(hall: Hall, panels: Panels, fault: Fault): Promise<boolean> {
  const { prometheus } = hall;
  const { name, alerts, breaks } = fault;
  // An alert left firing by another fault would count as fired at once.
  const quiet = await Promise.all(alerts.map((each) => until(prometheus, each, false, 0)));
  const mend = await breaks(hall);
  const fired = await Promise.all(alerts.map((each) => until(prometheus, each, true)));
  await panels.ask(prometheus);
  const beside = (await prometheus.firing()).filter((each) =>
    alerts.every(({ alertname }) => alertname !== each.alertname),
  );
  const isShown = fault.blind !== undefined || (await looksWell(hall.looker, fault));
  const leave = await mend();
  const ended = await Promise.all(alerts.map((each) => until(prometheus, each, false)));
  if (typeof leave === 'function') await leave();
  endSides();
  const told = (seconds: number | null | undefined) => (seconds == null ? 'NEVER' : `${seconds} s`);
  const others = [...new Set(beside.map(({ alertname }) => alertname))].join(', ');
  for (const [at, { alertname = '' }] of alerts.entries()) {
    const times = `fired after ${told(fired[at])}, ended after ${told(ended[at])}`;
    const with_ = others === '' ? '' : `; beside it ${others}`;
    console.log(`${alertname.padEnd(26)} ${name}: ${times}${with_}`);
  }
  if (quiet.includes(null)) console.log(`  ${name}: FIRED BEFORE IT`);
  return isShown && [...quiet, ...fired, ...ended].every((each) => each !== null);
}

/** Each alert's runbook must show something; lines that show nothing are printed. */
async function looksWell(looker: Looker, { alerts }: Fault): Promise<boolean> {
  let isWell = true;
  for (const { alertname = '' } of alerts) {
    const { shown, empty } = await looked(looker, alertname);
    for (const each of empty) console.log(`  ${alertname}: nothing by ${each}`);
    if (shown.length > 0) continue;
    console.log(`  ${alertname}: THE RUNBOOK SHOWS NOTHING`);
    isWell = false;
  }
  return isWell;
}

/** Alerts of the rules that no fault is for. */
async function forgotten(): Promise<string[]> {
  const rules = await readFile(
    new URL('../../../apps/market/deploy/prometheus/rules.yml', import.meta.url),
    'utf8',
  );
  const known = new Set(faults.flatMap(({ alerts }) => alerts.map(({ alertname }) => alertname)));
  const all = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  return all.filter((each) => !known.has(each));
}

type Undo = { add(step: () => unknown): void };

async function open(dir: string, undo: Undo): Promise<Hall> {
  const key = `0x${randomBytes(32).toString('hex')}` as const;
  const keyFile = join(dir, 'gas.key');
  await writeFile(keyFile, key, { mode: 0o600 });
  const token = randomBytes(32).toString('hex');
  await writeFile(join(dir, 'token'), token, { mode: 0o600 });
  const metricsPort = await freePort();
  const keeper = { chain: 'evm-dev', keyFile, dailyCap: `${10n ** 18n}`, refundGraceSeconds: 0 };
  const inbox = await startInbox({ log: { info() {}, warn() {}, error() {} } });
  undo.add(() => inbox.stop());
  const mail = await faultProxy(inbox.smtpPort);
  undo.add(() => mail.close());
  const stage = await startStage({
    env: {
      PARLEY_METRICS_PORT: String(metricsPort),
      PARLEY_METRICS_TOKEN_FILE: join(dir, 'token'),
      PARLEY_KEEPER: JSON.stringify([keeper]),
      PARLEY_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      PARLEY_MAIL_FROM: 'Parley <no-reply@market.example>',
    },
  });
  undo.add(() => stage.close());
  await stage.startServer();
  const pair: Pair = [await newCustomer(stage, 'Ann'), await newCustomer(stage, 'Ben')];
  const admin = new pg.Client({ connectionString: stage.postgres?.url });
  await admin.connect();
  undo.add(() => admin.end());
  const prometheus = await startPrometheus(metricsPort, token);
  undo.add(() => prometheus.stop());
  const gas = { address: privateKeyToAddress(key) };
  const log = () => stage.servers.map(({ market }) => market.log()).join('\n');
  const swapId = () => /"swapId":"([^"]+)","msg":"a swap is half settled"/.exec(log())?.[1] ?? '';
  const databaseUrl = stage.postgres?.url ?? '';
  const looker = { prometheus, databaseUrl, env: stage.env, log, swapId };
  const scene = { stage, prometheus, pair, admin, gas, keeper, inbox, mail };
  return { ...scene, looker };
}

const asked = understood({
  usage,
  understand: (args) => {
    const options = { only: { type: 'string', default: '' }, help: { type: 'boolean' } } as const;
    const { values } = parsed({ args, options });
    return values.help ? null : { only: new RegExp(values.only) };
  },
});

const dir = await mkdtemp(join(tmpdir(), 'parley-alerts-'));
const steps: (() => unknown)[] = [() => rm(dir, { recursive: true, force: true })];
const chosen = faults.filter(({ name }) => asked.only.test(name));
const isWhole = chosen.length === faults.length;
const missing = await forgotten();
let failed = 0;
const panels = createPanels();
try {
  const hall = await open(dir, { add: (step) => void steps.unshift(step) });
  for (const fault of chosen) if (!(await play(hall, panels, fault))) failed += 1;
  await panels.ask(hall.prometheus);
} finally {
  for (const step of steps) await step();
}
for (const each of missing) console.log(`no fault is for ${each}`);
const { wrong, count } = panels.told();
if (isWhole) for (const each of wrong) console.log(each);
const played = chosen.reduce((sum, { alerts }) => sum + alerts.length, 0);
const said = `${played} alerts, ${failed} faults that an alert missed, ${missing.length} without one`;
console.log(`alerts: ${said}, ${count} expressions of panels gave data`);
// A pattern that fits nothing has shown nothing.
const isWell =
  [failed, missing.length].every((count) => count === 0) && (!isWhole || wrong.length === 0);
process.exit(isWell && played > 0 ? 0 : 1);
