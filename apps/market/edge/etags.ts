// Whether a client has what it asks for (RFC 9110, 13.1.2: compared weakly).

import { hash } from 'node:crypto';

/** A tag of these bytes and no others. */
export function etagOf(bytes: Uint8Array): string {
  return `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"`;
}

export function isKnown(known: string | undefined, etag: string): boolean {
  if (known === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return known.trim() === '*' || known.split(',').some((each) => opaque(each) === opaque(etag));
}
