// The ways into an account.

import { text } from '../../texts/texts.ts';

export function SignIn() {
  return (
    <section>
      <h1>{text('session.sign-in')}</h1>
    </section>
  );
}
