// Every screen by its path: this file and those beside it that end in `-routes`. The build reads
// the paths from them, each whole and on a line of its own. A screen is loaded when first shown.

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { Loading } from '../parts/answer.tsx';
import { restOfWords } from '../texts/texts.ts';
import { accountRoutes } from './account-routes.ts';
import { Fault } from './fault.tsx';
import { Layout } from './layout.tsx';
import { Missing } from './missing.tsx';
import { settleRoutes } from './settle-routes.ts';
import { tradeRoutes } from './trade-routes.ts';

const root = createRootRoute({
  component: Layout,
  beforeLoad: ({ location }) => (location.pathname === '/' ? undefined : restOfWords()),
});
const getParentRoute = () => root;

const book = createRoute({
  getParentRoute,
  path: '/book',
  component: lazyRouteComponent(() => import('../screens/book/book.tsx'), 'Book'),
});

const makersConsole = createRoute({
  getParentRoute,
  path: '/console',
  component: lazyRouteComponent(() => import('../screens/console/console.tsx'), 'MakersConsole'),
});

const status = createRoute({
  getParentRoute,
  path: '/status',
  component: lazyRouteComponent(() => import('../screens/status/status.tsx'), 'Status'),
});

const help = createRoute({
  getParentRoute,
  path: '/help',
  component: lazyRouteComponent(() => import('../screens/help/help.tsx'), 'Help'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    ...tradeRoutes(root),
    book,
    makersConsole,
    status,
    help,
    ...settleRoutes(root),
    ...accountRoutes(root),
  ]),
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
