// Texts of the sign-in screen, of who comes back from a provider, and of the account's navigation.

export const signIn = {
  'session.none': 'Nobody is signed in here',
  'session.none.why': 'This page is of an account. You come back here afterwards.',
  'session.sign-in': 'Sign in',

  'sign-in.title': 'Sign in',
  'sign-in.what':
    'An address, a provider or a wallet that is new here makes an account. A passkey signs in to the account that it was added to.',
  'sign-in.keys':
    'Signing in moves no money: the keys of your coins stay in your wallet and in this browser. No sign-in asks for your rescue phrase.',
  'sign-in.is': 'You are signed in as {name}',
  'sign-in.go_on': 'Go on',
  'sign-in.other': 'Sign out, and in as somebody else',

  'returned.cancelled': 'The sign-in was cancelled.',
  'returned.gone':
    'That sign-in was used already, is too old, or was begun in another browser. Begin again.',
  'returned.down': 'The provider does not answer. Try again later, or sign in in another way.',
  'returned.bad_proof': 'What the provider answered proves nothing. Begin again.',
  'returned.taken':
    'That login belongs to another account, and nothing was moved. Sign in there with it, or use another one.',
  'returned.unknown_login': 'That is no login of this account.',
  'returned.ended': 'The session has ended. Sign in again.',
  'returned.stale':
    'Adding a login needs a sign-in of the last 10 minutes. Sign in again, then add it.',
  'returned.too_many': 'The account has 20 logins, the most there may be. Remove one first.',
  'returned.off': 'That provider is not offered any more.',
  'returned.unavailable': 'The market could not do it now. Try again in a few seconds.',
  'returned.failed': 'The sign-in did not succeed. Try again.',
  'returned.signed_in': 'You are signed in.',
  'returned.added': 'The login is added.',
  'returned.already':
    'It was a login of this account before, and nothing was added. You have signed in again.',
  'returned.renewed': 'You have signed in again. Do once more what you wanted to do.',

  'account.nav': 'Your account',
  'account.nav.account': 'Account',
  'account.nav.wallets': 'Wallets and payout',
  'account.nav.activity': 'Activity',
  'account.nav.notifications': 'Notifications',
  'account.nav.keys': 'API keys',
  'account.nav.webhooks': 'Webhooks',
  'account.nav.assets': 'Assets',
  'account.nav.settings': 'Settings',
} as const;
