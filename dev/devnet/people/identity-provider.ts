// The dev network's identity provider: a real OpenID Connect provider on loopback that asks for a
// name and believes it. Any caller is taken for the person that it names: never beside real money.
//
// It can stand in for Telegram (core.telegram.org/bots/telegram-login): code flow with PKCE, all
// claims in the ID token. There `sub` is opaque; `id`, below 2^52, is the Bot API's chat_id; there
// is no e-mail. Reports disagree whether Telegram gives the `nonce` back; here it comes back.
//
// It goes by the clock of the machine, whatever the dev network's clock was moved to.

import { createHash, generateKeyPair, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { RefusedRequest } from '@parley/host/failure.ts';
import type { Log } from '@parley/host/log.ts';
import type { AdapterFactory, Configuration, errors, JWK, Provider } from 'oidc-provider';
import { readBody } from '../control.ts';
import { closeServer, listenOnLoopback } from '../listening.ts';
import { loopback } from '../processes.ts';
import { html, type Page, pageHeaders, pageText, sendPage } from './pages.ts';

export type Client = { readonly id: string; readonly secret: string };

export type IdentityProvider = {
  readonly issuer: string;
  readonly port: number;
  readonly client: Client;
  /** As on a button: "Sign in with …". */
  readonly label: string;
  /** Signs with a new key from now on; the one before it stays published, older ones do not. */
  rotateKeys(): Promise<void>;
  stop(): Promise<void>;
};

export type IdentityProviderOptions = {
  readonly log: Log;
  /** The port of the last run. */
  readonly port?: number | undefined;
  readonly client?: Client;
};

/** Before the name that the market's settings have for this provider. */
export const marketReturnPath = '/account/provider/return/';
export const telegramScope = 'telegram:bot_access';
const label = 'Dev identity provider';
/** The part before the @ of a mail address, so that every account has one. */
const accountName = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/;
const requestLimitMs = 10_000;
const mostConnections = 100;
/** People leave a page open; no visit lasts longer than this. */
const interactionSeconds = 3_600;
const codeSeconds = 60;
const tokenSeconds = 3_600;
const cookiePrefix = 'dev_provider';

type Running = {
  readonly issuer: string;
  readonly client: Client;
  readonly log: Log;
  /** Another one after each rotation of keys. */
  provider(): Promise<Provider>;
};

export async function startIdentityProvider(
  options: IdentityProviderOptions,
): Promise<IdentityProvider> {
  const { log, port } = options;
  const client = options.client ?? { id: 'parley', secret: randomBytes(24).toString('base64url') };
  let running: Running | null = null;
  const server = createServer((request, response) => {
    if (running === null) response.writeHead(503).end();
    else void answer(running, request, response);
  });
  server.requestTimeout = requestLimitMs;
  server.maxConnections = mostConnections;
  const taken = await listenOnLoopback(server, port);
  const issuer = `http://${loopback}:${taken}`;
  const { provider, rotateKeys } = providerWhenAsked(issuer, client, log);
  running = { issuer, client, log, provider };
  return {
    issuer,
    port: taken,
    client,
    label,
    rotateKeys,
    stop: () => closeServer(server),
  };
}

/** Library and key take half a second of a processor: they come with the first request. */
function providerWhenAsked(issuer: string, client: Client, log: Log) {
  // It outlives a rotation of keys, with the codes under way.
  let adapter: AdapterFactory | null = null;
  const cookieKey = randomBytes(32).toString('base64url');
  let keys: readonly JWK[] = [];
  let current: Promise<Provider> | null = null;
  const build = async () => {
    const { Provider } = await import('oidc-provider');
    const { createMemoryAdapter } = await import('oidc-provider/lib/adapters/memory_adapter.js');
    adapter ??= createMemoryAdapter();
    if (keys.length === 0) keys = [await signingKey()];
    const jwks = { keys: structuredClone([...keys]) };
    const settings = { ...configuration(client), adapter, jwks, cookies: cookies(cookieKey) };
    const provider = new Provider(issuer, settings);
    provider.Client.prototype.redirectUriAllowed = isMarkets;
    provider.on('server_error', (_context, error) => {
      log.error({ err: error }, 'the identity provider failed');
    });
    return provider;
  };
  const provider = () => {
    current ??= build();
    return current;
  };
  return {
    provider,
    rotateKeys: async () => {
      await provider();
      keys = [await signingKey(), ...keys.slice(0, 1)];
      current = build();
      await current;
    },
  };
}

/** RS256, which every client must take (OpenID Connect Core 15.1). */
async function signingKey(): Promise<JWK> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2_048 });
  const kid = randomBytes(8).toString('hex');
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid } as JWK;
}

/** A market at any port of this machine, which has its port only when it listens. */
function isMarkets(uri: string): boolean {
  const [, path = ''] = /^http:\/\/(?:localhost|127\.0\.0\.1):\d{1,5}(\/.*)$/.exec(uri) ?? [];
  const id = path.startsWith(marketReturnPath) ? path.slice(marketReturnPath.length) : '';
  return /^[a-z][a-z0-9-]{0,31}$/.test(id);
}

function cookies(key: string): Configuration['cookies'] {
  // Cookies know no ports: names that no market on this machine has.
  const names = Object.fromEntries(
    ['session', 'interaction', 'resume'].map((name) => [name, `${cookiePrefix}_${name}`]),
  );
  return { names, keys: [key], long: { signed: true }, short: { signed: true } };
}

function configuration(client: Client): Configuration {
  return {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        // Never asked for: `redirectUriAllowed` decides.
        redirect_uris: [`http://${loopback}${marketReturnPath}dev`],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        response_modes: ['query'],
      },
    ],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
    responseTypes: ['code'],
    pkce: { required: () => true },
    scopes: ['openid', 'email', 'profile', telegramScope],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username', 'id'],
    },
    // Claims in the ID token too: Telegram has them nowhere else.
    conformIdTokenClaims: false,
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: async (_use, scope) => claimsOf(sub, scope),
    }),
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      rpInitiatedLogout: { enabled: false },
    },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    renderError: (context, { error, error_description: why = '' }) => {
      context.set(pageHeaders());
      context.body = pageText(refusedPage(`${error}: ${why}`));
    },
    clientBasedCORS: () => false,
    ttl: {
      AccessToken: tokenSeconds,
      AuthorizationCode: codeSeconds,
      Grant: tokenSeconds,
      IdToken: tokenSeconds,
      Interaction: interactionSeconds,
      Session: interactionSeconds,
    },
  };
}

function claimsOf(name: string, scope: string) {
  const isTelegram = scope.split(' ').includes(telegramScope);
  return {
    sub: name,
    name,
    preferred_username: name,
    ...(isTelegram ? { id: telegramId(name) } : { email: mailOf(name), email_verified: true }),
  };
}

function mailOf(name: string): string {
  return `${name}@example.test`;
}

/** The same number for a name at each start, in the range of Telegram's: at most 52 bits. */
export function telegramId(name: string): number {
  const hash = createHash('sha256').update(`telegram ${name}`).digest();
  return 1_000_000_000 + (hash.readUInt32BE(0) % 8_000_000_000);
}

async function answer(running: Running, request: IncomingMessage, response: ServerResponse) {
  try {
    mustNameTheIssuer(running, request);
    const path = new URL(request.url ?? '/', running.issuer).pathname;
    const [, uid, cancel] = /^\/interaction\/([\w-]{1,64})(\/cancel)?$/.exec(path) ?? [];
    if (uid !== undefined) {
      await interact(running, uid, cancel !== undefined, request, response);
      return;
    }
    if (path === '/') return welcome(running, response);
    forgetSession(request);
    const provider = await running.provider();
    await provider.callback()(request, response);
  } catch (error) {
    fail(running, error, response);
  }
}

function fail({ log }: Running, error: unknown, response: ServerResponse): void {
  const message = error instanceof Error ? error.message : String(error);
  let status = 500;
  if (error instanceof RefusedRequest) status = error.status;
  else if (isOfTheLibrary(error)) status = error.statusCode;
  else log.error({ err: error }, 'the identity provider failed');
  if (response.headersSent) return void response.destroy();
  sendPage(response, status, refusedPage(message));
}

function isOfTheLibrary(error: unknown): error is errors.OIDCProviderError {
  return error instanceof Error && 'statusCode' in error && 'expose' in error;
}

function refusedPage(why: string): Page {
  return {
    title: 'This sign-in cannot go on',
    body: html`<p>${why}</p><p>Go back to where you came from and begin again.</p>`,
  };
}

/** By its own name alone, and no name that somebody points at this machine. */
function mustNameTheIssuer({ issuer }: Running, { headers }: IncomingMessage): void {
  const { host = '' } = headers;
  if (host === new URL(issuer).host) return;
  throw new RefusedRequest(403, `Host is "${host.slice(0, 100)}", and this is ${issuer}.`);
}

/** Each sign-in asks for a name, whoever signed in before; to change a session takes a script. */
function forgetSession(request: IncomingMessage): void {
  const kept = (request.headers.cookie ?? '')
    .split(/; */)
    .filter((each) => !each.startsWith(`${cookiePrefix}_session`));
  request.headers.cookie = kept.join('; ');
}

function welcome({ issuer, client }: Running, response: ServerResponse): void {
  sendPage(response, 200, {
    title: label,
    body: html`<p>It asks for a name and believes it. A market on this machine may use it: issuer
${issuer}, client id ${client.id}. Its settings are under
<a href="/.well-known/openid-configuration">/.well-known/openid-configuration</a>.</p>`,
  });
}

async function interact(
  running: Running,
  uid: string,
  isCancelled: boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { issuer } = running;
  const provider = await running.provider();
  const details = await provider.interactionDetails(request, response);
  if (details.uid !== uid) throw new RefusedRequest(400, 'Another sign-in was begun meanwhile.');
  if (request.method === 'GET') return askForName(uid, response);
  if (request.method !== 'POST') throw new RefusedRequest(405, 'A form is sent by POST.');
  if (request.headers.origin !== issuer) {
    throw new RefusedRequest(403, 'A page of another origin may not send this form.');
  }
  const form = new URLSearchParams(await readBody(request));
  if (isCancelled) {
    const result = { error: 'access_denied', error_description: 'cancelled by the person' };
    return provider.interactionFinished(request, response, result);
  }
  const name = (form.get('name') ?? '').trim();
  if (!accountName.test(name)) return askForName(uid, response, name);
  const { client_id: clientId, scope } = details.params as { client_id: string; scope: string };
  const grant = new provider.Grant({ accountId: name, clientId });
  grant.addOIDCScope(scope);
  const consent = { grantId: await grant.save() };
  const result = { login: { accountId: name, remember: false }, consent };
  await provider.interactionFinished(request, response, result);
}

function askForName(uid: string, response: ServerResponse, refused = ''): void {
  const again =
    refused === ''
      ? html``
      : html`<p role="alert"><strong>"${refused.slice(0, 100)}" is no name here.</strong></p>`;
  const page = {
    title: label,
    body: html`${again}
<form method="post" action="/interaction/${uid}">
<p><label for="name">Sign in as</label>
<input id="name" name="name" value="alice" maxlength="64" required autofocus>
<button>Sign in</button></p>
<p>1 to 64 letters, digits, dots, dashes and underscores, such as alice. Each name is an account
with the e-mail address ${mailOf('name')}.</p>
</form>
<form method="post" action="/interaction/${uid}/cancel"><button>Cancel</button></form>`,
  };
  const targets = ['http://localhost:*', `http://${loopback}:*`];
  sendPage(response, refused === '' ? 200 : 400, page, targets);
}
