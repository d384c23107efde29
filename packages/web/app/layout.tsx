// The navigation in the head of every screen, in this order.

import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps, Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useId, useRef, useState, useSyncExternalStore } from 'react';
import { buildHash } from '../market/answers.ts';
import { config } from '../market/config.ts';
import { replaced } from '../market/session.ts';
import { useLive } from '../market/use-live.ts';
import { newer, takeNewer } from '../offline/keep.ts';
import { Button, Notice, useAnnounced } from '../parts/controls.tsx';
import { type TextKey, text } from '../texts/texts.ts';
import { overScreens } from './open-swaps.ts';

type Screens = NonNullable<LinkProps['to']>;

const links: readonly { readonly to: Screens; readonly name: TextKey }[] = [
  { to: '/', name: 'layout.swap' },
  { to: '/orders', name: 'layout.orders' },
  { to: '/book', name: 'layout.book' },
  { to: '/swaps', name: 'layout.swaps' },
  { to: '/console', name: 'layout.console' },
  { to: '/status', name: 'layout.status' },
  { to: '/account', name: 'layout.account' },
  { to: '/help', name: 'layout.help' },
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
        <Outlet />
      </main>
      <Foot />
      <div className="unseen" aria-live="polite">
        {announced}
      </div>
    </>
  );
}

function Head() {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const close = () => setOpen(false);
  return (
    <header className="top">
      <Link to="/" className="brand" onClick={close}>
        {config.productName}
      </Link>
      <button
        type="button"
        className="button quiet menu"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {text('layout.menu')}
      </button>
      <nav id={id} aria-label={text('layout.navigation')} className={isOpen ? 'open' : undefined}>
        <ul>
          {links.map(({ to, name }) => (
            <li key={name}>
              <Link to={to} onClick={close}>
                {text(name)}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
    </header>
  );
}

/** A person who takes it for the real market would wait for real money. */
function TestNetwork() {
  if (config.network !== 'testnet') return null;
  return <p className="test-network">{text('layout.testnet')}</p>;
}

function Offline() {
  const isOnline = useSyncExternalStore(
    (listener) => {
      window.addEventListener('online', listener);
      window.addEventListener('offline', listener);
      return () => {
        window.removeEventListener('online', listener);
        window.removeEventListener('offline', listener);
      };
    },
    () => navigator.onLine,
  );
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
