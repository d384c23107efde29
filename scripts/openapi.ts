// Rewrites docs/openapi.json, docs/openapi-account.json and docs/asyncapi.json from the source. Then it
// makes what is written from them:
// node scripts/openapi.ts

import { writeFile } from 'node:fs/promises';
import { goldenDescriptions, goldenFeed } from '@parley/market/edge/describe.ts';
import { generate } from './generate.ts';

const docs = new URL('../docs/', import.meta.url);
const { api, account } = await goldenDescriptions();
await writeFile(new URL('openapi.json', docs), api);
await writeFile(new URL('openapi-account.json', docs), account);
await writeFile(new URL('asyncapi.json', docs), goldenFeed());
const names = ['openapi.json', 'openapi-account.json', 'asyncapi.json', ...(await generate())];
console.log(`${names.join(', ')} are as the source declares`);
