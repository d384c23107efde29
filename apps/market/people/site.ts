// Where this market's own pages are: the one origin that its cookies are for.

import { isLoopback } from '../settings/networks.ts';

export type Site = {
  readonly origin: string;
  readonly host: string;
  /** The host that passkeys are bound to. */
  readonly hostname: string;
  /** Cookies are Secure and named `__Host-…`. */
  readonly secure: boolean;
};

/** The site of this `Host`; null for a name not ours. The dev network is loopback, any port. */
export function siteOf(
  settings: { readonly publicUrl: string | null; readonly network: string },
  host: string | undefined,
): Site | null {
  if (host === undefined) return null;
  const { publicUrl, network } = settings;
  const url = publicUrl ?? (network === 'dev' ? `http://${host}` : null);
  if (url === null || !URL.canParse(url)) return null;
  const { origin, host: ours, hostname, protocol } = new URL(url);
  if (ours !== host.toLowerCase() || (publicUrl === null && !isLoopback(hostname))) return null;
  return { origin, host: ours, hostname, secure: protocol === 'https:' };
}
