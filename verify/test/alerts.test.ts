// Alerts, dashboards and runbooks against the market: queries ask only for series that some process
// emits, and each alert has a runbook and a unit test. `promtool` runs those where it can be had.

import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createMetrics } from '@parley/market/ports/metrics.ts';
import { serveMetrics } from '@parley/market/ports/metrics-server.ts';
import { meterDatabase } from '@parley/market/start/metered.ts';
import { findPrometheus } from './support/prometheus.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');
const rules = read('apps/market/deploy/prometheus/rules.yml');
const unitTests = read('apps/market/deploy/prometheus/rules.test.yml');
const runbooks = read('docs/runbooks.md');
const alerts = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name);
const dashboards = readdirSync(`${root}apps/market/deploy/grafana`).map(
  (file) => `apps/market/deploy/grafana/${file}`,
);

/** Series of Prometheus itself, for each process that it asks. */
const ofPrometheus = ['up', 'ALERTS'];

/** The series of a process, by name and with what Prometheus makes of a histogram. */
async function told(): Promise<ReadonlyMap<string, string>> {
  const metrics = createMetrics('parley');
  const pool = () => ({ total: 1, idle: 1, waiting: 0 });
  const durations = { bounds: [1], counts: [0, 0] };
  meterDatabase(metrics, { statements: new Map(), failures: new Map(), durations, pool });
  const place = { metricsHost: '127.0.0.1', metricsPort: 0, metricsToken: null };
  const served = await serveMetrics(metrics, place);
  try {
    const text = await (await fetch(served.url)).text();
    return new Map(
      [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map((each) => [each[1]!, each[2]!]),
    );
  } finally {
    await served.stop();
  }
}
const types = await told();

/** The names of metrics in an expression, without those of its labels. */
function namesIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\b(by|on|without) \([^)]*\)/g, '');
  return bare.match(/\b(?:parley|nodejs|process)_\w+|\b(?:up|ALERTS)\b/g) ?? [];
}

function isTold(name: string): boolean {
  if (ofPrometheus.includes(name)) return true;
  const whole = name.replace(/_(bucket|sum|count)$/, '');
  return types.has(name) || (whole !== name && types.get(whole) === 'histogram');
}

test('every alert asks for metrics that a process tells', () => {
  const expressions = [...rules.matchAll(/expr: (?:>-\n)?([\s\S]+?)\n +(?:for|labels):/g)];
  assert.equal(expressions.length, alerts.length);
  for (const [, expression = ''] of expressions) {
    const names = namesIn(expression);
    assert.ok(names.length > 0, expression);
    assert.deepEqual(
      names.filter((name) => !isTold(name)),
      [],
      expression,
    );
  }
});

test('every panel of every dashboard asks for metrics that a process tells', () => {
  assert.ok(dashboards.length >= 3);
  for (const file of dashboards) {
    const { panels, uid } = JSON.parse(read(file)) as {
      uid: string;
      panels: { id: number; title: string; targets: { expr: string }[] }[];
    };
    assert.equal(file, `apps/market/deploy/grafana/${uid.replace('parley-', '')}.json`);
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length, file);
    for (const { title, targets } of panels) {
      const names = targets.flatMap(({ expr }) => namesIn(expr));
      assert.ok(targets.length > 0 && names.length >= targets.length, `${file}: ${title}`);
      assert.deepEqual(
        names.filter((name) => !isTold(name)),
        [],
        `${file}: ${title}`,
      );
    }
  }
});

test('every alert has a runbook of at most ten lines, and a unit test of both sides', () => {
  assert.ok(alerts.length > 20);
  const sections = new Map(
    runbooks
      .split(/^## /m)
      .slice(1)
      .map((text) => [text.split('\n')[0], text] as const),
  );
  assert.deepEqual([...sections.keys()], alerts, 'in the order of the rules');
  for (const alert of alerts) {
    const lines = sections
      .get(alert)!
      .split('\n')
      .filter((line) => line.startsWith('- **'));
    assert.ok(lines.length >= 5 && lines.length <= 10, `${alert}: ${lines.length} lines`);
    const has = (line: string) =>
      assert.match(lines.join('\n'), new RegExp(`^- \\*\\*${line}`, 'm'));
    for (const each of ['Means\\*\\* \\((page|ticket)\\)', 'Hurts', 'Look', 'Do', 'Ends'])
      has(each);
    assert.ok(rules.includes(`runbook: docs/runbooks.md#${alert.toLowerCase()}\n`), alert);
    assert.ok(unitTests.includes(`name: ${alert}, fires\n`), alert);
    assert.ok(unitTests.includes(`name: ${alert}, does not fire\n`), alert);
    const [, severity] =
      new RegExp(`alert: ${alert}\n[\\s\\S]+?severity: (\\w+)`).exec(rules) ?? [];
    assert.ok(lines[0]!.includes(`(${severity})`), `${alert}: ${severity}`);
  }
});

test('docs/metrics.md has a row for each metric, with its type, and no other', () => {
  const rows = read('docs/metrics.md').matchAll(/^\| `(parley_\w+)(?:\{[\w, ]+\})?` \| (\w+) \|/gm);
  const documented = [...rows].map(([, name, type]) => `${name} ${type}`);
  const own = [...types].filter(([name]) => name.startsWith('parley_'));
  assert.deepEqual(documented.sort(), own.map((each) => each.join(' ')).sort());
});

test('the alerts do on recorded figures what their unit tests say (promtool)', async () => {
  const promtool = await findPrometheus('promtool').catch((error: Error) => {
    if (process.env.PARLEY_PROMETHEUS) throw error;
    console.log(`NOT TESTED: the alerts. There is no promtool: ${error.message}`);
    return null;
  });
  if (promtool === null) return;
  for (const args of [
    ['check', 'rules', 'rules.yml'],
    ['test', 'rules', 'rules.test.yml'],
  ]) {
    const run: SpawnSyncReturns<string> = spawnSync(promtool.file, [...promtool.args, ...args], {
      cwd: `${root}apps/market/deploy/prometheus`,
      encoding: 'utf8',
    });
    assert.equal(run.status, 0, run.stdout + run.stderr);
  }
});
