// The contact for security holes at the place where programs look for it on every site (RFC 9116).

import type { FastifyInstance } from 'fastify';
import type { Deps } from '../ports/deps.ts';
import type { Access } from './access.ts';
import { HttpError } from './errors.ts';

const config = { access: { kind: 'open' } satisfies Access };
const securityPath = '/.well-known/security.txt';
const dayMs = 86_400_000;
/** Counted from the day of the request: below the year that RFC 9116 recommends at most. */
const validDays = 180;

type Told = Pick<Deps, 'settings' | 'now'>;

export function registerSiteFiles(app: FastifyInstance, deps: Told): void {
  app.get(securityPath, { config }, (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(securityText(deps)),
  );
}

function securityText({ settings, now }: Told): string {
  const { contacts, people } = settings;
  if (contacts.length === 0) {
    const sentence = 'the operator of this market has named no contact (PARLEY_CONTACT)';
    throw new HttpError('not_found', sentence);
  }
  const expires = new Date((Math.floor(now() / dayMs) + validDays) * dayMs).toISOString();
  return [
    ...contacts.map((each) => `Contact: ${each}`),
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    ...(people.publicUrl === null ? [] : [`Canonical: ${people.publicUrl}${securityPath}`]),
    '',
  ].join('\n');
}
