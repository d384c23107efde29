// `parley-maker CONFIG --dry-run` logs the quotes and acceptances that a maker would make by its own
// balances, fees and switches. It reads key files for the addresses of its wallets. It posts, accepts
// and settles nothing, so it may run beside the maker.

import { join } from 'node:path';
import { closeChains, openChains } from '../chains.ts';
import type { Config } from '../config/config.ts';
import { modeOf } from '../control.ts';
import { logWith, openLog } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import { repeating } from '../repeating.ts';
import type { Mode } from '../rules/decide.ts';
import type { How, Running } from '../run.ts';
import { createStock } from '../stock.ts';
import { guarded, type Undo } from '../undo.ts';
import { createPaperDesk } from './desk.ts';
import { driven, runningUntil } from './run.ts';

const switchMs = 1_000;

/** Its API keys are in `dry-run` of the store. */
export async function runDry(config: Config, how: How): Promise<Running> {
  const undo: Undo = [];
  const { now = () => Date.now() + (how.movedMs?.() ?? 0) } = how;
  const log = logWith(openLog(how.out, now), { dryRun: true });
  return guarded(undo, async () => {
    const metrics = createMetrics();
    const stop = new AbortController();
    const { signal } = stop;
    const { assets, limits, store } = config;
    const chains = await openChains(config.chains, () => Math.floor(now() / 1_000));
    undo.push(() => closeChains(chains));
    undo.push(() => stop.abort(new Error('the maker stops')));
    const warnBelow = new Map(config.chains.map((each) => [each.chain, each.warnBelowSwaps]));
    const doubts = { read: () => {} };
    const stock = createStock({ chains, assets, log, doubts, now, signal, warnBelow });
    let mode: Mode = await modeOf(store);
    const every = repeating({ log, failures: metrics.failures, signal });
    every('switch', switchMs, async () => {
      mode = await modeOf(store);
    });
    every('balances', limits.balanceSeconds * 1_000, () => stock.read());
    const own = { config, now, log, metrics, signal };
    const desk = createPaperDesk({ ...own, mode: () => mode, held: stock });
    driven({ ...own, folder: join(store, 'dry-run') }, desk, undo);
    log.info('dry_run_started', { why: 'nothing is posted, accepted or settled' });
    return runningUntil(undo);
  });
}
