// The account that is signed in: its name, its logins and sessions, its data, and its end.

import { useQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { account } from '../../market/account.ts';
import { lookAgain, type SignedInAccount, startAnew, useSession } from '../../market/session.ts';
import { AccountNav } from '../../parts/account-screen.tsx';
import { announce } from '../../parts/announce.ts';
import { Failed } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Notice } from '../../parts/notice.tsx';
import { OfAccount } from '../../parts/of-account.tsx';
import { Screen } from '../../parts/screen.tsx';
import { useAct } from '../../parts/ways/act.ts';
import { signInPath, takeRememberedPath } from '../../parts/ways/back.ts';
import { useFreshly } from '../../parts/ways/fresh.tsx';
import { returned } from '../../parts/ways/returned.ts';
import { When } from '../../parts/when.tsx';
import { text } from '../../texts/texts.ts';
import { DataExport } from './data-export.tsx';
import { Logins } from './logins.tsx';
import { Sessions } from './sessions.tsx';

export function Account() {
  const came = useReturn();
  return (
    <Screen title={text('account.title')}>
      <AccountNav />
      {came !== null && <Notice kind={came.kind}>{came.sentence}</Notice>}
      <OfAccount>{(signedIn) => <Parts account={signedIn} />}</OfAccount>
    </Screen>
  );
}

/** Providers lead back here: a person who came from elsewhere goes on to there. */
function useReturn() {
  const router = useRouter();
  const session = useSession();
  const [search] = useState(() => window.location.search);
  const came = returned(new URLSearchParams(search));
  const isKnown = session.status === 'none' || session.status === 'account';
  // A later sign-out is not led back by it.
  const isLed = useRef(search === '');
  useEffect(() => {
    if (isLed.current || !isKnown) return;
    isLed.current = true;
    const back = takeRememberedPath();
    const { pathname } = new URL(back ?? '/account', window.location.origin);
    if (session.status === 'none') {
      router.history.replace(`${signInPath(back ?? '/account')}&${search.slice(1)}`);
    } else if (back !== null && pathname !== '/account' && came?.kind === 'good') {
      router.history.replace(back);
    } else {
      router.history.replace('/account');
    }
  }, [search, isKnown, session.status, came?.kind, router]);
  return came;
}

function Parts({ account: signedIn }: { account: SignedInAccount }) {
  return (
    <>
      {signedIn.leavesAt !== null && <Leaves at={signedIn.leavesAt} />}
      <AboutYou account={signedIn} />
      <Logins account={signedIn} />
      <Sessions accountId={signedIn.id} />
      <DataExport account={signedIn} />
      <End account={signedIn} />
    </>
  );
}

function AboutYou({ account: { id, name, session, recovery } }: { account: SignedInAccount }) {
  const act = useAct();
  const payouts = useQuery({
    queryKey: ['payouts', id],
    queryFn: ({ signal }) => account.payouts(signal),
  });
  const waits = (payouts.data?.payouts ?? []).some(
    ({ waiting, leaving }) => waiting.length + leaving.length > 0,
  );
  const leave = () =>
    act.run(async () => {
      await account.signOut();
      await startAnew();
    });
  return (
    <section className="panel">
      <h2>{name}</h2>
      <p>
        {text('account.signed_in', { way: text(`account.by.${session.signedInBy}`) })}{' '}
        <When at={session.signedInAt} />
      </p>
      {waits && (
        <Notice
          kind="warn"
          title={text('account.waits')}
          action={<Link to="/wallets">{text('account.waits.look')}</Link>}
        >
          {text('account.waits.what')}
        </Notice>
      )}
      {recovery !== null && (
        <Notice kind="warn" title={text('account.one_login')}>
          {text('account.one_login.why')}
        </Notice>
      )}
      <p className="hint">
        {text('account.number')}: <code>{id}</code>{' '}
        <Copy value={id} what={text('account.number')} />
      </p>
      <Button busy={act.busy} onPress={leave}>
        {text('account.sign_out')}
      </Button>
      {act.error !== null && <Failed error={act.error} />}
    </section>
  );
}

/** The person who sees it may not have asked for it. */
function Leaves({ at }: { readonly at: string }) {
  const freshly = useFreshly();
  const keep = async () => {
    await freshly(() => account.keepAccount());
    announce(text('delete.kept'));
    await lookAgain();
  };
  return (
    <Notice
      kind="warn"
      title={text('delete.waits')}
      action={
        <Confirm
          title={text('delete.keep.title')}
          what={<p>{text('delete.keep.what')}</p>}
          onConfirm={keep}
        >
          {text('delete.keep')}
        </Confirm>
      }
    >
      {text('delete.waits.what')} <When at={at} />
    </Notice>
  );
}

function End({ account: { name, leavesAt } }: { account: SignedInAccount }) {
  const freshly = useFreshly();
  const end = async () => {
    await freshly(() => account.deleteAccount());
    announce(text('delete.asked'));
    await lookAgain();
  };
  if (leavesAt !== null) return null;
  return (
    <section className="panel">
      <h2>{text('delete.title')}</h2>
      <p>{text('delete.what')}</p>
      <Confirm
        title={text('delete.sure', { name })}
        what={<p>{text('delete.what')}</p>}
        onConfirm={end}
      >
        {text('delete.go')}
      </Confirm>
    </section>
  );
}
