// How each operation is called with curl, with the SDK and with the Python package, made of what
// was recorded of it: `x-codeSamples` of the API description.

import type { Operation } from './command.ts';
import type { Json } from './examples.ts';
import { type Answered, recorded } from './recorded.ts';
import { amountPattern } from './schemas/common.ts';

/** Longer than a signature of an EVM wallet: the ends of transactions and PSBTs are shown. */
const longestText = 140;

type Sent = NonNullable<Answered['request']>;
export type Snippet = { readonly lang: string; readonly label: string; readonly source: string };

export function snippetsOf(operation: Operation): readonly Snippet[] | null {
  const request = recorded.operations[operation.operationId]?.request;
  if (request === undefined) return null;
  const sent = { ...request, body: shortened(request.body) };
  return [
    { lang: 'shell', label: 'curl', source: curlOf(operation, sent) },
    { lang: 'typescript', label: 'TypeScript', source: typescriptOf(operation, sent) },
    { lang: 'python', label: 'Python', source: pythonOf(operation, sent) },
  ];
}

function shortened(value: unknown): unknown {
  return withTexts(value, (text) => {
    const isLong = text.length > longestText && !text.includes(' ');
    return isLong ? `${text.slice(0, 40)}…${text.slice(-8)}` : text;
  });
}

function withTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => withTexts(each, change));
  if (typeof value !== 'object' || value === null) return value;
  const all = Object.entries(value).map(([key, part]) => [key, withTexts(part, change)]);
  return Object.fromEntries(all);
}

const needsKey = ({ access }: Operation) => access.kind !== 'open';

function curlOf(operation: Operation, { path = {}, query = {}, body }: Sent): string {
  const { method, url } = operation;
  const place = url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const asked = new URLSearchParams(query).toString();
  const whole = `"$MARKET_URL${place}${asked === '' ? '' : `?${asked}`}"`;
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${whole}`,
    ...(needsKey(operation) ? ['-H "Authorization: Bearer $MARKET_KEY"'] : []),
    ...(method !== 'GET' && needsKey(operation) ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return parts.join(' \\\n  ');
}

/** For a shell, in single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The function of the SDK's client, and what it takes. */
const functions: Readonly<Record<string, readonly [name: string, ...given: string[]]>> = {
  getKeyNonce: ['mintNonce'],
  mintKey: ['mintKey', 'body'],
  getMe: ['me'],
  getWalletNonce: ['walletNonce', 'query.purpose'],
  proveEvmWallet: ['proveWallet', '"evm"', 'body'],
  proveTronWallet: ['proveWallet', '"tron"', 'body'],
  proveBitcoinWallet: ['proveWallet', '"bitcoin"', 'body'],
  proveSolanaWallet: ['proveWallet', '"solana"', 'body'],
  removeWallet: ['removeWallet', 'path.address'],
  listAssets: ['assets', 'query'],
  listAssetsOpenly: ['keyless.assets', 'query'],
  listAsset: ['listAsset', 'body'],
  getRules: ['rules'],
  getPair: ['pair', 'query'],
  getPairOpenly: ['keyless.pair', 'query'],
  getPairPrice: ['pairPrice', 'query'],
  getPairPriceOpenly: ['keyless.pairPrice', 'query'],
  getMarketStatus: ['status'],
  listLevels: ['levels', 'query'],
  listLevelsOpenly: ['keyless.levels', 'query'],
  publishLevels: ['publishLevels', 'body'],
  withdrawLevels: ['withdrawLevels'],
  listRfqs: ['rfqs', 'query'],
  createRfq: ['createRfq', 'body'],
  getRfq: ['rfq', 'path.id'],
  cancelRfq: ['cancelRfq', 'path.id'],
  listThreads: ['threadsOfRfq', 'path.id', 'query'],
  listQuotes: ['quotes', 'query'],
  getThread: ['thread', 'path.id'],
  getOtherRecord: ['recordOf', 'path.id'],
  proposePrice: ['propose', 'path.id', 'body.quoteAmount', 'body'],
  acceptPrice: ['accept', 'path.id', 'body'],
  withdrawQuote: ['withdrawQuote', 'path.id'],
  withdrawQuotes: ['withdrawQuotes', 'body'],
  quoteRfq: ['quote', 'path.id', 'body.quoteAmount', 'body'],
  quoteMany: ['quoteMany', 'body.quotes'],
  listSwaps: ['swaps', 'query'],
  getSwap: ['swap', 'path.id'],
  setAddress: ['setAddress', 'path.id', 'body'],
  buildFund: ['fund', 'path.id', 'path.leg', 'query'],
  buildClaim: ['claim', 'path.id', 'path.leg', 'body.secret'],
  buildRefund: ['refund', 'path.id', 'path.leg', 'query'],
  scheduleRefunds: ['scheduleRefunds', 'path.id', 'path.leg', 'body'],
  broadcast: ['broadcast', 'body.chain', 'body.signed'],
  listWebhooks: ['webhooks', 'query'],
  registerWebhook: ['registerWebhook', 'body'],
  deleteWebhook: ['removeWebhook', 'path.id'],
  pingWebhook: ['pingWebhook', 'path.id'],
};

/** A module with every call of the SDK that is shown: whether its types fit is checked with it. */
export function callsOf(operations: readonly Operation[]): string {
  const calls = operations.flatMap((operation) => {
    const { request } = recorded.operations[operation.operationId] ?? {};
    if (request === undefined) return [];
    const sent = { ...request, path: cut(request.path), body: cut(request.body) } as Sent;
    const call = callOf(operation, sent).replaceAll('\n', '\n    ');
    return [`  ${operation.operationId}: (market: ParleyClient) =>\n    market.${call},\n`];
  });
  return [
    '// The calls of the SDK that docs/openapi.json shows, long texts cut: scripts/openapi.ts writes it.\n',
    `\nimport type { ParleyClient } from '${client}';\n\nexport const calls = {\n`,
    ...calls,
    '};\n',
  ].join('');
}

const client = '@parley/sdk/client.ts';
const longestInCalls = 16;
const cut = (value: unknown) => withTexts(value, (text) => text.slice(0, longestInCalls));

function typescriptOf(operation: Operation, sent: Sent): string {
  const key = needsKey(operation) ? ', key: MARKET_KEY' : '';
  const settings = needsKey(operation) ? "MARKET_URL = '', MARKET_KEY = ''" : "MARKET_URL = ''";
  return [
    "import { parleyClient } from '@parley/sdk/client';",
    '',
    `const { ${settings} } = process.env;`,
    `const market = parleyClient({ baseUrl: MARKET_URL${key} });`,
    `const answer = await market.${callOf(operation, sent)};`,
    'console.log(answer);',
  ].join('\n');
}

function callOf(operation: Operation, sent: Sent): string {
  const [name, ...places] = functions[operation.operationId] ?? [];
  if (name === undefined) throw new Error(`${operation.operationId} has no function of the SDK`);
  const query = typedQuery(operation, sent);
  const taken = new Set<string>();
  const given = places.map((place) => {
    if (place.startsWith('"')) return place.replaceAll('"', "'");
    const [of, field] = place.split('.') as ['path' | 'query' | 'body', string?];
    const values = (of === 'query' ? query : sent[of]) as Json | undefined;
    if (field !== undefined) {
      taken.add(field);
      return literal(values?.[field]);
    }
    const rest = Object.entries(values ?? {}).filter(([key]) => !taken.has(key));
    return rest.length === 0 ? '' : literal(Object.fromEntries(rest));
  });
  while (given.at(-1) === '') given.pop();
  return `${name}(${given.join(', ')})`;
}

/** A value as TypeScript writes it, an object over several lines where it is long. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${escaped(value)}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const parts = (deeper: string) =>
    Object.entries(value).map(([key, part]) => {
      const text = literal(part, deeper);
      return Array.isArray(value) ? text : `${key}: ${text}`;
    });
  const line = `${open} ${parts('').join(', ')} ${close}`;
  if (line.length <= 60) return Array.isArray(value) ? line.replace(/^\[ (.*) \]$/, '[$1]') : line;
  const deeper = `${indent}  `;
  return `${open}\n${parts(deeper)
    .map((each) => `${deeper}${each},\n`)
    .join('')}${indent}${close}`;
}

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n');

type Shape = {
  readonly 'x-name'?: string;
  readonly type?: string;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
};

/** Numbers and booleans of a query as such. */
function typedQuery({ query }: Operation, sent: Sent): Json {
  const { properties = {} } = (query ?? {}) as Shape;
  return Object.fromEntries(
    Object.entries(sent.query ?? {}).map(([key, value]) => {
      const { type } = properties[key] ?? {};
      if (type === 'integer' || type === 'number') return [key, Number(value)];
      return [key, type === 'boolean' ? value === 'true' : value];
    }),
  );
}

export const snake = (name: string) => name.replace(/[A-Z]/g, (each) => `_${each.toLowerCase()}`);

function pythonOf(operation: Operation, sent: Sent): string {
  const shapes = {
    ...((operation.query ?? {}) as Shape).properties,
    ...((operation.body ?? {}) as Shape).properties,
  };
  const values = { ...typedQuery(operation, sent), ...(sent.body as Json | undefined) };
  const given = [
    ...Object.values(sent.path ?? {}).map((each) => pythonValue(each, {})),
    ...Object.entries(values).map(
      ([key, value]) => `${snake(key)}=${pythonValue(value, shapes[key] ?? {})}`,
    ),
  ];
  const line = given.join(', ');
  const call = `market.${snake(operation.operationId)}`;
  const isShort = line.length <= 60;
  const whole = isShort
    ? line
    : `\n${given.map((each) => `            ${each},\n`).join('')}        `;
  const usesModels = /\bm\.[A-Z]/.test(whole);
  const key = needsKey(operation) ? ', key=os.environ["MARKET_KEY"]' : '';
  return [
    'import asyncio',
    'import os',
    '',
    `from parley import ${usesModels ? 'ParleyClient, models as m' : 'ParleyClient'}`,
    '',
    '',
    'async def main() -> None:',
    `    async with ParleyClient(os.environ["MARKET_URL"]${key}) as market:`,
    `        answer = await ${call}(${whole})`,
    '        print(answer)',
    '',
    '',
    'asyncio.run(main())',
  ].join('\n');
}

/** A value as the Python package takes it: amounts are `int`, shapes with a name are its models. */
function pythonValue(value: unknown, shape: Shape): string {
  const { pattern, items, properties = {}, 'x-name': name = 'Unnamed' } = branchOf(value, shape);
  if (typeof value === 'string') return pattern === amountPattern ? value : JSON.stringify(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value === null) return 'None';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) {
    return `[${value.map((each) => pythonValue(each, items ?? {})).join(', ')}]`;
  }
  const fields = Object.entries(value).map(
    ([key, part]) => `${snake(key)}=${pythonValue(part, properties[key] ?? {})}`,
  );
  return `m.${name}(${fields.join(', ')})`;
}

/** Which of several shapes a value has. */
function branchOf(value: unknown, shape: Shape): Shape {
  const fits = ({ type, properties, anyOf }: Shape): boolean => {
    if (anyOf !== undefined) return anyOf.some(fits);
    if (typeof value !== 'object' || value === null) return type === typeof value;
    if (Array.isArray(value)) return type === 'array';
    return properties !== undefined && Object.keys(value).every((key) => key in properties);
  };
  const one = shape.anyOf?.find(fits);
  return one === undefined ? shape : branchOf(value, one);
}
