// Texts of the account: logins, sessions, its data and its end.

import type { account as english } from '../en/account.ts';
import type { Words } from '../words.ts';

export const account: Words<typeof english> = {
  'confirm.no': 'Nein, so lassen',

  'account.title': 'Dein Konto',
  'account.signed_in': 'Angemeldet {way},',
  'account.by.email': 'mit E-Mail',
  'account.by.provider': 'über einen Anbieter',
  'account.by.passkey': 'mit Passkey',
  'account.by.wallet': 'mit Wallet',
  'account.number': 'Nummer des Kontos',
  'account.sign_out': 'Abmelden',
  'account.waits': 'Eine Änderung deiner Auszahlung wartet',
  'account.waits.what':
    'Wenn sie nicht von dir ist: stoppe sie jetzt, beende alle anderen Sitzungen und entferne Logins, die du nicht kennst.',
  'account.waits.look': 'Ansehen, was wartet',
  'account.one_login': 'Es gibt nur noch einen Login',
  'account.one_login.why':
    'Wer ihn verliert, verliert das Konto: ohne Login lässt dich niemand hinein, auch wir nicht. Füge einen zweiten hinzu.',

  'logins.title': 'Logins',
  'logins.what': 'Jeder von ihnen führt in dieses Konto.',
  'logins.email': 'E-Mail',
  'logins.provider': 'Anbieter, {host}',
  'logins.passkey': 'Passkey',
  'logins.wallet': 'Wallet, {family}',
  'logins.added': 'hinzugefügt',
  'logins.used': 'benutzt',
  'logins.backed_up': 'gesichert: er kann auch auf anderen Geräten sein',
  'logins.one_device': 'nur auf einem Gerät: geht es verloren, ist auch der Login weg',
  'logins.chat.on': 'Nachrichten gehen dorthin',
  'logins.chat.ended': 'Nachrichten sind beendet: der Bot wurde blockiert. Melde dich neu damit an',
  'logins.waits': 'bekommt nichts vor',
  'logins.leaves': 'wird entfernt, wenn du es nicht stoppst:',
  'logins.remove': 'Entfernen',
  'logins.remove.label': '{login}: Entfernen',
  'logins.remove.title': '{login} entfernen?',
  'logins.remove.what':
    'Er führt nicht mehr in dieses Konto. Er bleibt während der Wartezeit, mit einer Nachricht auf jedem Kanal, und lässt sich stoppen. Was erst kürzlich dazukam, oder womit du neben einem älteren Login angemeldet bist, geht sofort, und jede andere Sitzung dieses Kontos endet.',
  'logins.remove.wallet':
    'Ist sie entfernt, wird diese Familie nirgends ausgezahlt, bis du eine andere Wallet nennst.',
  'logins.removed': 'Entfernt.',
  'logins.leaving': 'Er wird nach der Wartezeit entfernt.',
  'logins.keep': 'Stoppen',
  'logins.keep.label': 'Stoppen: das Entfernen von {login}',
  'logins.keep.title': 'Das Entfernen von {login} stoppen?',
  'logins.kept': 'Gestoppt: er gilt wie zuvor.',
  'logins.add': 'Login hinzufügen',
  'logins.add.what': 'Er führt von da an in dieses Konto und sieht alles, was du siehst.',
  'logins.add.done': 'Zurück zu den Logins',
  'logins.added.said': 'Der Login ist hinzugefügt.',
  'logins.added.before':
    'Das war schon ein Login dieses Kontos, hinzugefügt wurde nichts. Du bist neu angemeldet.',
  'logins.passkey.title': 'Ein Passkey dieses Geräts',
  'logins.passkey.name': 'Wie du dieses Gerät nennst',
  'logins.passkey.add': 'Passkey hinzufügen',

  'sessions.title': 'Sitzungen',
  'sessions.what': 'Browser, in denen jemand bei diesem Konto angemeldet ist.',
  'sessions.this': 'diese hier',
  'sessions.device': 'Browser',
  'sessions.place': 'Netz',
  'sessions.since': 'Seit',
  'sessions.used': 'Zuletzt benutzt',
  'sessions.ends': 'Endet von selbst',
  'sessions.end': 'Beenden',
  'sessions.end.label': 'Beenden: die Sitzung von {device} aus {place}',
  'sessions.all': 'Alle anderen beenden',
  'sessions.all.title': 'Alle anderen Sitzungen beenden?',
  'sessions.all.what':
    'Wer anderswo angemeldet ist, muss sich neu anmelden. API-Schlüssel laufen weiter.',
  'sessions.only': 'Sonst ist niemand angemeldet.',
  'sessions.ended': 'Beendet.',

  'export.title': 'Deine Daten',
  'export.what':
    'Eine JSON-Datei mit allem, was dieser Markt über dein Konto sagt: Logins, Sitzungen, Wallets, Webhooks und ihre Zustellungen, Anfragen, deine Angebote und Swaps. Schlüssel stehen ohne ihr Geheimnis darin. Beträge sind in kleinsten Einheiten.',
  'export.go': 'Sammeln und speichern',
  'export.part': 'Liest: {part} ({count})',
  'export.done': 'Gespeichert als {name}, {size} kB.',
  'export.cut': 'Es gab mehr von: {parts}. Die Datei enthält davon die neuesten {most}.',

  'delete.title': 'Konto löschen',
  'delete.what':
    'Es wird nach der Wartezeit gelöscht, mit einer Nachricht auf jedem Kanal, und lässt sich bis dahin stoppen. Dann enden Schlüssel, Sitzungen, Logins, Wallets und Webhooks. Es geht nicht, solange Swaps, Anfragen oder Angebote offen sind. Swaps bleiben ohne deinen Namen: ihre Adressen stehen auch auf den Chains. Es kann nicht rückgängig gemacht werden.',
  'delete.go': 'Konto löschen',
  'delete.sure': 'Das Konto von {name} löschen?',
  'delete.asked': 'Das Konto wird nach der Wartezeit gelöscht.',
  'delete.waits': 'Dieses Konto soll gelöscht werden',
  'delete.waits.what':
    'Wenn du das nicht warst: stoppe es jetzt und entferne Logins, die du nicht kennst. Gelöscht wird es',
  'delete.keep': 'Stoppen',
  'delete.keep.title': 'Das Löschen stoppen?',
  'delete.keep.what':
    'Alles bleibt, wie es ist. Jede andere Sitzung dieses Kontos endet, mit den API-Schlüsseln, die sie gemacht hat.',
  'delete.kept': 'Gestoppt: das Konto bleibt.',
};
