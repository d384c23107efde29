// `npm run soak -- packages`: clients that others make of docs/openapi.json, without a hand on
// them: they compile, and call a market. So do the snippets that the reference shows.
// Asks the registries of this machine's npm and pip.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Snippet } from '../../server/edge/snippets.ts';
import { install } from '../package-soak/install.ts';
import { newCustomer } from '../support/customers.ts';
import { findPython, installWheel } from '../support/python.ts';
import { startStage } from '../support/stage.ts';
import { environment } from './environment.ts';

const run = promisify(execFile);
const description = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));
const typescriptMaker = 'openapi-typescript@7.13.0';
const fetcher = 'openapi-fetch@0.17.0';
const compiler = 'typescript@5.9.3';
const commandMs = 300_000;

type Market = { readonly url: string; readonly key: string };

async function typescript(folder: string, { url, key }: Market): Promise<string> {
  await install(folder, [typescriptMaker, fetcher, compiler]);
  const options = { cwd: folder, timeout: commandMs };
  const node = (...args: string[]) => run(process.execPath, args, options);
  await node('node_modules/openapi-typescript/bin/cli.js', description, '-o', 'api.d.ts');
  await writeFile(join(folder, 'try.ts'), typescriptProgram({ url, key }));
  const strict = ['--strict', '--noEmit', '--allowImportingTsExtensions'];
  const modules = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2023,dom'];
  await node('node_modules/typescript/bin/tsc', ...strict, ...modules, 'try.ts').catch(failed);
  return (await node('try.ts')).stdout.trim();
}

const typescriptProgram = ({ url, key }: Market) => `
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

const headers = { authorization: 'Bearer ${key}' };
const client = createClient<paths>({ baseUrl: '${url}', headers });
const me = await client.GET('/v1/me');
const listed = await client.GET('/v1/assets', { params: { query: { limit: 2 } } });
const [base, quote] = listed.data?.assets ?? [];
if (me.data === undefined || base === undefined || quote === undefined) throw me.error;
const trade = { baseAssetId: base.id, baseAmount: '10000000', quoteAssetId: quote.id };
const body = { direction: 'sell_base', ttlSeconds: 600, ...trade } as const;
const posted = await client.POST('/v1/rfqs', { body });
const creator: string | undefined = posted.data?.rfq.creatorId;
if (creator !== me.data.userId) throw new Error(JSON.stringify(posted.error));
console.log(\`RFQ \${posted.response.status}\`);
`;

async function python(bin: string, folder: string, { url, key }: Market): Promise<string> {
  await mkdir(folder);
  await writeFile(join(folder, 'config.yml'), 'post_hooks: []\n');
  const made = ['generate', '--path', description, '--meta', 'none', '--output-path', 'market'];
  const options = { cwd: folder, timeout: commandMs };
  const maker = [...made, '--config', 'config.yml', '--fail-on-warning'];
  await run(join(bin, 'openapi-python-client'), maker, options);
  await run(join(bin, 'python'), ['-m', 'compileall', '-q', 'market'], options);
  await run(join(bin, 'mypy'), ['--strict', 'market'], options).catch(failed);
  await writeFile(join(folder, 'try.py'), pythonProgram({ url, key }));
  return (await run(join(bin, 'python'), ['try.py'], options)).stdout.trim();
}

const failed = ({ stdout, stderr }: { stdout: string; stderr: string }) =>
  assert.fail(`${stdout}${stderr}`);

const pythonProgram = ({ url, key }: Market) => `
from market import AuthenticatedClient
from market.api.account import get_me
from market.api.assets import list_assets
from market.api.rfqs import create_rfq
from market.models import AssetList, CreateRfq, CreateRfqDirection, Me, RfqReply

client = AuthenticatedClient(base_url="${url}", token="${key}")
me = get_me.sync(client=client)
listed = list_assets.sync(client=client, limit=2)
assert isinstance(me, Me) and isinstance(listed, AssetList)
base, quote = listed.assets
body = CreateRfq(
    direction=CreateRfqDirection.SELL_BASE,
    base_asset_id=base.id,
    base_amount="10000000",
    quote_asset_id=quote.id,
    ttl_seconds=600,
)
posted = create_rfq.sync(client=client, body=body)
assert isinstance(posted, RfqReply) and posted.rfq.creator_id == me.user_id
print("RFQ of", len(listed.assets), "assets")
`;

type Shown = { readonly id: string; readonly snippets: readonly Snippet[] };

async function shown(): Promise<Shown[]> {
  type Described = { readonly operationId: string; readonly 'x-codeSamples'?: Snippet[] };
  const { paths } = JSON.parse(await readFile(description, 'utf8')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  };
  return Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId: id, 'x-codeSamples': snippets = [] }) => ({ id, snippets }));
}

/** Codes of requests that were not understood; another refusal has understood them. */
const misunderstood = /^(?:bad_field|bad_header|malformed_|not_json|method_|body_|not_found)/;
/** Ends of long texts are shown, so that what is signed is not there whole. */
const cut = ['broadcast', 'scheduleRefunds'];

/** Each as it stands, in a shell. Ids are of another market: what is theirs is refused. */
async function curl(folder: string, { url, key }: Market): Promise<string> {
  await mkdir(folder);
  const written =
    'silent\noutput = "/dev/null"\nwrite-out = "%{http_code} %header{x-parley-error}"\n';
  await writeFile(join(folder, '.curlrc'), written);
  const env = { ...process.env, CURL_HOME: folder, MARKET_URL: url, MARKET_KEY: key };
  const wrong: string[] = [];
  let done = 0;
  for (const { id, snippets } of await shown()) {
    const source = snippets.find(({ label }) => label === 'curl')?.source ?? 'false';
    const { stdout } = await run('bash', ['-c', source], { env });
    const [status = '', code = ''] = stdout.split(' ');
    if (status.startsWith('2')) done += 1;
    else if (!cut.includes(id) && (code === '' || misunderstood.test(code))) {
      wrong.push(`${id}: ${stdout}`);
    }
  }
  assert.deepEqual(wrong, []);
  return `${(await shown()).length} understood, ${done} done`;
}

/** Those of the Python package, by their types; and one that runs. */
async function packaged(dir: string, { url, key }: Market): Promise<string> {
  const found = findPython();
  assert.ok(found !== null);
  const place = await installWheel(found, dir);
  const folder = join(dir, 'snippets');
  await mkdir(folder);
  for (const { id, snippets } of await shown()) {
    const source = snippets.find(({ label }) => label === 'Python')?.source ?? 'missing';
    await writeFile(join(folder, `${id.toLowerCase()}.py`), `${source}\n`);
  }
  const env = { ...process.env, MARKET_URL: url, MARKET_KEY: key };
  const options = { cwd: folder, env, timeout: commandMs };
  await run(place.python, ['-m', 'mypy', '--strict', '.'], options).catch(failed);
  const { stdout } = await run(place.python, ['getme.py'], options);
  assert.match(stdout, /user_id/);
  return 'types are right, and the one of getMe runs';
}

const dir = await mkdtemp(join(tmpdir(), 'parley-generators-'));
const stage = await startStage();
try {
  const bin = await environment(join(dir, 'environment'));
  await stage.startServer();
  const { key } = await newCustomer(stage, 'reader', 'evm');
  const market = { url: stage.url, key };
  const tell = (what: string, how: string) => console.log(`generators: ${what}: ${how}`);
  tell(typescriptMaker, await typescript(join(dir, 'typescript'), market));
  tell('openapi-python-client', await python(bin, join(dir, 'python'), market));
  tell('curl of the reference', await curl(join(dir, 'curl'), market));
  await mkdir(join(dir, 'package'));
  tell('Python of the reference', await packaged(join(dir, 'package'), market));
} finally {
  await stage.close();
  await rm(dir, { recursive: true, force: true });
}
