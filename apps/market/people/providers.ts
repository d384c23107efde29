// Sign-in through OpenID Connect providers: authorization code flow with PKCE (RFC 7636), state and
// nonce. A sign-in is begun in one browser and ends in it, once, at an address that this provider
// alone leads back to: the answer of another one proves nothing (RFC 9207; RFC 9700, 4.4).

import { createHash } from 'node:crypto';
import { ParleyError } from '@parley/core/errors.ts';
import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import type { Ceremony } from '../db/ceremonies.ts';
import { base62 } from '../market/keys.ts';
import type { Deps } from '../ports/deps.ts';
import { keyringOf } from '../ports/keyring.ts';
import type { ProviderSettings } from '../settings/people.ts';
import { type Begun, begin, gone, take } from './ceremonies.ts';
import { faultIn } from './provider-fetch.ts';
import type { Providers } from './provider-server.ts';
import { maxAgeSeconds, provenBy, UnprovenError } from './provider-token.ts';
import { type Browser, mustBeFresh } from './sessions.ts';
import type { Proven } from './sign-in.ts';
import type { Site } from './site.ts';

type ProviderDeps = Pick<Deps, 'settings' | 'db' | 'now' | 'randomBytes' | 'log' | 'messaging'>;

const secretBytes = 32;
const stateShape = /^[0-9A-Za-z]{43}$/;

/** Each provider has one of its own, so that no other one's answer is taken for its. */
export function returnPath(id: string): string {
  return `/account/provider/return/${id}`;
}

type ProviderRequest = Begun & { readonly providerId: string; readonly site: Site };

/** Where the browser is to go. Throws `way_off`, `provider_down`, `session_stale`. */
export async function beginAtProvider(
  deps: ProviderDeps,
  providers: Providers,
  asked: ProviderRequest,
): Promise<URL> {
  const { purpose, session, site } = asked;
  const provider = providerOf(deps, asked.providerId);
  // Told now, not after the way to the provider and back.
  if (purpose === 'add' && session !== null) mustBeFresh(session, deps.now());
  const draw = () => base62(deps.randomBytes(secretBytes));
  const state = draw();
  const nonce = draw();
  const verifier = draw();
  const url = await speaking(deps, provider, async () => {
    const config = await providers.configurationOf(provider);
    return buildAuthorizationUrl(config, {
      redirect_uri: site.origin + returnPath(provider.id),
      scope: provider.scopes.join(' '),
      state,
      ...(provider.nonce ? { nonce } : {}),
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(purpose === 'sign-in' ? {} : anew(config)),
    });
  });
  const { version, sealed } = keyringOf(deps.settings).encrypt(Buffer.from(verifier));
  const facts = {
    provider: provider.id,
    nonce: provider.nonce ? nonce : null,
    verifier: { version, sealed: sealed.toString('base64') },
    askedSeconds: wallSeconds(),
  } satisfies Facts;
  await begin(deps.db, deps, asked, { way: 'provider', subject: subjectOf(state), facts });
  return url;
}

type Facts = {
  readonly provider: string;
  readonly nonce: string | null;
  /** The verifier of PKCE, encrypted: with it and the code somebody else could sign in. */
  readonly verifier: { readonly version: number; readonly sealed: string };
  readonly askedSeconds: number;
};

/** Providers go by it, whatever the dev network's clock was moved to. */
function wallSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

function subjectOf(state: string): string {
  return createHash('sha256').update(state).digest('base64');
}

/** Every provider knows max_age; Google takes no `prompt=login`, so it is sent to whom names it. */
function anew(config: Configuration): Record<string, string> {
  const { prompt_values_supported: prompts } = config.serverMetadata();
  const takesLogin = Array.isArray(prompts) && prompts.includes('login');
  return { max_age: String(maxAgeSeconds), ...(takesLogin ? { prompt: 'login' } : {}) };
}

function providerOf({ settings }: Pick<Deps, 'settings'>, id: string): ProviderSettings {
  const provider = settings.people.providers.find((each) => each.id === id);
  if (provider !== undefined) return provider;
  throw new ParleyError('way_off', 'this market offers no sign-in through that provider');
}

export type Returned =
  | { readonly cancelled: true }
  | { readonly cancelled: false; readonly ceremony: Ceremony; readonly proven: Proven };

/** `url`: where the provider `id` led the browser back to. It counts once. */
export async function takeReturn(
  deps: ProviderDeps,
  providers: Providers,
  { url, id, browser }: { url: URL; id: string; browser: Browser },
): Promise<Returned> {
  const [state = '', ...more] = url.searchParams.getAll('state');
  if (!stateShape.test(state) || more.length > 0) throw gone('provider');
  const place = { way: 'provider', subject: subjectOf(state) } as const;
  const ceremony = await take(deps.db, deps, browser, place);
  const facts = ceremony.facts as Facts;
  const provider = providerOf(deps, facts.provider);
  const { version, sealed } = facts.verifier;
  const verifier = keyringOf(deps.settings).decrypt(version, Buffer.from(sealed, 'base64'));
  if (verifier === null) throw gone('provider');
  return speaking(deps, provider, async () => {
    if (provider.id !== id) throw new UnprovenError('the answer is at the address of another one');
    const config = await providers.configurationOf(provider);
    const checks = {
      expectedState: state,
      pkceCodeVerifier: verifier.toString(),
      idTokenExpected: true,
      ...(facts.nonce === null ? {} : { expectedNonce: facts.nonce }),
    };
    const tokens = await authorizationCodeGrant(config, url, checks).catch((error: unknown) => {
      if (isCancelled(error)) return null;
      throw error;
    });
    if (tokens === null) return { cancelled: true };
    const claims = tokens.claims();
    if (claims === undefined) throw new UnprovenError('there is no ID token');
    const told = listed(config.serverMetadata().claims_supported);
    const rules = {
      provider,
      nowSeconds: wallSeconds(),
      anewSince: ceremony.purpose === 'sign-in' ? null : facts.askedSeconds,
      tellsAuthTime: told.includes('auth_time'),
    };
    return { cancelled: false, ceremony, proven: provenBy({ claims, scope: tokens.scope }, rules) };
  });
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isCancelled(error: unknown): boolean {
  return error instanceof AuthorizationResponseError && error.error === 'access_denied';
}

/** A fault is `provider_down` or `bad_proof`; why is told to the operator alone. */
async function speaking<R>(
  deps: ProviderDeps,
  provider: ProviderSettings,
  work: () => Promise<R>,
): Promise<R> {
  try {
    return await work();
  } catch (error) {
    const { isDown, reason } = whyOf(error);
    const facts = { provider: provider.id, reason };
    deps.log.warn(facts, isDown ? 'an identity provider is down' : 'a sign-in proves nothing');
    const sentence = isDown
      ? `${provider.label} does not answer as it should just now; sign in ` +
        'in another way, or try again in a few seconds'
      : `the answer of ${provider.label} proves nothing; begin again`;
    throw new ParleyError(isDown ? 'provider_down' : 'bad_proof', sentence, facts);
  }
}

/**
 * The codes of an answer that the provider itself calls an error: those that no other try would
 * mend.
 */
const downErrors = [
  'invalid_client',
  'unauthorized_client',
  'server_error',
  'temporarily_unavailable',
];

function whyOf(error: unknown): { isDown: boolean; reason: string } {
  const fault = faultIn(error);
  if (fault !== null) return { isDown: true, reason: fault.message };
  if (error instanceof UnprovenError) return { isDown: false, reason: error.message };
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    const told = /^[a-z_]{1,50}$/.test(error.error) ? error.error : 'an error of its own';
    return { isDown: downErrors.includes(told), reason: `it says ${told}` };
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    return { isDown: true, reason: 'it refuses the client id or secret of this market' };
  }
  const { code } = error as { code?: unknown };
  const isDown = code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' || code === 'OAUTH_RESPONSE_IS_NOT_JSON';
  return { isDown, reason: reasonOf(error) };
}

/** The library's innermost sentence. One of JSON.parse quotes the provider. */
function reasonOf(error: unknown): string {
  let reason = 'something is wrong';
  for (let each = error; each instanceof Error && each.name !== 'SyntaxError'; each = each.cause) {
    reason = each.message;
  }
  return reason;
}
