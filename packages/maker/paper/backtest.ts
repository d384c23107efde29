// `parley-maker CONFIG backtest FILE`: the pricing rules of the settings over a recorded feed, by
// the recorded clock. The same files and settings give the same result, a day in seconds.

import { setImmediate as turn } from 'node:timers/promises';
import type { Millis } from '@parley/core/nominal.ts';
import type { Config } from '../config/config.ts';
import { type Log, silentLog } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import { bookMs, priceMs } from '../quoting.ts';
import { createBooks, type Fill } from './book.ts';
import { createPaperDesk } from './desk.ts';
import { linesOf, type Observed } from './lines.ts';
import { type Report, reportOf } from './report.ts';

/** Won trades that are kept one by one. */
const mostFills = 1_000_000;

export type Backtest = { readonly report: Report; readonly fills: readonly Fill[] };

/** Throws for a fault in a file, with its place, and where the files hold nothing. */
export async function backtest(
  config: Config,
  files: readonly string[],
  { log = silentLog, cut = () => {} }: { log?: Log; cut?: (file: string) => void } = {},
): Promise<Backtest> {
  return replayed(config, linesOf(files, cut), log);
}

/** `log` gives its lines the time of this process, not the recorded one. */
export async function replayed(
  config: Config,
  lines: AsyncIterable<Observed> | Iterable<Observed>,
  log: Log = silentLog,
): Promise<Backtest> {
  const books = createBooks(config);
  const fills: Fill[] = [];
  let nowMs: Millis = 0;
  const desk = createPaperDesk({
    config,
    now: () => nowMs,
    log,
    metrics: createMetrics(),
    signal: new AbortController().signal,
    mode: () => 'open',
    held: books,
    filled: (fill) => {
      if (fills.push(fill) > mostFills) throw new Error(`more than ${mostFills} trades were won`);
    },
  });
  /** Quotes have arrived, as they have in a live maker before the next second. */
  const arrived = async () => {
    while (desk.isBusy()) await turn();
  };
  let nextLookMs: Millis = 0;
  const looksUntil = async (untilMs: Millis) => {
    for (; nextLookMs <= untilMs; nextLookMs += bookMs) {
      if (!desk.isWatching()) {
        nextLookMs = untilMs + bookMs;
        return;
      }
      nowMs = nextLookMs;
      desk.look();
      await arrived();
    }
  };
  let fromMs: Millis | null = null;
  for await (const line of lines) {
    if (fromMs === null) nextLookMs = line.at;
    fromMs ??= line.at;
    await looksUntil(line.at);
    nowMs = line.at;
    desk.take(line);
    if (line.is === 'price') nextLookMs = Math.min(nextLookMs, line.at + priceMs);
    await arrived();
  }
  desk.look();
  if (fromMs === null) throw new Error('the recording is empty');
  return { report: reportOf(config, desk, books, { fromMs, untilMs: nowMs }), fills };
}
