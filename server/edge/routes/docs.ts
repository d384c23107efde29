// The API description and its interactive reference. No key; nothing leaves this server: the page's
// script is vendored, and its policy lets it connect to this origin only.

import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../ports/deps.ts';
import type { Access } from '../access.ts';
import { describeFeed } from '../feed/asyncapi.ts';
import { escapeHtml } from '../html.ts';
import { describeApi } from '../openapi.ts';

const scriptPath = '/v1/docs/scalar-1.72.1.js';
const scriptFile = new URL('../vendor/scalar-1.72.1.js', import.meta.url);
const pagePath = '/v1/docs';
const openAccess = { access: { kind: 'open' } satisfies Access };

// The reference makes its own style elements; everything else it needs is served from here.
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function registerDocs(app: FastifyInstance, deps: Deps): void {
  let description: string | undefined;
  app.get('/v1/openapi.json', { config: openAccess }, (_request, reply) => {
    description ??= JSON.stringify(describeApi(app.edge.operations, deps.settings));
    return reply.type('application/json; charset=utf-8').send(description);
  });

  let feed: string | undefined;
  app.get('/v1/asyncapi.json', { config: openAccess }, (_request, reply) => {
    feed ??= JSON.stringify(describeFeed(deps.settings));
    return reply.type('application/json; charset=utf-8').send(feed);
  });

  const page = pageOf(deps.settings.productName);
  app.get(pagePath, { config: openAccess }, (_request, reply) =>
    reply.header('content-security-policy', pagePolicy).type('text/html; charset=utf-8').send(page),
  );

  // Where a person with a browser looks first.
  for (const url of ['/', '/v1', '/v1/']) {
    app.get(url, { config: openAccess }, (_request, reply) => reply.redirect(pagePath, 302));
  }

  let script: Promise<Buffer> | undefined;
  app.get(scriptPath, { config: openAccess }, async (_request, reply) => {
    // Zipped for whoever asks: plain it is 3 MB a request, and every browser unpacks it.
    script ??= readFile(scriptFile).then((plain) => promisify(gzip)(plain));
    return reply
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('content-encoding', 'gzip')
      .type('text/javascript; charset=utf-8')
      .send(await script);
  });
}

function pageOf(productName: string): string {
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
  const title = `${escapeHtml(productName)} API`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
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
