// A real Prometheus on loopback with the rules of ops/, which wait less than an operator's: a fault
// that lasts for seconds fires them too.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@parley/host/free-port.ts';
import { findPrometheus } from '../support/prometheus.ts';

/** The soak's waits in place of the rules' own. Bounds of seconds have marks of their own. */
const waits: Readonly<Record<string, string>> = {
  '1m': '2s',
  '2m': '3s',
  '3m': '4s',
  '5m': '5s',
  '10m': '5s',
  '1h': '10s',
};
const windows: Readonly<Record<string, string>> = { '5m': '15s', '30m': '15s', '1h': '30s' };
const bounds: Readonly<Record<string, string>> = { 60: '10', 120: '20', 600: '30' };

export function quickened(rules: string): string {
  return rules
    .replaceAll(/(for: )(\w+)/g, (_, name, wait) => name + (waits[wait] ?? wait))
    .replaceAll(/\[(\w+)\]/g, (_, window) => `[${windows[window] ?? window}]`)
    .replaceAll(/(_seconds\) > )(\d+)$/gm, (_, before, bound) => before + (bounds[bound] ?? bound));
}

export type FiringAlert = Readonly<Record<string, string>> & { readonly alertname: string };
export type RunningPrometheus = {
  readonly url: string;
  /** Labels of those that fire now. */
  firing(): Promise<readonly FiringAlert[]>;
  /** The expression's value now, one a series. Throws where it cannot be understood. */
  query(expression: string): Promise<readonly string[]>;
  stop(): Promise<void>;
};

/** Reads the market's metrics at `port` each second, with this token. */
export async function startPrometheus(port: number, token: string): Promise<RunningPrometheus> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-prometheus-'));
  const rules = await readFile(
    new URL('../../../apps/market/deploy/prometheus/rules.yml', import.meta.url),
    'utf8',
  );
  await writeFile(join(dir, 'rules.yml'), quickened(rules));
  await writeFile(join(dir, 'token'), token, { mode: 0o600 });
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yml'],
    scrape_configs: [
      {
        job_name: 'parley',
        scrape_timeout: '1s',
        authorization: { credentials_file: join(dir, 'token') },
        static_configs: [{ targets: [`127.0.0.1:${port}`] }],
      },
    ],
  };
  // JSON is YAML too.
  await writeFile(join(dir, 'prometheus.yml'), JSON.stringify(config));
  const own = await freePort();
  const { file, args: leading, pages } = await findPrometheus('prometheus');
  const child = spawn(
    file,
    [
      ...leading,
      ...(pages === undefined ? [] : [`--web.local-assets=${pages}`]),
      `--config.file=${join(dir, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=127.0.0.1:${own}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const url = `http://127.0.0.1:${own}`;
  const asked = async <Data>(path: string): Promise<Data> => {
    const reply = await fetch(`${url}/api/v1/${path}`, { signal: AbortSignal.timeout(10_000) });
    const { data, error } = (await reply.json()) as { data: Data; error?: string };
    if (!reply.ok) throw new Error(`Prometheus ${reply.status}: ${error}`);
    return data;
  };
  const prometheus: RunningPrometheus = {
    url,
    query: async (expression) => {
      type Data = { result: { value: [at: number, value: string] }[] };
      const { result } = await asked<Data>(`query?query=${encodeURIComponent(expression)}`);
      return result.map(({ value: [, value] }) => value);
    },
    firing: async () => {
      const data = await asked<{ alerts: { state: string; labels: FiringAlert }[] }>('alerts');
      return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels);
    },
    stop: async () => {
      const ended = child.exitCode === null ? once(child, 'exit') : null;
      child.kill('SIGTERM');
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
  for (let tries = 0; ; tries += 1) {
    const isReady = await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return prometheus;
    if (tries > 600 || child.exitCode !== null) throw new Error('Prometheus did not get ready');
    await sleep(100);
  }
}
