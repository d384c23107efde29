// The two cookies of a browser: the session's token, and a name of its own by which sign-ins are
// bound to the browser that began them and known browsers are told from new ones.

import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { deviceMs, sessionMs } from '../../people/bounds.ts';
import type { Site } from '../../people/site.ts';

export type CookieName = 'session' | 'browser';

const lives = { session: sessionMs, browser: deviceMs } as const;

/** With `__Host-`, no subdomain and no plain HTTP can set it (RFC 6265bis, 4.1.3.2). */
export function cookieName(shortName: string, name: CookieName, { secure }: Site): string {
  return `${secure ? '__Host-' : ''}${shortName}_${name}`;
}

/** null: none, or several of the name, of which one is not ours. */
export function cookieOf(headers: IncomingHttpHeaders, name: string): string | null {
  const values = (headers.cookie ?? '').split(';').flatMap((each) => {
    const at = each.indexOf('=');
    return at > 0 && each.slice(0, at).trim() === name ? [each.slice(at + 1).trim()] : [];
  });
  return values.length === 1 ? (values[0] ?? null) : null;
}

/** `value` null takes it away. */
export function setCookie(
  reply: FastifyReply,
  shortName: string,
  site: Site,
  name: CookieName,
  value: string | null,
): void {
  const seconds = value === null ? 0 : Math.floor(lives[name] / 1_000);
  const parts = [
    `${cookieName(shortName, name, site)}=${value ?? ''}`,
    'Path=/',
    `Max-Age=${seconds}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(site.secure ? ['Secure'] : []),
  ];
  reply.header('set-cookie', parts.join('; '));
}
