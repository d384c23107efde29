// The dialog of an action that needs a sign-in of the last ten minutes.

import { useLocation } from '@tanstack/react-router';
import type { Way } from '../../market/account.ts';
import { lookAgain, useSession } from '../../market/session.ts';
import { text } from '../../texts/texts.ts';
import { Dialog } from '../controls.tsx';
import { WaysIn } from './ways.tsx';

export type Asked = { readonly walletsOnly: boolean; readonly answer: (isDone: boolean) => void };

export function SignInAgain({ asked }: { asked: Asked }) {
  const session = useSession();
  const { href } = useLocation();
  const logins = session.status === 'account' ? session.account.logins : [];
  const only: readonly Way[] = asked.walletsOnly
    ? ['wallet']
    : [...new Set(logins.map(({ way }) => way))];
  const after = async () => {
    await lookAgain();
    asked.answer(true);
  };
  return (
    <Dialog
      title={text('fresh.title')}
      open
      onClose={() => asked.answer(false)}
      no={text('fresh.not_now')}
    >
      <p>{text(asked.walletsOnly ? 'fresh.wallet' : 'fresh.any')}</p>
      <WaysIn purpose="renew" only={only} here={href} after={after} />
    </Dialog>
  );
}
