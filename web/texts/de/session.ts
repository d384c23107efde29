// Texts of who is signed in, and of the ways in.

import type { session as english } from '../en/session.ts';
import type { Words } from '../words.ts';

export const session: Words<typeof english> = {
  'layout.account': 'Konto',
  'session.replaced':
    'Die Sitzung ist zu Ende, oder hier ist inzwischen ein anderes Konto angemeldet',
  'session.replaced.safe':
    'Für keines der beiden Konten wurde etwas getan. Was du jetzt siehst, gehört dem angemeldeten.',
  'session.replaced.read': 'Verstanden',

  'ways.go_on': 'Weiter',
  'ways.back': 'Zurück',
  'ways.email.title': 'Mit E-Mail',
  'ways.email.address': 'E-Mail-Adresse',
  'ways.email.send': 'Code senden',
  'ways.email.down':
    'Gerade kann keine Mail gesendet werden: ein Code kommt vielleicht spät oder gar nicht. 10 Minuten lang wird es versucht.',
  'ways.code.title': 'Der Code für {address}',
  'ways.code.sent':
    'Ein Code ist unterwegs. Kommt keiner, prüfe die Adresse, und ob schon einer mit zwanzig Ziffern kam.',
  'ways.code.until': 'Er gilt in diesem Browser bis',
  'ways.code.inbox': 'Zum Posteingang dieses Testnetzes',
  'ways.code.digits': 'Die Ziffern des Codes',
  'ways.code.six': 'Der Code hat sechs Ziffern, oder zwanzig, wenn viele verlangt wurden.',
  'ways.code.again': 'Neuen Code senden',
  'ways.code.leave': 'Andere Adresse oder anderer Weg',
  'ways.provider.title': 'Mit {label}',
  'ways.provider.go': 'Weiter mit {label}',
  'ways.provider.messages':
    '{label} kann dir auch Nachrichten über Fristen und neue Anmeldungen bringen.',
  'ways.passkey.title': 'Mit Passkey',
  'ways.passkey.what':
    'Ein Schlüssel dieses Geräts oder ein Sicherheitsschlüssel, den du deinem Konto hinzugefügt hast.',
  'ways.passkey.use': 'Passkey benutzen',
  'ways.passkey.none': 'Dieser Browser kann hier keine Passkeys benutzen.',
  'ways.passkey.cancelled':
    'Kein Passkey wurde benutzt: abgebrochen, zu lange gewartet, oder dieses Gerät hat keinen für diese Seite.',
  'ways.passkey.has': 'Kein Passkey wurde erstellt: dieses Gerät hat schon einen dieses Kontos.',
  'ways.passkey.place':
    'Unter dieser Adresse gehen keine Passkeys. Sie brauchen den Namen der Seite und https.',
  'ways.passkey.failed': 'Kein Passkey wurde benutzt: {why}.',
  'ways.wallet.title': 'Mit Wallet',
  'ways.wallet.none': 'In diesem Browser wurde keine Wallet gefunden.',
  'ways.wallet.use': '{name} benutzen',
  'ways.wallet.look':
    'Sieh in {name} nach: dort steht der Text, den du signierst. Er bewegt kein Geld.',
  'ways.wallet.other': '{name} zeigt {own}. Wähle dort zuerst {address}.',
  'ways.hand.title': 'Einen Text von Hand signieren',
  'ways.hand.why':
    'Für eine Wallet auf einem anderen Gerät oder außerhalb des Browsers: Text kopieren, dort signieren, Unterschrift einfügen.',
  'ways.hand.family': 'Art der Wallet',
  'ways.hand.address': 'Adresse der Wallet',
  'ways.hand.show': 'Text zeigen',
  'ways.hand.text': 'Der Text zum Signieren, Zeichen für Zeichen',
  'ways.hand.copied': 'Text',
  'ways.hand.signature': 'Unterschrift',
  'ways.hand.how.evm': 'personal_sign (EIP-191), hexadezimal',
  'ways.hand.how.tron': 'signMessageV2, hexadezimal',
  'ways.hand.how.solana': 'signMessage, in Base58',
  'ways.hand.how.bitcoin': 'BIP-322 (simple), in Base64',
  'ways.hand.used_up': 'Ein Text gilt einmal: lass ihn neu zeigen.',
  'ways.taken.title': 'Dieser Login gehört zu einem anderen Konto',
  'ways.taken.why':
    'Nichts wurde verschoben: aus zwei Konten wird nie eines. Du kannst dich dort damit anmelden.',
  'ways.taken.leave': 'Hier abmelden und dort anmelden',

  'fresh.title': 'Noch einmal anmelden',
  'fresh.any':
    'Dafür muss die Anmeldung jünger als 10 Minuten sein. Nimm irgendeinen Login dieses Kontos; dann geschieht es sofort.',
  'fresh.wallet':
    'Dafür muss eine Anmeldung mit einer Wallet dieses Kontos jünger als 10 Minuten sein; dann geschieht es sofort.',
  'fresh.not_now': 'Nicht jetzt',

  'family.evm': 'Ethereum und andere (EVM)',
  'family.tron': 'TRON',
  'family.bitcoin': 'Bitcoin',
  'family.solana': 'Solana',
};
