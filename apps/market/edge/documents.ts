// The documents as a site at `/docs`, as scripts/site/build.ts left it in a folder. Files are read
// when they are asked for, and cost no budget: a page asks for dozens of them at once.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isKnown } from './etags.ts';

const missing = '404.html';
const built = fileURLToPath(new URL('../../../packages/web/dist-docs', import.meta.url));
/** Its scripts are files of this server. The highlighter colours code by attributes. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  json: 'application/json; charset=utf-8',
};

type Named = { readonly Params: { readonly '*'?: string } };

export function registerDocuments(app: FastifyInstance, folder = built): void {
  let at = 0;
  let files: ReadonlySet<string> = new Set();
  /** The files of the newest build; false: there is none. */
  const isBuilt = async (): Promise<boolean> => {
    const list = join(folder, 'build.json');
    const found = await stat(list).catch(() => null);
    if (found === null) return false;
    if (found.mtimeMs !== at) {
      files = new Set(JSON.parse(await readFile(list, 'utf8')).files);
      at = found.mtimeMs;
    }
    return true;
  };
  const answer = async (request: FastifyRequest<Named>, reply: FastifyReply) => {
    if (!(await isBuilt())) return reply.code(503).type('text/plain').send(notBuilt);
    const path = request.params['*'] ?? '';
    const names = [path === '' ? 'index.html' : path, `${path}.html`];
    const name = names.find((each) => files.has(each));
    if (name === undefined) reply.code(404);
    return send(request, reply, { folder, name: name ?? missing });
  };
  app.get<Named>('/docs', answer);
  app.get<Named>('/docs/*', answer);
}

type Wanted = { readonly folder: string; readonly name: string };

async function send(request: FastifyRequest<Named>, reply: FastifyReply, { folder, name }: Wanted) {
  const file = join(folder, name);
  const isForEver = name.startsWith('assets/');
  const { mtimeMs, size } = await stat(file);
  const etag = `W/"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`;
  reply.headers({
    'content-security-policy': policy,
    'cache-control': isForEver ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag,
    vary: 'accept-encoding',
  });
  const { 'if-none-match': known, 'accept-encoding': accepted = '' } = request.headers;
  if (reply.statusCode === 200 && isKnown(known, etag)) return reply.code(304).send();
  reply.type(types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream');
  const packed = /\bbr\b(?!;\s*q=0(?:\.0*)?(?:,|$))/.test(accepted);
  const bytes = packed ? await readFile(`${file}.br`).catch(() => null) : null;
  if (bytes === null) return reply.send(await readFile(file));
  return reply.header('content-encoding', 'br').send(bytes);
}

const notBuilt =
  'The documents are not built here yet. A market in development builds them at its start;\n' +
  'elsewhere build them with the development packages: npm ci && npm run web\n';
