// The arguments of `parley-maker CONFIG history`.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import { Misused, parsed } from '@parley/host/command.ts';
import type { HistoryAsked } from './history.ts';
import { groupings } from './sums.ts';

const daySeconds = 86_400;
const day = /^\d{4}-\d{2}-\d{2}$/;
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?Z$/;

/** Throws Misused. */
export function historyAsked(args: readonly string[]): HistoryAsked {
  const { values } = parsed({
    args: [...args],
    options: {
      by: { type: 'string', default: 'pair' },
      from: { type: 'string' },
      to: { type: 'string' },
      csv: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const by = groupings.find((each) => each === values.by);
  if (by === undefined) throw new Misused(`--by is ${groupings.join(', ')}, not "${values.by}"`);
  if (values.csv && values.json) throw new Misused('--csv and --json are two forms: give one');
  const from = values.from === undefined ? null : timeOf('--from', values.from);
  const to = values.to === undefined ? null : timeOf('--to', values.to, daySeconds);
  if (from !== null && to !== null && from >= to) {
    throw new Misused(`--from ${values.from} is not before --to ${values.to}`);
  }
  return { by, from, to, form: values.csv ? 'csv' : values.json ? 'json' : 'table' };
}

/** A day is of UTC. `laterSeconds`: of a day, so that the day named last is in. */
function timeOf(option: string, text: string, laterSeconds = 0): UnixSeconds {
  const isDay = day.test(text);
  const at = isDay || instant.test(text) ? Date.parse(text) / 1_000 : Number.NaN;
  // 2026-02-30 is read as a day of March.
  const isReal = at >= 0 && new Date(at * 1_000).toISOString().startsWith(text.slice(0, 10));
  if (isReal) return at + (isDay ? laterSeconds : 0);
  throw new Misused(`${option} is a day, 2026-11-30, or a time, 2026-11-30T12:00Z, not "${text}"`);
}
