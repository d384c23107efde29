// The guides of docs/ as pages, beside the reference: they explain its terms.

import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Marked } from 'marked';
import type { Deps } from '../ports/deps.ts';
import type { Access } from './access.ts';
import { HttpError } from './errors.ts';
import { escapeHtml } from './pages.ts';

const docs = new URL('../../docs/', import.meta.url);
const config = { access: { kind: 'open' } satisfies Access };
const html = 'text/html; charset=utf-8';
const policy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const style = [
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}',
  'table{border-collapse:collapse;display:block;overflow-x:auto}img{max-width:100%}',
  'td,th{border:1px solid #8888;padding:.3rem .5rem;text-align:left;vertical-align:top}',
  'pre{overflow-x:auto;padding:.7rem;background:#8881}:root{color-scheme:light dark}',
].join('');

type Named = { readonly Params: { readonly name: string } };

export function registerGuides(app: FastifyInstance, { settings }: Deps): void {
  const rendered = new Map<string, string>();
  const send = (reply: FastifyReply, type: string, body: string) =>
    reply.header('content-security-policy', policy).type(type).send(body);
  const guide = async (name: string): Promise<string> => {
    const page = rendered.get(name) ?? pageOf(settings.productName, await read(`${name}.md`));
    rendered.set(name, page);
    return page;
  };
  app.get('/guides', { config }, async (_request, reply) =>
    send(reply, html, await guide('README')),
  );
  app.get<Named>('/guides/:name', { config }, async ({ params: { name } }, reply) => {
    if (!/^[a-z-]{1,40}$/.test(name)) throw absent();
    return send(reply, html, await guide(name));
  });
  app.get<Named>('/guides/diagrams/:name', { config }, async ({ params: { name } }, reply) => {
    if (!/^[a-z-]{1,40}\.svg$/.test(name)) throw absent();
    return send(reply, 'image/svg+xml', await read(`diagrams/${name}`));
  });
}

const absent = () => new HttpError('not_found', 'there is no such guide; /guides lists them');

async function read(path: string): Promise<string> {
  return readFile(new URL(path, docs), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? absent() : error;
  });
}

/** As GitHub makes them, for links into a page. */
function anchorOf(heading: string): string {
  const kept = heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '');
  return kept.replaceAll(' ', '-');
}

/** Other guides are beside it. Empty: not served, of which the text stays. */
export function placeOf(href: string): string {
  const [, name, anchor = ''] = /^([A-Za-z-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (name !== undefined) return name === 'README' ? '/guides' : `/guides/${name}${anchor}`;
  return /^(?:#|https?:)/.test(href) ? href : '';
}

function pageOf(productName: string, markdown: string): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const words = this.parser.parseInline(tokens);
        return `<h${depth} id="${anchorOf(text)}">${words}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const place = placeOf(href);
        const words = this.parser.parseInline(tokens);
        return place === '' ? words : `<a href="${place}">${words}</a>`;
      },
      image: ({ href, text }) => `<img src="/guides/${href}" alt="${escapeHtml(text)}">`,
    },
  });
  const [, title = ''] = /^# (.+)$/m.exec(markdown) ?? [];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(`${title} - ${productName}`)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<p><a href="/guides">Guides</a> | <a href="/v1/docs">API reference</a></p>
${marked.parse(markdown, { async: false })}</body>
</html>
`;
}
