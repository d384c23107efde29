// The words of each message: plain text, short, and nothing in it that acts by itself. What comes
// of facts passes `shown` or `instant`; amounts are in none.

import type { PeopleTopic } from '../db/messages.ts';
import { longestSubject, longestText } from './bounds.ts';
import { instant, shown } from './shown.ts';

/** Of an event, as its outbox row has them; of a code, `code` and `expiresAt`. */
export type Facts = Readonly<Record<string, unknown>>;

export type Market = {
  readonly productName: string;
  /** Of its pages; null on the dev network, where nobody knows it. */
  readonly origin: string | null;
};

export type Text = { readonly subject: string; readonly body: string };

/** When it happened, and where the person does something about it. */
type About = { readonly at: string; readonly page: string };

type Words = { readonly subject: string; readonly lines: readonly string[] };

export type MessageEvent = PeopleTopic | 'code';

export function textOf(event: MessageEvent, facts: Facts, at: Date, market: Market): Text {
  const { productName, origin } = market;
  const page = origin === null ? 'on your account page' : `at ${origin}/account`;
  const { subject, lines } = words[event](facts, { at: instant(at.toISOString()), page });
  const from = origin === null ? productName : `${productName}, ${origin}`;
  const body = [...lines.filter((line) => line !== ''), '', from].join('\n');
  return {
    subject: `${productName}: ${subject}`.slice(0, longestSubject).toWellFormed(),
    body: body.slice(0, longestText).toWellFormed(),
  };
}

const words: Readonly<Record<MessageEvent, (facts: Facts, about: About) => Words>> = {
  'key.created': keyCreated,
  'key.revoked': keyRevoked,
  'key.expiring': keyExpiring,
  'login.added': loginAdded,
  'login.removed': loginRemoved,
  'session.created': sessionCreated,
  'payout.changing': payoutChanging,
  'payout.changed': payoutChanged,
  'payout.stopped': payoutStopped,
  'account.deleted': accountDeleted,
  'swap.reminder': swapReminder,
  'chat.ended': chatEnded,
  code,
};

const notYou = ({ page }: About) =>
  `If that was not you: sign in ${page}, end all other sessions and revoke keys you do not know.`;

function keyOf({ prefix, name }: Facts): string {
  const called = shown(name);
  return `${shown(prefix)}…${called === '' ? '' : ` (${called})`}`;
}

function keyCreated(facts: Facts, about: About): Words {
  const { scopes, expiresAt } = facts;
  const may = Array.isArray(scopes) ? scopes.map(shown).join(', ') : '';
  return {
    subject: 'a new API key',
    lines: [
      `A new API key was made at ${about.at}: ${keyOf(facts)}`,
      may === '' ? '' : `It may: ${may}.`,
      `It ends at ${instant(expiresAt)}.`,
      notYou(about),
    ],
  };
}

function keyRevoked(facts: Facts, about: About): Words {
  return {
    subject: 'an API key was revoked',
    lines: [`An API key was revoked at ${about.at}: ${keyOf(facts)}`, notYou(about)],
  };
}

function keyExpiring(facts: Facts, { page }: About): Words {
  const end = instant(facts.expiresAt);
  return {
    subject: `an API key ends at ${end}`,
    lines: [
      `The API key ${keyOf(facts)} ends at ${end}.`,
      `A program that uses it is refused from then on. Make another key ${page}.`,
    ],
  };
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

function loginAdded(facts: Facts, about: About): Words {
  const waits = typeof facts.waitsUntil === 'string' ? instant(facts.waitsUntil) : '';
  return {
    subject: 'a new way to sign in',
    lines: [
      `A way to sign in to your account was added at ${about.at}: ${loginOf(facts)}.`,
      waits === '' ? '' : `Nothing is paid to this wallet before ${waits}.`,
      `If that was not you: sign in ${about.page}, remove it and end all other sessions.`,
    ],
  };
}

function loginRemoved(facts: Facts, about: About): Words {
  const leaves = typeof facts.leavesAt === 'string' ? instant(facts.leavesAt) : '';
  if (leaves !== '') {
    return {
      subject: `a wallet that signs in is removed at ${leaves}`,
      lines: [
        `At ${about.at} somebody asked to remove a way to sign in: ${loginOf(facts)}.`,
        `It stays until ${leaves}. Until then it signs in, and can stop it ${about.page}.`,
        'If that was not you: sign in with it, stop all that waits, and end all other sessions.',
      ],
    };
  }
  return {
    subject: 'a way to sign in was removed',
    lines: [
      `A way to sign in to your account was removed at ${about.at}: ${loginOf(facts)}.`,
      `If that was not you: sign in another way ${about.page} and end all other sessions.`,
    ],
  };
}

function sessionCreated({ device, place }: Facts, about: About): Words {
  const [on, from] = [shown(device), shown(place)];
  return {
    subject: 'a sign-in on a new device',
    lines: [
      `Somebody signed in to your account at ${about.at} on a device that is new to it.`,
      on === '' ? '' : `Device: ${on}`,
      from === '' ? '' : `Network: ${from}`,
      notYou(about),
    ],
  };
}

const families: Readonly<Record<string, string>> = {
  evm: 'EVM',
  tron: 'TRON',
  bitcoin: 'Bitcoin',
  solana: 'Solana',
};

function walletOf({ family, address }: Facts): string {
  return `${shown(address)} (${families[String(family)] ?? shown(family)})`;
}

function payoutChanging(facts: Facts, { at, page }: About): Words {
  const from = instant(facts.fromAt);
  if (facts.paid === false) {
    return {
      subject: `swaps may pay another wallet from ${from}`,
      lines: [
        `At ${at} somebody asked that swaps may be told to pay ${walletOf(facts)}.`,
        `It waits until ${from}. Until then no swap may name it, and you can stop it ${page}.`,
        'If that was not you, stop it, end all other sessions and remove logins you do not know.',
      ],
    };
  }
  return {
    subject: `another payout wallet from ${from}`,
    lines: [
      `At ${at} somebody asked that you be paid to another wallet: ${walletOf(facts)}.`,
      `It waits until ${from}. Until then you are paid as before, and can stop it ${page}.`,
      'If that was not you, stop it, end all other sessions and remove logins you do not know.',
    ],
  };
}

function payoutChanged(facts: Facts, about: About): Words {
  if (facts.paid === false) {
    return {
      subject: 'swaps may pay another wallet',
      lines: [
        `From ${about.at} on a swap may be told to pay ${walletOf(facts)}.`,
        'Other swaps pay as before.',
        notYou(about),
      ],
    };
  }
  return {
    subject: 'you are paid to another wallet',
    lines: [
      `From ${about.at} on you are paid to ${walletOf(facts)}.`,
      'Swaps agreed before keep their addresses.',
      notYou(about),
    ],
  };
}

function payoutStopped(facts: Facts, about: About): Words {
  if (facts.isLast === true) {
    return {
      subject: 'a wallet that signs in was not removed',
      lines: [
        `The wallet ${walletOf(facts)} was to be removed at ${about.at}, and stays:`,
        'it is the only way to sign in. Add another one first, and remove it again.',
        notYou(about),
      ],
    };
  }
  if (facts.stays === true && facts.change !== true) {
    return {
      subject: 'a wallet that signs in stays',
      lines: [
        `The removal of ${walletOf(facts)} was stopped at ${about.at}: it signs in as before.`,
        notYou(about),
      ],
    };
  }
  return {
    subject: 'a change of your payout wallet was stopped',
    lines: [
      `The change of your payout wallet to ${walletOf(facts)} was stopped at ${about.at}.`,
      'You are paid as before.',
      notYou(about),
    ],
  };
}

function accountDeleted(_: Facts, { at }: About): Words {
  return {
    subject: 'your account was deleted',
    lines: [
      `Your account was deleted at ${at}, with its keys, sessions, logins and webhooks.`,
      'It cannot be brought back. This is the last message about it.',
    ],
  };
}

function chatEnded({ label }: Facts, { at, page }: About): Words {
  const named = shown(label);
  return {
    subject: 'Telegram messages have ended',
    lines: [
      `At ${at} Telegram refused a message to you${named === '' ? '' : ` (${named})`}:`,
      'the bot is blocked, or the chat is gone. Nothing more is sent there.',
      `To hear by Telegram again, unblock the bot and sign in with Telegram ${page}.`,
    ],
  };
}

/** Nothing in it acts: the code is typed into the browser that asked for it. */
function code(facts: Facts): Words {
  return {
    subject: facts.purpose === 'add' ? 'a code to add this address' : 'your sign-in code',
    lines: [
      facts.purpose === 'add'
        ? 'Somebody wants to sign in to an account with this address too, and sees what it sees.'
        : '',
      `Your code is ${/^\d{6}$/.test(String(facts.code)) ? facts.code : ''}`,
      `It works until ${instant(facts.expiresAt)}, in the browser that asked for it.`,
      'Nobody of us asks you for it: give it to nobody, and type it nowhere else.',
      'If you did not ask for it, do nothing.',
    ],
  };
}

export const reminderKinds = ['fund_by', 'reveal_by', 'claim_now', 'refund_possible'] as const;
export type ReminderKind = (typeof reminderKinds)[number];

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Says the deadline, and what happens otherwise. */
function swapReminder(facts: Facts): Words {
  const { kind, swapId, leg, chain, deadline, isFirst, refundAt } = facts;
  const where = `leg ${shown(leg)} on ${shown(chain)}`;
  const at = instant(deadline);
  const told: Readonly<Record<ReminderKind, Words>> = {
    fund_by: {
      subject: `fund your leg of a swap by ${at}`,
      lines: [
        `Fund ${where} by ${at}.`,
        isFirst === true
          ? 'Otherwise the swap ends, and nobody has paid anything.'
          : 'Otherwise the swap ends: you have paid nothing, and the other side is refunded.',
      ],
    },
    reveal_by: {
      subject: `claim your side of a swap by ${at}`,
      lines: [
        `Both legs are funded. Claim ${where} by ${at}; that shows the secret.`,
        `Otherwise do not claim any more, and take your own back from ${instant(refundAt)} on.`,
      ],
    },
    claim_now: {
      subject: `claim your side of a swap now, before ${at}`,
      lines: [
        `The secret of the swap is public. Claim ${where} now, before ${at}.`,
        'Otherwise the other side can take it back, and you have paid for nothing.',
      ],
    },
    refund_possible: {
      subject: 'a refund is possible',
      lines: [
        `Nobody claimed ${where}, and its timelock passed at ${at}: refund it.`,
        'Otherwise it stays in the escrow, where whoever has the secret may still claim it.',
      ],
    },
  };
  const { subject, lines } = told[kind as ReminderKind];
  return { subject, lines: uuid.test(String(swapId)) ? [...lines, `Swap ${swapId}`] : lines };
}

/** Unix milliseconds after which a message is worth nothing; null = it always is. */
export function worthlessAfter(event: MessageEvent, facts: Facts): number | null {
  if (event === 'code') return Date.parse(String(facts.expiresAt));
  const isOver = facts.kind === 'fund_by' || facts.kind === 'reveal_by';
  return event === 'swap.reminder' && isOver ? Number(facts.deadline) * 1_000 : null;
}
