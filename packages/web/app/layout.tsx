// The navigation in the head of every screen, in this order.

import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps, Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useId, useRef } from 'react';
import { buildHash, useMarketStatus } from '../market/answers.ts';
import { config } from '../market/config.ts';
import { replaced, signOut, useSession } from '../market/session.ts';
import { useLive } from '../market/use-live.ts';
import { useOnline } from '../market/use-online.ts';
import { newer, takeNewer } from '../offline/keep.ts';
import { Button, Notice, useAnnounced } from '../parts/controls.tsx';
import { Icon, type IconName } from '../parts/icons.tsx';
import { FreshGate } from '../parts/ways/fresh.tsx';
import { shortAddress } from '../parts/words.ts';
import { type TextKey, text } from '../texts/texts.ts';
import { overScreens } from './open-swaps.ts';

type Screens = NonNullable<LinkProps['to']>;

type Place = {
  readonly to: Screens;
  readonly name: TextKey;
  /** Screens that belong to it too. */
  readonly also?: RegExp;
};

const places: readonly Place[] = [
  { to: '/', name: 'layout.swap', also: /^\/(?:orders|deals)\// },
  { to: '/activity', name: 'layout.activity', also: /^\/swaps\// },
  { to: '/markets', name: 'layout.market', also: /^\/(?:markets|book)/ },
];

const more: readonly (Omit<Place, 'also'> & { readonly icon: IconName })[] = [
  { to: '/account', name: 'layout.account', icon: 'account' },
  { to: '/wallets', name: 'layout.wallets', icon: 'wallet' },
  { to: '/console', name: 'layout.console', icon: 'makers' },
  { to: '/settings', name: 'layout.settings', icon: 'settings' },
  { to: '/rescue', name: 'layout.rescue', icon: 'rescue' },
  { to: '/status', name: 'layout.status', icon: 'gauge' },
  { to: '/help', name: 'layout.help', icon: 'help' },
];

export function Layout() {
  const announced = useAnnounced();
  /** The path of the screen that is displayed, not of one that is still loaded. */
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  useFocusOfScreens(path);
  const over = useLive(overScreens);
  return (
    <>
      <a className="skip" href="#screen">
        {text('layout.skip')}
      </a>
      <Head />
      <TestNetwork />
      <Offline />
      <main id="screen" tabIndex={-1} data-path={path}>
        <Newer />
        <Replaced />
        {over?.(path)}
        <FreshGate>
          <Outlet />
        </FreshGate>
      </main>
      <Foot />
      <div className="unseen" aria-live="polite">
        {announced}
      </div>
    </>
  );
}

function Head() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <header className="top">
      <Link to="/" className="brand">
        <BrandMark />
        {config.productName}
      </Link>
      <nav aria-label={text('layout.navigation')}>
        <ul>
          {places.map(({ to, name, also }) => (
            <li key={name}>
              <Link to={to} className={also?.test(path) ? 'within' : ''}>
                {text(name)}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="top-right">
        <ChainsLive />
        <Me />
      </div>
    </header>
  );
}

/** Two people who talk: one bubble in front of another. */
function BrandMark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <path
        fill="currentColor"
        d="M8 4h11a5 5 0 0 1 5 5v5a5 5 0 0 1-5 5h-7l-5 4v-4.6A5 5 0 0 1 3 14V9a5 5 0 0 1 5-5z"
      />
      <path
        fill="none"
        stroke="var(--ink)"
        strokeWidth="2.6"
        strokeLinecap="round"
        strokeLinejoin="round"
        d="M28 14v6a4 4 0 0 1-3 3.9V29l-4.5-4H15"
      />
    </svg>
  );
}

/** How many chains the market follows now, in one glance. */
function ChainsLive() {
  const { data, error } = useMarketStatus();
  const isOnline = useOnline();
  // Offline the last answer says nothing of now.
  if ((data === undefined && error === null) || !isOnline) return null;
  const chains = error === null ? data.chains : [];
  const live = chains.filter(
    (each) => each.height !== null && each.haltedSince === null && !each.isQuiet,
  ).length;
  const tone = error !== null || live === 0 ? 'bad' : live < chains.length ? 'warn' : '';
  return (
    <Link to="/status" className="chains-live">
      <span className={`dot ${tone}`} />
      {error === null ? text('layout.chains', { count: live }) : text('layout.chains.unknown')}
    </Link>
  );
}

function Me() {
  const session = useSession();
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const close = () => menu.current?.hidePopover();
  const account = session.status === 'account' ? session.account : null;
  const name = account === null ? '' : shortAddress(account.name);
  const label = `${text('layout.menu')} ${name}`.trim();
  return (
    <>
      {session.status === 'none' && (
        <Link to="/sign-in" className="button">
          {text('layout.sign_in')}
        </Link>
      )}
      <button type="button" className="me" popoverTarget={id} aria-label={label}>
        <span className="me-mark" />
        <span>{name || label}</span>
      </button>
      <div ref={menu} id={id} popover="auto" className="me-menu">
        <ul>
          {more.map(({ to, name, icon }) => (
            <li key={name}>
              <Link to={to} onClick={close}>
                <Icon name={icon} />
                {text(name)}
              </Link>
            </li>
          ))}
          {account !== null && (
            <li>
              <button
                type="button"
                onClick={() => {
                  close();
                  void signOut();
                }}
              >
                <Icon name="signOut" />
                {text('layout.sign_out')}
              </button>
            </li>
          )}
        </ul>
      </div>
    </>
  );
}

/** A person who takes it for the real market would wait for real money. */
function TestNetwork() {
  if (config.network !== 'testnet') return null;
  return <p className="test-network">{text('layout.testnet')}</p>;
}

function Offline() {
  const isOnline = useOnline();
  return (
    <div role="status">{!isOnline && <p className="offline">{text('layout.offline')}</p>}</div>
  );
}

function Newer() {
  if (!useLive(newer)) return null;
  const take = <Button onPress={takeNewer}>{text('layout.newer.take')}</Button>;
  return (
    <Notice kind="info" title={text('layout.newer')} action={take}>
      {text('layout.newer.safe')}
    </Notice>
  );
}

/**
 * The account that a screen showed was signed out of elsewhere, or another one was signed in to.
 * Both are unharmed.
 */
function Replaced() {
  if (!useLive(replaced)) return null;
  const read = <Button onPress={() => replaced.set(false)}>{text('session.replaced.read')}</Button>;
  return (
    <Notice kind="warn" title={text('session.replaced')} action={read}>
      {text('session.replaced.safe')}
    </Notice>
  );
}

function Foot() {
  const { data } = useQuery({
    queryKey: ['build'],
    queryFn: ({ signal }) => buildHash(signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <footer className="bottom">
      <a href="/v1/docs">{text('layout.api')}</a>
      {data !== undefined && (
        <Link to="/help" hash="build" title={text('layout.build.why')}>
          {text('layout.build', { hash: data.slice(0, 12) })}
        </Link>
      )}
    </footer>
  );
}

/** A person who moves by keyboard or hears the page begins at the heading of a new screen. */
function useFocusOfScreens(path: string | undefined): void {
  const former = useRef<string>(undefined);
  useEffect(() => {
    const isFirst = former.current === undefined;
    former.current = path;
    if (isFirst) return;
    const screen = document.querySelector<HTMLElement>('#screen');
    const place = screen?.querySelector<HTMLElement>('h1[tabindex]') ?? screen;
    place?.focus({ preventScroll: true });
  }, [path]);
}
