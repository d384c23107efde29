// The HTTP server: the surroundings of every request, and the routes.

import { type IncomingMessage, maxHeaderSize, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Deps } from '../ports/deps.ts';
import type { Send } from '../webhooks/attempt.ts';
import { type Access, causeOf, createGate, createSecondCheck } from './access.ts';
import {
  registerAccountItself,
  registerAccountKeys,
  registerAccountWebhooks,
  registerPayout,
} from './account/routes/account.ts';
import { registerProvider } from './account/routes/provider.ts';
import { registerSignIn } from './account/routes/sign-in.ts';
import { type Caller, openKeys, type SharedKeys } from './auth.ts';
import { bodyLimitBytes, encoded, notJson, parseBody } from './body.ts';
import { type Budgets, createBudgets, whenKnown } from './budgets.ts';
import type { Operation } from './command.ts';
import { type ConnectionLimits, type Connections, limitConnections } from './connections.ts';
import { type Cors, createCors } from './cors.ts';
import { registerDocuments } from './documents.ts';
import { fault, httpRefusal, refusalOf, sendRefusal } from './errors.ts';
import { registerFeed } from './feed/feed.ts';
import { wantsSocket } from './feed/upgrade.ts';
import { clientOf, createForwardedWarning, trustIn } from './forwarded.ts';
import { createGrownLimits } from './grown-limits.ts';
import { baseHeaders, budgetHeaders, headersOf, jsonType, setHeaders } from './headers.ts';
import { createHealth, type Health, registerHealth } from './health.ts';
import { createUnderway, type Underway } from './idempotency/underway.ts';
import { createLastUses, type LastUses } from './last-uses.ts';
import { createMemoryBuckets } from './memory-buckets.ts';
import { registerPages } from './pages.ts';
import { createProcessorTime, type ProcessorTime } from './processor-time.ts';
import { createRequestIds, requestIdHeader } from './request-ids.ts';
import { meterRequests } from './request-meter.ts';
import { createReserve, type Reserve } from './reserve.ts';
import { addRoute, type RouteTable } from './route-table.ts';
import { registerAssets } from './routes/assets.ts';
import { registerFiat } from './routes/fiat.ts';
import { registerKeys, registerWallets } from './routes/identity.ts';
import { registerLegs, registerTx } from './routes/legs.ts';
import { registerLevels } from './routes/levels.ts';
import { registerPairLists, registerPairs, registerStatus } from './routes/pairs.ts';
import { registerRfqs } from './routes/rfqs.ts';
import { registerRules } from './routes/rules.ts';
import { registerSwaps } from './routes/swaps.ts';
import { registerQuotes, registerThreads } from './routes/threads.ts';
import { registerWebhooks } from './routes/webhooks.ts';
import { createServiceStatus } from './service-status.ts';
import { registerSiteFiles } from './site-files.ts';
import { type MissingPage, registerWeb, type Web } from './web/routes.ts';

// Longest a client may take to send its headers, and the whole request. Node looks for those who
// took longer every 30 s unless asked.
const headersTimeoutMs = 15_000;
const requestTimeoutMs = 30_000;
const slowClientCheckMs = 1_000;
/** A request that is on its way as the server closes has so long to come whole. */
const lateRequestMs = 1_000;
// Longer than the idle time of common load balancers (60 s), so that they close first.
const keepAliveTimeoutMs = 72_000;
// Past what clients are told. After a stall Node closes before it reads, and a request that came in
// time is reset.
const keepAliveGraceMs = 10_000;
const longestParam = 200;

/** The state that the routes of one application share. */
export type Edge = {
  /** Null: pages of other origins may ask for nothing. */
  readonly cors: Cors | null;
  readonly keys: SharedKeys;
  readonly budgets: Budgets;
  readonly processorTime: ProcessorTime;
  readonly reserve: Reserve;
  readonly uses: LastUses;
  readonly operations: Operation[];
  /** The operations of `/account`, which have a description of their own. */
  readonly accountOperations: Operation[];
  /** Commands that run in this process under an Idempotency-Key. */
  readonly underway: Underway;
  readonly health: Health;
  /** Every route, pages of the app among them. */
  readonly routes: RouteTable;
  /** In tests: throws when a reply is not what its operation declares. */
  readonly checkReply: ReplyCheck | undefined;
};

export type ReplyCheck = (
  operation: Pick<Operation, 'operationId' | 'replies'>,
  status: number,
  body: unknown,
) => void;

declare module 'fastify' {
  interface FastifyInstance {
    edge: Edge;
  }
  interface FastifyRequest {
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    access?: Access;
    /** The mark of a probe: answered while the server stops. */
    isProbe?: boolean;
  }
}

const withoutApp: Web = { build: null, config: () => ({}) };

/** The app for browsers, and what tests change. */
export type AppOptions = {
  /** Absent: `/` says how it is built. */
  readonly web?: Web | null;
  /** The folder of the documents' site, instead of the repository's own. */
  readonly documents?: string;
  readonly checkReply?: ReplyCheck;
  /** Further routes, declared like all others. */
  readonly register?: (app: FastifyInstance, deps: Deps) => void;
  /** Instead of 30 s for a whole request. */
  readonly requestTimeoutMs?: number;
  readonly connections?: ConnectionLimits;
  /** Instead of real requests: how pings leave. */
  readonly send?: Send;
  /** Milliseconds, instead of a real clock's: costly requests are measured by it. */
  readonly processorClock?: () => number;
};

export async function buildApp(deps: Deps, options: AppOptions = {}): Promise<FastifyInstance> {
  const { settings, db } = deps;
  const { shortName, trustedProxies } = settings;
  const keys = await openKeys(deps);
  const { budgets, close: closeBudgets } = await openBudgets(deps);
  const routes: RouteTable = [];
  const ids = createRequestIds(deps);
  const health = createHealth(deps);
  const broken = (error: Error & { code?: string }, socket: Socket) => {
    const requestId = ids.next();
    deps.log.debug({ requestId, reason: error.code }, 'the bytes received are no request');
    deps.metrics.http.malformed.inc();
    answerBrokenHttp(error, socket, budgets, shortName, requestId);
  };
  const reserve = createReserve(db, budgets);
  const lastUses = createLastUses(deps);
  let connections: Connections | null = null;
  const uses: LastUses = {
    ...lastUses,
    note: (caller, client) => {
      connections?.showedKey(client);
      lastUses.note(caller, client);
    },
  };
  const cors = createCors(shortName, settings.people.corsOrigins);
  const state = {
    shortName,
    settings,
    keys,
    budgets,
    reserve,
    routes,
    uses,
    cors,
    closing: false,
    missing: (() => false) as MissingPage,
  };
  const app = Fastify({
    logger: false,
    bodyLimit: bodyLimitBytes,
    trustProxy: trustIn(trustedProxies),
    requestTimeout: options.requestTimeoutMs ?? requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: {
      headersTimeout: Math.min(headersTimeoutMs, options.requestTimeoutMs ?? headersTimeoutMs),
      connectionsCheckingInterval: slowClientCheckMs,
      keepAliveTimeoutBuffer: keepAliveGraceMs,
      shouldUpgradeCallback: wantsSocket,
    },
    // The gate answers in our own words instead.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: longestParam },
    frameworkErrors: (error, request, reply) => {
      const found = error.code === 'FST_ERR_MAX_PARAM_LENGTH';
      const refusal = found
        ? httpRefusal('not_found', 'there is nothing at this path')
        : httpRefusal('malformed_url', 'the URL is malformed');
      void whenKnown(budgets.spendClient(clientOf(request)), (spent) => {
        request.spent = spent;
        setHeaders(reply as FastifyReply, [...baseHeaders, ...headersOf(request)]);
        include(reply as FastifyReply);
        sendRefusal(reply as FastifyReply, refusal, shortName);
      });
    },
    genReqId: (raw) => ids.of(raw as IncomingMessage),
    clientErrorHandler: (error, socket) => broken(error, socket),
  });
  connections = limitConnections(app.server, deps, options.connections);
  const underway = createUnderway(db);
  const processorTime = createProcessorTime(settings, options.processorClock);
  app.decorate('edge', {
    cors,
    keys,
    budgets,
    processorTime,
    reserve,
    uses,
    underway,
    health,
    routes,
    operations: [],
    accountOperations: [],
    checkReply: options.checkReply,
  });
  app.decorateRequest('caller', null);
  app.decorateRequest('spent', null);
  const checkAgain = createSecondCheck(state);
  app.addHook('onRoute', (route) => {
    for (const each of [route.method].flat()) addRoute(routes, each, route.url);
    // A request that only reads has no body to wait for.
    if (route.method !== 'GET') route.preHandler = checkAgain;
  });
  const include = meterRequests(app, deps);
  const warnOfForwarded = createForwardedWarning(deps);
  const gate = createGate(state);
  app.addHook('onRequest', (request, reply, done) => {
    warnOfForwarded(request);
    gate(request, reply, done);
  });
  // An expectation beyond 100-continue is let be (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, reply) => app.server.emit('request', request, reply));
  // Node would end such a connection without a word.
  app.server.on('connect', (_request, socket) => broken(new Error('CONNECT'), socket as Socket));
  let sweeping: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    state.closing = true;
    health.drain();
    // A connection whose last request ends from now on would otherwise stay open, idle.
    const closingAt = performance.now();
    sweeping = setInterval(() => {
      app.server.closeIdleConnections();
      if (performance.now() - closingAt > lateRequestMs) connections.endIncomplete();
    }, 50);
  });
  app.addHook('onClose', async () => {
    clearInterval(sweeping);
    underway.close();
    await uses.close();
    keys.close();
    closeBudgets();
  });
  logRequests(app, deps);
  readJsonOnly(app);
  app.setNotFoundHandler((_request, reply) =>
    sendRefusal(reply, httpRefusal('not_found', 'there is nothing at this path'), shortName),
  );
  app.setErrorHandler((error, request, reply) => answerError(deps, error, request, reply));
  registerRoutes(app, deps, options);
  registerDocuments(app, options.documents);
  state.missing = registerWeb(app, options.web ?? withoutApp, {
    '/status': createServiceStatus(deps),
  });
  options.register?.(app, deps);
  await app.ready();
  return app;
}

function registerRoutes(app: FastifyInstance, deps: Deps, { send }: AppOptions): void {
  registerKeys(app, deps);
  registerWallets(app, deps);
  registerAssets(app, deps);
  registerRules(app, deps);
  registerPairs(app, deps);
  registerPairLists(app, deps);
  registerFiat(app, deps);
  registerStatus(app, deps);
  registerRfqs(app, deps);
  registerThreads(app, deps);
  const quoting = registerQuotes(app, deps);
  const levels = registerLevels(app, deps);
  registerSwaps(app, deps);
  registerLegs(app, deps);
  registerTx(app, deps);
  registerWebhooks(app, deps, send);
  registerSignIn({ app, deps, tag: 'sign-in' });
  registerProvider({ app, deps, tag: 'sign-in' });
  registerAccountItself({ app, deps, tag: 'account' });
  registerPayout({ app, deps, tag: 'payout' });
  registerAccountKeys({ app, deps, tag: 'keys' });
  registerAccountWebhooks({ app, deps, tag: 'webhooks' });
  registerPages(app, deps);
  registerSiteFiles(app, deps);
  registerHealth(app, app.edge.health);
  registerFeed(app, deps, { ...quoting, levels });
}

/** The budgets of one process: in its memory, or shared with others where VALKEY_URL is set. */
async function openBudgets(deps: Deps): Promise<{ readonly budgets: Budgets; close(): void }> {
  const { settings, now, log, metrics } = deps;
  const alone = createMemoryBuckets(now);
  const limitOf = createGrownLimits(deps);
  if (settings.valkeyUrl === null) {
    return { budgets: createBudgets(settings, alone, limitOf), close: () => {} };
  }
  // Not before it is needed: a process that has merely loaded the client answers a fifth to a
  // quarter fewer reads a second (`npm run bench -- reads`: 0.51 of bare node:http, 0.67 without).
  const [{ connectValkey }, { createValkeyBuckets }] = await Promise.all([
    import('../ports/valkey.ts'),
    import('./valkey-buckets.ts'),
  ]);
  const client = connectValkey(settings.valkeyUrl);
  const prefix = `${settings.shortName}:${settings.network}:`;
  const shared = createValkeyBuckets({ client, alone, prefix, log, metrics });
  await shared.started;
  const close = () => client.disconnect();
  return { budgets: createBudgets(settings, shared, limitOf), close };
}

function readJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, ({ headers }, text, done) =>
    done(null, encoded(headers, text as string) ?? parseBody(text as string)),
  );
  // `curl -X POST -d ''` names a form: no body is no body, whatever it is called.
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => {
    done(null, text === '' ? undefined : notJson(text as string));
  });
}

function answerError(
  deps: Deps,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { shortName } = deps.settings;
  const refusal = refusalOf(error, shortName);
  const about = aboutOf(request);
  // The client no longer hears the answer, and a body cut off looks like a database that is gone.
  if (request.raw.destroyed && !request.raw.complete) {
    deps.log.debug(about, 'the client went away before its request was there');
    sendRefusal(reply, httpRefusal('bad_header', 'the request ended early'), shortName);
    return;
  }
  if (refusal === null) {
    deps.log.error({ ...about, err: error }, 'request failed');
    sendRefusal(reply, fault(request.id), shortName);
    return;
  }
  const line = { ...about, status: refusal.status, code: refusal.code };
  const reason = (error as { code?: unknown }).code;
  if (refusal.status >= 500) deps.log.warn({ ...line, reason }, 'request refused');
  else deps.log.debug(line, 'request refused');
  sendRefusal(reply, refusal, shortName);
}

/** In every line about a request. */
function aboutOf(request: FastifyRequest) {
  const { method, routeOptions, caller } = request;
  const { url: route } = routeOptions;
  return { ...causeOf(request), method, route, accountId: caller?.accountId };
}

/** At level debug, a line for each request. */
function logRequests(app: FastifyInstance, deps: Deps): void {
  if (!deps.log.isLevelEnabled('debug')) return;
  app.addHook('onResponse', async (request, reply) => {
    const { statusCode: status, elapsedTime } = reply;
    const facts = { ...aboutOf(request), status, milliseconds: Math.round(elapsedTime) };
    deps.log.debug(facts, 'request');
  });
}

type Peer = {
  readonly writable: boolean;
  readonly remoteAddress?: string | undefined;
  end(text: string): unknown;
  destroy(): unknown;
};

/**
 * Bytes that are not HTTP, too long a head, or a client too slow: fastify never sees them, so the
 * answer is written to the socket, in the form and with the headers of every other refusal.
 */
function answerBrokenHttp(
  error: Error & { code?: string },
  socket: Peer,
  budgets: Budgets,
  shortName: string,
  requestId: string,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? httpRefusal('request_timeout', 'the request took too long to arrive')
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? httpRefusal('headers_too_large', `the headers are larger than ${maxHeaderSize} bytes`)
        : httpRefusal('malformed_http', 'the request is not valid HTTP');
  const body = JSON.stringify({ error: refusal.sentence });
  // The client behind a proxy cannot be read: its own address is spent then.
  void whenKnown(budgets.spendClient(socket.remoteAddress ?? 'unknown'), (spent) => {
    if (!socket.writable) return;
    const list = [
      ...baseHeaders,
      ...budgetHeaders(spent),
      requestIdHeader,
      requestId,
      `x-${shortName}-error`,
      refusal.code,
      'content-type',
      jsonType,
      'content-length',
      String(Buffer.byteLength(body)),
      'connection',
      'close',
    ];
    const lines = list.map((each, at) => `${each}${at % 2 === 0 ? ': ' : '\r\n'}`).join('');
    const { status } = refusal;
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`);
  });
}
