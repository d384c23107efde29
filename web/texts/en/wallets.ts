// Texts of wallets, and of where the account is paid.

export const wallets = {
  'wallets.title': 'Wallets and payout',
  'wallets.what':
    'Swaps pay the wallet of each family that stands here, unless you tell a swap otherwise. Swaps that are agreed keep the addresses that they have.',
  'wallets.address': 'address',
  'wallets.paid': 'you are paid here',
  'wallets.paid.nowhere':
    'You are paid nowhere yet. Name a wallet before you trade on these chains.',
  'wallets.login': 'signs in',
  'wallets.paid.each_swap':
    'Each swap asks you for a Bitcoin address. The key of your rescue phrase may stand here: it is for escrows, so send nothing to it.',
  'wallets.receives': 'may be named by a swap',
  'wallets.proven': 'proven: it may trade, and is paid nowhere',
  'wallets.waits.paid': 'is paid from',
  'wallets.waits.named': 'may be named from',
  'wallets.leaves': 'is removed at',
  'wallets.wait.title': 'A change of where you are paid waits',
  'wallets.wait.what':
    'It waits so that nobody who got into your account is paid instead of you. A message went to every channel that you have. If it is not yours: stop it, end all other sessions, remove logins that you do not know.',
  'wallets.stop': 'Stop it',
  'wallets.stop.label': 'Stop what waits for {address}',
  'wallets.stop.title': 'Stop what waits for {address}?',
  'wallets.stop.what':
    'You are paid as before. A login wallet that waited is removed from your logins too. Every other session of this account ends, with the API keys that it made.',
  'wallets.stop.all': 'Stop all that waits',
  'wallets.stop.all.title': 'Stop all that waits?',
  'wallets.stopped': 'Stopped. You are paid as before.',
  'wallets.remove': 'Remove',
  'wallets.remove.label': 'Remove the proof of {address}',
  'wallets.remove.title': 'Remove the proof of {address}?',
  'wallets.remove.what': 'The account can no longer trade with it. Its coins are where they were.',
  'wallets.change.title': 'Name a wallet',
  'wallets.change.which': 'What it is for',
  'wallets.change.paid': 'Pay me there from now on',
  'wallets.change.named': 'Let a swap name it',
  'wallets.change.how':
    'The new wallet signs, and so does one that you have: the one that is paid now, else the one that signs in. Without that second signature it waits, usually for 72 hours.',
  'wallets.change.session':
    'Only a sign-in by a wallet of this account changes where you are paid. You are signed in {way}.',
  'wallets.change.session.go': 'Sign in by wallet',
  'wallets.change.no_wallet': 'Add a wallet as a login first: then you are paid there.',
  'wallets.change.no_wallet.go': 'Add a login',
  'wallets.second.title': 'A second signature',
  'wallets.second.what':
    'If {address} signs too, it counts at once. Without it, it waits for {wait}, with a message on every channel.',
  'wallets.second.wait': 'Wait instead',
  'wallets.second.back': 'Change nothing',
  'wallets.done.now': 'It counts from now on.',
  'wallets.done.waits': 'It waits. Until then you are paid as before, and can stop it here.',
  'wallets.failed': 'Nothing changed. Both texts are good once: begin again.',
  'wallets.prove.title': 'Prove a wallet for trading',
  'wallets.prove.what':
    'An order that gives a coin needs a proven wallet of its family. A proof lets the account trade with it, and pays it nothing.',
  'wallets.proved': 'The wallet is proven.',
} as const;
