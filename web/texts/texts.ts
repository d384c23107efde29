// The words of the app, by key. A second language is one more catalogue.

import { account } from './en/account.ts';
import { activity } from './en/activity.ts';
import { assets } from './en/assets.ts';
import { book } from './en/book.ts';
import { common } from './en/common.ts';
import { makerConsole } from './en/console.ts';
import { deal } from './en/deal.ts';
import { gas } from './en/gas.ts';
import { help } from './en/help.ts';
import { keys } from './en/keys.ts';
import { notifications } from './en/notifications.ts';
import { orders } from './en/orders.ts';
import { phrase } from './en/phrase.ts';
import { session } from './en/session.ts';
import { settings } from './en/settings.ts';
import { settlement } from './en/settlement.ts';
import { status } from './en/status.ts';
import { swapBox } from './en/swap-box.ts';
import { wallets } from './en/wallets.ts';
import { webhooks } from './en/webhooks.ts';

const english = {
  ...account,
  ...activity,
  ...assets,
  ...book,
  ...common,
  ...makerConsole,
  ...deal,
  ...gas,
  ...help,
  ...keys,
  ...notifications,
  ...orders,
  ...phrase,
  ...session,
  ...settings,
  ...settlement,
  ...status,
  ...swapBox,
  ...wallets,
  ...webhooks,
};

export type TextKey = keyof typeof english;
export type Values = Readonly<Record<string, string | number>>;

/** `{name}` in a text is replaced by the value of that name. */
export function text(key: TextKey, values: Values = {}): string {
  return english[key].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}
