// The navigation in the head of every screen, in this order.

import type { LinkProps } from '@tanstack/react-router';
import type { TextKey } from '../texts/texts.ts';

type Screens = NonNullable<LinkProps['to']>;

export const links: readonly { readonly to: Screens; readonly name: TextKey }[] = [
  { to: '/', name: 'layout.swap' },
  { to: '/orders', name: 'layout.orders' },
  { to: '/book', name: 'layout.book' },
  { to: '/swaps', name: 'layout.swaps' },
  { to: '/console', name: 'layout.console' },
  { to: '/status', name: 'layout.status' },
  { to: '/account', name: 'layout.account' },
  { to: '/help', name: 'layout.help' },
];
