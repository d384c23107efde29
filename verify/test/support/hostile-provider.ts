// A hostile OpenID Connect provider for attacks on the market's sign-in: it speaks discovery, code
// flow with PKCE, tokens, keys and userinfo as it should, until a test tells it how to lie. Written
// without a library, because libraries refuse to. It signs in whoever asks, without a page.

import {
  createHash,
  createHmac,
  createSign,
  generateKeyPair,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

export type Endpoint = 'discovery' | 'token' | 'jwks' | 'userinfo';
const paths: Readonly<Record<string, Endpoint>> = {
  '/.well-known/openid-configuration': 'discovery',
  '/token': 'token',
  '/jwks': 'jwks',
  '/userinfo': 'userinfo',
};

/** The outcome of an answer on its way, whatever it says. */
export type Fault =
  | 'answers 500'
  | 'answers 5 MB'
  /** A byte now and then, for ever. */
  | 'never ends'
  /** Takes the request and says nothing. */
  | 'hangs'
  /** 302 to `elsewhere`, which answers as the endpoint should. */
  | 'redirects elsewhere'
  | 'answers no JSON';

export type Claims = Readonly<Record<string, unknown>>;
const otherIssuer = 'https://honest.example';
const tokenSeconds = 3_600;
/** No clock tolerance is that wide. */
const daySeconds = 24 * 3_600;
const trickleMs = 50;
const hugeBytes = 5 * 1024 * 1024;

/** A lie's version of the claims of an ID token; undefined leaves a claim out. */
const claimLies = {
  'wrong iss in the ID token': () => ({ iss: otherIssuer }),
  /** The nonce of the authorization before this one. */
  'replayed nonce': (_: number, { previousNonce }: Code) => ({ nonce: previousNonce ?? undefined }),
  'no nonce': () => ({ nonce: undefined }),
  'other audience': () => ({ aud: 'another-client' }),
  'two audiences': () => ({ aud: [clientId, 'another-client'] }),
  expired: (now: number) => ({ iat: now - daySeconds, exp: now - daySeconds + tokenSeconds }),
  'issued in the future': (now: number) => ({
    iat: now + daySeconds,
    exp: now + daySeconds + tokenSeconds,
  }),
  'no sub': () => ({ sub: undefined }),
  'empty sub': () => ({ sub: '' }),
  'number as sub': () => ({ sub: 42 }),
} as const satisfies Readonly<Record<string, (now: number, code: Code) => Claims>>;

export type Lie =
  | keyof typeof claimLies
  | 'wrong iss in discovery'
  | 'no iss in the response'
  /** Mix-up (RFC 9207): the response says that it comes from another provider. */
  | 'other iss in the response'
  | 'no state in the response'
  | 'other state in the response'
  | 'error in the response'
  | 'alg none'
  /** The key of the HMAC is the PEM of the public key. */
  | 'HS256 with the public key'
  /** Its `kid` is not in jwks. */
  | 'unknown key'
  /** Its `kid` is in jwks, for another key. */
  | 'swapped keys'
  | 'broken signature'
  | 'no ID token'
  | 'other sub at userinfo';

export type Misbehaviour = Lie | `${Endpoint} ${Fault}`;

const clientId = 'parley';
const clientSecret = 'secret-of-the-hostile-provider';

export type HostileProvider = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The paths of requests that reached another server, to which a redirect leads. */
  readonly reachedElsewhere: readonly string[];
  /** Every request, in order. */
  readonly requests: readonly { readonly path: string; readonly parameters: Claims }[];
  /** From now on, all of these at once; without any it behaves. */
  misbehave(...how: readonly Misbehaviour[]): void;
  /** Besides the claims of the protocol; over them where they have the same name. */
  claim(claims: Claims): void;
  /** Where the browser is led to from an address of `/authorize`. */
  authorize(url: URL | string): Promise<URL>;
  stop(): Promise<void>;
};

type Code = {
  readonly nonce: string | null;
  readonly previousNonce: string | null;
  readonly challenge: string | null;
  readonly redirectUri: string;
  readonly scope: string;
};

type Key = { readonly kid: string; readonly privateKey: KeyObject; readonly publicKey: KeyObject };
type Keys = { readonly published: Key; readonly other: Key };

type State = {
  readonly keys: Keys;
  readonly codes: Map<string, Code>;
  readonly requests: { path: string; parameters: Claims }[];
  readonly accessTokens: Set<string>;
  readonly unfinished: Set<NodeJS.Timeout>;
  issuer: string;
  elsewhere: string;
  misbehaviours: ReadonlySet<Misbehaviour>;
  claims: Claims;
  lastNonce: string | null;
};

/** Two for all providers of a process: making them takes longer than a test. */
let made: Promise<Keys> | null = null;

async function makeKeys(): Promise<Keys> {
  const one = async (kid: string): Promise<Key> => {
    return { kid, ...(await promisify(generateKeyPair)('rsa', { modulusLength: 2_048 })) };
  };
  const [published, other] = await Promise.all([one('published'), one('unpublished')]);
  return { published, other };
}

export async function startHostileProvider(): Promise<HostileProvider> {
  made ??= makeKeys();
  const state: State = {
    keys: await made,
    codes: new Map(),
    requests: [],
    accessTokens: new Set(),
    unfinished: new Set(),
    issuer: '',
    elsewhere: '',
    misbehaviours: new Set(),
    claims: { sub: 'mallory' },
    lastNonce: null,
  };
  const reachedElsewhere: string[] = [];
  const provider = await listen((request, response) => answer(state, request, response));
  const elsewhere = await listen(async (request, response) => {
    reachedElsewhere.push(request.url ?? '/');
    await speak(state, request, response);
  });
  [state.issuer, state.elsewhere] = [provider.url, elsewhere.url];
  return {
    issuer: provider.url,
    clientId,
    clientSecret,
    reachedElsewhere,
    requests: state.requests,
    misbehave: (...how) => {
      state.misbehaviours = new Set(how);
    },
    claim: (claims) => {
      state.claims = claims;
    },
    authorize: async (url) => {
      const { status, headers } = await fetch(url, { redirect: 'manual' });
      const location = headers.get('location');
      if (location === null) throw new Error(`/authorize answered ${status} and leads nowhere`);
      return new URL(location);
    },
    stop: async () => {
      for (const timer of state.unfinished) clearInterval(timer);
      await Promise.all([provider.stop(), elsewhere.stop()]);
    },
  };
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

async function listen(handle: Handler): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse) {
  const { pathname: path } = new URL(request.url ?? '/', state.issuer);
  const endpoint = paths[path];
  const is = (fault: Fault) =>
    endpoint !== undefined && state.misbehaviours.has(`${endpoint} ${fault}`);
  if (is('hangs')) {
    state.requests.push({ path, parameters: {} });
    request.resume();
  } else if (is('never ends')) neverEnd(state, response);
  else if (is('answers 500')) json(response, 500, { error: 'server_error' });
  else if (is('answers 5 MB')) {
    json(response, 200, { issuer: state.issuer, more: 'x'.repeat(hugeBytes) });
  } else if (is('answers no JSON')) response.writeHead(200).end('<html>maintenance</html>');
  else if (is('redirects elsewhere')) {
    response.writeHead(302, { location: `${state.elsewhere}${request.url}` }).end();
  } else state.requests.push({ path, parameters: await speak(state, request, response) });
}

function neverEnd({ unfinished }: State, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), trickleMs);
  unfinished.add(timer);
  response.on('close', () => {
    clearInterval(timer);
    unfinished.delete(timer);
  });
}

/** Returns what it was asked. */
async function speak(
  state: State,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Claims> {
  const url = new URL(request.url ?? '/', state.issuer);
  const form = Object.fromEntries(new URLSearchParams(await text(request)));
  const parameters: Claims = { ...Object.fromEntries(url.searchParams), ...form };
  const { headers } = request;
  if (url.pathname === '/authorize') authorize(state, url, response);
  else json(response, ...replyTo(state, paths[url.pathname], headers, parameters));
  return parameters;
}

type Reply = [status: number, body: object];

function replyTo(
  state: State,
  endpoint: Endpoint | undefined,
  { authorization = '' }: IncomingMessage['headers'],
  parameters: Claims,
): Reply {
  switch (endpoint) {
    case 'discovery':
      return [200, discovery(state)];
    case 'token':
      return token(state, authorization, parameters);
    case 'jwks': {
      const { kid, publicKey } = state.keys.published;
      const jwk = { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };
      return [200, { keys: [jwk] }];
    }
    case 'userinfo': {
      const bearer = authorization.replace(/^Bearer /i, '');
      if (!state.accessTokens.has(bearer)) return [401, { error: 'invalid_token' }];
      const other = state.misbehaviours.has('other sub at userinfo') ? { sub: 'somebody' } : {};
      return [200, { ...state.claims, ...other }];
    }
    default:
      return [404, { error: 'not_found' }];
  }
}

function discovery({ issuer, misbehaviours }: State): Record<string, unknown> {
  return {
    issuer: misbehaviours.has('wrong iss in discovery') ? otherIssuer : issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    userinfo_endpoint: `${issuer}/userinfo`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    scopes_supported: ['openid', 'email', 'profile', 'telegram:bot_access'],
    authorization_response_iss_parameter_supported: true,
  };
}

function authorize(state: State, { searchParams: asked }: URL, response: ServerResponse): void {
  const redirectUri = asked.get('redirect_uri') ?? '';
  if (asked.get('client_id') !== clientId || !URL.canParse(redirectUri)) {
    json(response, 400, { error: 'invalid_request' });
    return;
  }
  const code = randomBytes(16).toString('base64url');
  const nonce = asked.get('nonce');
  state.codes.set(code, {
    nonce,
    previousNonce: state.lastNonce,
    challenge: asked.get('code_challenge_method') === 'S256' ? asked.get('code_challenge') : null,
    redirectUri,
    scope: asked.get('scope') ?? '',
  });
  state.lastNonce = nonce;
  const tells = (lie: Lie) => state.misbehaviours.has(lie);
  const back = new URL(redirectUri);
  const put = (name: string, value: string | null, isLeftOut = false) => {
    if (value !== null && !isLeftOut) back.searchParams.set(name, value);
  };
  if (tells('error in the response')) {
    put('error', 'access_denied');
    put('error_description', '<script>alert(1)</script> the person said no');
  } else put('code', code);
  const given = tells('other state in the response') ? 'state-of-another' : asked.get('state');
  put('state', given, tells('no state in the response'));
  const iss = tells('other iss in the response') ? otherIssuer : state.issuer;
  put('iss', iss, tells('no iss in the response'));
  response.writeHead(302, { location: back.href }).end();
}

function token(state: State, authorization: string, parameters: Claims): Reply {
  if (!isClient(authorization, parameters)) return [401, { error: 'invalid_client' }];
  const code = spend(state, parameters);
  if (code === null) return [400, { error: 'invalid_grant' }];
  const accessToken = randomBytes(16).toString('base64url');
  state.accessTokens.add(accessToken);
  const isLeftOut = state.misbehaviours.has('no ID token');
  const answered = {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: tokenSeconds,
    scope: code.scope,
  };
  return [200, isLeftOut ? answered : { ...answered, id_token: idTokenOf(state, code) }];
}

/** Once, as codes are (RFC 6749 4.1.2). */
function spend({ codes }: State, parameters: Claims): Code | null {
  const name = String(parameters.code);
  const code = codes.get(name);
  codes.delete(name);
  const verifier = String(parameters.code_verifier ?? '');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  if (code?.challenge !== challenge || parameters.redirect_uri !== code.redirectUri) return null;
  return parameters.grant_type === 'authorization_code' ? code : null;
}

function isClient(authorization: string, form: Claims): boolean {
  const [, basic = ''] = /^Basic (\S+)$/i.exec(authorization) ?? [];
  const [id = '', secret = ''] = Buffer.from(basic, 'base64')
    .toString()
    .split(':')
    .map((each) => decodeURIComponent(each.replace(/\+/g, ' ')));
  if (basic !== '') return id === clientId && secret === clientSecret;
  return form.client_id === clientId && form.client_secret === clientSecret;
}

function idTokenOf({ keys, misbehaviours, issuer: iss, claims }: State, code: Code): string {
  const tells = (lie: Lie) => misbehaviours.has(lie);
  const now = Math.floor(Date.now() / 1_000);
  const nonce = code.nonce === null ? {} : { nonce: code.nonce };
  const honest = { iss, aud: clientId, iat: now, exp: now + tokenSeconds, ...nonce, ...claims };
  const lied = Object.entries(claimLies)
    .filter(([lie]) => tells(lie as Lie))
    .map(([, lie]) => lie(now, code));
  const body = Object.assign(honest, ...lied) as object;
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const unsigned = (header: object) => `${encode({ typ: 'JWT', ...header })}.${encode(body)}`;
  const { published, other } = keys;
  if (tells('alg none')) return `${unsigned({ alg: 'none' })}.`;
  if (tells('HS256 with the public key')) {
    const signing = unsigned({ alg: 'HS256', kid: published.kid });
    const key = published.publicKey.export({ format: 'pem', type: 'spki' });
    return `${signing}.${createHmac('sha256', key).update(signing).digest('base64url')}`;
  }
  const kid = tells('unknown key') ? other.kid : published.kid;
  const key = tells('unknown key') || tells('swapped keys') ? other : published;
  const signing = unsigned({ alg: 'RS256', kid });
  const signature = createSign('sha256').update(signing).sign(key.privateKey);
  if (tells('broken signature')) signature[0] = (signature[0] ?? 0) ^ 1;
  return `${signing}.${signature.toString('base64url')}`;
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
