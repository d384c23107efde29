// The commands `record` and `backtest` as they are typed.

import { type ParseArgsConfig, parseArgs } from 'node:util';
import { withResolvers } from '@parley/core/engines.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { openLog } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import type { How } from '../run.ts';
import { backtest } from './backtest.ts';
import type { Observed } from './lines.ts';
import { observe } from './observe.ts';
import { createRecorder } from './record.ts';
import { csvOf, textOf } from './report.ts';

const mostFiles = 366;
const megabyte = 1_000_000;
const hourMs = 3_600_000;
const progressMs = 60_000;

/** Arguments that are not understood. */
const misused = (sentence: string) => new ConfigError(sentence);

function whole(name: string, given: string, most: number): number {
  const value = /^[1-9]\d{0,8}$/.test(given) ? Number(given) : Number.NaN;
  if (value <= most) return value;
  throw misused(`--${name} is a whole number from 1 to ${most}, not "${given}"`);
}

function understood<const Given extends ParseArgsConfig>(
  given: Given,
): ReturnType<typeof parseArgs<Given>> {
  try {
    return parseArgs(given);
  } catch (error) {
    throw misused((error as Error).message);
  }
}

type Stopped = { readonly stopped: Promise<void> };

/** Until its bounds are reached, or it is stopped. Resolves to the exit status. */
export async function record(
  config: Config,
  args: readonly string[],
  { out, stopped, movedMs = () => 0 }: How & Stopped,
): Promise<number> {
  const { values, positionals } = understood({
    args: [...args],
    allowPositionals: true,
    options: {
      hours: { type: 'string', default: '24' },
      'most-mb': { type: 'string', default: '1000' },
      keep: { type: 'string', default: '1' },
    },
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw misused('record wants one FILE');
  const how = {
    file,
    mostMs: hourMs * whole('hours', values.hours, 8_760),
    mostBytes: megabyte * whole('most-mb', values['most-mb'], 100_000),
    keep: whole('keep', values.keep, mostFiles),
  };
  const now = () => Date.now() + movedMs();
  const log = openLog(out, now);
  const stop = new AbortController();
  const ended = withResolvers<Error | undefined>();
  const seen = { snapshot: (): readonly Observed[] => [] };
  const recorder = createRecorder(
    how,
    () => seen.snapshot(),
    (why, error) => {
      log.info('record_over', { why });
      ended.resolve(error);
    },
  );
  let lines = 0;
  const take = (line: Observed) => {
    lines += 1;
    recorder.take(line);
  };
  const folder = `${config.store}/record`;
  const metrics = createMetrics();
  const seeing = observe({ config, folder, now, log, metrics, signal: stop.signal, take });
  seen.snapshot = seeing.snapshot;
  const progress = setInterval(() => log.info('recorded', { lines }), progressMs);
  log.info('record_started', { file });
  const fault = await Promise.race([stopped.then(() => undefined), ended.promise]);
  clearInterval(progress);
  stop.abort(new Error('the recorder stops'));
  await recorder.close();
  log.info('recorded', { lines });
  if (fault !== undefined) throw fault;
  return 0;
}

/** Says the result. */
export async function backtested(
  config: Config,
  args: readonly string[],
  { say, warn }: Readonly<Record<'say' | 'warn', (text: string) => void>>,
): Promise<number> {
  const { values, positionals: files } = understood({
    args: [...args],
    allowPositionals: true,
    options: {
      csv: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  if (files.length === 0 || files.length > mostFiles) {
    throw misused(`backtest wants 1 to ${mostFiles} files, oldest first`);
  }
  if (values.csv && values.json) throw misused('--csv and --json are two forms: choose one');
  const cut = (file: string) => warn(`the last line of ${file} was cut and is left out`);
  const { report, fills } = await backtest(config, files, { cut });
  if (values.csv) say(csvOf(fills, config));
  else if (values.json) say(JSON.stringify(report, null, 2));
  else say(textOf(report));
  return 0;
}
