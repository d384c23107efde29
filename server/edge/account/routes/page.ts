// The account page: plain HTML, a style sheet and scripts of our own, and nothing of anybody else.

import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../../ports/deps.ts';
import type { Access } from '../../access.ts';
import { escapeHtml } from '../../html.ts';
import { requestHeader } from '../same-origin.ts';

const openAccess = { access: { kind: 'open' } satisfies Access };
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const files: readonly (readonly [string, string])[] = [
  ['page.css', 'text/css'],
  ['page.js', 'text/javascript'],
  ['page-account.js', 'text/javascript'],
  ['page-common.js', 'text/javascript'],
  ['page-passkey.js', 'text/javascript'],
  ['page-payout.js', 'text/javascript'],
  ['page-sign-in.js', 'text/javascript'],
  ['page-wallet.js', 'text/javascript'],
];

export function registerPage(app: FastifyInstance, { settings }: Deps): void {
  const { productName, shortName } = settings;
  const page = textOf('page.html')
    .replaceAll('{{product}}', escapeHtml(productName))
    .replaceAll('{{header}}', requestHeader(shortName));
  for (const url of ['/account', '/account/']) {
    app.get(url, { config: openAccess }, (_request, reply) =>
      reply
        .header('content-security-policy', policy)
        .header('x-frame-options', 'DENY')
        .header('cross-origin-opener-policy', 'same-origin')
        .type('text/html; charset=utf-8')
        .send(page),
    );
  }
  for (const [name, type] of files) {
    const text = textOf(name);
    app.get(`/account/${name}`, { config: openAccess }, (_request, reply) =>
      reply.type(`${type}; charset=utf-8`).send(text),
    );
  }
}

function textOf(name: string): string {
  return readFileSync(new URL(`../page/${name}`, import.meta.url), 'utf8');
}
