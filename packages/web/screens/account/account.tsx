// The account that is signed in: its name, its logins and sessions, its data, and its end.

import { isoTime } from '@parley/sdk/people.ts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { account, type Session } from '../../market/account.ts';
import { now } from '../../market/config.ts';
import {
  lookAgain,
  type SignedInAccount,
  signOut,
  startAnew,
  useSession,
} from '../../market/session.ts';
import { market } from '../../market/site.ts';
import { AccountNav, returned } from '../../parts/account-screen.tsx';
import { Do, useAct } from '../../parts/act.tsx';
import { announce, Button, Copy, Notice, Panel } from '../../parts/controls.tsx';
import { Confirm, fileName, saveFile } from '../../parts/forms.tsx';
import { Answer, Failed, Screen } from '../../parts/page.tsx';
import { type Column, Table, When } from '../../parts/shown.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { signInPath, takeRememberedPath } from '../../parts/ways/back.ts';
import { text } from '../../texts/texts.ts';
import { collected } from './collect.ts';
import { Logins } from './logins.tsx';

export function Account() {
  const came = useReturn();
  return (
    <Screen title={text('account.title')}>
      <AccountNav />
      {came !== null && <Notice kind={came.kind}>{came.sentence}</Notice>}
      <SignedIn>{(signedIn) => <Parts account={signedIn} />}</SignedIn>
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
  const payouts = useQuery({
    queryKey: ['payouts', id],
    queryFn: ({ signal }) => account.payouts(signal),
  });
  const waits = (payouts.data?.payouts ?? []).some(
    ({ waiting, leaving }) => waiting.length + leaving.length > 0,
  );
  return (
    <Panel title={name}>
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
      <Do work={signOut}>{text('account.sign_out')}</Do>
    </Panel>
  );
}

/** The person who sees it may not have asked for it. */
function Leaves({ at }: { at: string }) {
  const keep = async () => {
    await account.keepAccount();
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
  const end = async () => {
    await account.deleteAccount();
    announce(text('delete.asked'));
    await lookAgain();
  };
  if (leavesAt !== null) return null;
  return (
    <Panel title={text('delete.title')}>
      <p>{text('delete.what')}</p>
      <Confirm
        title={text('delete.sure', { name })}
        what={<p>{text('delete.what')}</p>}
        onConfirm={end}
      >
        {text('delete.go')}
      </Confirm>
    </Panel>
  );
}

function Sessions({ accountId }: { accountId: string }) {
  const sessions = useQuery({
    queryKey: ['sessions', accountId],
    queryFn: ({ signal }) => account.sessions(signal),
  });
  return (
    <Panel title={text('sessions.title')}>
      <p>{text('sessions.what')}</p>
      <Answer of={sessions}>{({ sessions: live }) => <List live={live} />}</Answer>
    </Panel>
  );
}

function List({ live }: { live: readonly Session[] }) {
  const client = useQueryClient();
  const act = useAct();
  const changed = async () => {
    announce(text('sessions.ended'));
    await client.invalidateQueries({ queryKey: ['sessions'] });
  };
  const end = ({ id, current }: Session) =>
    act.run(async () => {
      await account.endSession(id);
      if (current) await startAnew();
      else await changed();
    });
  const all = async () => {
    await account.endOtherSessions();
    await changed();
  };
  const columns: readonly Column<Session>[] = [
    {
      label: text('sessions.device'),
      cell: ({ device, current }) =>
        current ? (
          <>
            {device} <span className="hint">({text('sessions.this')})</span>
          </>
        ) : (
          device
        ),
    },
    { label: text('sessions.place'), cell: ({ place }) => place },
    { label: text('sessions.since'), cell: ({ madeAt }) => <When at={madeAt} /> },
    { label: text('sessions.used'), cell: (each) => <When at={each.lastUsedAt} /> },
    { label: text('sessions.ends'), cell: (each) => <When at={each.expiresAt} /> },
    {
      label: text('sessions.end'),
      cell: (each) => (
        <Button
          kind="quiet"
          busy={act.busy}
          label={text('sessions.end.label', { device: each.device, place: each.place })}
          onPress={() => end(each)}
        >
          {text('sessions.end')}
        </Button>
      ),
    },
  ];
  return (
    <>
      <Table caption={text('sessions.title')} columns={columns} rows={live} />
      <Failed error={act.error} />
      <div className="actions">
        {live.length > 1 ? (
          <Confirm
            title={text('sessions.all.title')}
            what={<p>{text('sessions.all.what')}</p>}
            onConfirm={all}
          >
            {text('sessions.all')}
          </Confirm>
        ) : (
          <p className="hint">{text('sessions.only')}</p>
        )}
      </div>
    </>
  );
}

function DataExport({ account: signedIn }: { account: SignedInAccount }) {
  const [said, setSaid] = useState('');
  const reading = useRef<AbortController>(null);
  useEffect(() => () => reading.current?.abort(), []);
  const go = async () => {
    reading.current = new AbortController();
    const told = (part: string) => setSaid(text('export.part', { part }));
    const all = await collected({ market, account }, reading.current.signal, told);
    const about = { madeAt: isoTime(now()), market: market.baseUrl, account: signedIn };
    const name = fileName('account', 'json');
    saveFile(name, 'application/json', JSON.stringify({ ...about, ...all }));
    const parts = all.cut.join(', ');
    setSaid(text(parts === '' ? 'export.done' : 'export.cut', { name, parts }));
  };
  return (
    <Panel title={text('export.title')}>
      <p>{text('export.what')}</p>
      <Do work={go}>{text('export.go')}</Do>
      <p role="status">{said}</p>
    </Panel>
  );
}
