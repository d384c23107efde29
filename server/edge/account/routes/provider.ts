// Sign-in through an identity provider: begun on a page of ours, finished where the provider leads
// the browser back to. That is a navigation from another site, and so the one GET that acts: the
// `state` in it counts in the browser that began it alone, and once.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { begun, intentOf } from '../../../people/ceremonies.ts';
import { openProviders, type Providers } from '../../../people/provider-server.ts';
import { beginAtProvider, returnPath, takeReturn } from '../../../people/providers.ts';
import { takeUp } from '../../../people/sign-in.ts';
import type { Site } from '../../../people/site.ts';
import type { Deps } from '../../../ports/deps.ts';
import { HttpError, refusalOf } from '../../errors.ts';
import { setCookie } from '../cookies.ts';
import { anyBrowser, browserFor, countRefused, sessionOf } from '../declare.ts';
import { siteNamed } from '../same-origin.ts';
import { beginProvider, providerBegun } from '../schemas-provider.ts';
import { answerOf } from '../taken-up.ts';

/** Where everybody ends up. What is told there is a purpose or a code, never a provider's words. */
const page = '/account';

export function registerProvider(app: FastifyInstance, deps: Deps): void {
  const providers = openProviders(deps);
  anyBrowser(app, deps, {
    method: 'POST',
    url: '/account/provider',
    operationId: 'beginAtProvider',
    summary: 'Begin to sign in through an identity provider: where the browser is to go',
    tags: ['sign-in'],
    signIn: true,
    body: beginProvider,
    replies: { 200: providerBegun },
    handle: async ({ body, browser, session, site }) => {
      const asked = {
        ...begun(deps, body.purpose, browser, session),
        providerId: body.provider,
        site,
      };
      const url = await beginAtProvider(deps, providers, asked);
      return { body: { url: url.href } };
    },
  });

  app.route<{ Params: { id: string } }>({
    method: 'GET',
    url: returnPath(':id'),
    // A look whether the address is there must not use it up.
    exposeHeadRoute: false,
    config: { access: { kind: 'open' } },
    handler: async (request, reply) => {
      const site = siteOfReturn(deps, request);
      try {
        const told = await finish(app, deps, providers, { request, reply, site });
        return await reply.redirect(`${page}?${told}`, 303);
      } catch (error) {
        const refusal = refusalOf(error, deps.settings.shortName);
        if (refusal === null) throw error;
        countRefused(deps, `${page}/provider`, error);
        return await reply.redirect(`${page}?problem=${refusal.code}`, 303);
      }
    },
  });
}

/** Not in a frame, nor by a script: only as the page that the person sees. */
function siteOfReturn({ settings }: Deps, { headers }: FastifyRequest): Site {
  const site = siteNamed(settings, headers);
  if (site instanceof HttpError) throw site;
  const { 'sec-fetch-dest': dest, 'sec-fetch-mode': mode } = headers;
  if ((dest ?? 'document') === 'document' && (mode ?? 'navigate') === 'navigate') return site;
  throw new HttpError('cross_site', 'a provider leads the browser here, and no page asks for it');
}

type Return = {
  readonly request: FastifyRequest<{ Params: { id: string } }>;
  readonly reply: FastifyReply;
  readonly site: Site;
};

async function finish(
  app: FastifyInstance,
  deps: Deps,
  providers: Providers,
  { request, reply, site }: Return,
): Promise<string> {
  const browser = browserFor(deps, site, request, reply);
  const url = new URL(request.url, site.origin);
  const returned = await takeReturn(deps, providers, { url, id: request.params.id, browser, site });
  if (returned.cancelled) return 'problem=cancelled';
  const { ceremony, proven } = returned;
  // As it is now: the provider may have taken its time.
  const session = await sessionOf(deps, request, site);
  const intent = intentOf(ceremony, session);
  const { token, body } = await answerOf(app, deps, session, (tx) =>
    takeUp(tx, deps, proven, intent, browser),
  );
  if (token !== undefined) setCookie(reply, deps.settings.shortName, site, 'session', token);
  const wasOne = intent.purpose === 'add' && body.outcome === 'renewed';
  return `done=${wasOne ? 'already' : intent.purpose}`;
}
