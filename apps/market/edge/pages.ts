// The pages that anybody may read without a key: the descriptions of the API, and their interactive
// reference. The pages load from this server alone: scripts are vendored.

import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../ports/deps.ts';
import type { Access } from './access.ts';
import { describeAccount } from './account/openapi.ts';
import { describeFeed } from './feed/asyncapi.ts';
import { describeApi } from './openapi.ts';

const scriptPath = '/v1/docs/scalar-1.72.1.js';
const scriptFile = new URL('./vendor/scalar-1.72.1.js', import.meta.url);
const referencePath = '/v1/docs';
const config = { access: { kind: 'open' } satisfies Access };
const html = 'text/html; charset=utf-8';

const strict = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];
// The reference makes its own style elements; everything else it needs is served from here.
const referencePolicy = [
  ...strict,
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
].join('; ');

export function registerPages(app: FastifyInstance, deps: Deps): void {
  const { settings } = deps;
  const { operations, accountOperations } = app.edge;
  const described: Readonly<Record<string, () => object>> = {
    '/v1/openapi.json': () => describeApi(operations, settings),
    '/v1/asyncapi.json': () => describeFeed(settings),
    '/account/openapi.json': () => describeAccount(accountOperations, settings),
  };
  for (const [url, describe] of Object.entries(described)) {
    let text: string | undefined;
    app.get(url, { config }, (_request, reply) => {
      text ??= JSON.stringify(describe());
      return reply.type('application/json; charset=utf-8').send(text);
    });
  }

  const reference = referenceOf(settings.productName);
  app.get(referencePath, { config }, (_request, reply) =>
    reply.header('content-security-policy', referencePolicy).type(html).send(reference),
  );
  // Where somebody who tries the API by hand comes first.
  for (const url of ['/v1', '/v1/']) {
    app.get(url, { config }, (_request, reply) => reply.redirect(referencePath, 302));
  }
  let script: Promise<Buffer> | undefined;
  app.get(scriptPath, { config }, async (_request, reply) => {
    // Zipped for whoever asks: plain it is 3 MB a request, and every browser unpacks it.
    script ??= readFile(scriptFile).then((plain) => promisify(gzip)(plain));
    return reply
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('content-encoding', 'gzip')
      .type('text/javascript; charset=utf-8')
      .send(await script);
  });
}

function referenceOf(productName: string): string {
  const configuration = {
    url: '/v1/openapi.json',
    // An empty text is "no proxy"; left out, requests would go by way of somebody else's.
    proxyUrl: '',
    telemetry: false,
    withDefaultFonts: false,
    showDeveloperTools: 'never',
    hideClientButton: true,
    agent: { disabled: true },
    mcp: { disabled: true },
    persistAuth: false,
  };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(productName)} API</title>
<link rel="icon" href="data:,">
</head>
<body>
<script id="api-reference" type="application/json"
 data-configuration="${escapeHtml(JSON.stringify(configuration))}"></script>
<script src="${scriptPath}"></script>
</body>
</html>
`;
}

/** Text inside HTML, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
