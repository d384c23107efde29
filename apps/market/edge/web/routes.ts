// The app for browsers at `/` and at each of its screens, its files below `/app/`. Everything is
// answered from memory, and costs no budget: a page asks for dozens of files at once.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isKnown } from '../etags.ts';
import { patternOf } from '../route-table.ts';
import type { Tell } from '../service-status.ts';
import type { WebBuild, WebFile } from './build.ts';

/**
 * The rights of the app in a browser. Only answers of nodes come from elsewhere: people enter nodes
 * of their own, and on this machine those have no certificate.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self' https: wss: http://127.0.0.1:* ws://127.0.0.1:*",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
];

/** Features that a script could ask a person for; all that are not used are off. */
const off = [
  'accelerometer',
  'autoplay',
  'camera',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'gamepad',
  'geolocation',
  'gyroscope',
  'hid',
  'idle-detection',
  'local-fonts',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'picture-in-picture',
  'screen-wake-lock',
  'serial',
  'storage-access',
  'usb',
  'window-management',
  'xr-spatial-tracking',
];
const own = ['clipboard-write', 'publickey-credentials-create', 'publickey-credentials-get'];

/** Beside those of every answer. */
const webHeaders = {
  'content-security-policy': policy.join('; '),
  'permissions-policy': [
    ...off.map((feature) => `${feature}=()`),
    ...own.map((feature) => `${feature}=(self)`),
  ].join(', '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

export type Web = {
  /** Null until there is one; a newer one may take its place. */
  build: WebBuild | null;
  /** Whether one is on its way: people are told to wait. */
  isBuilding?: boolean;
  /** The facts that only this market can tell the app: plain JSON, asked anew for each page. */
  readonly config: () => object;
};

/** Answers a browser that asked for no screen with the app's own page; false: it is none. */
export type MissingPage = (request: FastifyRequest, reply: FastifyReply) => boolean;

const forever = 'public, max-age=31536000, immutable';
const anew = 'no-cache';
const shell = 'index.html';

/** `shared`: addresses of screens that answer programs too. */
export function registerWeb(
  app: FastifyInstance,
  web: Web,
  shared: Readonly<Record<string, Tell>> = {},
): MissingPage {
  app.get<Named>('/app/*', (request, reply) => {
    const path = request.params['*'];
    const file = web.build?.files.find((each) => each.path === path);
    return file === undefined ? reply.callNotFound() : send(request, reply, file);
  });
  // The name that people type; the API's answers are below it.
  app.get('/market', (_request, reply) => reply.redirect('/markets'));
  app.get('/app/build.json', (_request, reply) => {
    if (web.build === null) return reply.callNotFound();
    const { hash, files, screens } = web.build;
    const described = { hash, files: files.map(({ path }) => path), screens };
    const type = 'application/json; charset=utf-8';
    return reply.header('cache-control', anew).type(type).send(JSON.stringify(described));
  });
  // A script, so that the app has it before it begins.
  app.get('/app/config.js', (_request, reply) => {
    if (web.build === null) return reply.callNotFound();
    return reply
      .headers({ ...webHeaders, 'cache-control': anew })
      .type('text/javascript; charset=utf-8')
      .send(`self.marketConfig=${JSON.stringify(web.config())};\n`);
  });
  for (const url of new Set(['/', ...Object.keys(shared), ...urlsOf(web.build)])) {
    const tell = shared[url];
    app.get(url, (request, reply) => {
      if (tell === undefined) return sendPage(web, request, reply);
      const isPage = web.build !== null && wantsPage(request);
      // Browsers and programs are answered otherwise at one address.
      if (!isPage) return tell(request, reply.header('vary', 'accept'));
      return sendPage(web, request, reply, 'accept, accept-encoding');
    });
  }
  return (request, reply) => {
    const isToCome = web.build !== null || web.isBuilding === true;
    if (!isToCome || !isForPeople(request)) return false;
    if (!isScreen(web.build, request)) reply.code(404);
    sendPage(web, request, reply);
    return true;
  };
}

type Named = { readonly Params: { readonly '*': string } };

/** The screens of a build that came after the start have no routes. */
function isScreen(build: WebBuild | null, { url }: FastifyRequest): boolean {
  const [path = ''] = url.split('?');
  return urlsOf(build).some((each) => patternOf(each).test(path));
}

/** The screens of a build, as the router has them: `/swaps/$id` is `/swaps/:id`. */
function urlsOf(build: WebBuild | null): string[] {
  return (build?.screens ?? []).map((screen) => screen.replace(/\$(\w+)/g, ':$1'));
}

/** A browser goes to an address that is neither the API's nor a file's. */
function isForPeople({ method, url, headers }: FastifyRequest): boolean {
  if (method !== 'GET' || /^\/(?:v1|account|market|app|docs)(?:[/?]|$)/.test(url)) return false;
  return wantsPage({ headers });
}

function wantsPage({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers.accept?.includes('text/html') === true;
}

function sendPage(
  { build, isBuilding = false }: Web,
  request: FastifyRequest,
  reply: FastifyReply,
  vary?: string,
): FastifyReply {
  const page = build?.files.find(({ path }) => path === shell);
  if (page !== undefined) return send(request, reply, page, vary);
  // A browser asks again by itself.
  if (isBuilding) reply.headers({ refresh: '2', 'retry-after': '2' });
  return reply
    .code(503)
    .type('text/plain; charset=utf-8')
    .send(isBuilding ? beingBuilt : notBuilt);
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  file: WebFile,
  vary?: string,
): FastifyReply {
  reply.headers(webHeaders);
  // Its folder is /app/, and it keeps the screens above.
  if (file.path === 'worker.js') reply.header('service-worker-allowed', '/');
  return sendFile(request, reply, file, vary);
}

/** A file of a site: packed as the client takes it, or not at all where the client has it. */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: WebFile,
  vary = 'accept-encoding',
): FastifyReply {
  const { 'if-none-match': known, 'accept-encoding': accepted } = request.headers;
  reply.header('cache-control', file.path.startsWith('assets/') ? forever : anew);
  reply.header('etag', file.etag);
  reply.header('vary', vary);
  if (reply.statusCode === 200 && isKnown(known, file.etag)) return reply.code(304).send();
  const [encoding, bytes] = packed(file, accepted ?? '');
  if (encoding !== null) reply.header('content-encoding', encoding);
  return reply.type(file.type).send(bytes);
}

/** The smaller one first. */
function packed(file: WebFile, accepted: string): [string | null, Buffer] {
  if (file.br !== null && /\bbr\b/i.test(accepted)) return ['br', file.br];
  if (file.gzip !== null && /\bgzip\b/i.test(accepted)) return ['gzip', file.gzip];
  return [null, file.plain];
}

const beingBuilt =
  'The app is being built, which takes some seconds. This page then shows it by itself.\n' +
  'The API works already: /v1/docs\n';
const notBuilt =
  'The app is not built here. Build it with the development packages: npm ci && npm run web\n' +
  'The API works without it: /v1/docs\n';
