// The screens of an account by their paths. None is below /account/: that is the market's API.

import { type AnyRootRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';

export function accountRoutes<Root extends AnyRootRoute>(root: Root) {
  const getParentRoute = () => root;
  return [
    createRoute({
      getParentRoute,
      path: '/sign-in',
      /** `back`: where the person was, a path of this app. */
      validateSearch: ({ back }: { back?: unknown }): { back?: string } =>
        typeof back === 'string' ? { back } : {},
      component: lazyRouteComponent(() => import('../screens/sign-in/sign-in.tsx'), 'SignIn'),
    }),
  ] as const;
}
