// Texts of who is signed in.

export const session = {
  'session.none': 'Nobody is signed in here.',
  'session.sign-in': 'Sign in',
  'session.unknown': 'The market did not say who is signed in: {why}',
  'session.again': 'Ask again',
} as const;
