// The dashboards without a Grafana: each expression of each panel asked of a real Prometheus. Some
// give something only while a fault lasts, so all are asked at each of them.

import { readdirSync, readFileSync } from 'node:fs';
import type { RunningPrometheus } from './prometheus.ts';

const folder = new URL('../../../apps/market/deploy/grafana/', import.meta.url);

/** Metrics that tell nothing in this soak, and why. */
const silent: Readonly<Record<string, string>> = {
  parley_launches_total: 'no launchpad is on dev chains',
  parley_token_looks_total: 'no token asks to be listed',
  parley_connections_dropped_total: 'no client is slow or has too many',
  parley_feed_ended_total: 'no maker is on the feed',
};

type Dashboard = { panels: { title: string; targets: { expr: string }[] }[] };

const all: ReadonlyMap<string, string> = new Map(
  readdirSync(folder).flatMap((file) => {
    const { panels } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Dashboard;
    return panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => [expr, `${file}: ${title}`] as const),
    );
  }),
);

export type Panels = {
  ask(prometheus: RunningPrometheus): Promise<void>;
  /** The faults found by now; `count`: how many queries gave something. */
  told(): { readonly wrong: readonly string[]; readonly count: number };
};

export function createPanels(): Panels {
  const shown = new Set<string>();
  return {
    ask: async (prometheus) => {
      for (const expr of all.keys()) {
        if (!shown.has(expr) && (await prometheus.query(expr)).length > 0) shown.add(expr);
      }
    },
    told: () => {
      const isSilent = (expr: string) => Object.keys(silent).some((each) => expr.includes(each));
      const none = [...all].filter(([expr]) => !shown.has(expr) && !isSilent(expr));
      const never = [...all].filter(([expr]) => shown.has(expr) && isSilent(expr));
      return {
        wrong: [
          ...none.map(([expr, where]) => `${where} gave nothing: ${expr}`),
          ...never.map(([expr, where]) => `${where} gave something, and is listed: ${expr}`),
        ],
        count: shown.size,
      };
    },
  };
}
