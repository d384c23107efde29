// Whether a client has what it asks for (RFC 9110, 13.1.2: compared weakly).

export function isKnown(known: string | undefined, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return known?.split(',').some((each) => opaque(each) === opaque(etag)) ?? false;
}
