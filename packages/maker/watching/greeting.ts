// A person sees this before the log: the market, the pairs, the balances, the switches, and where
// to look. A program that reads the log gets JSON lines alone.

import type { Config, PairConfig } from '../config/config.ts';
import type { Mode } from '../rules/decide.ts';

export type Greeted = {
  readonly config: Pick<Config, 'markets' | 'pairs' | 'store' | 'metricsPort'>;
  /** How the program is started, and its settings as they were given. */
  readonly program: string;
  readonly file: string;
  /** A line each, as `check` says them. */
  readonly balances: readonly string[];
  readonly mode: Mode;
  readonly openSwaps: number;
};

const mostShown = 8;

const switches: Readonly<Record<Mode, string>> = {
  open: 'off: it quotes, accepts and settles',
  paused: 'paused: it quotes nothing new until "resume"',
  killed: 'killed: it agrees to nothing new until "resume"',
  clock: 'the clock is wrong: it agrees to nothing new',
};

export function greetingOf({ config, program, file, balances, mode, openSwaps }: Greeted): string {
  const { markets, pairs, store, metricsPort } = config;
  const command = `${program} ${file}`;
  const metrics = metricsPort === null ? [] : [`http://127.0.0.1:${metricsPort}/metrics`];
  return [
    'Parley maker',
    ...named(
      'market',
      markets.map(({ url, login }) => `${url}, signs in by the wallet on ${login}`),
    ),
    ...named('pairs', few(pairs.map(pairLine))),
    ...named('balances', few(balances)),
    ...named('switch', [switches[mode]]),
    ...named('swaps', [openSwaps === 0 ? 'none is open' : `${openSwaps} are open, and go on`]),
    ...named('look', [`${command} watch`, `${command} history`, ...metrics]),
    ...named('stop', ['Ctrl-C, while no swap is open: it settles nothing while it is away']),
    ...named('store', [`${store}: keep it, it holds secrets of open swaps`]),
    'The log follows, a JSON object a line.',
    '',
  ].join('\n');
}

function pairLine({ name, spreadBps, gives }: PairConfig): string {
  const [first, second] = gives;
  const side = second === undefined ? `, gives ${first} alone` : '';
  return `${name} at ${spreadBps} basis points${side}`;
}

function few(lines: readonly string[]): string[] {
  if (lines.length <= mostShown) return [...lines];
  const more = lines.length - mostShown + 1;
  return [...lines.slice(0, mostShown - 1), `… and ${more} more`];
}

function named(name: string, lines: readonly string[]): string[] {
  return lines.map((line, at) => `  ${(at === 0 ? name : '').padEnd(9)} ${line}`);
}
