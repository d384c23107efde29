// Rewrites docs/openapi.json and docs/asyncapi.json from the source: node scripts/openapi.ts

import { mkdir, writeFile } from 'node:fs/promises';
import { goldenDescription, goldenFeed } from '../server/edge/describe.ts';

const docs = new URL('../docs/', import.meta.url);
await mkdir(docs, { recursive: true });
await writeFile(new URL('openapi.json', docs), await goldenDescription());
await writeFile(new URL('asyncapi.json', docs), goldenFeed());
console.log('docs/openapi.json and docs/asyncapi.json are as the source declares');
