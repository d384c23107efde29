// How an operation is called with curl, TypeScript and Python: `x-codeSamples` of the API
// description, made of the examples of its fields.

import type { TSchema } from 'typebox';
import type { Operation } from './command.ts';
import { exampleOf, type Json } from './examples.ts';

type Fields = {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
};

const authorization = {
  name: 'Authorization',
  shell: 'Bearer $MARKET_KEY',
  script: "'Bearer ' + MARKET_KEY",
  snake: 'f"Bearer {key}"',
};
const idempotencyKey = {
  name: 'Idempotency-Key',
  shell: '$(uuidgen)',
  script: 'crypto.randomUUID()',
  snake: 'str(uuid.uuid4())',
};
const contentType = {
  name: 'Content-Type',
  shell: 'application/json',
  script: "'application/json'",
  snake: '"application/json"',
};

export function samplesOf({ method, url, access, params, query, body }: Operation): Json[] {
  const { properties: places = {} } = (params ?? {}) as Fields;
  const { properties = {}, required = [] } = (query ?? {}) as Fields;
  const path = url.replace(/:(\w+)/g, (_, name: string) => String(exampleOf(places[name])));
  const asked = required.map((name) => [name, String(exampleOf(properties[name]))]);
  const place = `${path}${asked.length === 0 ? '' : `?${new URLSearchParams(asked)}`}`;
  const sent = body === undefined ? null : JSON.stringify(exampleOf(body));
  const headers = [
    ...(access.kind === 'open' ? [] : [authorization]),
    ...(access.kind === 'open' || method === 'GET' ? [] : [idempotencyKey]),
    ...(sent === null ? [] : [contentType]),
  ];
  const curl = [
    `curl -X ${method} "$MARKET_URL${place}"`,
    ...headers.map(({ name, shell }) => `-H "${name}: ${shell}"`),
    ...(sent === null ? [] : [`-d '${sent.replaceAll("'", "'\\''")}'`]),
  ].join(' \\\n  ');
  const typescript = [
    'const { MARKET_URL, MARKET_KEY } = process.env;',
    `const answer = await fetch(\`\${MARKET_URL}${place}\`, {`,
    `  method: '${method}',`,
    '  headers: {',
    ...headers.map(({ name, script }) => `    '${name}': ${script},`),
    '  },',
    ...(sent === null ? [] : [`  body: JSON.stringify(${sent}),`]),
    '});',
    'console.log(answer.status, await answer.json());',
  ].join('\n');
  const bytes = sent === null ? '' : `, data=${JSON.stringify(sent)}.encode()`;
  const python = [
    'import os, urllib.request, uuid',
    '',
    'url, key = os.environ["MARKET_URL"], os.environ.get("MARKET_KEY")',
    'headers = {',
    ...headers.map(({ name, snake }) => `    "${name}": ${snake},`),
    '}',
    `request = urllib.request.Request(url + "${place}", method="${method}", headers=headers${bytes})`,
    'print(urllib.request.urlopen(request).read().decode())',
  ].join('\n');
  return [
    { lang: 'shell', label: 'curl', source: curl },
    { lang: 'typescript', label: 'TypeScript', source: typescript },
    { lang: 'python', label: 'Python', source: python },
  ];
}
