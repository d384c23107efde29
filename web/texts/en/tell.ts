// Texts of the page's notifications. None has an amount: who looks over a shoulder learns nothing.

export const tell = {
  'tell.title': 'Tell me on this device',
  'tell.off':
    'Your browser shows a message when a swap needs you, before a deadline, and when a quote comes. This page must be open in a tab, and none is shown while you look at it.',
  'tell.on':
    'You are told on this device as long as this app is open in a tab, and not while you look at it. No message holds an amount, a key or a secret.',
  'tell.denied':
    'This browser shows no messages of this site. Allow notifications for it in the browser’s settings, then come back here.',
  'tell.unsupported':
    'This browser shows no messages of a page. Messages by e-mail or chat reach you all the same, where your account has one.',
  'tell.go': 'Tell me',
  'tell.stop': 'Stop telling me',
  'tell.first': 'You are told here',
  'tell.first.why': 'When a swap needs you, before a deadline, and when a quote comes.',
  'tell.pay': 'A swap waits for your payment',
  'tell.pay.why': 'Pay until {at}, or the swap ends and nothing is lost.',
  'tell.sign': 'A swap waits for your wallet',
  'tell.sign.why': 'Open its screen and ask the wallet, until {at}.',
  'tell.sign.why_open': 'Open its screen and ask the wallet.',
  'tell.pay.why_open': 'Open its screen: it says what is due.',
  'tell.gas': 'A swap needs coins for a fee',
  'tell.gas.why': 'Its screen says what to send where, until {at}.',
  'tell.gas.why_open': 'Its screen says what to send where.',
  'tell.connect': 'A swap waits for your wallet',
  'tell.connect.why': 'Open its screen and connect the wallet, until {at}.',
  'tell.connect.why_open': 'Open its screen and connect the wallet.',
  'tell.decide': 'You paid more than agreed: decide',
  'tell.decide.why': 'Wait, or go on: its screen says what each costs, until {at}.',
  'tell.decide.why_open': 'Wait, or go on: its screen says what each costs.',
  'tell.stopped': 'A swap has stopped and needs you',
  'tell.stopped.why': 'Its screen says what is missing, until {at}.',
  'tell.stopped.why_open': 'Its screen says what is missing.',
  'tell.soon': 'The time of a swap ends soon',
  'tell.soon.why': 'It waits for you until {at}. Its screen says what can be lost.',
  'tell.soon.why_open': 'Its screen says what can be lost.',
  'tell.ended': 'A swap has ended',
  'tell.ended.why': 'Its screen says how.',
  'tell.ended.why_open': 'Its screen says how.',
  'tell.quote': 'A quote has come',
  'tell.quote.why': 'Your order has a new price to look at.',
  'tell.to_swap': 'To the swap',
  'tell.stands': 'Swaps of this browser do not go on here',
  'tell.stands.again':
    'It is tried again every minute. Until then open the app where they went on before, or on a device that has your phrase.',
} as const;
