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
import { createMoments } from '../ports/moments.ts';
import { mostProviders, type ProviderSettings } from '../settings/people.ts';
import { minuteMs } from './bounds.ts';
import { askProvider, faultIn, mayBeAsked, ProviderFault } from './provider-fetch.ts';

/** Endpoints of an identity provider are remembered for an hour, then read anew. */
const metadataMs = 60 * minuteMs;
/** A key that a provider withdraws is good for so long. */
const keysMs = 5 * minuteMs;
/** How often a token of an unknown key has the keys fetched anew. */
const keysAgainMs = 10_000;
/** The allowed difference between the clocks of two honest servers. */
export const toleranceSeconds = 120;

const otherIssuer = 'its discovery document names another issuer';

/** Asymmetric ones: under `none` and HS256 whoever has no key can sign. */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

export type Providers = {
  configurationOf(provider: ProviderSettings): Promise<Configuration>;
};

type ServerDeps = Pick<Deps, 'now'> & {
  readonly settings: Pick<Deps['settings'], 'chainTimeoutMs'>;
};

/** The keys that each provider showed last. */
type Shown = Map<string, { readonly jwks: JWKS; readonly at: number }>;

export function openProviders(deps: ServerDeps): Providers {
  const metadata = createMoments<ServerMetadata>(metadataMs, mostProviders, deps.now);
  const asked = createMoments<JWKS>(keysAgainMs, 2 * mostProviders, deps.now);
  const shown: Shown = new Map();
  return {
    configurationOf: async (provider) => {
      const { id } = provider;
      const published = await metadata.of(id, () =>
        discover(deps, provider).catch((error: unknown) => {
          throw faultOf(error);
        }),
      );
      const config = configured(provider, published);
      const keysAt = new URL(published.jwks_uri ?? '').href;
      const last = shown.get(id);
      const isKnown = last !== undefined && deps.now() - last.at < keysMs;
      config[customFetch] = async (url, options) => {
        if (url !== keysAt || options.method !== 'GET') {
          return askProvider(url, options, deps.settings.chainTimeoutMs);
        }
        // The keys that are known lack the one that is wanted: a provider may have rotated.
        const jwks = await asked.of(`${id} ${isKnown}`, () => keysOf(deps, url, options));
        shown.set(id, { jwks, at: deps.now() });
        return Response.json(jwks);
      };
      if (isKnown) {
        // The library fetches anew for an unknown key only where what it has is a minute old.
        const uat = Math.floor(Date.now() / 1_000) - 60;
        setJwksCache(config, { jwks: last.jwks, uat });
      }
      return config;
    },
  };
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
function configured(provider: ProviderSettings, metadata: ServerMetadata): Configuration {
  const client = { [clockTolerance]: toleranceSeconds };
  const authentication = authenticationOf(metadata, provider);
  const config = new Configuration(metadata, provider.clientId, client, authentication);
  // Checks the signature of ID tokens, which TLS alone vouches for otherwise.
  enableNonRepudiationChecks(config);
  if (isPlain(provider.issuer)) allowInsecureRequests(config);
  return config;
}

async function keysOf(deps: ServerDeps, url: string, options: CustomFetchOptions): Promise<JWKS> {
  const response = await askProvider(url, options, deps.settings.chainTimeoutMs);
  if (response.status !== 200) throw new ProviderFault(`its keys answer ${response.status}`);
  const parsed = parsedKeys(await response.text());
  if (parsed === null) throw new ProviderFault('its keys are no set of keys');
  return parsed;
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
