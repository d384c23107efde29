// The account page: signs in, and shows and changes the account that is signed in. Everything that
// it shows is written as text, never as markup.

import { accountView } from './page-account.js';
import { ask, button, fill, loginAdded, say, section, showing } from './page-common.js';
import { signInView, takenView } from './page-sign-in.js';

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

let shown = null;
/** How often it was looked who is signed in: of several looks, the last one is shown. */
let looks = 0;

/**
 * Until it is known who is signed in, nothing of the view before can be pressed. False where another
 * look came before it was shown.
 */
export async function show() {
  looks += 1;
  const look = looks;
  const view = document.querySelector('#view');
  view.inert = true;
  showing(null, () => {});
  const me = await ask('GET', '/account/me');
  if (look !== looks) return false;
  shown = me.status === 200 ? me.body.accountId : null;
  if (shown !== null) showing(shown, ended);
  const next = await viewOf(me);
  if (look !== looks) return false;
  fill(next);
  view.inert = false;
  if (me.status !== 200 && me.status !== 401) say(me.body.error, true);
  return true;
}

async function viewOf(me) {
  if (me.status === 200) return accountView(me.body, show);
  if (me.status === 401) return signInView(show);
  return section('Your account', button('Try again', show));
}

/** In another tab: what is shown is of nobody who is signed in here. */
async function ended() {
  await show();
  say(
    'The session has ended, or another account is signed in here by now. Nothing was done.',
    true,
  );
}

// Asked as the account that is shown: whoever is signed in by now instead is told of by `ended`.
document.addEventListener('visibilitychange', async () => {
  if (!document.hidden && shown !== null) await ask('GET', '/account/me');
});

const { searchParams } = new URL(location.href);
const [problem, did] = [searchParams.get('problem'), searchParams.get('done')];
if (location.search !== '') history.replaceState(null, '', '/account');
await show();
if (problem !== null) {
  const known = Object.hasOwn(problems, problem) ? problems[problem] : null;
  say(known ?? 'The sign-in did not succeed. Try again.', true);
}
if (problem === 'login_taken') takenView(problems.login_taken, show);
if (did === 'add') say(loginAdded({ outcome: 'added' }));
if (did === 'already') say(loginAdded({ outcome: 'renewed' }));
if (did === 'renew') say('You have signed in again. Do once more what you wanted to do.');
