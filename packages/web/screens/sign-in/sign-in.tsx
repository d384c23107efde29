// Into an account, and back to where one was.

import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { type SignedInAccount, signOut, startAnew, useSession } from '../../market/session.ts';
import { returned } from '../../parts/account-screen.tsx';
import { Do } from '../../parts/act.tsx';
import { Button, Notice } from '../../parts/controls.tsx';
import { Failed, Loading, Screen } from '../../parts/page.tsx';
import { ownPath } from '../../parts/ways/back.ts';
import { WaysIn } from '../../parts/ways/ways.tsx';
import { text } from '../../texts/texts.ts';

export function SignIn() {
  const session = useSession();
  const router = useRouter();
  const asked = new URLSearchParams(window.location.search);
  const back = ownPath(asked.get('then'), window.location.origin) ?? '/account';
  const wasNobody = useRef(false);
  if (session.status === 'none') wasNobody.current = true;
  // The person is signed in, here or in another tab.
  const isIn = session.status === 'account' && wasNobody.current;
  useEffect(() => {
    if (isIn) router.history.replace(back);
  }, [isIn, router, back]);
  if (session.status === 'loading' || isIn) return <Loading />;
  const goOn = () => router.history.push(back);
  const problem = returned(asked);
  return (
    <Screen title={text('sign-in.title')} narrow>
      {session.status === 'failed' && <Failed error={session.error} again={session.again} />}
      {session.status === 'account' && <IsSignedIn account={session.account} goOn={goOn} />}
      {session.status === 'none' && (
        <>
          {problem !== null && <Notice kind={problem.kind}>{problem.sentence}</Notice>}
          <div className="panel">
            <WaysIn purpose="sign-in" here={back} after={startAnew} />
          </div>
          <p className="hint">
            {text('sign-in.what')} {text('sign-in.keys')}
          </p>
        </>
      )}
    </Screen>
  );
}

function IsSignedIn({ account: { name }, goOn }: { account: SignedInAccount; goOn: () => void }) {
  return (
    <Notice
      kind="info"
      title={text('sign-in.is', { name })}
      action={
        <>
          <Button kind="main" onPress={goOn}>
            {text('sign-in.go_on')}
          </Button>
          <Do work={signOut}>{text('sign-in.other')}</Do>
        </>
      }
    />
  );
}
