// The words of each message: plain text, short, and nothing in it that acts by itself. A text from
// facts passes `shown` or `instant`; amounts are in none.

import { factsOf, isFamily } from '@parley/core/families.ts';
import type { PeopleTopic } from '../db/messages.ts';
import { longestSubject, longestText } from './bounds.ts';
import { instant, shown } from './shown.ts';

/** The facts of an event, as its outbox row has them; for a code, `code` and `expiresAt`. */
export type Facts = Readonly<Record<string, unknown>>;

export type Market = {
  readonly productName: string;
  /** The origin of its pages; null on the dev network, where nobody knows it. */
  readonly origin: string | null;
};

export type Text = { readonly subject: string; readonly body: string };

/** When it happened, and where the person does something about it. */
type About = { readonly at: string; readonly page: string };
/** The subject, and the lines. */
type Words = readonly [subject: string, ...lines: string[]];

export type MessageEvent = PeopleTopic | 'code';

export function textOf(event: MessageEvent, facts: Facts, at: Date, market: Market): Text {
  const { productName, origin } = market;
  const page = origin === null ? 'on your account page' : `at ${origin}/account`;
  const [subject, ...lines] = words[event](facts, { at: instant(at.toISOString()), page });
  const from = origin === null ? productName : `${productName}, ${origin}`;
  const body = [...lines.filter((line) => line !== ''), '', from].join('\n');
  return {
    subject: `${productName}: ${subject}`.slice(0, longestSubject).toWellFormed(),
    body: body.slice(0, longestText).toWellFormed(),
  };
}

const words: Readonly<Record<MessageEvent, (facts: Facts, about: About) => Words>> = {
  'key.created': (facts, about) => {
    const { scopes, expiresAt } = facts;
    const may = Array.isArray(scopes) ? scopes.map(shown).join(', ') : '';
    return [
      'a new API key',
      `A new API key was made at ${about.at}: ${keyOf(facts)}`,
      may === '' ? '' : `It may: ${may}.`,
      `It ends at ${instant(expiresAt)}.`,
      notYou(about),
    ];
  },
  'key.revoked': (facts, about) => [
    'an API key was revoked',
    `An API key was revoked at ${about.at}: ${keyOf(facts)}`,
    notYou(about),
  ],
  'key.expiring': (facts, { page }) => {
    const end = instant(facts.expiresAt);
    return [
      `an API key ends at ${end}`,
      `The API key ${keyOf(facts)} ends at ${end}.`,
      `A program that uses it is refused from then on. Make another key ${page}.`,
    ];
  },
  'login.added': (facts, { at, page }) => [
    'a new way to sign in',
    `A way to sign in to your account was added at ${at}: ${loginOf(facts)}.`,
    typeof facts.waitsUntil === 'string'
      ? `This wallet is not paid before ${instant(facts.waitsUntil)}.`
      : '',
    `If that was not you: sign in ${page}, remove it and end all other sessions.`,
  ],
  'login.removed': (facts, { at, page }) => {
    const leaves = typeof facts.leavesAt === 'string' ? instant(facts.leavesAt) : '';
    if (leaves === '') {
      return [
        'a way to sign in was removed',
        `A way to sign in to your account was removed at ${at}: ${loginOf(facts)}.`,
        `If that was not you: sign in another way ${page} and end all other sessions.`,
      ];
    }
    return [
      `a way to sign in is removed at ${leaves}`,
      `At ${at} somebody asked to remove a way to sign in: ${loginOf(facts)}.`,
      `It stays until ${leaves}. Until then it signs in, and can stop it ${page}.`,
      'If that was not you: sign in with it and stop all that waits.',
      'That ends all other sessions and their keys. Then remove logins you do not know.',
    ];
  },
  'session.created': ({ device, place }, about) => {
    const on = shown(device);
    const from = shown(place);
    return [
      'a sign-in on a new device',
      `Somebody signed in to your account at ${about.at} on a device that is new to it.`,
      on === '' ? '' : `Device: ${on}`,
      from === '' ? '' : `Network: ${from}`,
      notYou(about),
    ];
  },
  'payout.changing': (facts, { at, page }) => {
    const from = instant(facts.fromAt);
    const stop =
      'If that was not you, stop it, end all other sessions and remove logins you do not know.';
    if (facts.paid === false) {
      return [
        `swaps may pay another wallet from ${from}`,
        `At ${at} somebody asked that swaps may be told to pay ${walletOf(facts)}.`,
        `It waits until ${from}. Until then no swap may name it, and you can stop it ${page}.`,
        stop,
      ];
    }
    return [
      `another payout wallet from ${from}`,
      `At ${at} somebody asked that you be paid to another wallet: ${walletOf(facts)}.`,
      `It waits until ${from}. Until then you are paid as before, and can stop it ${page}.`,
      stop,
    ];
  },
  'payout.changed': (facts, about) => {
    const isPaid = facts.paid !== false;
    const wallet = walletOf(facts);
    return [
      isPaid ? 'you are paid to another wallet' : 'swaps may pay another wallet',
      `From ${about.at} on ${isPaid ? 'you are paid to' : 'a swap may be told to pay'} ${wallet}.`,
      isPaid ? 'Swaps agreed before keep their addresses.' : 'Other swaps pay as before.',
      notYou(about),
    ];
  },
  'payout.stopped': (facts, about) => {
    if (facts.account === true) return accountStays(facts, about);
    const wallet = walletOf(facts);
    const login = facts.way === undefined ? `wallet ${wallet}` : loginOf(facts);
    if (facts.isLast === true) {
      return [
        'a way to sign in was not removed',
        `The ${login} was to be removed at ${about.at}, and stays:`,
        'it is the only way to sign in. Add another one first, and remove it again.',
        notYou(about),
      ];
    }
    if (facts.stays === true && facts.change !== true) {
      return [
        'a way to sign in stays',
        `The removal of the ${login} was stopped at ${about.at}: it signs in as before.`,
        notYou(about),
      ];
    }
    return [
      'a change of your payout wallet was stopped',
      `The change of your payout wallet to ${wallet} was stopped at ${about.at}.`,
      'You are paid as before.',
      notYou(about),
    ];
  },
  'account.deleted': ({ leavesAt }, { at, page }) => {
    if (typeof leavesAt === 'string') {
      return [
        `your account is deleted at ${instant(leavesAt)}`,
        `At ${at} somebody asked to delete your account. It stays until ${instant(leavesAt)}.`,
        `If that was not you: sign in ${page} and stop it.`,
        'That ends all other sessions and their keys. Then remove logins you do not know.',
      ];
    }
    return [
      'your account was deleted',
      `Your account was deleted at ${at}, with its keys, sessions, logins and webhooks.`,
      'It cannot be brought back. This is the last message about it.',
    ];
  },
  'swap.reminder': (facts) => {
    const { kind, swapId, leg, chain, deadline } = facts;
    const where = `leg ${shown(leg)} on ${shown(chain)}`;
    const told = reminders[kind as ReminderKind](facts, where, instant(deadline));
    return uuid.test(String(swapId)) ? [...told, `Swap ${swapId}`] : told;
  },
  'chat.ended': ({ label }, { at, page }) => {
    const named = shown(label);
    return [
      'Telegram messages have ended',
      `At ${at} Telegram refused a message to you${named === '' ? '' : ` (${named})`}:`,
      'the bot is blocked, or the chat is gone. Nothing more is sent there.',
      `To hear by Telegram again, unblock the bot and sign in with Telegram ${page}.`,
    ];
  },
  // The message has no link: the code is typed into the browser that asked for it.
  code: (facts) => [
    facts.purpose === 'add' ? 'a code to add this address' : 'your sign-in code',
    facts.purpose === 'add'
      ? 'Somebody wants to sign in to an account with this address too, and sees what it sees.'
      : '',
    `Your code is ${digitsIn(facts.code)}`,
    `It works until ${instant(facts.expiresAt)}, ` +
      `in ${isLong(facts.code) ? 'each' : 'the'} browser that asked for it.`,
    isLong(facts.code)
      ? 'It is long because many were asked for. No other one is sent for half an hour.'
      : '',
    'We never ask you for it: give it to nobody, and type it nowhere else.',
    'If you did not ask for it, do nothing.',
  ],
};

const isLong = (code: unknown) => /^\d{20}$/.test(String(code));

/** Twenty of them in groups, as they are typed. */
function digitsIn(code: unknown): string {
  if (isLong(code)) return (String(code).match(/\d{5}/g) ?? []).join(' ');
  return /^\d{6}$/.test(String(code)) ? String(code) : '';
}

function accountStays({ why }: Facts, about: About): Words {
  const subject = 'your account is not deleted';
  if (why === undefined) {
    return [subject, `Its deletion was stopped at ${about.at}: it stays.`, notYou(about)];
  }
  return [
    subject,
    `It was to be deleted at ${about.at}, and stays: swaps, orders or quotes of it are open,`,
    'or the market holds it. End what is open, and delete it again.',
    notYou(about),
  ];
}

const notYou = ({ page }: About) =>
  `If that was not you: sign in ${page}, end all other sessions and revoke keys you do not know.`;

function keyOf({ prefix, name }: Facts): string {
  const called = shown(name);
  return `${shown(prefix)}…${called === '' ? '' : ` (${called})`}`;
}

const ways: Readonly<Record<string, string>> = {
  email: 'e-mail address',
  provider: 'identity provider',
  passkey: 'passkey',
  wallet: 'wallet',
};

function loginOf({ way, what }: Facts): string {
  const named = shown(what);
  return `${ways[String(way)] ?? 'login'}${named === '' ? '' : ` ${named}`}`;
}

function walletOf({ family, address }: Facts): string {
  const named = String(family);
  return `${shown(address)} (${isFamily(named) ? factsOf[named].title : shown(family)})`;
}

export const reminderKinds = ['fund_by', 'reveal_by', 'claim_now', 'refund_possible'] as const;
export type ReminderKind = (typeof reminderKinds)[number];

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Each says the deadline, and what happens otherwise. */
const reminders: Readonly<Record<ReminderKind, (facts: Facts, leg: string, at: string) => Words>> =
  {
    fund_by: ({ isFirst }, leg, at) => [
      `fund your leg of a swap by ${at}`,
      `Fund ${leg} by ${at}.`,
      isFirst === true
        ? 'Otherwise the swap ends, and nobody has paid anything.'
        : 'Otherwise the swap ends: you have paid nothing, and the other side is refunded.',
    ],
    reveal_by: ({ refundAt }, leg, at) => [
      `claim your side of a swap by ${at}`,
      `Both legs are funded. Claim ${leg} by ${at}; that shows the secret.`,
      `Otherwise do not claim any more, and take your own back from ${instant(refundAt)} on.`,
    ],
    claim_now: (_, leg, at) => [
      `claim your side of a swap now, before ${at}`,
      `The secret of the swap is public. Claim ${leg} now, before ${at}.`,
      'Otherwise the other side can take it back, and you have paid for nothing.',
    ],
    refund_possible: (_, leg, at) => [
      'a refund is possible',
      `The other side did not claim ${leg}, and its timelock passed at ${at}: refund it.`,
      'Otherwise it stays in the escrow, where whoever has the secret may still claim it.',
    ],
  };

/** Unix milliseconds after which a message is worth nothing; null = it always is. */
export function worthlessAfter(event: MessageEvent, facts: Facts): number | null {
  if (event === 'code') return Date.parse(String(facts.expiresAt));
  const isOver = facts.kind === 'fund_by' || facts.kind === 'reveal_by';
  return event === 'swap.reminder' && isOver ? Number(facts.deadline) * 1_000 : null;
}
