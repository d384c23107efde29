// The command that goes with a finding of the doctor: it mends the fault, or shows more of it. Pure.

import type { Finding } from '../doctor/findings.ts';

const ops = 'npm run ops --';

const byKind: Readonly<Record<string, string>> = {
  time_missing: `${ops} resume --agreements`,
  keeper_stuck: `${ops} keeper`,
  refunds_overdue: `${ops} keeper`,
  deliveries_waiting: `${ops} webhooks list`,
  work_overdue: `${ops} assets candidates`,
  node_silent: `${ops} doctor --nodes`,
  node_behind: `${ops} doctor --nodes`,
  node_clock: `${ops} doctor --nodes`,
  node_lacks: `${ops} doctor --nodes`,
  wrong_node: `${ops} doctor --nodes`,
  nodes_disagree: `${ops} doctor --nodes`,
  time_over: `${ops} doctor`,
  part_time: `${ops} doctor`,
};

/** Inside single quotes a shell reads nothing but the next one. */
const quoted = (path: string) => `'${path.replaceAll("'", `'\\''`)}'`;

const swapId = /^swap ([0-9a-f-]{36})\b/;
const rights = /^chmod ([0-7]{3}),/;

/** Null where no command of ours does it: the finding's own words say what will. */
export function commandFor({ what, where, todo }: Finding): string | null {
  const [, right] = rights.exec(todo) ?? [];
  if (what === 'mode' && right !== undefined) return `chmod ${right} ${quoted(where)}`;
  const [, id] = swapId.exec(where) ?? [];
  if (id !== undefined) return `${ops} doctor --swap ${id}`;
  return byKind[what] ?? null;
}
