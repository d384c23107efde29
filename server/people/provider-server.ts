// What an identity provider publishes about itself: its endpoints, asked for when somebody wants to
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

const metadataMs = 60 * minuteMs;
/** Many may want to sign in while it is down. */
const failureMs = 3_000;
/** A key that a provider withdraws is good for so long. */
const keysMs = 5 * minuteMs;
/** How often a token of an unknown key has the keys fetched anew: a provider may have rotated. */
const keysAgainMs = 10_000;
/** What the clocks of two honest servers may be apart. */
export const toleranceSeconds = 120;

const otherIssuer = 'its discovery document names another issuer';

/** Asymmetric ones: under `none` and HS256 whoever has no key can sign. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

export type Providers = {
  configurationOf(provider: ProviderSettings): Promise<Configuration>;
};

type Known = {
  metadata: { readonly value: ServerMetadata; readonly at: number } | null;
  failure: { readonly fault: ProviderFault; readonly at: number } | null;
  asking: Promise<ServerMetadata> | null;
  keys: { readonly jwks: JWKS; readonly at: number } | null;
  askingKeys: Promise<string> | null;
  keysAgainAt: number | null;
};

type ServerDeps = Pick<Deps, 'now'> & {
  readonly settings: Pick<Deps['settings'], 'chainTimeoutMs'>;
};

export function openProviders(deps: ServerDeps): Providers {
  const known = new Map<string, Known>();
  return {
    configurationOf: async (provider) => {
      const one = known.get(provider.id) ?? nothingKnown();
      known.set(provider.id, one);
      const metadata = await metadataOf(deps, provider, one);
      return configured(deps, provider, metadata, one);
    },
  };
}

function nothingKnown(): Known {
  return {
    metadata: null,
    failure: null,
    asking: null,
    keys: null,
    askingKeys: null,
    keysAgainAt: null,
  };
}

/** One request at a time, whoever waits for it. */
async function metadataOf(
  deps: ServerDeps,
  provider: ProviderSettings,
  known: Known,
): Promise<ServerMetadata> {
  const { metadata, failure } = known;
  if (metadata !== null && deps.now() - metadata.at < metadataMs) return metadata.value;
  if (failure !== null && deps.now() - failure.at < failureMs) throw failure.fault;
  known.asking ??= discover(deps, provider)
    .then(
      (value) => {
        Object.assign(known, { metadata: { value, at: deps.now() }, failure: null });
        return value;
      },
      (error: unknown) => {
        known.failure = { fault: faultOf(error), at: deps.now() };
        throw known.failure.fault;
      },
    )
    .finally(() => {
      known.asking = null;
    });
  return known.asking;
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

/** One for each sign-in: what the library remembers, it remembers in it. */
function configured(
  deps: ServerDeps,
  provider: ProviderSettings,
  metadata: ServerMetadata,
  known: Known,
): Configuration {
  const config = new Configuration(
    metadata,
    provider.clientId,
    { [clockTolerance]: toleranceSeconds },
    authenticationOf(metadata, provider),
  );
  const keysAt = new URL(metadata.jwks_uri ?? '').href;
  config[customFetch] = (url, options) =>
    url === keysAt && options.method === 'GET'
      ? keysOf(deps, known, url, options)
      : askProvider(url, options, deps.settings.chainTimeoutMs);
  // Checks the signature of ID tokens, which TLS alone vouches for otherwise.
  enableNonRepudiationChecks(config);
  if (isPlain(provider.issuer)) allowInsecureRequests(config);
  const { keys } = known;
  if (keys !== null && deps.now() - keys.at < keysMs) {
    // The library fetches anew for an unknown key only where what it has is a minute old.
    setJwksCache(config, { jwks: keys.jwks, uat: Math.floor(Date.now() / 1_000) - 60 });
  }
  return config;
}

/** Asked where no keys are known, or the one that is wanted is not among them. */
async function keysOf(
  deps: ServerDeps,
  known: Known,
  url: string,
  options: CustomFetchOptions,
): Promise<Response> {
  const now = deps.now();
  const { keys, keysAgainAt } = known;
  if (known.askingKeys === null && keys !== null && now - keys.at < keysMs) {
    const isTooSoon = keysAgainAt !== null && now - keysAgainAt < keysAgainMs;
    if (isTooSoon) return Response.json(keys.jwks);
    known.keysAgainAt = now;
  }
  known.askingKeys ??= fetchKeys(deps, known, url, options).finally(() => {
    known.askingKeys = null;
  });
  const text = await known.askingKeys;
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}

async function fetchKeys(
  deps: ServerDeps,
  known: Known,
  url: string,
  options: CustomFetchOptions,
): Promise<string> {
  const response = await askProvider(url, options, deps.settings.chainTimeoutMs);
  if (response.status !== 200) throw new ProviderFault(`its keys answer ${response.status}`);
  const text = await response.text();
  const jwks = parsedKeys(text);
  if (jwks === null) throw new ProviderFault('its keys are no set of keys');
  known.keys = { jwks, at: deps.now() };
  return text;
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
