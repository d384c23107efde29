// The whole HTTP server on a database of its own, without a socket, and a client for it. Every
// reply is checked against what its operation declares.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { testDatabase } from '@parley/verify/test/support/database.ts';
import { type DepsOverrides, type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import { Ajv, type ValidateFunction } from 'ajv';
import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import type { Deps } from '../../ports/deps.ts';
import { buildApp, type ReplyCheck } from '../app.ts';
import type { Web } from '../web/routes.ts';
import type { TestWallet } from './signers.ts';

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire says
  readonly body: any;
};

export type Call = (
  method: string,
  url: string,
  options?: {
    readonly key?: string;
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly ip?: string;
  },
) => Promise<Answer>;

/** A row as the database gives it. */
// biome-ignore lint/suspicious/noExplicitAny: a test names the columns that it asks for
export type Row = any;

export type TestEdge = {
  readonly app: FastifyInstance;
  readonly deps: TestDeps;
  readonly call: Call;
  sql(text: string, ...values: unknown[]): Promise<Row[]>;
  /** Listens on loopback, once; its port. */
  port(): Promise<number>;
  /** Mints a key by the wallet's signature. `lines` are added before the nonce. */
  mint(wallet: TestWallet, lines?: readonly string[]): Promise<Answer>;
  close(): Promise<void>;
};

export async function startEdge(
  overrides: Omit<DepsOverrides, 'db'> = {},
  register?: (app: FastifyInstance, deps: Deps) => void,
  web: Web | null = null,
): Promise<TestEdge> {
  const { db, drop } = await testDatabase();
  const home = await mkdtemp(join(tmpdir(), 'parley-edge-'));
  const settings = { home, ...overrides.settings };
  const deps = testDeps({ ...overrides, db, settings });
  const app = await buildApp(deps, {
    web,
    checkReply: strictly(),
    ...(register === undefined ? {} : { register }),
  });
  const call = caller(app);
  return {
    app,
    deps,
    call,
    sql: (text, ...values) => db.rows({ name: '', text, values }),
    port: async () => {
      if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
      return (app.server.address() as AddressInfo).port;
    },
    mint: async (wallet, lines = []) => {
      const { nonce } = (await call('GET', '/v1/keys/nonce')).body;
      const message = [
        'Parley - create an API key',
        '',
        `Address: ${wallet.address}`,
        ...lines,
        `Nonce: ${nonce}`,
      ].join('\n');
      const signature = await wallet.sign(message);
      const { family: rail, address } = wallet;
      return call('POST', '/v1/keys', { body: { rail, address, message, signature } });
    },
    close: async () => {
      await app.close();
      // At the end of a file its cluster may have stopped first, database and all.
      await drop().catch(() => {});
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** `startEdge`, closed after the file, suite or test that asks for it. */
export async function testEdge(...how: Parameters<typeof startEdge>): Promise<TestEdge> {
  const edge = await startEdge(...how);
  after(() => edge.close());
  return edge;
}

type Answered = {
  readonly status: number;
  readonly body: Answer['body'];
  readonly code?: string | null;
  readonly headers?: object;
};

/** Such as `400 bad_field`, under whatever short name; `200 ok`. */
export function codeOf({ status, code, headers = {} }: Omit<Answered, 'body'>): string {
  const found = Object.entries(headers).find(([name]) => /^x-[a-z]+-error$/.test(name));
  return `${status} ${code ?? found?.[1] ?? 'ok'}`;
}

/** The body is one sentence, with these words. */
export function refused(answer: Answered, code: string, words = /^[^\n]{5,700}$/): void {
  assert.equal(codeOf(answer), code, JSON.stringify(answer.body));
  assert.deepEqual(Object.keys(answer.body), ['error']);
  assert.match(answer.body.error, words);
}

/** Sends bytes, then what `more` gives: all that is answered until the connection ends. */
export function rawAnswer(
  port: number,
  bytes: string,
  more?: () => Promise<string>,
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  void more?.().then((rest) => socket.write(rest));
  return new Promise((resolve, reject) => {
    let answer = '';
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')));
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

export function caller(app: FastifyInstance): Call {
  return async (method, url, { key, body, headers, ip } = {}) => {
    const response = await app.inject({
      method: method as 'GET',
      url,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(ip === undefined ? {} : { remoteAddress: ip }),
    });
    return {
      status: response.statusCode,
      headers: response.headers as Record<string, string>,
      body: response.body === '' ? undefined : JSON.parse(response.body),
    };
  };
}

const formats = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  uri: /^[a-z][a-z0-9+.-]*:\S+$/,
};

/** Throws when a reply is not what its operation declares: the status, and every field. */
export function strictly(): ReplyCheck {
  const ajv = new Ajv({ strict: false, formats });
  const compiled = new Map<TSchema, ValidateFunction>();
  return ({ operationId, replies }, status, body) => {
    if (status >= 400) return;
    const schema = replies[status];
    if (schema === undefined) throw new Error(`${operationId} does not declare ${status}`);
    let validate = compiled.get(schema);
    if (validate === undefined) {
      validate = ajv.compile(closed(schema));
      compiled.set(schema, validate);
    }
    const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const value = JSON.parse(text.toString());
    if (!validate(value)) {
      throw new Error(`${operationId} ${status}: ${ajv.errorsText(validate.errors)}`);
    }
  };
}

/** The schema with every plain object closed: an undeclared field is a failure. */
function closed(schema: unknown): TSchema {
  if (Array.isArray(schema)) return schema.map(closed) as unknown as TSchema;
  if (schema === null || typeof schema !== 'object') return schema as TSchema;
  const parts = Object.entries(schema).map(([name, part]) => [name, closed(part)]);
  const copy = Object.fromEntries(parts) as Record<string, unknown>;
  const plain = copy.type === 'object' && 'properties' in copy;
  return plain && !('additionalProperties' in copy)
    ? { ...copy, additionalProperties: false }
    : copy;
}
