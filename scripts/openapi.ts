// Rewrites docs/openapi.json, docs/openapi-account.json and docs/asyncapi.json from the source, and
// test/api-soak/calls.ts, by which the snippets in it are checked:
// node scripts/openapi.ts

import { mkdir, writeFile } from 'node:fs/promises';
import { goldenDescriptions, goldenFeed } from '../server/edge/describe.ts';

const docs = new URL('../docs/', import.meta.url);
await mkdir(docs, { recursive: true });
const { api, account, calls } = await goldenDescriptions();
await writeFile(new URL('openapi.json', docs), api);
await writeFile(new URL('openapi-account.json', docs), account);
await writeFile(new URL('../test/api-soak/calls.ts', docs), calls);
await writeFile(new URL('asyncapi.json', docs), goldenFeed());
console.log('docs/openapi.json, openapi-account.json and asyncapi.json are as the source declares');
