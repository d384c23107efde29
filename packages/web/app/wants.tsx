// Notices over any screen: a swap of this browser wants the person, or none goes on.

import { messageOf } from '@parley/sdk/errors.ts';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { now } from '../market/clock.ts';
import { Notice } from '../parts/notice.tsx';
import type { Reminder } from '../screens/settlement/reminders.ts';
import { localTime } from '../texts/people.ts';
import { text } from '../texts/texts.ts';

/** The notice over every screen; `path` is the screen's. */
export type Over = (path: string | undefined) => ReactNode;

/** `path` is that of its swap's screen. */
export type Wanted = Reminder & { readonly path: string };

export const titleOf = ({ what }: Wanted) => text(`tell.${what}`);

export function bodyOf({ what, at }: Wanted): string {
  if (at === null) return text(`tell.${what}.why_open`);
  return text(`tell.${what}.why`, { at: localTime(at, now()) });
}

type WantsProps = { readonly wanted: readonly Wanted[]; readonly path: string | undefined };

/** The most urgent one alone. The screens of the swaps say all of it by themselves. */
export function Wants({ wanted, path = '' }: WantsProps) {
  const [first] = wanted.filter(({ what }) => what !== 'ended');
  if (first === undefined || /^\/swaps(?:$|\/)/.test(path)) return null;
  const go = (
    <Link className="button" to={first.path}>
      {text('tell.to_swap')}
    </Link>
  );
  return (
    <Notice kind="warn" title={titleOf(first)} action={go}>
      {bodyOf(first)}
    </Notice>
  );
}

export function Stands({ error }: { readonly error: unknown }) {
  return (
    <Notice kind="bad" title={text('tell.stands')}>
      <p lang="en">{messageOf(error)}</p>
      {text('tell.stands.again')}
    </Notice>
  );
}
