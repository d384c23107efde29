// The documents as a site at `/docs`, as scripts/site/build.ts left it in a folder, and their index
// for language models. Files are read when they are asked for, and cost no budget: a page asks for
// dozens of them at once.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nullIfMissing } from '@parley/host/missing-file.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { typeOf, type WebFile } from './web/build.ts';
import { sendFile } from './web/routes.ts';

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
type Named = { readonly Params: { readonly '*': string } };

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
  const send = async (request: FastifyRequest, reply: FastifyReply, path: string) => {
    if (!(await isBuilt())) return reply.code(503).type('text/plain').send(notBuilt);
    const names = [path === '' ? 'index.html' : path, `${path}.html`];
    const name = names.find((each) => files.has(each));
    if (name === undefined) reply.code(404);
    reply.header('content-security-policy', policy);
    return sendFile(request, reply, await readFileOf(folder, name ?? missing));
  };
  app.get('/docs', (request, reply) => send(request, reply, ''));
  app.get<Named>('/docs/*', (request, reply) => send(request, reply, request.params['*']));
  app.get('/llms.txt', (request, reply) => send(request, reply, 'llms.txt'));
}

/** As it is on the disk now: the folder may be built anew while the market runs. */
async function readFileOf(folder: string, path: string): Promise<WebFile> {
  const file = join(folder, path);
  const [{ mtimeMs, size }, plain, br] = await Promise.all([
    stat(file),
    readFile(file),
    readFile(`${file}.br`).catch(nullIfMissing),
  ]);
  const etag = `W/"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`;
  return { path, type: typeOf(path), etag, plain, br, gzip: null };
}

const notBuilt =
  'The documents are not built here yet. A market in development builds them at its start;\n' +
  'elsewhere build them with the development packages: npm ci && npm run web\n';
