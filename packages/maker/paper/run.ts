// `parley-maker CONFIG --paper`: decides by the live rules on the live book, says so in the log,
// posts nothing, and keeps an inventory of paper. No key file is read.

import { join } from 'node:path';
import { fileStore } from '@parley/sdk/stores/file.ts';
import type { Config } from '../config/config.ts';
import { type Facts, type Log, logWith, openLog } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import { bookMs, priceMs } from '../quoting.ts';
import { debounced, repeating } from '../repeating.ts';
import type { How, Running } from '../run.ts';
import { StoreTaken } from '../store-taken.ts';
import { guarded, type Undo, unwound } from '../undo.ts';
import { createBooks } from './book.ts';
import { createPaperDesk } from './desk.ts';
import { keepFills } from './kept.ts';
import type { Observed } from './lines.ts';
import { observe } from './observe.ts';
import { type Report, reportOf } from './report.ts';

const sumMs = 60_000;

/** Paper: in `paper` of the store. Throws StoreTaken where another paper run has it. */
export async function runPaper(config: Config, how: How): Promise<Running> {
  const undo: Undo = [];
  const folder = join(config.store, 'paper');
  const { now = () => Date.now() + (how.movedMs?.() ?? 0) } = how;
  const log = logWith(openLog(how.out, now), { paper: true });
  return guarded(undo, async () => {
    const store = await fileStore(folder);
    const lock = (await store.lock?.('paper', AbortSignal.abort())) ?? null;
    if (lock === null) throw new StoreTaken(`another paper run is on ${folder}`);
    undo.push(() => lock.release());
    const books = createBooks(config);
    const kept = await keepFills(join(folder, 'fills.jsonl'), books);
    undo.push(() => kept.close());
    const metrics = createMetrics();
    const stop = new AbortController();
    const desk = createPaperDesk({
      config,
      now,
      log,
      metrics,
      signal: stop.signal,
      mode: () => 'open',
      held: books,
      filled: kept.add,
    });
    const sums = summing(() => reportOf(config, desk, books, { fromMs: 0, untilMs: 0 }), log);
    undo.push(sums);
    undo.push(() => stop.abort(new Error('the maker stops')));
    const running = { config, folder, now, log, metrics, signal: stop.signal };
    driven(running, desk, undo);
    const every = repeating({ log, failures: { inc: () => {} }, signal: stop.signal });
    every('sums', sumMs, async () => sums());
    log.info('paper_started', { markets: config.markets.map(({ name }) => name).join(', ') });
    return runningUntil(undo);
  });
}

/** It fails by no market: it has nothing to settle. */
export const runningUntil = (undo: Undo): Running => ({
  failed: new Promise<never>(() => {}),
  stop: () => unwound(undo),
});

type Driving = Omit<Parameters<typeof observe>[0], 'take'>;

/** Lines of the moment, and looks as often as those of a live maker. */
export function driven(
  observing: Driving,
  desk: ReturnType<typeof createPaperDesk>,
  undo: Undo,
): void {
  const soon = debounced(priceMs, () => desk.look(), undo);
  const take = (line: Observed) => {
    desk.take(line);
    if (line.is === 'price') soon();
  };
  observe({ ...observing, take });
  const looking = setInterval(() => desk.look(), bookMs);
  undo.push(() => clearInterval(looking));
}

/** Says what has changed since it was asked last. */
function summing(report: () => Report, log: Log): () => void {
  const told = new Map<string, string>();
  const say = (event: string, name: string, facts: Facts) => {
    const text = JSON.stringify(facts);
    if (told.get(`${event} ${name}`) === text) return;
    told.set(`${event} ${name}`, text);
    log.info(event, facts);
  };
  return () => {
    const { rfqs, pairs, assets } = report();
    say('paper_rfqs', '', rfqs);
    for (const each of pairs) say('paper_pair', each.pair, each);
    for (const each of assets) {
      const isStill = (each.change ?? '0') === '0' && each.promised === '0';
      if (!isStill) say('paper_asset', each.asset, each);
    }
  };
}
