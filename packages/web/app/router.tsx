// Every screen by its path. The build reads the paths from this file, each whole in `screen('/book'`
// or `path: '/'`. A screen is loaded when first shown. Paths below /account/ are the market's API.

import { messageOf } from '@parley/sdk/errors.ts';
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  lazyRouteComponent,
  type RouteComponent,
  redirect,
} from '@tanstack/react-router';
import { Button, Notice } from '../parts/controls.tsx';
import { Empty, Loading, Screen } from '../parts/page.tsx';
import { ownPath } from '../parts/ways/back.ts';
import { restOfWords, text } from '../texts/texts.ts';
import { Layout } from './layout.tsx';

const root = createRootRoute({
  component: Layout,
  beforeLoad: ({ location }) => (location.pathname === '/' ? undefined : restOfWords()),
});
const getParentRoute = () => root;

const screen = <Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute, path, component });

const phrase = createRoute({
  getParentRoute,
  path: '/phrase',
  /** `back`: where the person was, a path of this app. */
  validateSearch: ({ back }: { back?: unknown }): { back?: string } => {
    const path = ownPath(typeof back === 'string' ? back : null, window.location.origin);
    return path === null ? {} : { back: path };
  },
  component: lazyRouteComponent(() => import('../screens/phrase/phrase.tsx'), 'Phrase'),
});

/** Lists of their own once: links to them are in messages and bookmarks. */
const toActivity = () => {
  throw redirect({ to: '/activity', replace: true });
};

const orders = createRoute({
  getParentRoute,
  path: '/orders',
  beforeLoad: toActivity,
});

const swaps = createRoute({
  getParentRoute,
  path: '/swaps',
  beforeLoad: toActivity,
});

const screens = [
  screen(
    '/',
    lazyRouteComponent(() => import('../screens/swap-box/swap-box.tsx'), 'SwapBox'),
  ),
  orders,
  screen(
    '/orders/$id',
    lazyRouteComponent(() => import('../screens/orders/order.tsx'), 'Order'),
  ),
  screen(
    '/deals/$id',
    lazyRouteComponent(() => import('../screens/deal/deal.tsx'), 'Deal'),
  ),
  screen(
    '/markets',
    lazyRouteComponent(() => import('../screens/market/markets.tsx'), 'Markets'),
  ),
  screen(
    '/markets/$base/$quote',
    lazyRouteComponent(() => import('../screens/market/pair.tsx'), 'MarketPair'),
  ),
  screen(
    '/book',
    lazyRouteComponent(() => import('../screens/book/book.tsx'), 'Book'),
  ),
  screen(
    '/console',
    lazyRouteComponent(() => import('../screens/console/console.tsx'), 'MakersConsole'),
  ),
  screen(
    '/status',
    lazyRouteComponent(() => import('../screens/status/status.tsx'), 'Status'),
  ),
  screen(
    '/help',
    lazyRouteComponent(() => import('../screens/help/help.tsx'), 'Help'),
  ),
  swaps,
  screen(
    '/swaps/$id',
    lazyRouteComponent(() => import('../screens/settlement/settlement.tsx'), 'Settlement'),
  ),
  phrase,
  screen(
    '/rescue',
    lazyRouteComponent(() => import('../screens/rescue/rescue.tsx'), 'Rescue'),
  ),
  screen(
    '/sign-in',
    lazyRouteComponent(() => import('../screens/sign-in/sign-in.tsx'), 'SignIn'),
  ),
  screen(
    '/account',
    lazyRouteComponent(() => import('../screens/account/account.tsx'), 'Account'),
  ),
  screen(
    '/wallets',
    lazyRouteComponent(() => import('../screens/wallets/wallets.tsx'), 'Wallets'),
  ),
  screen(
    '/activity',
    lazyRouteComponent(() => import('../screens/activity/activity.tsx'), 'Activity'),
  ),
  screen(
    '/notifications',
    lazyRouteComponent(() => import('../screens/notifications/notifications.tsx'), 'Notifications'),
  ),
  screen(
    '/keys',
    lazyRouteComponent(() => import('../screens/keys/keys.tsx'), 'Keys'),
  ),
  screen(
    '/webhooks',
    lazyRouteComponent(() => import('../screens/webhooks/webhooks.tsx'), 'Webhooks'),
  ),
  screen(
    '/assets',
    lazyRouteComponent(() => import('../screens/assets/assets.tsx'), 'Assets'),
  ),
  screen(
    '/settings',
    lazyRouteComponent(() => import('../screens/settings/settings.tsx'), 'Settings'),
  ),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(screens),
  defaultErrorComponent: Fault,
  // While code or the keys of this device are opened.
  defaultPendingComponent: Loading,
  defaultNotFoundComponent: Missing,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function Fault({ error, reset }: ErrorComponentProps) {
  const again = <Button onPress={reset}>{text('fault.again')}</Button>;
  return (
    <Screen title={text('fault.title')} narrow>
      <Notice kind="bad" action={again}>
        <p>{text('fault.safe')}</p>
        <pre lang="en">{messageOf(error)}</pre>
      </Notice>
    </Screen>
  );
}

function Missing() {
  return (
    <Screen title={text('missing.title')} narrow>
      <Empty
        action={
          <Link className="button main" to="/">
            {text('missing.back')}
          </Link>
        }
      >
        {text('missing.why')}
      </Empty>
    </Screen>
  );
}
