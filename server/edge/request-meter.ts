// Counts requests by the template of their route. Each route has a hook of its own that holds its
// numbers, so that a request looks nothing up; where nobody reads them there are none.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../ports/deps.ts';

/** Files of the app, by their folder: each has a route of its own, and each build other names. */
const appFiles = /^\/app\/.*/;
const notFound = 'none';

type Ended = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

/** Before the first route is declared. */
export function meterRequests(app: FastifyInstance, { settings, metrics }: Deps): void {
  if (settings.metricsPort === null) return;
  const { http } = metrics;
  const errorHeader = `x-${settings.shortName}-error`;
  const known = new Map<string, ReturnType<typeof http.of>>();
  /** Routes whose templates become one share their numbers. */
  const meterOf = (method: string, url: string) => {
    const route = url.replace(appFiles, '/app/*');
    const key = `${method} ${route}`;
    const meter = known.get(key) ?? http.of(method, route);
    known.set(key, meter);
    return meter;
  };
  const refused = (reply: FastifyReply) => {
    const code = reply.getHeader(errorHeader);
    if (typeof code === 'string') http.refusals.inc({ code });
  };
  app.addHook('onRoute', (route) => {
    const methods = [route.method].flat();
    const meters = new Map(methods.map((method) => [method, meterOf(method, route.url)]));
    const [first] = meters.values();
    const ended: Ended = (request, reply, done) => {
      const { statusCode, elapsedTime } = reply;
      const meter = meters.size === 1 ? first : meters.get(request.method);
      meter?.ended(statusCode, elapsedTime / 1_000);
      if (statusCode >= 400) refused(reply);
      done();
    };
    route.onResponse = [ended, ...[route.onResponse ?? []].flat()];
  });
  // No route is declared for them.
  const unknown = http.of('any', notFound);
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) {
      const began = performance.now();
      reply.raw.once('finish', () => {
        unknown.ended(reply.statusCode, (performance.now() - began) / 1_000);
        refused(reply);
      });
    }
    done();
  });
}
