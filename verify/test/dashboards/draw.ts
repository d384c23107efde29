// Draws the Grafana dashboards to docs/pictures, without Grafana: Debian's Prometheus reads a market
// that runs for some minutes and answers each panel's own queries, and uPlot draws them in Chromium.
//
//   PARLEY_METRICS_PORT=9464 npm start        # and `npm run demo` beside it
//   npm run -s node -- verify/test/dashboards/draw.ts http://127.0.0.1:9464/metrics 10

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { launch } from '../support/chromium.ts';
import { findPrometheus } from '../support/prometheus.ts';
import { waitUntil } from '../support/waiting.ts';
import type { Drawn, Line } from './page.ts';
import { drawInPage } from './page.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const dashboards = join(root, 'apps/market/deploy/grafana');
const pictures = join(root, 'docs/pictures');
const scrapeSeconds = 2;
/** Points of a line. */
const points = 240;
/** Lines of a panel; Grafana shows all. */
const mostLines = 12;

type Target = { readonly expr: string; readonly legendFormat: string };
type Panel = {
  readonly type: string;
  readonly title: string;
  readonly gridPos: Drawn['place'];
  readonly fieldConfig: { readonly defaults: { readonly unit: Drawn['unit'] } };
  readonly targets: readonly Target[];
};
type Dashboard = { readonly title: string; readonly panels: readonly Panel[] };
type Series = {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [at: number, value: string])[];
};
type Range = { readonly url: string; readonly start: number; readonly end: number };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** Reads the metrics until `stop`. */
async function startPrometheus(target: string, folder: string) {
  const { file, args } = await findPrometheus('prometheus');
  const port = await freePort();
  const config = join(folder, 'prometheus.yml');
  const job = { job_name: 'parley', static_configs: [{ targets: [new URL(target).host] }] };
  const global = { scrape_interval: `${scrapeSeconds}s` };
  await writeFile(config, JSON.stringify({ global, scrape_configs: [job] }));
  const listens = `--web.listen-address=127.0.0.1:${port}`;
  const stores = `--storage.tsdb.path=${join(folder, 'data')}`;
  const all = [...args, `--config.file=${config}`, stores, listens];
  const child = spawn(file, all, { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await waitUntil(() =>
    fetch(`${url}/-/ready`)
      .then(({ ok }) => ok)
      .catch(() => false),
  );
  const stop = async () => {
    child.kill();
    await once(child, 'exit');
  };
  return { url, stop };
}

/** As Grafana fills it in: `{{chain}} {{node}}`. */
function named({ legendFormat, expr }: Target, { metric }: Series): string {
  const text = legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? '');
  return text.trim() || (legendFormat === '' ? '' : expr);
}

async function linesOf(target: Target, { url, start, end }: Range): Promise<Line[]> {
  const step = Math.max(scrapeSeconds, Math.ceil((end - start) / points));
  // Their windows are for days; here five minutes would be most of the picture.
  const query = target.expr.replaceAll('[5m]', '[1m]');
  const asked = new URLSearchParams({ query, start: `${start}`, end: `${end}`, step: `${step}` });
  const answer = await fetch(`${url}/api/v1/query_range?${asked}`);
  const { status, error, data } = (await answer.json()) as {
    status: string;
    error?: string;
    data: { result: readonly Series[] };
  };
  if (status !== 'success') throw new Error(`${target.expr}: ${error}`);
  return data.result.slice(0, mostLines).map((series) => {
    const all = series.values.map(([at, value]) => [at, Number(value)] as const);
    // A share of nothing is no number.
    return { name: named(target, series), points: all.filter(([, value]) => !Number.isNaN(value)) };
  });
}

async function panelOf(panel: Panel, range: Range): Promise<Drawn> {
  const lines = await Promise.all(panel.targets.map((target) => linesOf(target, range)));
  const { title, type, gridPos, fieldConfig } = panel;
  const { unit } = fieldConfig.defaults;
  return { title, isStat: type === 'stat', place: gridPos, unit, lines: lines.flat() };
}

async function main([target = '', minutes = '']: readonly string[]): Promise<void> {
  if (!URL.canParse(target) || !(Number(minutes) > 0)) {
    throw new Error('usage: draw.ts ADDRESS-OF-METRICS MINUTES');
  }
  const folder = await mkdtemp(join(tmpdir(), 'parley-dashboards-'));
  const prometheus = await startPrometheus(target, folder);
  const start = Math.floor(Date.now() / 1_000);
  try {
    await sleep(Number(minutes) * 60_000);
    const range = { url: prometheus.url, start, end: Math.floor(Date.now() / 1_000) };
    const browser = await launch();
    for (const file of await readdir(dashboards)) {
      const text = await readFile(join(dashboards, file), 'utf8');
      const { title, panels } = JSON.parse(text) as Dashboard;
      const drawn = await Promise.all(panels.map((each) => panelOf(each, range)));
      const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
      await drawInPage(page, root, { title, panels: drawn, start, end: range.end });
      const path = join(pictures, `grafana-${file.replace('.json', '.png')}`);
      await page.screenshot({ path, fullPage: true });
      console.log(path);
    }
    await browser.close();
  } finally {
    await prometheus.stop();
    await rm(folder, { recursive: true });
  }
}

await main(process.argv.slice(2));
