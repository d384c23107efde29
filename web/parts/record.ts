// How the other side of a negotiation kept its agreements, in words.

import type { AccountRecord } from '../../sdk/types.ts';
import { formatDuration } from '../texts/people.ts';
import { text } from '../texts/texts.ts';

/** The worst is not left out. */
export function recordText({ settled, abandoned, medianFundSeconds }: AccountRecord): string {
  if (settled === 0 && abandoned === 0) return text('record.new');
  const parts = [text('record.settled', { count: settled })];
  if (abandoned > 0) parts.push(text('record.abandoned', { count: abandoned }));
  if (medianFundSeconds !== null) {
    parts.push(text('record.median', { time: formatDuration(medianFundSeconds) }));
  }
  return parts.join(' · ');
}
