// Texts of the account: logins, sessions, its data and its end.

export const account = {
  'confirm.no': 'No, leave it',

  'account.title': 'Your account',
  'account.signed_in': 'Signed in {way},',
  'account.by.email': 'by e-mail',
  'account.by.provider': 'through a provider',
  'account.by.passkey': 'by passkey',
  'account.by.wallet': 'by wallet',
  'account.number': 'Number of the account',
  'account.sign_out': 'Sign out',
  'account.waits': 'A change of where you are paid waits',
  'account.waits.what':
    'If it is not yours: stop it now, end all other sessions, and remove logins that you do not know.',
  'account.waits.look': 'Look at what waits',
  'account.one_login': 'Only one login is left',
  'account.one_login.why':
    'Whoever loses it loses the account: nobody can let you in without one, we neither. Add a second login.',

  'logins.title': 'Logins',
  'logins.what': 'Each of them leads into this account.',
  'logins.email': 'e-mail',
  'logins.provider': 'provider, {host}',
  'logins.passkey': 'passkey',
  'logins.wallet': 'wallet, {family}',
  'logins.added': 'added',
  'logins.used': 'used',
  'logins.backed_up': 'backed up: it can be on other devices too',
  'logins.one_device': 'on one device only: lose it, and this login is lost',
  'logins.chat.on': 'messages go there',
  'logins.chat.ended': 'messages have ended: the bot was blocked. Sign in with it again',
  'logins.waits': 'receives nothing before',
  'logins.leaves': 'is removed, unless you stop it under "Wallets and payout":',
  'logins.remove': 'Remove',
  'logins.remove.label': 'Remove {login}',
  'logins.remove.title': 'Remove {login}?',
  'logins.remove.what':
    'It leads into this account no more. Every other session of this account ends.',
  'logins.remove.wallet':
    'A wallet stays for the waiting time, with a message on every channel. Then the family is paid nowhere until you name another wallet.',
  'logins.removed': 'Removed.',
  'logins.leaving': 'It is removed after the waiting time.',
  'logins.add': 'Add a login',
  'logins.add.what': 'It leads into this account from then on, and sees all that you see.',
  'logins.add.done': 'Back to the logins',
  'logins.added.said': 'The login is added.',
  'logins.added.before':
    'It was a login of this account before, and nothing was added. You have signed in again.',
  'logins.passkey.title': 'A passkey of this device',
  'logins.passkey.name': 'What you call this device',
  'logins.passkey.add': 'Add a passkey',

  'sessions.title': 'Sessions',
  'sessions.what': 'Browsers in which somebody is signed in to this account.',
  'sessions.this': 'this one',
  'sessions.device': 'Browser',
  'sessions.place': 'Network',
  'sessions.since': 'Since',
  'sessions.used': 'Last used',
  'sessions.ends': 'Ends by itself',
  'sessions.end': 'End',
  'sessions.end.label': 'End the session of {device} from {place}',
  'sessions.all': 'End all others',
  'sessions.all.title': 'End all other sessions?',
  'sessions.all.what': 'Whoever is signed in elsewhere has to sign in again. API keys go on.',
  'sessions.only': 'Nobody else is signed in.',
  'sessions.ended': 'Ended.',

  'export.title': 'Your data',
  'export.what':
    'One JSON file with all that this market tells of your account: logins, sessions, wallets, webhooks and their deliveries, orders, your quotes and swaps. Keys are in it without their secrets. Amounts are in base units.',
  'export.go': 'Collect and save',
  'export.part': 'Reading: {part} ({count})',
  'export.done': 'Saved as {name}, {size} kB.',
  'export.cut': 'There was more of: {parts}. The file holds the newest {most} of each.',

  'delete.title': 'Delete the account',
  'delete.what':
    'Keys, sessions, logins, wallets and webhooks end at once. It is refused while swaps, orders or quotes are open. Swaps stay without your name: their addresses are on the chains too. It cannot be brought back.',
  'delete.go': 'Delete the account',
  'delete.sure': 'Delete the account of {name}?',
} as const;
