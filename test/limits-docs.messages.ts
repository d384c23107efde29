// Rows of docs/limits.md about what people are told, each with the declarations that make it true.

import type { Declared } from './limits-docs.declared.ts';

export const declaredByMessages: readonly Declared[] = [
  {
    what: 'attempts of a message to a person',
    limit: '7 in 7 h 13 min; a sign-in code as long as it is good',
    by: {
      'server/messages/bounds.ts': [
        'retryAfterSeconds = [5, 30, 120, 600, 3_600, 21_600] as const;',
      ],
    },
  },
  {
    what: 'an attempt to send a mail, to write in a chat',
    limit: '20 s, 10 s',
    by: {
      'server/messages/bounds.ts': ['mailMs: 20_000,', 'botMs = 10_000;'],
    },
  },
  {
    what: 'messages to people under way in a process',
    limit: '4 of each channel',
    by: {
      'server/messages/bounds.ts': ['mostInHand = 4;'],
    },
  },
  {
    what: 'messages of an account that wait',
    limit: '200; about its logins 250, about where it is paid 300',
    by: {
      'server/messages/bounds.ts': ['return 200;', 'return 250;', 'return 300;'],
    },
  },
  {
    what: 'sign-in codes that wait',
    limit: '5 000',
    by: {
      'server/messages/bounds.ts': ['mostCodes = 5_000;'],
    },
  },
  {
    what: 'sign-in codes of a mailbox in an hour and in a day: in all, to one network or one known browser',
    limit: '10 and 20, 5 and 10',
    by: {
      'server/people/bounds.ts': [
        "{ most: 10, ofNetwork: 5, ms: 60 * minuteMs, words: 'an hour' },",
        "{ most: 20, ofNetwork: 10, ms: codeDays * dayMs, words: 'a day' },",
      ],
    },
  },
  {
    what: 'passkeys and payout wallets that an account adds in an hour',
    limit: '30',
    by: {
      'server/edge/budgets.ts': ['changeLimit = 30;', 'changeWindowSeconds = 3_600;'],
    },
  },
  {
    what: 'sign-ins and changes begun by one session, codes not counted',
    limit: '20',
    by: {
      'server/db/ceremonies.ts': ['mostOfSession = 20;'],
    },
  },
  {
    what: 'wait that the Bot API asks for',
    limit: 'an hour for that message, 30 s for all others',
    by: {
      'server/messages/bounds.ts': ['mostRetryAfterSeconds = 3_600;', 'mostRestMs = 30_000;'],
    },
  },
  {
    what: 'subject and text of a message, a fact in it',
    limit: '150, 2 000 and 60 characters',
    by: {
      'server/messages/bounds.ts': ['longestSubject = 150;', 'longestText = 2_000;'],
      'server/messages/shown.ts': ['longest = 60;'],
    },
  },
  {
    what: 'events for people handed out at a time',
    limit: '100',
    by: {
      'server/messages/bounds.ts': ['handOutBatch = 100;'],
    },
  },
  {
    what: 'parties looked at for a reminder',
    limit: '200 in a statement, 10 of a kind every 30 s',
    by: {
      'server/messages/bounds.ts': [
        'reminderPage = 200;',
        'mostPages = 10;',
        'deadlinesPauseMs = 30_000;',
      ],
    },
  },
  {
    what: 'what is known of a message after it was sent or dropped',
    limit: '30 days; not what it said, nor to whom',
    by: {
      'server/market/bounds.ts': ['messageDays = 30;'],
    },
  },
];
