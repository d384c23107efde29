// Pages of other origins that an operator names may call `/v1` with API keys. Never with cookies:
// no answer allows credentials, and the header that our own pages send is not among those allowed.

import type { IncomingHttpHeaders } from 'node:http';

/**
 * The time for which a preflight is kept: browsers ask again after this; Chromium keeps none
 * longer.
 */
const keptSeconds = 7_200;

type Asked = {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly routeOptions?: { readonly url?: string | undefined };
};
type Headers = Readonly<Record<string, string>>;

export type Cors = {
  /** The further headers of every answer below `/v1`. */
  headers(asked: Asked): Headers;
  /** The headers that answer a preflight; null where it is none, or from elsewhere. */
  preflight(asked: Asked): Headers | null;
};

/** null where no origin is allowed. */
export function createCors(shortName: string, origins: readonly string[]): Cors | null {
  if (origins.length === 0) return null;
  // A script of another origin sees no others but those that every answer may show.
  const exposed =
    'ETag, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-RateLimit-Limit, ' +
    'X-RateLimit-Remaining, Retry-After, Idempotency-Replayed, ' +
    `X-Request-Id, x-${shortName}-error, x-${shortName}-txid`;
  return {
    headers: (asked) => {
      const { origin = '' } = asked.headers;
      if (!isApi(asked)) return {};
      if (!origins.includes(origin)) return { vary: 'Origin' };
      return {
        vary: 'Origin',
        'access-control-allow-origin': origin,
        'access-control-expose-headers': exposed,
      };
    },
    preflight: (asked) => {
      const { origin = '', 'access-control-request-method': wanted } = asked.headers;
      if (asked.method !== 'OPTIONS' || wanted === undefined) return null;
      if (!isApi(asked) || !origins.includes(origin)) return null;
      return {
        'access-control-allow-methods': 'GET, HEAD, POST, DELETE',
        'access-control-allow-headers':
          'authorization, x-api-key, content-type, idempotency-key, if-none-match, traceparent',
        'access-control-max-age': String(keptSeconds),
      };
    },
  };
}

/** By its route, however the path is spelt; by its path where there is none. */
function isApi({ routeOptions, url = '' }: Asked): boolean {
  const path = routeOptions?.url ?? url.replace(/^https?:\/\/[^/]*/i, '');
  return /^\/v1(?:[/?#]|$)/.test(path);
}
