// The metadata that an identity provider publishes: its endpoints, asked for when somebody wants to
// sign in there and not before, and its keys. Each process remembers them for a while; a provider
// that is down delays nothing but sign-ins through it.

import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetchOptions,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  type JWKS,
  type ServerMetadata,
  setJwksCache,
} from 'openid-client';
import type { Deps } from '../ports/deps.ts';
import type { ProviderSettings } from '../settings/people.ts';
import { minuteMs } from './bounds.ts';
import { askProvider, faultIn, mayBeAsked, ProviderFault } from './provider-fetch.ts';

/** Endpoints of an identity provider are remembered for an hour, then read anew. */
const metadataMs = 60 * minuteMs;
/** Many may want to sign in while it is down. */
const failureMs = 3_000;
/** A key that a provider withdraws is good for so long. */
const keysMs = 5 * minuteMs;
/** How often a token of an unknown key has the keys fetched anew: a provider may have rotated. */
const keysAgainMs = 10_000;
/** The allowed difference between the clocks of two honest servers. */
export const toleranceSeconds = 120;

const otherIssuer = 'its discovery document names another issuer';

/** Asymmetric ones: under `none` and HS256 whoever has no key can sign. */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

export type Providers = {
  configurationOf(provider: ProviderSettings): Promise<Configuration>;
};

type Known = {
  readonly metadata: Remembered<ServerMetadata>;
  failure: { readonly fault: ProviderFault; readonly at: number } | null;
  readonly keys: Remembered<JWKS>;
  /** When keys were last fetched for a token of an unknown one. */
  keysAgainAt: number;
};

type Remembered<T> = {
  /** Null where it is none, or too old. */
  fresh(): T | null;
  isAsked(): boolean;
  /** One request at a time, whoever waits for it. */
  ask(request: () => Promise<T>): Promise<T>;
};

function remembered<T>(now: () => number, keepMs: number): Remembered<T> {
  let known: { readonly value: T; readonly at: number } | null = null;
  let asking: Promise<T> | null = null;
  const asked = async (request: () => Promise<T>) => {
    const value = await request();
    known = { value, at: now() };
    return value;
  };
  return {
    fresh: () => (known !== null && now() - known.at < keepMs ? known.value : null),
    isAsked: () => asking !== null,
    ask: (request) => {
      asking ??= asked(request).finally(() => {
        asking = null;
      });
      return asking;
    },
  };
}

type ServerDeps = Pick<Deps, 'now'> & {
  readonly settings: Pick<Deps['settings'], 'chainTimeoutMs'>;
};

export function openProviders(deps: ServerDeps): Providers {
  const all = new Map<string, Known>();
  return {
    configurationOf: async (provider) => {
      const known = all.get(provider.id) ?? {
        metadata: remembered(deps.now, metadataMs),
        failure: null,
        keys: remembered(deps.now, keysMs),
        keysAgainAt: Number.NEGATIVE_INFINITY,
      };
      all.set(provider.id, known);
      return configured(deps, provider, await metadataOf(deps, provider, known), known);
    },
  };
}

async function metadataOf(
  deps: ServerDeps,
  provider: ProviderSettings,
  known: Known,
): Promise<ServerMetadata> {
  const { metadata, failure } = known;
  const fresh = metadata.fresh();
  if (fresh !== null) return fresh;
  if (failure !== null && deps.now() - failure.at < failureMs) throw failure.fault;
  return metadata.ask(async () => {
    try {
      return await discover(deps, provider);
    } catch (error) {
      known.failure = { fault: faultOf(error), at: deps.now() };
      throw known.failure.fault;
    }
  });
}

function faultOf(error: unknown): ProviderFault {
  const fault = faultIn(error);
  if (fault !== null) return fault;
  const { code } = error as { code?: unknown };
  const isOther = code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';
  const reason = isOther ? otherIssuer : 'its discovery document is none';
  return new ProviderFault(reason, { cause: error });
}

async function discover(
  { settings }: ServerDeps,
  provider: ProviderSettings,
): Promise<ServerMetadata> {
  const { issuer, clientId } = provider;
  const found = await discovery(new URL(issuer), clientId, undefined, undefined, {
    [customFetch]: (url, options) => askProvider(url, options, settings.chainTimeoutMs),
    execute: isPlain(issuer) ? [allowInsecureRequests] : [],
  });
  return usable(provider, found.serverMetadata());
}

function isPlain(issuer: string): boolean {
  return issuer.startsWith('http:');
}

function usable(provider: ProviderSettings, metadata: ServerMetadata): ServerMetadata {
  const wrong = (reason: string) => new ProviderFault(`its discovery document ${reason}`);
  // OpenID Connect Discovery 1.0, 4.3: exactly, or one provider could speak for another.
  if (metadata.issuer !== provider.issuer) throw new ProviderFault(otherIssuer);
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    const url = metadata[name];
    if (typeof url !== 'string' || !mayBeAsked(url)) throw wrong(`has no https ${name}`);
  }
  const { code_challenge_methods_supported: challenges } = metadata;
  // Without a nonce, PKCE alone binds the code to this browser (RFC 9700, 2.1.1).
  if (!provider.nonce && !listed(challenges).includes('S256')) {
    throw wrong('does not name PKCE with S256, and its tokens have no nonce');
  }
  const { id_token_signing_alg_values_supported: signing } = metadata;
  const allowed = listed(signing ?? ['RS256']).filter((each) => algorithms.includes(each));
  if (allowed.length === 0) throw wrong('names no algorithm that is allowed');
  authenticationOf(metadata, provider);
  return { ...metadata, id_token_signing_alg_values_supported: allowed };
}

function listed(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Basic unless told otherwise (OpenID Connect Discovery 1.0, 3). */
function authenticationOf(
  { token_endpoint_auth_methods_supported: methods }: ServerMetadata,
  { clientSecret }: ProviderSettings,
): ClientAuth {
  const taken = listed(methods ?? ['client_secret_basic']);
  if (taken.includes('client_secret_basic')) return ClientSecretBasic(clientSecret);
  if (taken.includes('client_secret_post')) return ClientSecretPost(clientSecret);
  throw new ProviderFault('its discovery document names no way to show the client secret');
}

/** One for each sign-in: the library keeps its memory in it. */
function configured(
  deps: ServerDeps,
  provider: ProviderSettings,
  metadata: ServerMetadata,
  known: Known,
): Configuration {
  const client = { [clockTolerance]: toleranceSeconds };
  const authentication = authenticationOf(metadata, provider);
  const config = new Configuration(metadata, provider.clientId, client, authentication);
  const keysAt = new URL(metadata.jwks_uri ?? '').href;
  config[customFetch] = (url, options) =>
    url === keysAt && options.method === 'GET'
      ? keysOf(deps, known, url, options)
      : askProvider(url, options, deps.settings.chainTimeoutMs);
  // Checks the signature of ID tokens, which TLS alone vouches for otherwise.
  enableNonRepudiationChecks(config);
  if (isPlain(provider.issuer)) allowInsecureRequests(config);
  const jwks = known.keys.fresh();
  // The library fetches anew for an unknown key only where what it has is a minute old.
  if (jwks !== null) setJwksCache(config, { jwks, uat: Math.floor(Date.now() / 1_000) - 60 });
  return config;
}

/** Asked where no keys are known, or the one that is wanted is not among them. */
async function keysOf(
  deps: ServerDeps,
  known: Known,
  url: string,
  options: CustomFetchOptions,
): Promise<Response> {
  const fresh = known.keys.fresh();
  if (fresh !== null && !known.keys.isAsked()) {
    if (deps.now() - known.keysAgainAt < keysAgainMs) return Response.json(fresh);
    known.keysAgainAt = deps.now();
  }
  const jwks = await known.keys.ask(async () => {
    const response = await askProvider(url, options, deps.settings.chainTimeoutMs);
    if (response.status !== 200) throw new ProviderFault(`its keys answer ${response.status}`);
    const parsed = parsedKeys(await response.text());
    if (parsed === null) throw new ProviderFault('its keys are no set of keys');
    return parsed;
  });
  return Response.json(jwks);
}

function parsedKeys(text: string): JWKS | null {
  try {
    const { keys } = JSON.parse(text) as { keys: unknown };
    const isList =
      Array.isArray(keys) && keys.every((each) => typeof each === 'object' && each !== null);
    return isList ? { keys } : null;
  } catch {
    return null;
  }
}
