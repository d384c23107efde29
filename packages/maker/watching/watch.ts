// `parley-maker CONFIG watch`: a terminal that shows the maker, drawn anew every second. It reads
// the store alone, needs no key, and stops nothing. Without a terminal it prints once.

import { setTimeout as wait } from 'node:timers/promises';
import type { Millis } from '@parley/core/nominal.ts';
import { fileStore } from '@parley/sdk/stores/file.ts';
import type { Config } from '../config/config.ts';
import { readJournal } from '../journal.ts';
import { type Line, type Shown, screenOf, type Tone } from './screen.ts';
import { swapView } from './swaps.ts';
import { readView } from './view.ts';

const drawMs = 1_000;
/** Open swaps that are read. */
const mostSwaps = 100;

/** Ctrl-C and Ctrl-D among them: the terminal leaves them to the program. */
const quits = ['q', 'Q', '\u0003', '\u0004'];
const help = 'q quits. The maker goes on.';
const csi = '\u001b[';
const marks: Readonly<Record<Tone, string>> = { title: '1', head: '1;36', plain: '', bad: '31' };
const begin = `${csi}?1049h${csi}?25l`;
const finish = `${csi}?25h${csi}?1049l`;

export type Terminal = {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
};

export async function watch(
  { store }: Pick<Config, 'store'>,
  { input, output, env }: Terminal,
  signal: AbortSignal,
  movedMs: () => Millis = () => 0,
): Promise<void> {
  const isTerminal = output.isTTY === true && input.isTTY === true && env.TERM !== 'dumb';
  if (!isTerminal) {
    const lines = screenOf(await shownOf(store, movedMs), null, '');
    output.write(`${lines.map(({ text }) => text).join('\n')}\n`);
    return;
  }
  // https://no-color.org: any text but an empty one.
  const hasColors = (env.NO_COLOR ?? '') === '';
  const over = new AbortController();
  const leave = () => over.abort();
  const typed = (keys: Buffer) => {
    if (quits.some((key) => keys.toString('latin1').includes(key))) leave();
  };
  const until = AbortSignal.any([signal, over.signal]);
  const draw = async () => {
    const size = { columns: output.columns, rows: output.rows };
    const lines = screenOf(await shownOf(store, movedMs), size, help);
    if (!until.aborted) output.write(drawn(lines, hasColors));
  };
  const resized = () => void draw().catch(leave);
  input.setRawMode(true).resume().on('data', typed);
  output.on('resize', resized).write(begin);
  try {
    while (!until.aborted) {
      await draw();
      await wait(drawMs, undefined, { signal: until }).catch(() => {});
    }
  } finally {
    output.off('resize', resized).write(finish);
    input.off('data', typed).setRawMode(false).pause();
  }
}

/** From the top, each line to its end, and nothing below: no flicker, and no scrolling. */
export function drawn(lines: readonly Line[], hasColors: boolean): string {
  const shown = lines.map(({ text, tone }) => {
    const mark = hasColors ? marks[tone] : '';
    return mark === '' ? text : `${csi}${mark}m${text}${csi}0m`;
  });
  return `${csi}H${shown.map((line) => `${line}${csi}K`).join('\r\n')}${csi}J`;
}

async function shownOf(dir: string, movedMs: () => Millis): Promise<Shown> {
  const nowMs = Date.now();
  const open = [...(await readJournal(dir)).values()].filter(({ end }) => end === null);
  const store = await fileStore(dir);
  const swaps = await Promise.all(
    open.slice(0, mostSwaps).map(async (deal) => {
      return swapView(deal, deal.swapId === null ? null : await store.getSwap(deal.swapId));
    }),
  );
  return { view: await readView(dir), swaps, nowMs, chainNowMs: nowMs + movedMs() };
}
