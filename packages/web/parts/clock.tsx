// Times: the time of day with how long it is until then, and a countdown for what is near.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import { isoTime } from '@parley/sdk/people.ts';
import { deadlineText, formatDuration } from '../texts/people.ts';
import { text } from '../texts/texts.ts';
import { useNow } from './now.ts';

/** `14:05 CET, in 22 minutes`. A sentence around it is the screen's. */
export function Clock({ at }: { readonly at: UnixSeconds }) {
  const now = useNow();
  return (
    <time dateTime={isoTime(at)} className={at <= now ? 'clock past' : 'clock'}>
      {deadlineText(at, now)}
    </time>
  );
}

/** `22 minutes`, and seconds in the last minute; `passed` afterwards. For cells of a table. */
export function Countdown({ at }: { readonly at: UnixSeconds }) {
  const left = Math.max(0, at - useNow());
  return (
    <time dateTime={isoTime(at)} className={left < 120 ? 'clock near' : 'clock'}>
      {left === 0 ? text('clock.passed') : formatDuration(left)}
    </time>
  );
}
