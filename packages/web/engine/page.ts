// The one engine of this page, opened when a screen first asks for it.

import { account } from '../market/account.ts';
import { config, moveClock } from '../market/config.ts';
import { market, show } from '../market/site.ts';
import type { Engine } from './engine.ts';
import { openEngine } from './engine.ts';
import { keepingOf, networkNow } from './keeping.ts';

let opening: Promise<Engine> | null = null;

const configUrl = '/app/config.js';
const configMs = 10_000;
/** A dev network's clock is moved at any time. */
const devClockMs = 2_000;
const clockMs = 600_000;
const devPollMs = 300;
const pollMs = 5_000;

/** A screen that asks as it is drawn would begin anew with each failure, and never show it. */
const failedForMs = 2_000;

/** Throws StoreError where the browser keeps nothing safely; asked later it tries again. */
export function pageEngine(): Promise<Engine> {
  opening ??= open().catch((error: unknown) => {
    setTimeout(() => {
      opening = null;
    }, failedForMs);
    throw error;
  });
  return opening;
}

async function open(): Promise<Engine> {
  const { chains } = config;
  const network = await networkNow();
  const { name, store, kept } = await keepingOf(network);
  const isDev = network === 'dev';
  await nameAccount();
  const engine = await openEngine({
    name,
    network,
    chains,
    client: market,
    store,
    kept,
    marketClock: () => marketClock(isDev),
    isServed: true,
    clockEveryMs: isDev ? devClockMs : clockMs,
    pollMs: isDev ? devPollMs : pollMs,
  });
  // The tab that one looks at settles: a wallet shows its prompt where the person is.
  const takeOver = () => {
    if (document.visibilityState === 'visible') void engine.swaps.takeOver();
  };
  document.addEventListener('visibilitychange', takeOver);
  takeOver();
  return engine;
}

/** A swap's requests to the market name its account, on screens too that ask for none. */
async function nameAccount(): Promise<void> {
  try {
    const { accountId } = await account.me(AbortSignal.timeout(configMs));
    show(accountId);
  } catch {
    // No account is signed in, or the market is away: a swap that is paid in goes on without it.
  }
}

/** The market's date is of its machine; a dev network says by how much its clock was moved. */
async function marketClock(isDev: boolean) {
  const askedAt = Date.now();
  const signal = AbortSignal.timeout(configMs);
  const answer = await fetch(configUrl, { cache: 'no-store', signal });
  const date = Date.parse(answer.headers.get('date') ?? '');
  const [, said = '0'] = /"clockOffsetSeconds":(-?\d+)/.exec(await answer.text()) ?? [];
  const offsetSeconds = isDev ? Number(said) : 0;
  moveClock(offsetSeconds);
  // A date has whole seconds, and its answer has taken a while.
  const late = (Date.now() - askedAt) / 2;
  return { offsetSeconds, atMs: Number.isFinite(date) ? date + 500 + late : null };
}
