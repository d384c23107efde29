// `#unconnected` outside of Node: a page's failed connection has no code (Fetch standard).

export function whyOf(_error: Error, _isTls: boolean): string | null {
  return null;
}
