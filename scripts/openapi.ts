// Rewrites docs/openapi.json from the routes: node scripts/openapi.ts

import { mkdir, writeFile } from 'node:fs/promises';
import { goldenDescription } from '../server/edge/describe.ts';

const file = new URL('../docs/openapi.json', import.meta.url);
await mkdir(new URL('.', file), { recursive: true });
await writeFile(file, await goldenDescription());
console.log('docs/openapi.json is as the routes declare');
