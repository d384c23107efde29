// The account page: signs in, and shows and changes the account that is signed in. Everything that
// it shows is written as text, never as markup.

import { accountView } from './page-account.js';
import { ask, fill, say } from './page-common.js';
import { signInView } from './page-sign-in.js';

/** What a way in that left this page came back with. */
const problems = {
  cancelled: 'The sign-in was cancelled.',
  ceremony_gone: 'That sign-in was used already, is too old, or was begun in another browser.',
  provider_down: 'The provider does not answer. Try again later, or sign in in another way.',
  bad_proof: 'What the provider answered proves nothing. Begin again.',
  login_taken: 'That login belongs to another account. Sign in there with it, or use another one.',
  unknown_login: 'That is no login of this account.',
  session_ended: 'The session has ended. Sign in again.',
  session_stale: 'Adding a login needs a sign-in of the last 10 minutes. Sign in again first.',
  too_many_logins: 'The account has 20 logins. Remove one first.',
  way_off: 'That provider is not offered any more.',
  unavailable: 'The market could not do it now. Try again in a few seconds.',
};

export async function show() {
  const me = await ask('GET', '/account/me');
  if (me.status === 200) return fill(await accountView(me.body, show));
  if (me.status !== 401) return say(me.body.error, true);
  fill(await signInView(show));
}

const { searchParams } = new URL(location.href);
const problem = searchParams.get('problem');
if (location.search !== '') history.replaceState(null, '', '/account');
if (problem !== null) say(problems[problem] ?? 'The sign-in did not succeed. Try again.', true);
await show();
