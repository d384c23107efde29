// How an account kept its agreements, in words.

import type { Standing } from '@parley/sdk/types.ts';
import { formatDuration } from '../texts/people.ts';
import { text } from '../texts/texts.ts';

/** The worst is not left out. `null`: the record is unknown. */
export function recordText(standing: Standing | null | undefined): string {
  if (standing === null || standing === undefined) return text('order.unknown');
  const { settled, abandoned, refunded, medianFundSeconds } = standing;
  if (settled === 0 && abandoned === 0 && refunded === 0) return text('record.new');
  const parts = [text('record.settled', { count: settled })];
  if (abandoned > 0) parts.push(text('record.abandoned', { count: abandoned }));
  if (refunded > 0) parts.push(text('record.refunded', { count: refunded }));
  if (medianFundSeconds !== null) {
    parts.push(text('record.median', { time: formatDuration(medianFundSeconds) }));
  }
  return parts.join(' · ');
}
