// What must not compile: one value in another's place. `npm run check` fails where one of them
// compiles, since its `@ts-expect-error` then expects nothing.

import { type Hashlock, hashlockOf, opens, type Secret } from '../core/hashlock.ts';
import type { EscrowTerms } from '../core/terms.ts';
import type { SecretStore } from '../sdk/stores/store.ts';

declare const secret: Secret;
declare const hashlock: Hashlock;
declare const terms: EscrowTerms;
declare const store: SecretStore;

/** Compiled and never called. */
export function mixedUp(): readonly unknown[] {
  return [
    // @ts-expect-error: a hashlock is no secret
    hashlockOf(hashlock),
    // @ts-expect-error: the two the other way round
    opens(hashlock, secret),
    // @ts-expect-error: whoever funds this has shown the secret
    { ...terms, hashlock: secret } satisfies EscrowTerms,
    // @ts-expect-error: the two the other way round
    store.putSecret(secret, hashlock).catch(() => {}),
  ];
}
