// The messages to a person, and where they go. The person cannot switch them off: see the texts.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { account, type Login } from '../../market/account.ts';
import type { SignedInAccount } from '../../market/session.ts';
import { AccountScreen } from '../../parts/account-screen.tsx';
import { Notice, Panel } from '../../parts/controls.tsx';
import { TellMe } from '../../parts/tell-me.tsx';
import { text } from '../../texts/texts.ts';

export function Notifications() {
  return (
    <AccountScreen title={text('notifications.title')}>
      {(signedIn) => (
        <>
          <p>{text('notifications.what')}</p>
          <Channels account={signedIn} />
          <TellMe path="/swaps" />
          <Kinds />
        </>
      )}
    </AccountScreen>
  );
}

/** Where an account hears of what happens. */
function isChannel({ way, messages }: Login): boolean {
  return way === 'email' || messages !== null;
}

function Channels({ account: { logins } }: { account: SignedInAccount }) {
  const ways = useQuery({ queryKey: ['ways'], queryFn: ({ signal }) => account.ways(signal) });
  const channels = logins.filter(isChannel);
  const hears = channels.some(({ way, messages }) => way === 'email' || messages === 'on');
  const more = (ways.data?.providers ?? []).filter(({ messages }) => messages);
  const hasChat = channels.some(({ messages }) => messages === 'on');
  return (
    <Panel title={text('notifications.channels')}>
      {!hears && (
        <Notice
          kind="warn"
          title={text('notifications.none')}
          action={<Link to="/account">{text('notifications.add')}</Link>}
        >
          {text('notifications.none.why')}
        </Notice>
      )}
      {channels.length > 0 && (
        <ul className="entries">
          {channels.map(({ id, way, label, messages }) => (
            <li key={id}>
              <div>
                <p>
                  <strong>{label}</strong>{' '}
                  <span className="hint">
                    {text(way === 'email' ? 'notifications.email' : 'notifications.telegram')}
                  </span>
                </p>
                {messages === 'ended' && (
                  <p className="hint warn-ink">{text('notifications.ended')}</p>
                )}
              </div>
              {messages !== 'ended' && (
                <span className="chip good">{text('notifications.on')}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      {!hasChat &&
        more.map(({ id, label }) => (
          <p key={id}>
            {text('notifications.provider', { label })}{' '}
            <Link to="/account">{text('notifications.add')}</Link>
          </p>
        ))}
    </Panel>
  );
}

const kinds = ['deadlines', 'payout', 'logins', 'keys', 'end'] as const;
function Kinds() {
  return (
    <Panel title={text('notifications.kinds')}>
      <ul className="entries">
        {kinds.map((kind) => (
          <li key={kind}>
            <div>
              <p>
                <strong>{text(`notifications.${kind}`)}</strong>
              </p>
              <p className="hint">{text(`notifications.${kind}.when`)}</p>
            </div>
          </li>
        ))}
      </ul>
      <p>{text('notifications.never')}</p>
      <p>
        {text('notifications.programs')} <Link to="/webhooks">{text('account.nav.webhooks')}</Link>
      </p>
    </Panel>
  );
}
