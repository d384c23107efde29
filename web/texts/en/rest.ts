// What every screen but the first one says.

import { account } from './account.ts';
import { activity } from './activity.ts';
import { assets } from './assets.ts';
import { book } from './book.ts';
import { makerConsole } from './console.ts';
import { deal } from './deal.ts';
import { gas } from './gas.ts';
import { help } from './help.ts';
import { keys } from './keys.ts';
import { notifications } from './notifications.ts';
import { orders } from './orders.ts';
import { phrase } from './phrase.ts';
import { settings } from './settings.ts';
import { settled } from './settled.ts';
import { settlement } from './settlement.ts';
import { signIn } from './sign-in.ts';
import { status } from './status.ts';
import { swaps } from './swaps.ts';
import { tell } from './tell.ts';
import { wallets } from './wallets.ts';
import { warnings } from './warnings.ts';
import { webhooks } from './webhooks.ts';

export const rest = {
  ...account,
  ...activity,
  ...assets,
  ...book,
  ...makerConsole,
  ...deal,
  ...gas,
  ...help,
  ...keys,
  ...notifications,
  ...orders,
  ...phrase,
  ...settings,
  ...settled,
  ...settlement,
  ...signIn,
  ...status,
  ...swaps,
  ...tell,
  ...wallets,
  ...warnings,
  ...webhooks,
};
