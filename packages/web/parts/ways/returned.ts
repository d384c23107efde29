// The result of a login method that left the page: `?problem=` the code of a refusal, `?done=` the
// finished action. A provider's own words are never among them.

import { type TextKey, text } from '../../texts/texts.ts';

type Returned = { readonly kind: 'good' | 'warn'; readonly sentence: string };

const problems: Readonly<Record<string, TextKey>> = {
  cancelled: 'returned.cancelled',
  ceremony_gone: 'returned.gone',
  provider_down: 'returned.down',
  bad_proof: 'returned.bad_proof',
  login_taken: 'returned.taken',
  unknown_login: 'returned.unknown_login',
  session_ended: 'returned.ended',
  session_stale: 'returned.stale',
  too_many_logins: 'returned.too_many',
  way_off: 'returned.off',
  unavailable: 'returned.unavailable',
};

const done: Readonly<Record<string, TextKey>> = {
  'sign-in': 'returned.signed_in',
  add: 'returned.added',
  already: 'returned.already',
  renew: 'returned.renewed',
};

/** null: it says nothing of either. */
export function returned(search: URLSearchParams): Returned | null {
  const problem = search.get('problem');
  const did = search.get('done');
  if (problem !== null) {
    const key = Object.hasOwn(problems, problem) ? problems[problem] : undefined;
    return { kind: 'warn', sentence: text(key ?? 'returned.failed') };
  }
  const key = did !== null && Object.hasOwn(done, did) ? done[did] : undefined;
  return key === undefined ? null : { kind: 'good', sentence: text(key) };
}
