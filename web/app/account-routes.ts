// The screens of an account by their paths. Paths below /account/ are the market's API.

import { type AnyRootRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';

export function accountRoutes<Root extends AnyRootRoute>(root: Root) {
  const getParentRoute = () => root;
  return [
    createRoute({
      getParentRoute,
      path: '/sign-in',
      component: lazyRouteComponent(() => import('../screens/sign-in/sign-in.tsx'), 'SignIn'),
    }),
    createRoute({
      getParentRoute,
      path: '/account',
      component: lazyRouteComponent(() => import('../screens/account/account.tsx'), 'Account'),
    }),
    createRoute({
      getParentRoute,
      path: '/wallets',
      component: lazyRouteComponent(() => import('../screens/wallets/wallets.tsx'), 'Wallets'),
    }),
    createRoute({
      getParentRoute,
      path: '/activity',
      component: lazyRouteComponent(() => import('../screens/activity/activity.tsx'), 'Activity'),
    }),
    createRoute({
      getParentRoute,
      path: '/notifications',
      component: lazyRouteComponent(
        () => import('../screens/notifications/notifications.tsx'),
        'Notifications',
      ),
    }),
    createRoute({
      getParentRoute,
      path: '/keys',
      component: lazyRouteComponent(() => import('../screens/keys/keys.tsx'), 'Keys'),
    }),
    createRoute({
      getParentRoute,
      path: '/webhooks',
      component: lazyRouteComponent(() => import('../screens/webhooks/webhooks.tsx'), 'Webhooks'),
    }),
    createRoute({
      getParentRoute,
      path: '/assets',
      component: lazyRouteComponent(() => import('../screens/assets/assets.tsx'), 'Assets'),
    }),
    createRoute({
      getParentRoute,
      path: '/settings',
      component: lazyRouteComponent(() => import('../screens/settings/settings.tsx'), 'Settings'),
    }),
  ] as const;
}
