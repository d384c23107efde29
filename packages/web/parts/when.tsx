// An instant that the market tells, as the time here. The whole of it is there on hover.

import { isoTime } from '@parley/sdk/people.ts';
import { now } from '../market/clock.ts';
import { localTime, secondsOf } from '../texts/people.ts';

/** `at`: RFC 3339. */
export function When({ at }: { readonly at: string }) {
  const seconds = secondsOf(at);
  const iso = isoTime(seconds);
  return (
    <time dateTime={iso} title={iso} className="clock">
      {localTime(seconds, now())}
    </time>
  );
}
