// Sign-in through an identity provider: begun on a page of ours, finished where the provider leads
// the browser back to. That is a navigation from another site, and so the one GET that acts: the
// `state` in it counts in the browser that began it alone, and once.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { begun, intentOf } from '../../../people/ceremonies.ts';
import { openProviders, type Providers } from '../../../people/provider-server.ts';
import { beginAtProvider, returnPath, takeReturn } from '../../../people/providers.ts';
import { takeUp } from '../../../people/sign-in.ts';
import type { Site } from '../../../people/site.ts';
import type { Deps } from '../../../ports/deps.ts';
import type { Place } from '../../command.ts';
import { HttpError, refusalOf } from '../../errors.ts';
import { setCookie } from '../cookies.ts';
import { answerOf, anyBrowser, browserFor, countRefused, sessionOf } from '../declare.ts';
import { siteNamed } from '../same-origin.ts';
import { beginProvider, providerBegun } from '../schemas.ts';

/** Where everybody ends up. The page gets a purpose or a code, never a provider's words. */
const page = '/account';

export function registerProvider(place: Place): void {
  const { app, deps } = place;
  const providers = openProviders(deps);
  anyBrowser(place, 'POST /account/provider', 'beginAtProvider', {
    about:
      'Begin to sign in through an identity provider. The answer says where the browser is to go.',
    signIn: true,
    body: beginProvider,
    replies: { 200: providerBegun },
    handle: async ({ body, browser, session, site }) => {
      const ceremony = begun(deps, body.purpose, browser, session);
      const asked = { ...ceremony, providerId: body.provider, site };
      return { body: { url: await beginAtProvider(deps, providers, asked) } };
    },
  });

  app.route<{ Params: { id: string } }>({
    method: 'GET',
    url: returnPath(':id'),
    // Somebody who asks whether the address is there must not use it up.
    exposeHeadRoute: false,
    config: { access: { kind: 'open' } },
    handler: async (request, reply) => {
      const site = siteOfReturn(deps, request);
      try {
        const end = await finish(place, providers, { request, reply, site });
        return await reply.redirect(`${page}?${end}`, 303);
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
  place: Place,
  providers: Providers,
  { request, reply, site }: Return,
): Promise<string> {
  const { deps } = place;
  const browser = browserFor(deps, site, request, reply);
  const url = new URL(request.url, site.origin);
  const returned = await takeReturn(deps, providers, { url, id: request.params.id, browser });
  if (returned.cancelled) return 'problem=cancelled';
  const { ceremony, proven } = returned;
  // As it is now: the provider may have taken its time.
  const session = await sessionOf(deps, request, site);
  const intent = intentOf(ceremony, session);
  const { token, body } = await answerOf(place, session, (tx) =>
    takeUp(tx, deps, proven, intent, browser),
  );
  if (token !== undefined) setCookie(reply, deps.settings.shortName, site, 'session', token);
  const wasOne = intent.purpose === 'add' && body.outcome === 'renewed';
  return `done=${wasOne ? 'already' : intent.purpose}`;
}
