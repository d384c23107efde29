// Around what only an account sees: the states before, and the way in, which leads back here.

import { Fragment, type ReactNode, useState } from 'react';
import { type SignedInAccount, useSession } from '../market/session.ts';
import { text } from '../texts/texts.ts';
import { Button } from './controls.tsx';
import { Failed, Loading } from './page.tsx';
import { ConnectDialog } from './ways/connect.tsx';

/** The content begins anew for another account: its state keeps no data of the former one. */
type SignedInProps = {
  children: (account: SignedInAccount) => ReactNode;
  /** The sentence for a stranger who has the link; default that the page is of an account. */
  why?: string;
  /** A part of a screen that has another main action. */
  isPart?: boolean;
};

export function SignedIn(props: SignedInProps) {
  const { children, why = text('session.none.why'), isPart = false } = props;
  const session = useSession();
  if (session.status === 'loading') return <Loading />;
  if (session.status === 'failed') return <Failed error={session.error} again={session.again} />;
  if (session.status === 'none') return <WayIn why={why} isPart={isPart} />;
  return <Fragment key={session.account.id}>{children(session.account)}</Fragment>;
}

/** The same screen goes on with the account. */
function WayIn({ why, isPart }: { why: string; isPart: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <div className="empty">
        <p className="notice-title">{text('session.none')}</p>
        <p>{why}</p>
        <Button kind={isPart ? 'plain' : 'main'} onPress={() => setOpen(true)}>
          {text('session.sign-in')}
        </Button>
      </div>
      <ConnectDialog open={isOpen} onClose={close} onSignedIn={close} />
    </>
  );
}
