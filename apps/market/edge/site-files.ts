// Two files that programs look for at one place on every site: the contact for security holes
// (RFC 9116), and an index for language models (llmstxt.org). Names come from the settings.

import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../ports/deps.ts';
import type { Access } from './access.ts';
import { placeOf } from './documents.ts';
import { HttpError } from './errors.ts';

const config = { access: { kind: 'open' } satisfies Access };
const securityPath = '/.well-known/security.txt';
const dayMs = 86_400_000;
/** Counted from the day of the request: below the year that RFC 9116 recommends at most. */
const validDays = 180;
const index = new URL('../../../docs/README.md', import.meta.url);

type Told = Pick<Deps, 'settings' | 'now'>;

export function registerSiteFiles(app: FastifyInstance, deps: Told): void {
  app.get(securityPath, { config }, (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(securityText(deps)),
  );
  let guides: Promise<string> | undefined;
  app.get('/llms.txt', { config }, async (_request, reply) => {
    guides ??= readFile(index, 'utf8');
    return reply.type('text/markdown; charset=utf-8').send(indexText(deps, await guides));
  });
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

function indexText({ settings }: Told, guides: string): string {
  const { productName, shortName, people } = settings;
  const at = people.publicUrl ?? '';
  const link = (name: string, path: string, what: string) => `- [${name}](${at}${path}): ${what}`;
  // Under another name the packages have none of their own.
  const packages =
    shortName === 'parley'
      ? [
          'The SDK for TypeScript is `@parley/sdk`, the package for Python `parley`: both verify.',
          '',
        ]
      : [];
  return [
    `# ${productName}`,
    '',
    '> A non-custodial marketplace for cross-chain atomic swaps between Bitcoin, EVM chains, TRON ' +
      'and Solana. The service never holds a key or funds of yours.',
    '',
    'Amounts are integer strings in base units. An API key is minted by the signature of a wallet.',
    '',
    ...packages,
    '## API',
    '',
    link('OpenAPI 3.1', '/v1/openapi.json', 'every operation, with examples'),
    link('AsyncAPI 3.0', '/v1/asyncapi.json', 'the maker feed'),
    link('Reference', '/v1/docs', 'the same as a page'),
    ...guides.split('\n').flatMap((line) => guideLines(line, at)),
    '',
  ].join('\n');
}

/** A line of the index of guides, with links to where they are served. */
function guideLines(line: string, at: string): string[] {
  const [, heading] = /^\*\*([^*]+)\*\*/.exec(line) ?? [];
  if (heading !== undefined) return ['', `## ${heading}`, ''];
  const [, name, href = '', what] = /^- \[([^\]]+)\]\(([^)]+)\)(:.*)$/.exec(line) ?? [];
  const place = placeOf(href);
  return name === undefined || place === '' ? [] : [`- [${name}](${at}${place})${what}`];
}
