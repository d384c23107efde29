// Texts of who is signed in, and of the ways in.

export const session = {
  'layout.account': 'Account',
  'session.replaced': 'The session has ended, or another account is signed in here by now',
  'session.replaced.safe':
    'Nothing was done for either account. What you see now is of whoever is signed in.',
  'session.replaced.read': 'Understood',

  'ways.go_on': 'Go on',
  'ways.back': 'Back',
  'ways.email.title': 'By e-mail',
  'ways.email.address': 'E-mail address',
  'ways.email.send': 'Send a code',
  'ways.email.down':
    'Mail cannot be sent just now: a code may come late or not at all. It is tried for 10 minutes.',
  'ways.code.title': 'The code for {address}',
  'ways.code.sent':
    'A code is on its way. If none comes, look at the address, and for a code of twenty digits that came before.',
  'ways.code.until': 'It works in this browser until',
  'ways.code.inbox': 'To the inbox of this dev network',
  'ways.code.digits': 'The digits of the code',
  'ways.code.six': 'The code has six digits, or twenty where many were asked for.',
  'ways.code.again': 'Send another code',
  'ways.code.leave': 'Another address or way',
  'ways.provider.title': 'By {label}',
  'ways.provider.go': 'Go on with {label}',
  'ways.provider.messages': '{label} can bring you messages about deadlines and new sign-ins too.',
  'ways.passkey.title': 'By passkey',
  'ways.passkey.what': 'A key of this device, or a security key, that you added to your account.',
  'ways.passkey.use': 'Use a passkey',
  'ways.passkey.none': 'This browser cannot use passkeys here.',
  'ways.passkey.cancelled':
    'No passkey was used: it was cancelled, took too long, or this device has none for this site.',
  'ways.passkey.has': 'No passkey was made: this device has one of this account already.',
  'ways.passkey.place':
    'Passkeys do not work at this address. They need the name of the site, and https.',
  'ways.passkey.failed': 'No passkey was used: {why}.',
  'ways.wallet.title': 'By wallet',
  'ways.wallet.none': 'No wallet program was found in this browser.',
  'ways.wallet.use': 'Use {name}',
  'ways.wallet.look': 'Look at {name}: it shows the text that you sign. It moves no money.',
  'ways.wallet.other': '{name} shows {own}. Choose {address} there first.',
  'ways.hand.title': 'Sign a text by hand',
  'ways.hand.why':
    'For a wallet on another machine, or in no browser: copy the text, sign it there, paste the signature.',
  'ways.hand.family': 'Kind of wallet',
  'ways.hand.address': 'Address of the wallet',
  'ways.hand.show': 'Show the text',
  'ways.hand.text': 'The text to sign, to the letter',
  'ways.hand.copied': 'text',
  'ways.hand.signature': 'Signature',
  'ways.hand.how.evm': 'personal_sign (EIP-191), in hex',
  'ways.hand.how.tron': 'signMessageV2, in hex',
  'ways.hand.how.solana': 'signMessage, in base58',
  'ways.hand.how.bitcoin': 'BIP-322 (simple), in base64',
  'ways.hand.used_up': 'A text is good once: show it again.',
  'ways.taken.title': 'That login belongs to another account',
  'ways.taken.why':
    'Nothing was moved: two accounts never become one. You may sign in there with it.',
  'ways.taken.leave': 'Sign out here, and in there',

  'fresh.title': 'Sign in again',
  'fresh.any':
    'This needs a sign-in of the last 10 minutes. Use any login of this account; then it is done at once.',
  'fresh.wallet':
    'This needs a sign-in of the last 10 minutes by a wallet of this account; then it is done at once.',
  'fresh.not_now': 'Not now',

  'family.evm': 'Ethereum and others (EVM)',
  'family.tron': 'TRON',
  'family.bitcoin': 'Bitcoin',
  'family.solana': 'Solana',
} as const;
