// The facts that are known of a browser: its two cookies, and what it says it is. The cookies are
// the token of a session, and a name of its own by which sign-ins are bound to the browser that
// began them.

import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { deviceMs, sessionMs } from '../../people/bounds.ts';
import type { Site } from '../../people/site.ts';

type CookieName = 'session' | 'browser';

const lives = { session: sessionMs, browser: deviceMs } as const;

/** With `__Host-`, no subdomain and no plain HTTP can set it (RFC 6265bis, 4.1.3.2). */
export function cookieName(shortName: string, name: CookieName, { secure }: Site): string {
  return `${secure ? '__Host-' : ''}${shortName}_${name}`;
}

/** null: no cookie, or several of the name, of which one is not ours. */
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
  const own = `${cookieName(shortName, name, site)}=${value ?? ''}; Path=/; Max-Age=${seconds}`;
  reply.header('set-cookie', `${own}; HttpOnly; SameSite=Lax${site.secure ? '; Secure' : ''}`);
}

const programs = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;

const systems = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const;

/** Such as `Firefox on Linux`: words that its person knows it by, believed for that alone. */
export function deviceOf(userAgent: string | undefined): string {
  const text = (userAgent ?? '').slice(0, 500);
  const find = (list: readonly (readonly [RegExp, string])[]) =>
    list.find(([pattern]) => pattern.test(text))?.[1];
  return `${find(programs) ?? 'another program'} on ${find(systems) ?? 'another system'}`;
}
