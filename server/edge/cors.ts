// Pages of other origins that an operator names may call `/v1` with API keys. Never with cookies:
// no answer allows credentials, and the header that our own pages send is not among those allowed.

import type { IncomingHttpHeaders } from 'node:http';

/** Of a preflight: browsers ask again after this; Chromium keeps none longer. */
const keptSeconds = 7_200;
const methods = 'GET, HEAD, POST, DELETE';
const taken = 'authorization, x-api-key, content-type, idempotency-key';

type Asked = {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly routeOptions?: { readonly url?: string | undefined };
};

export type Cors = {
  /** What every answer below `/v1` carries besides. */
  headers(asked: Asked): Readonly<Record<string, string>>;
  /** What answers a preflight; null where it is none, or from elsewhere. */
  preflight(asked: Asked): Readonly<Record<string, string>> | null;
};

/** null where no origin is allowed. */
export function createCors(shortName: string, origins: readonly string[]): Cors | null {
  if (origins.length === 0) return null;
  const allowed = new Set(origins);
  const exposed = exposedHeaders(shortName);
  const isFrom = ({ headers: { origin = '' } }: Asked) => allowed.has(origin);
  return {
    headers: (asked) => {
      if (!isApi(asked)) return {};
      if (!isFrom(asked)) return { vary: 'Origin' };
      const { origin = '' } = asked.headers;
      return {
        vary: 'Origin',
        'access-control-allow-origin': origin,
        'access-control-expose-headers': exposed,
      };
    },
    preflight: (asked) => {
      const wanted = asked.headers['access-control-request-method'];
      if (asked.method !== 'OPTIONS' || wanted === undefined) return null;
      if (!isApi(asked) || !isFrom(asked)) return null;
      return {
        'access-control-allow-methods': methods,
        'access-control-allow-headers': taken,
        'access-control-max-age': String(keptSeconds),
      };
    },
  };
}

/** A script of another origin sees no others but those that every answer may show. */
function exposedHeaders(shortName: string): string {
  return [
    'RateLimit-Limit',
    'RateLimit-Remaining',
    'RateLimit-Reset',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'Retry-After',
    'Idempotency-Replayed',
    `x-${shortName}-error`,
    `x-${shortName}-txid`,
  ].join(', ');
}

/** By its route, however the path is spelt; by its path where there is none. */
function isApi({ routeOptions, url = '' }: Asked): boolean {
  const path = routeOptions?.url ?? url.replace(/^https?:\/\/[^/]*/i, '');
  return /^\/v1(?:[/?#]|$)/.test(path);
}
