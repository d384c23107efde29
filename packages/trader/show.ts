// Tables and times for people. Pure.

import { formatDuration, fromNow, isoTime } from '@parley/sdk/people.ts';

const locale = 'en';

/**
 * The characters that a terminal acts on, and those that turn the direction of writing. Names and
 * sentences come from a market, from nodes, and from whoever listed a token: no text of theirs may
 * rewrite what is asked here.
 */
const acting = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** A text of several lines. */
export function harmless(text: string): string {
  return text.replace(acting, (mark) => (mark === '\n' || mark === '\t' ? mark : '\ufffd'));
}

/** A text of one line, which cannot be made two. */
export function oneLine(text: string): string {
  return harmless(text).replace(/[\n\t]/g, ' ');
}

/** Columns as wide as their longest cell; empty without rows. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(oneLine));
  const widths = head.map((_, at) => Math.max(...all.map((row) => [...(row[at] ?? '')].length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return rows.length === 0 ? 'none' : all.map(line).join('\n');
}

/** `2026-11-27T14:05:00Z, in 22 minutes`. */
export function deadlineOf(at: number, now: number): string {
  return `${isoTime(at)}, ${fromNow(at, now, { locale })}`;
}

export function ageOf(time: string, now: number): string {
  return fromNow(Math.floor(Date.parse(time) / 1_000), now, { locale });
}

export function durationOf(seconds: number): string {
  return formatDuration(seconds, { locale });
}
