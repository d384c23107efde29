// A file that the page has made, saved on this machine.

import { isoTime } from '@parley/sdk/people.ts';
import { now } from '../market/clock.ts';
import { config } from '../market/config.ts';

/** With the market's name and the day (UTC): `parley-rescue-2026-11-27.json`. */
export function fileName(what: string, ending: string): string {
  return `${config.shortName}-${what}-${isoTime(now()).slice(0, 10)}.${ending}`;
}

/** The number of its bytes. */
export function saveFile(name: string, type: string, content: string): number {
  const blob = new Blob([content], { type });
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return blob.size;
}
