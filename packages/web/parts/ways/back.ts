// Where a person was before the sign-in, and comes back to. An address of this app and nothing
// else: `?then=` can be written by anybody.

import { recalled, remember } from '../../texts/remembered.ts';

const remembered = 'parley.then';

/** A path of this app with its search, or null. */
export function ownPath(text: string | null, origin: string): string | null {
  if (text === null || !text.startsWith('/')) return null;
  // The URL parser's reading counts, not ours: `/\evil.example` is another host.
  if (!URL.canParse(text, origin)) return null;
  const url = new URL(text, origin);
  // `/.//evil.example` is of this origin, and its path alone is another host.
  if (url.origin !== origin || /^\/\/|^\/sign-in$/.test(url.pathname)) return null;
  return `${url.pathname}${url.search}${url.hash}`;
}

export function signInPath(then: string): string {
  return `/sign-in?then=${encodeURIComponent(then)}`;
}

/** For a way in that leaves the page, in this tab alone. */
export function rememberPath(path: string): void {
  remember('sessionStorage', remembered, path);
}

export function takeRememberedPath(): string | null {
  const path = recalled('sessionStorage', remembered);
  remember('sessionStorage', remembered, null);
  return ownPath(path, window.location.origin);
}
