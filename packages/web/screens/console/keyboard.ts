// The console's keys. Pure: where the press lands says whether it is one of them.

export const commands = ['down', 'up', 'quote', 'edit', 'withdraw', 'filter', 'help'] as const;
export type Command = (typeof commands)[number];

const byKey: Readonly<Record<string, Command>> = {
  j: 'down',
  ArrowDown: 'down',
  k: 'up',
  ArrowUp: 'up',
  Enter: 'quote',
  e: 'edit',
  w: 'withdraw',
  '/': 'filter',
  '?': 'help',
};

export type Press = {
  readonly key: string;
  /** With Ctrl, Alt or Meta: meant for the browser. */
  readonly isOther: boolean;
  /** `row`: an order of the list. `control`: a button or link, which has keys of its own. */
  readonly on: 'page' | 'row' | 'control' | 'field' | 'dialog';
};

export function commandOf({ key, isOther, on }: Press): Command | null {
  if (isOther || on === 'field' || on === 'dialog') return null;
  const command = Object.hasOwn(byKey, key) ? byKey[key] : undefined;
  if (command === undefined) return null;
  // The browser presses what has the focus, and scrolls.
  if (key === 'Enter' && on !== 'page') return null;
  if (key.startsWith('Arrow') && on !== 'row') return null;
  return command;
}
