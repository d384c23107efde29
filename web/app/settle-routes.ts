// Swaps, the rescue phrase and the rescue page by their paths.

import { type AnyRootRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { ownPath } from '../parts/ways/back.ts';

export function settleRoutes<Root extends AnyRootRoute>(root: Root) {
  const getParentRoute = () => root;
  return [
    createRoute({
      getParentRoute,
      path: '/swaps',
      component: lazyRouteComponent(() => import('../screens/settlement/swaps.tsx'), 'Swaps'),
    }),
    createRoute({
      getParentRoute,
      path: '/swaps/$id',
      component: lazyRouteComponent(
        () => import('../screens/settlement/settlement.tsx'),
        'Settlement',
      ),
    }),
    createRoute({
      getParentRoute,
      path: '/phrase',
      /** `back`: where the person was, a path of this app. */
      validateSearch: ({ back }: { back?: unknown }): { back?: string } => {
        const path = ownPath(typeof back === 'string' ? back : null, window.location.origin);
        return path === null ? {} : { back: path };
      },
      component: lazyRouteComponent(() => import('../screens/phrase/phrase.tsx'), 'Phrase'),
    }),
    createRoute({
      getParentRoute,
      path: '/rescue',
      component: lazyRouteComponent(() => import('../screens/rescue/rescue.tsx'), 'Rescue'),
    }),
  ] as const;
}
