// Screens of a trade until it is agreed, by their path.

import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';

export function tradeRoutes<Parent extends AnyRoute>(parent: Parent) {
  const getParentRoute = () => parent;
  return [
    createRoute({
      getParentRoute,
      path: '/',
      /** The box as a link fills it: draft.ts reads what it understands. */
      validateSearch: (search: Record<string, unknown>) => search,
      component: lazyRouteComponent(() => import('../screens/swap-box/swap-box.tsx'), 'SwapBox'),
    }),
    createRoute({
      getParentRoute,
      path: '/orders',
      component: lazyRouteComponent(() => import('../screens/orders/orders.tsx'), 'Orders'),
    }),
    createRoute({
      getParentRoute,
      path: '/orders/$id',
      component: lazyRouteComponent(() => import('../screens/orders/order.tsx'), 'Order'),
    }),
    createRoute({
      getParentRoute,
      path: '/deals/$id',
      component: lazyRouteComponent(() => import('../screens/deal/deal.tsx'), 'Deal'),
    }),
  ] as const;
}
