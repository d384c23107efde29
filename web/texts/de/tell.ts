// German texts of the page's notifications.

import type { tell as english } from '../en/tell.ts';
import type { Words } from '../words.ts';

export const tell: Words<typeof english> = {
  'tell.title': 'Auf diesem Gerät Bescheid sagen',
  'tell.off':
    'Dein Browser zeigt eine Meldung, wenn ein Swap dich braucht, vor einer Frist, und wenn ein Angebot kommt. Diese Seite muss in einem Tab offen sein, und solange du sie ansiehst, kommt keine.',
  'tell.on':
    'Du erfährst es auf diesem Gerät, solange die App in einem Tab offen ist und du sie nicht ansiehst. Keine Meldung enthält einen Betrag, einen Schlüssel oder ein Geheimnis.',
  'tell.denied':
    'Dieser Browser zeigt keine Meldungen dieser Seite. Erlaube ihr Benachrichtigungen in den Einstellungen des Browsers und komm dann hierher zurück.',
  'tell.unsupported':
    'Dieser Browser zeigt keine Meldungen einer Seite. Nachrichten per E-Mail oder Chat erreichen dich trotzdem, wenn dein Konto so etwas hat.',
  'tell.go': 'Bescheid sagen',
  'tell.stop': 'Nicht mehr Bescheid sagen',
  'tell.first': 'Hier erfährst du es',
  'tell.first.why': 'Wenn ein Swap dich braucht, vor einer Frist, und wenn ein Angebot kommt.',
  'tell.pay': 'Ein Swap wartet auf deine Zahlung',
  'tell.pay.why': 'Zahle bis {at}, sonst endet der Swap und nichts ist verloren.',
  'tell.pay.why_open': 'Öffne seine Seite: sie sagt, was fällig ist.',
  'tell.sign': 'Ein Swap wartet auf deine Wallet',
  'tell.sign.why': 'Öffne seine Seite und frage die Wallet, bis {at}.',
  'tell.sign.why_open': 'Öffne seine Seite und frage die Wallet.',
  'tell.gas': 'Einem Swap fehlt etwas für eine Gebühr',
  'tell.gas.why': 'Seine Seite sagt, was wohin zu senden ist, bis {at}.',
  'tell.gas.why_open': 'Seine Seite sagt, was wohin zu senden ist.',
  'tell.connect': 'Ein Swap wartet auf deine Wallet',
  'tell.connect.why': 'Öffne seine Seite und verbinde die Wallet, bis {at}.',
  'tell.connect.why_open': 'Öffne seine Seite und verbinde die Wallet.',
  'tell.decide': 'Du hast mehr gezahlt als vereinbart: entscheide',
  'tell.decide.why': 'Warte oder mach weiter: seine Seite sagt, was beides kostet, bis {at}.',
  'tell.decide.why_open': 'Warte oder mach weiter: seine Seite sagt, was beides kostet.',
  'tell.stopped': 'Ein Swap ist stehen geblieben und braucht dich',
  'tell.stopped.why': 'Seine Seite sagt, was fehlt, bis {at}.',
  'tell.stopped.why_open': 'Seine Seite sagt, was fehlt.',
  'tell.soon': 'Die Zeit eines Swaps läuft bald ab',
  'tell.soon.why': 'Er wartet auf dich bis {at}. Seine Seite sagt, was verloren gehen kann.',
  'tell.soon.why_open': 'Seine Seite sagt, was verloren gehen kann.',
  'tell.ended': 'Ein Swap ist beendet',
  'tell.ended.why': 'Seine Seite sagt, wie.',
  'tell.ended.why_open': 'Seine Seite sagt, wie.',
  'tell.quote': 'Ein Angebot ist gekommen',
  'tell.quote.why': 'Zu deiner Anfrage gibt es einen neuen Preis.',
  'tell.to_swap': 'Zum Swap',
  'tell.stands': 'Swaps dieses Browsers gehen hier nicht weiter',
  'tell.stands.again':
    'Es wird jede Minute wieder versucht. Öffne bis dahin die App dort, wo sie zuletzt weitergingen, oder auf einem Gerät, das deine Phrase hat.',
};
