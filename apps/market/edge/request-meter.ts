// Counts requests by the template of their route. Node itself tells when an answer was written: two
// listeners of Fastify at each answer took some microseconds. Where nobody reads metrics, nothing
// is counted.

import { channel } from 'node:diagnostics_channel';
import type { Server, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Deps } from '../ports/deps.ts';
import type { RouteMeter } from '../ports/metrics.ts';

/** Files of the app, by their folder. */
const appFiles = /^\/app\/.*/;
const notFound = 'none';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** By method. */
    meters?: ReadonlyMap<string, RouteMeter>;
  }
}

const answer = Symbol('answer');
const began = Symbol('began');
type Metered = ServerResponse & { [answer]?: FastifyReply; [began]?: number };
type Finished = { readonly response: Metered; readonly server: Server };

/** Takes an answer that no hook hears of, as to a malformed URL, among what is counted. */
export type Include = (reply: FastifyReply) => void;

/** Before the first route is declared. */
export function meterRequests(
  app: FastifyInstance,
  { settings, metrics: { http } }: Pick<Deps, 'settings' | 'metrics'>,
): Include {
  if (settings.metricsPort === null) return () => {};
  const errorHeader = `x-${settings.shortName}-error`;
  const known = new Map<string, RouteMeter>();
  /** Routes whose templates become one share their numbers. */
  const meterOf = (method: string, url: string): RouteMeter => {
    const route = url.replace(appFiles, '/app/*');
    const key = `${method} ${route}`;
    const meter = known.get(key) ?? http.of(method, route);
    known.set(key, meter);
    return meter;
  };
  const ofUrls = new Map<string, Map<string, RouteMeter>>();
  app.addHook('onRoute', (route) => {
    const { url, method } = route;
    // One for all methods: HEAD goes with the config of its GET.
    const meters = ofUrls.get(url) ?? new Map<string, RouteMeter>();
    ofUrls.set(url, meters);
    for (const each of [method].flat()) meters.set(each, meterOf(each, url));
    route.config = { ...route.config, meters };
  });
  const include = (reply: FastifyReply) => {
    const raw: Metered = reply.raw;
    raw[answer] = reply;
    raw[began] = performance.now();
  };
  app.addHook('onRequest', (_request, reply, done) => {
    include(reply);
    done();
  });
  // No route is declared for them.
  const unknown = http.of('any', notFound);
  const ended = (message: unknown) => {
    const { response, server } = message as Finished;
    const reply = response[answer];
    if (server !== app.server || reply === undefined) return;
    const { request } = reply;
    const { statusCode } = response;
    const meters = request.is404 ? undefined : request.routeOptions.config.meters;
    const meter = meters?.get(request.method) ?? unknown;
    meter.ended(statusCode, (performance.now() - (response[began] ?? 0)) / 1_000);
    if (statusCode < 400) return;
    // The answer itself forgets headers that were written with its status.
    const code = reply.getHeader(errorHeader);
    if (typeof code === 'string') http.refusals.inc({ code });
  };
  const finished = channel('http.server.response.finish');
  finished.subscribe(ended);
  app.addHook('onClose', async () => void finished.unsubscribe(ended));
  return include;
}
