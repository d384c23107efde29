// Texts of notifications.

export const notifications = {
  'notifications.title': 'Notifications',
  'notifications.what':
    'What you are told of, and where. What could cost you a coin or your account is told on every channel. It cannot be switched off: whoever stole your session would do that first.',
  'notifications.channels': 'Where you are told',
  'notifications.none': 'Nobody could tell you anything',
  'notifications.none.why':
    'This account has no e-mail address and no chat. A deadline would pass unheard. Add an e-mail address as a login.',
  'notifications.add': 'Add a login',
  'notifications.email': 'e-mail',
  'notifications.telegram': 'Telegram',
  'notifications.on': 'messages go there',
  'notifications.ended':
    'Messages have ended: the bot was blocked, or the chat is gone. Unblock it, and sign in with it again.',
  'notifications.provider': '{label} can bring messages: add it as a login.',
  'notifications.kinds': 'What you are told of',
  'notifications.kind': 'What',
  'notifications.when': 'When',
  'notifications.deadlines': 'Deadlines of your swaps',
  'notifications.deadlines.when':
    'half an hour before you have to lock or to collect, or at half of the time where that is later; when you can collect and have not; when a refund is possible',
  'notifications.payout': 'Where you are paid',
  'notifications.payout.when': 'when a change begins to wait, counts, or is stopped',
  'notifications.logins': 'Logins and sessions',
  'notifications.logins.when': 'when one is added or removed, and of a sign-in on a new device',
  'notifications.keys': 'API keys',
  'notifications.keys.when': 'when one is made or revoked, and two weeks before one ends',
  'notifications.end': 'The end of a channel or of the account',
  'notifications.end.when': 'when a chat refuses messages, and when the account is deleted',
  'notifications.never':
    'No message holds a key, a secret or an amount, and none asks for a code, a phrase or a payment.',
  'notifications.programs': 'For programs there are webhooks.',
} as const;
