// Rewrites docs/openapi.json, docs/openapi-account.json and docs/asyncapi.json from the source. So
// it does the models and methods of the Python package, and test/api-soak/calls.generated.ts, by which
// snippets are checked:
// node scripts/openapi.ts

import { mkdir, writeFile } from 'node:fs/promises';
import { goldenDescriptions, goldenFeed } from '../server/edge/describe.ts';
import { pythonFiles } from './python/generate.ts';

const docs = new URL('../docs/', import.meta.url);
await mkdir(docs, { recursive: true });
const { api, account, calls } = await goldenDescriptions();
await writeFile(new URL('openapi.json', docs), api);
await writeFile(new URL('openapi-account.json', docs), account);
await writeFile(new URL('../test/api-soak/calls.generated.ts', docs), calls);
const feed = goldenFeed();
await writeFile(new URL('asyncapi.json', docs), feed);
const python = pythonFiles(JSON.parse(api), JSON.parse(feed));
for (const [path, text] of Object.entries(python)) {
  await writeFile(new URL(`../${path}`, import.meta.url), text);
}
const names = ['openapi.json', 'openapi-account.json', 'asyncapi.json', ...Object.keys(python)];
console.log(`${names.join(', ')} are as the source declares`);
