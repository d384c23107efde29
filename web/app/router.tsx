// Every screen by its path. A screen is loaded when it is first shown.

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { Fault } from './fault.tsx';
import { Layout } from './layout.tsx';
import { Missing } from './missing.tsx';

const root = createRootRoute({ component: Layout });

const book = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('../screens/book/book.tsx'), 'Book'),
});

const status = createRoute({
  getParentRoute: () => root,
  path: '/status',
  component: lazyRouteComponent(() => import('../screens/status/status.tsx'), 'Status'),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  /** `back`: where the person was, a path of this app. */
  validateSearch: ({ back }: { back?: unknown }): { back?: string } =>
    typeof back === 'string' ? { back } : {},
  component: lazyRouteComponent(() => import('../screens/sign-in/sign-in.tsx'), 'SignIn'),
});

export const router = createRouter({
  routeTree: root.addChildren([book, status, signIn]),
  defaultErrorComponent: Fault,
  defaultNotFoundComponent: Missing,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
